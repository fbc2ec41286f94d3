package runtime_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestStreamHead: a stream that fails before anything was waited for has the page
// of a failure, as an exception has; the head of one that waits goes out at once.
func TestStreamHead(t *testing.T) {
	w := mustStart(t, `
		let go;
		const one = new TextEncoder().encode("one");
		const streams = {
			start: () => new ReadableStream({ start(c) { c.error(new Error("boom")); } }),
			pull: () => new ReadableStream({ pull(c) { c.error(new Error("boom")); } }),
			async: () => new ReadableStream({ async pull() { await null; await null; throw new Error("boom"); } }),
			iterator: () => ReadableStream.from((async function* () { throw new Error("boom"); })()),
			transform: () => { const { readable, writable } = new TransformStream(); writable.abort(new Error("boom")); return readable; },
			through: () => ReadableStream.from(["a"]).pipeThrough(new TransformStream({ transform() { throw new Error("boom"); } })),
			empty: () => new ReadableStream({ start(c) { c.close(); } }),
			second: () => { let n = 0; return new ReadableStream({ pull(c) { if (n++) throw new Error("boom"); c.enqueue(one); } }); },
			late: () => new ReadableStream({ async pull() { await gone(); throw new Error("boom"); } }),
			waits: () => new ReadableStream({ async start(c) { await gone(); c.enqueue(one); c.close(); } }),
		};
		async function gone() {
			const beat = setInterval(() => {}, 5);
			await new Promise((f) => { go = f; });
			clearInterval(beat);
		}
		export default { fetch(request) {
			const { pathname } = new URL(request.url);
			if (pathname === "/go") return new Response(String(go()));
			return new Response(streams[pathname.slice(1)](), { headers: { "x-mine": "1" } });
		} }`, pagesruntime.WorkerOptions{Isolates: 1})
	s := serve(t, w)
	for _, c := range []struct {
		path   string
		status int
		body   string
		broke  bool
	}{
		{"/start", 500, "boom", false},
		{"/pull", 500, "boom", false},
		{"/async", 500, "boom", false},
		{"/iterator", 500, "boom", false},
		{"/transform", 500, "boom", false},
		{"/through", 500, "boom", false},
		{"/empty", 200, "", false},
		{"/second", 200, "one", true},
	} {
		t.Run(c.path, func(t *testing.T) {
			resp, err := s.Client().Get(s.URL + c.path)
			if err != nil {
				t.Fatalf("%s: %v", c.path, err)
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if broke := errors.Is(err, io.ErrUnexpectedEOF); resp.StatusCode != c.status || !strings.Contains(string(body), c.body) ||
				broke != c.broke {
				t.Errorf("%s: %d %q, broke off %v; want %d %q, %v", c.path, resp.StatusCode, body, broke, c.status, c.body, c.broke)
			}
			if mine := resp.Header.Get("X-Mine"); (mine == "1") != (c.status == 200) {
				t.Errorf("%s: a header of the answer: %q", c.path, mine)
			}
		})
	}
	for path, breaks := range map[string]bool{"/waits": false, "/late": true} {
		resp, err := s.Client().Get(s.URL + path) // returns with the head
		if err != nil {
			t.Fatal(err)
		}
		if _, got := get(t, s, "/go"); got != "undefined" {
			t.Errorf("%s: the one that waits is not found: %q", path, got)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if broke := errors.Is(err, io.ErrUnexpectedEOF); resp.StatusCode != 200 || resp.Header.Get("X-Mine") != "1" ||
			broke != breaks || !broke && string(body) != "one" {
			t.Errorf("%s: %d %q, %v", path, resp.StatusCode, body, err)
		}
	}
}
