package runtime_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// A loop that waits for the clock, which stands still while code runs, hears why it does not end.
func TestLoopThatWaitsForTheClock(t *testing.T) {
	w := mustStart(t, `import { hrtime } from "node:process";
		const ways = {
			"/date": () => { const began = Date.now(); while (Date.now() - began < 5); },
			"/performance": () => { const began = performance.now(); while (performance.now() - began < 5); },
			"/hrtime": () => { const began = hrtime.bigint(); while (hrtime.bigint() - began < 5_000_000n); },
			"/other": () => { for (;;); },
		};
		export default { fetch(request) { ways[new URL(request.url).pathname](); return new Response("done") } }`,
		pagesruntime.WorkerOptions{NodeJS: true, Limits: pagesruntime.Limits{CPU: 100 * time.Millisecond}})
	for path, hint := range map[string]bool{"/date": true, "/performance": true, "/hrtime": true, "/other": false} {
		_, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
		f, ok := errors.AsType[*pagesruntime.Error](err)
		if !ok || f.Kind != pagesruntime.KindCPU || strings.Contains(f.Fix, "the clock stands still while code runs") != hint {
			t.Errorf("%s: %+v", path, err)
		}
	}
}
