package upstream_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// BenchmarkModule measures a module of two kilobytes for a stranger, and the same from the dev server itself.
func BenchmarkModule(b *testing.B) {
	text := `import "/b.js"; // ` + strings.Repeat("x", 2000)
	for _, row := range []struct {
		name   string
		routes []manifest.Route
	}{{"without members", nil}, {"with members", []manifest.Route{club}}} {
		b.Run(row.name, func(b *testing.B) {
			f := newFront(b, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/" {
					html(w, `<script type=module src=/a.js></script>`)
					return
				}
				module(w, text)
			}, row.routes...)
			get := func(url string) {
				resp, err := http.Get(url)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			get(f.URL + "/")
			b.ReportAllocs()
			for b.Loop() {
				get(f.URL + "/a.js")
			}
			f.seen.Load()
		})
	}
}
