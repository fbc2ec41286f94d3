package runtime_test

import (
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// BenchmarkOpen is the start of the engine, prelude included.
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		r, err := pagesruntime.Open(b.Context(), pagesruntime.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkServe is one request through a Worker without a network.
func BenchmarkServe(b *testing.B) {
	w := mustStart(b, `export default { fetch: () => Response.json({ ok: true }) }`, pagesruntime.WorkerOptions{
		Limits: pagesruntime.Limits{CPU: time.Second},
	})
	s := serve(b, w)
	for b.Loop() {
		get(b, s, "/")
	}
}
