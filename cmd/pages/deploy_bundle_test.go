package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
)

// TestSentFiles: the files of rules are sent beside the static files, which they are none of.
func TestSentFiles(t *testing.T) {
	site := sent(t, map[string]string{
		"pages.deploy.json": `{"assets": "public"}`, "_headers": "no asset",
		"public/index.html": "<h1>Home</h1>", "public/_redirects": "/old / 301\n", "public/_headers": "/*\n  X-Frame-Options: DENY\n",
	})
	var names []string
	for _, f := range site.Files {
		names = append(names, f.Path)
	}
	if want := []string{"public/_headers", "public/_redirects", "public/index.html"}; !slices.Equal(names, want) {
		t.Errorf("sent %q, want %q", names, want)
	}
}

// TestSentManifest: a folder with nothing in it yet, which the service refuses, is no
// reason not to publish.
func TestSentManifest(t *testing.T) {
	site := sent(t, map[string]string{
		"pages.deploy.json": `{"assets": "public", "bindings": {"database": {"migrations": "migrations", "tables": ["a"]}, "kv": {}}, "routes": [{"pattern": "/x"}], "entry": "w.js"}`,
		"w.js":              "export default { fetch() { return new Response('') } }", "public/.assetsignore": "", "migrations/README": "",
	})
	const want = `{"bindings":{"database":{"tables":["a"]},"kv":{"name":"KV"},"projectDatabase":"none"},"entry":"_worker/worker.js",` +
		`"limits":{"cpuMs":10000,"subRequests":20},"routes":[{"access":"public","pattern":"/x"}]}`
	if got := string(site.Manifest); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// sent is what is sent of a site of these files.
func sent(t *testing.T, files map[string]string) *builtSite {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, diags := manifest.Load(os.DirFS(dir), "pages.deploy.json")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	site, err := (&cli{env: env{now: time.Now}}).buildSite(t.Context(), dir, m, false, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.close)
	return site
}
