package manifest_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// TestConcurrentUse loads, walks and reports one site from several goroutines at once, for the race detector.
func TestConcurrentUse(t *testing.T) {
	site := tree(map[string]string{
		manifest.FileName: `{"entry":"w.js","assets":"public","routes":[{"pattern":"/a"},{"pattern":"/a"}],"x":1,
			"bindings":{"database":{"migrations":"db","tables":["b"]},"secrets":{"A":"b"}},"forms":[{"name":"f","event":"custom.f"}]}`,
		"w.js": "", "public/index.html": "<form action=/__pages/forms/g></form>", "public/a?b": "", "db/1.sql": "create table a(id)",
		"wrangler.json": "{",
	})
	src := site[manifest.FileName].Data
	report := func() string {
		_, diags := validate.Load(site, manifest.FileName)
		diags = append(diags, manifest.Validate(&manifest.Manifest{Entry: "/w.js"})...)
		r := diagnostic.NewReport(manifest.FileName, diags)
		return format(t, func(b *bytes.Buffer) error { return diagnostic.WriteText(b, r, src, diagnostic.Terminal{Color: true}) }) +
			format(t, func(b *bytes.Buffer) error { return diagnostic.WriteJSON(b, r, r) }) +
			format(t, func(b *bytes.Buffer) error { return diagnostic.WriteGitHub(b, true, r) }) +
			format(t, func(b *bytes.Buffer) error { return diagnostic.WriteGitHubSummary(b, r) }) +
			format(t, func(b *bytes.Buffer) error { return diagnostic.WriteSARIF(b, r) })
	}
	want := report()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := report(); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}
