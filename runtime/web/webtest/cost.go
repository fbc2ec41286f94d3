package webtest

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
)

// Works is the beginning of a module whose handler runs one of these bodies of functions, by its name: see [Worker.Cheaper].
func Works(bodies map[string]string) string {
	var b strings.Builder
	b.WriteString("const works = {\n")
	for name, body := range bodies {
		fmt.Fprintf(&b, "%q() { %s },\n", name, body)
	}
	b.WriteString(`};
export default { fetch(request) {
	works[decodeURIComponent(new URL(request.url).pathname.slice(1))]();
	return new Response("done");
} };
`)
	return b.String()
}

// Cheaper fails the test unless one work takes less CPU time than another, by a factor at least. JavaScript cannot measure
// it, since its clock stands still. The two alternate, and the best of several runs counts, as other work of the machine
// may slow any of them.
func (w *Worker) Cheaper(work, than string, times float64) {
	w.t.Helper()
	const least, most = 5, 25
	a, b := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	cheaper := func() bool { return float64(a)*times < float64(b) }
	for i := 0; i < least || i < most && !cheaper(); i++ {
		a, b = min(a, w.cost(work)), min(b, w.cost(than))
	}
	if !cheaper() {
		w.t.Errorf("%s takes %v and %s %v, want %.2g times less at least", work, a, than, b, times)
	}
}

// cost is the CPU time of a request.
func (w *Worker) cost(work string) time.Duration {
	w.t.Helper()
	rec := httptest.NewRecorder()
	x := web.NewExchange(rec, httptest.NewRequest(http.MethodGet, "/"+url.PathEscape(work), nil))
	scope := engine.NewScope(w.t.Context(), w.Budget, x)
	defer scope.End(nil)
	if err := w.Host.Serve(w.Isolate, scope, x); err != nil || rec.Body.String() != "done" {
		w.t.Fatalf("%s: %q, %v", work, rec.Body, err)
	}
	return scope.CPU()
}
