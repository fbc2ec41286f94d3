package runtime_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// A response over the limit is refused before its first byte, or breaks off if it is streamed: it is never cut short and reported as a
// success.
func TestAnswerLimit(t *testing.T) {
	const code = `
		const stream = (pieces, headers) => new Response(new ReadableStream({
		  pull(c) { if (pieces-- > 0) c.enqueue(new Uint8Array(1024)); else c.close(); } }), { headers });
		export default { async fetch(request) {
		  const { pathname } = new URL(request.url);
		  if (pathname === "/text") return new Response("x".repeat(4097));
		  if (pathname === "/whole") return new Response("x".repeat(4096));
		  if (pathname === "/stream") return stream(5);
		  if (pathname === "/exact") return stream(4);
		  if (pathname === "/declared") return stream(5, { "content-length": "5120" });
		  if (pathname === "/zip") return stream(5, { "content-encoding": "gzip" });
		  if (pathname === "/same") return new Response(null, { status: 304, headers: { "content-length": "9999" } });
		  if (pathname === "/echo") return new Response(request.body);
		} };`
	logged := make(chan string, 10)
	// next is the next line of the log, which may come after the client has seen
	// the end; "" when there is none and none is waited for.
	next := func(wait bool) string {
		select {
		case line := <-logged:
			return line
		default:
		}
		if !wait {
			return ""
		}
		return <-logged
	}
	start := func(mode pagesruntime.LimitMode) string {
		w := mustStart(t, code, pagesruntime.WorkerOptions{
			Limits:  pagesruntime.Limits{ResponseBytes: 4096, Mode: mode},
			Console: func(l pagesruntime.Line) { logged <- l.Level + ": " + l.Text },
		})
		return serve(t, w).URL
	}
	do := func(url, method, path, body string) (status, length int, broke bool) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		return resp.StatusCode, len(got), errors.Is(err, io.ErrUnexpectedEOF)
	}
	enforced, warned, off := start(pagesruntime.Enforce), start(pagesruntime.Warn), start(pagesruntime.Off)
	large := strings.Repeat("x", 5000)
	for _, c := range []struct {
		path, method, body string
		status             int
		broke              bool
		log                string
	}{
		{"/text", "GET", "", 503, false, ""},
		{"/text", "HEAD", "", 200, false, ""},
		{"/whole", "GET", "", 200, false, ""},
		{"/exact", "GET", "", 200, false, ""},
		{"/stream", "GET", "", 200, true, "error: the response broke off: the response is larger than 4 KiB"},
		{"/stream", "HEAD", "", 200, false, ""},
		{"/declared", "GET", "", 503, false, ""},
		{"/zip", "GET", "", 200, true, "error: the response broke off: the response is larger than 4 KiB"},
		{"/same", "GET", "", 304, false, ""},
		{"/echo", "POST", large, 503, false, ""},
	} {
		t.Run(c.path, func(t *testing.T) {
			status, _, broke := do(enforced, c.method, c.path, c.body)
			if status != c.status || broke != c.broke {
				t.Errorf("%s %s: %d, broke off %v; want %d, %v", c.method, c.path, status, broke, c.status, c.broke)
			}
			if got := next(c.log != ""); got != c.log {
				t.Errorf("%s %s: log %q, want %q", c.method, c.path, got, c.log)
			}
		})
	}
	if status, length, broke := do(warned, "GET", "/stream", ""); status != 200 || length != 5120 || broke {
		t.Errorf("warn: %d, %d bytes, %v", status, length, broke)
	}
	if got := next(true); got != "warn: the response is larger than 4 KiB" {
		t.Errorf("warn: %q", got)
	}
	if status, length, broke := do(off, "GET", "/stream", ""); status != 200 || length != 5120 || broke || next(false) != "" {
		t.Errorf("off: %d, %d bytes, %v", status, length, broke)
	}
}
