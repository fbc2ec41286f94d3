package runtime_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/web"
)

// TestFullHeap: a promise cannot be settled for lack of memory, and the request fails with the limit
// instead of waiting without end.
func TestFullHeap(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/later" {
			time.Sleep(300 * time.Millisecond)
		}
		_, _ = io.WriteString(rw, strings.Repeat("text ", 1000))
	}))
	defer origin.Close()
	w := mustStart(t, strings.ReplaceAll(`let all;
		export default { async fetch(request) {
			if (request.headers.get("fill") === null) return new Response("fine");
			const text = fetch("ORIGIN/later").then((r) => r.text());
			await fetch("ORIGIN/");
			const fill = (make) => { try { for (;;) all = make(all) } catch {} };
			for (let n = 1 << 24; n > 256; n >>= 1) fill((next) => ({ next, is: new Uint8Array(n) }));
			fill((next) => ({ next, is: {} }));
			fill((next) => ({ next }));
			fill((next) => [next]);
			await text;
			return new Response("done");
		} }`, "ORIGIN", origin.URL), pagesruntime.WorkerOptions{
		Isolates: 1, Limits: pagesruntime.Limits{CPU: 20 * time.Second, SubRequests: 100},
		Console: func(pagesruntime.Line) {}, Web: web.Options{AllowFetch: []string{"127.0.0.1"}},
	})
	for range 5 {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Fill", "1")
		_, err := w.Serve(httptest.NewRecorder(), r)
		f, ok := errors.AsType[*pagesruntime.Error](err)
		if !ok || f.Kind != pagesruntime.KindMemory {
			t.Errorf("got %v", err)
		}
		rec := httptest.NewRecorder()
		if _, err := w.Serve(rec, httptest.NewRequest(http.MethodGet, "/", nil)); err != nil || rec.Body.String() != "fine" {
			t.Errorf("the next request: %q, %v", rec.Body, err)
		}
	}
}
