package manifest_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// TestConcurrentUse loads, walks and reports one site from several goroutines at once, for the race detector.
func TestConcurrentUse(t *testing.T) {
	site := tree(map[string]string{
		manifest.FileName: `{"entry":"w.js","assets":"public","routes":[{"pattern":"/a"},{"pattern":"/a"}],"x":1,
			"bindings":{"database":{"migrations":"db","tables":["b"]},"secrets":{"A":"b"}},"forms":[{"name":"f","event":"custom.f"}]}`,
		"w.js": "", "public/index.html": "<form action=/__pages/forms/g></form>", "public/a?b": "", "db/1.sql": "create table a(id)", "wrangler.json": "{",
	})
	src := site[manifest.FileName].Data
	report := func() string {
		_, diags := manifest.Load(site, manifest.FileName)
		diags = append(diags, manifest.Validate(&manifest.Manifest{Entry: "/w.js"})...)
		r := manifest.NewReport(manifest.FileName, diags)
		return format(t, func(b *bytes.Buffer) error { return manifest.WriteText(b, r, src, manifest.Terminal{Color: true}) }) +
			format(t, func(b *bytes.Buffer) error { return manifest.WriteJSON(b, r, r) }) +
			format(t, func(b *bytes.Buffer) error { return manifest.WriteGitHub(b, true, r) }) +
			format(t, func(b *bytes.Buffer) error { return manifest.WriteGitHubSummary(b, r) }) +
			format(t, func(b *bytes.Buffer) error { return manifest.WriteSARIF(b, r) })
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
