package runtime_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestOpenAnswerLeavesItsIsolate: while a stream of events is open, requests
// that come one after the other meet the isolate that it is in, and so the
// variables of its module.
func TestOpenAnswerLeavesItsIsolate(t *testing.T) {
	w := mustStart(t, `
		const open = [];
		export default { async fetch(request) {
			const { pathname } = new URL(request.url);
			if (pathname !== "/events") return new Response(String(open.length));
			return new Response(new ReadableStream({ start(controller) {
				open.push(controller);
				controller.enqueue(new TextEncoder().encode("data: " + open.length + "\n\n"));
			} }), { headers: { "content-type": "text/event-stream" } });
		} }`, pagesruntime.WorkerOptions{Isolates: 4, Console: func(pagesruntime.Line) {}})
	s := serve(t, w)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	ask := func(path string) *http.Response {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	for _, want := range []string{"data: 1\n\n", "data: 2\n\n"} {
		first := make([]byte, len(want))
		if _, err := io.ReadFull(ask("/events").Body, first); err != nil || string(first) != want {
			t.Fatalf("%q, %v; want %q", first, err, want)
		}
		if _, got := get(t, s, "/"); got != want[6:7] {
			t.Errorf("while %s are open: %s", want[6:7], got)
		}
	}
}

// TestIsolatesThatAreOver: a Worker continues with new isolates.
func TestIsolatesThatAreOver(t *testing.T) {
	for name, pristine := range map[string]bool{"shared": false, "request": true} {
		w := mustStart(
			t, `let n = 0; export default { fetch() { return new Response(`+"`${++n}`"+`) } }`,
			pagesruntime.WorkerOptions{Pristine: pristine},
		)
		s := serve(t, w)
		for range 3 {
			if _, got := get(t, s, "/"); got != "1" {
				t.Errorf("%s: got %q", name, got)
			}
			w.EndIsolates()
		}
	}
}
