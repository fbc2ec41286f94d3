package wire_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding/wire"
)

// TestSilentPeers: who sends half a request, or takes half an answer, is cut off, and holds nothing any more.
func TestSilentPeers(t *testing.T) {
	put := post("PUT /key", "kv/KV", strings.Repeat("v", 100))
	large := post("PUT /large", "kv/KV", strings.Repeat("v", 3<<20))
	query := post("POST /query", "d1/DB", `{"sql":"SELECT 1"}`)
	const late = "the rest of the request did not come within 500ms"
	for _, c := range []struct{ name, sent, want string }{
		{"nothing", "", "no answer"},
		{"half a line", "GET /k", "400 Bad Request"},
		{"half a head", put[:60], "400 Bad Request"},
		{"half a put", put[:len(put)-50], "408 " + late},
		{"half a large put", large[:len(large)-50], "408 " + late},
		{"half a query", query[:len(query)-5], `200 OK {"success":false,"error":"` + late + `"}`},
		{"a chunk without end", put[:strings.Index(put, "Content-Length")] +
			"Transfer-Encoding: chunked\r\n\r\n64\r\nvvv", "408 " + late},
		{"no second request", post("GET /style.css", "assets/ASSETS", ""), "200 OK"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, wire.Options{Bindings: bindings(t), Token: "secret", Silence: 500 * time.Millisecond})
			conn := dial(t, s)
			if _, err := io.WriteString(conn, c.sent); err != nil {
				t.Fatal(err)
			}
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			all, err := io.ReadAll(conn)
			if err != nil && !strings.Contains(err.Error(), "reset") {
				t.Fatalf("the connection is not ended: %v", err)
			}
			got := "no answer"
			if len(all) > 0 {
				line, rest, _ := strings.Cut(string(all), "\r\n")
				_, body, _ := strings.Cut(rest, "\r\n\r\n")
				got = strings.TrimSpace(strings.TrimPrefix(line, "HTTP/1.1 ") + " " + body)
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("the answer is %q", got)
			}
		})
	}
}

// TestPeerThatReadsNothing: an answer that is not taken ends.
func TestPeerThatReadsNothing(t *testing.T) {
	var calls recorder
	called := make(chan struct{}, 1)
	set := bindings(t)
	patient := serve(t, wire.Options{Bindings: set, Token: "secret"})
	if status, _, _ := exchange(t, patient, post("PUT /large", "kv/KV", strings.Repeat("v", 10<<20))); status != "200 OK" {
		t.Fatal(status)
	}
	s := serve(t, wire.Options{
		Bindings: set, Token: "secret", Silence: 500 * time.Millisecond,
		Called: func(c wire.Call) { calls.add(c); called <- struct{}{} },
	})
	conn := dial(t, s)
	if _, err := io.WriteString(conn, post("GET /large", "kv/KV", "")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-called:
	case <-time.After(20 * time.Second):
		t.Fatal("the call goes on without end")
	}
	if last := calls.last(); !strings.Contains(last.Err, "timeout") {
		t.Errorf("the call is recorded as %q", last.Err)
	}
}

// TestConnectionsAreBounded: a connection over the bound is served when another one ends.
func TestConnectionsAreBounded(t *testing.T) {
	const most = 3
	s := serve(t, wire.Options{Bindings: bindings(t), Token: "secret", Connections: most})
	var silent []net.Conn
	for range most {
		silent = append(silent, dial(t, s))
	}
	for begun := time.Now(); s.Open() < most && time.Since(begun) < 20*time.Second; {
		runtime.Gosched()
	}
	late := dial(t, s)
	if _, err := io.WriteString(late, post("PUT /a?urlencoded=true", "kv/KV", "x")); err != nil {
		t.Fatal(err)
	}
	_ = late.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := late.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("%d connections are served", s.Open())
	}
	silent[1].Close()
	_ = late.SetReadDeadline(time.Now().Add(20 * time.Second))
	if status, _, body := answer(t, late); status != "200 OK" {
		t.Errorf("%s %s", status, body)
	}
}

// TestSilentBeforeOthers: a connection on which nothing comes takes no call's time, and calls keep their order past all that has none.
func TestSilentBeforeOthers(t *testing.T) {
	s := serve(t, wire.Options{Bindings: bindings(t), Token: "secret"})
	insert := func(n int) string {
		return post("POST /query", "d1/DB", fmt.Sprintf(`{"sql":"INSERT INTO t (n) VALUES (%d)"}`, n))
	}
	send := func(conn net.Conn, request string) {
		t.Helper()
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for range 5 { // a machine may be so busy once that the first comes too late
		exchange(t, s, post("POST /execute", "d1/DB",
			`[{"sql":"DROP TABLE IF EXISTS t"},{"sql":"CREATE TABLE t (id INTEGER PRIMARY KEY, n)"}]`))
		first, without, gone, second := dial(t, s), dial(t, s), dial(t, s), dial(t, s)
		send(without, post("GET /style.css", "assets/ASSETS", ""))
		answer(t, without)
		gone.Close()
		send(second, insert(2))
		_ = second.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if n, _ := second.Read(make([]byte, 1)); n > 0 {
			got = "the second is answered before the first"
			continue
		}
		_ = second.SetReadDeadline(time.Time{})
		send(first, insert(1))
		answer(t, first)
		answer(t, second)
		_, _, got = exchange(t, s, post("POST /query", "d1/DB", `{"sql":"SELECT group_concat(n) FROM t"}`))
		if strings.Contains(got, `"1,2"`) {
			got = ""
			break
		}
	}
	if got != "" {
		t.Errorf("calls past one without order: %s", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	least := time.Hour
	for range 3 { // a machine may be busy once
		dial(t, s)
		begun := time.Now()
		if status, _, body := exchange(t, s, insert(3)); status != http.StatusText(http.StatusOK) && status != "200 OK" {
			t.Fatal(status, body)
		}
		least = min(least, time.Since(begun))
	}
	if least >= wire.HeadPatience {
		t.Errorf("a silent connection takes %v", least)
	}
}
