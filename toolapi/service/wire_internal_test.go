package service

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestWire: the service answers requests that net/http refuses; a response of a published page goes through, though it looks the same.
func TestWire(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "service.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	const refusal = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	for name, c := range map[string]struct {
		foreign bool
		wrote   string
		changed bool
	}{
		"a refusal":      {false, refusal, true},
		"a page's bytes": {true, refusal, false},
		"an answer": {
			false, "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nX-Service-Api: beta\r\n\r\n{}", false,
		},
		"more than a refusal":             {false, refusal + "\r\n", false},
		"what continues an answer":        {false, "a line\r\n" + refusal, false},
		"an answer that is not a refusal": {false, strings.Replace(refusal, "400", "200", 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			client, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			served, err := s.Listener(l).Accept()
			if err != nil {
				t.Fatal(err)
			}
			if c.foreign {
				r, err := http.NewRequestWithContext(ConnContext(t.Context(), served), http.MethodGet, "http://x/", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				passThrough(r)
			}
			if n, err := io.WriteString(served, c.wrote); n != len(c.wrote) || err != nil {
				t.Errorf("%d %v", n, err)
			}
			_ = served.Close()
			got, err := io.ReadAll(client)
			if changed := string(got) != c.wrote; err != nil || changed != c.changed ||
				changed && !strings.Contains(string(got), "X-Service-Api: beta\r\n") {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}
