package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestSlowBody: a client whose body pauses gets a 408 from a Worker that reads it, in either engine, and the log mentions it.
func TestSlowBody(t *testing.T) {
	testmachine.Long(t)
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			withEngine(t, engine)
			d := startDev(t, copyExample(t, "riverside"))
			conn, err := net.Dial("tcp", strings.TrimPrefix(d.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			const head = "POST /api/outings/1/signups HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nContent-Type: application/json\r\n" +
				"Transfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n"
			if _, err := fmt.Fprintf(conn, head, strings.TrimPrefix(d.URL, "http://"), d.URL); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(text), "body_too_slow") {
				t.Errorf("%d %s %v", answer.StatusCode, text, err)
			}
		})
	}
}
