package bundler

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
)

func assetPaths(b *Bundle) (paths []string) {
	for _, a := range b.Assets {
		paths = append(paths, a.Path)
	}
	return paths
}

// TestLeftOut serves a site's own folder: nothing private comes along.
func TestLeftOut(t *testing.T) {
	dir := site(t,
		"pages.deploy.json", "{}", ".dev.vars", "A=1", ".env.local", "A=1", "package.json", "{}", "tsconfig.json", "{}",
		"index.html", "", ".well-known/security.txt", "", "img/.DS_Store", "", ".git/config", "", "sub/.well-known/x", "",
		"db/0001.sql", "", "schema.sql", "", "tls/server.pem", "", "id_rsa", "", "data.sqlite-wal", "",
		"node_modules/p/index.js", "export default 1", "sub/node_modules/x.js", "",
		"worker.ts", "import './lib/a'; import p from 'p'; import t from './page.html'; export default { p, t }", "lib/a.ts", "", "page.html", "", "client.js", "",
		".pages/state/site.db", "",
	)
	m := manifest.Manifest{Entry: "worker.ts", Assets: ".", Bindings: manifest.Bindings{Database: &manifest.Database{Migrations: "db"}}}
	bundle, found := builder(t, dir, Options{}).Build(t.Context(), &m)
	if bundle == nil {
		t.Fatal(render(found))
	}
	want := []string{"/.well-known/security.txt", "/client.js", "/index.html", "/page.html", "/schema.sql"}
	if got := assetPaths(bundle); !slices.Equal(got, want) {
		t.Errorf("assets %q, want %q", got, want)
	}
	if text := render(found); !strings.Contains(text, "asset-left-out") || !strings.Contains(text, ".dev.vars") {
		t.Errorf("the warning is missing:\n%s", text)
	}
}

// TestSharedModule is served although the Worker imports it, too.
func TestSharedModule(t *testing.T) {
	dir := site(t, "src/index.js", "import s from '../public/shared.js'; export default { s }", "public/shared.js", "export default 1")
	bundle := build(t, builder(t, dir, Options{}), manifest.Manifest{Entry: "src/index.js", Assets: "public"})
	if got := assetPaths(bundle); !slices.Equal(got, []string{"/shared.js"}) {
		t.Errorf("assets %q", got)
	}
}

func TestDecomposed(t *testing.T) {
	const nfd, nfc = "cafe\u0301.html", "caf\u00e9.html"
	dir := site(t, "public/"+nfd, "")
	b := builder(t, dir, Options{})
	bundle, found := b.Build(t.Context(), &manifest.Manifest{Assets: "public"})
	if bundle == nil || bundle.Assets[0].Path != "/"+nfc || filepath.Base(bundle.Assets[0].File) != nfd || !strings.Contains(render(found), "asset-renamed") {
		t.Errorf("bundle %+v\n%s", bundle, render(found))
	}
	put(t, dir, "public/"+nfc, "")
	if bundle, found = b.Build(t.Context(), &manifest.Manifest{Assets: "public"}); bundle != nil || !strings.Contains(render(found), "path-collision") {
		t.Errorf("both forms: %+v\n%s", bundle, render(found))
	}
}

// TestUnreachable warns of a file that no request can name.
func TestUnreachable(t *testing.T) {
	bundle, found := builder(t, site(t, "public/100%.txt", "x"), Options{}).Build(t.Context(), &manifest.Manifest{Assets: "public"})
	if bundle == nil || found.HasErrors() || !strings.Contains(render(found), `"public/100%.txt" is out of reach`) {
		t.Errorf("bundle %+v\n%s", bundle, render(found))
	}
}

// TestLinks follows a link to a file of the site that may be served, only.
func TestLinks(t *testing.T) {
	for _, c := range []struct{ name, target, want string }{
		{"inside", "../shared/logo.svg", ""},
		{"outside", "../../outside.txt", "leads out of the site's folder"},
		{"absolute", "/etc/hostname", "leads out of the site's folder"},
		{"dangling", "../none", "leads nowhere"},
		{"loop", "link", "or to itself"},
		{"folder", "../shared", "a link to a folder"},
		{"secret", "../.dev.vars", "never served"},
		{"hidden", "../.git/config", "never served"},
		{"manifest", "../pages.deploy.json", "never served"},
		{"migration", "../db/1.sql", "never served"},
		{"package", "../node_modules/p.js", "never served"},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := site(t, "outside.txt", "x", "site/public/index.html", "", "site/shared/logo.svg", "<svg/>", "site/.dev.vars", "A=1",
				"site/.git/config", "", "site/pages.deploy.json", "{}", "site/db/1.sql", "", "site/node_modules/p.js", "")
			if err := os.Symlink(filepath.FromSlash(c.target), filepath.Join(top, "site/public/link")); err != nil {
				t.Fatal(err)
			}
			m := manifest.Manifest{Assets: "public", Bindings: manifest.Bindings{Database: &manifest.Database{Migrations: "db"}}}
			bundle, found := builder(t, filepath.Join(top, "site"), Options{}).Build(t.Context(), &m)
			if c.want == "" {
				if bundle == nil || !slices.Equal(assetPaths(bundle), []string{"/index.html", "/link"}) || bundle.Assets[1].Size != 6 {
					t.Errorf("bundle %+v\n%s", bundle, render(found))
				}
				return
			}
			if bundle != nil || !strings.Contains(render(found), c.want) {
				t.Errorf("got %+v, want %q in\n%s", bundle, c.want, render(found))
			}
		})
	}
}

// TestHashCache keeps a hash only as long as nothing can have changed unseen.
func TestHashCache(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	dir := site(t, "public/a.txt", "one")
	file := filepath.Join(dir, "public/a.txt")
	b := builder(t, dir, Options{Now: func() time.Time { return now }})
	hash := func() string { return build(t, b, manifest.Manifest{Assets: "public"}).Assets[0].SHA256 }
	stamp := func(at time.Time) {
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	rewrite := func(text string, at time.Time) {
		put(t, dir, "public/a.txt", text)
		stamp(at)
	}

	stamp(start)
	hash() // within the clock's tick: not kept
	rewrite("two", start)
	if hash() != sum([]byte("two")) {
		t.Error("a change within a tick of the clock was not seen")
	}
	now = start.Add(time.Minute)
	hash() // kept
	rewrite("ten", start)
	if hash() != sum([]byte("two")) {
		t.Error("the file was read again, though nothing shows a change")
	}
	stamp(start.Add(time.Second))
	if hash() != sum([]byte("ten")) {
		t.Error("another time was not seen")
	}
	replacement := filepath.Join(dir, "replacement")
	put(t, dir, "replacement", "six")
	if err := os.Chtimes(replacement, start.Add(time.Second), start.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(replacement, file); err != nil {
		t.Fatal(err)
	}
	if hash() != sum([]byte("six")) {
		t.Error("another file in its place was not seen")
	}
}

// BenchmarkRebuild builds a site of 20,000 files again: nothing has changed.
func BenchmarkRebuild(b *testing.B) {
	dir := b.TempDir()
	for i := range 20_000 {
		folder := filepath.Join(dir, "public", fmt.Sprintf("d%03d", i%200))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("f%d.html", i)), []byte("<p>hi</p>"), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	later := func() time.Time { return time.Now().Add(time.Minute) }
	builder := New(dir, Options{Now: later})
	defer builder.Close()
	m := &manifest.Manifest{Assets: "public"}
	builder.Build(b.Context(), m)
	for b.Loop() {
		if bundle, _ := builder.Build(b.Context(), m); len(bundle.Assets) != 20_000 {
			b.Fatal("files are missing")
		}
	}
}

// TestAssetsIgnore: a Worker among the assets, as SvelteKit and Astro leave it, is built and not served. The list is
// watched, also before there is one.
func TestAssetsIgnore(t *testing.T) {
	dir := site(t, "dist/index.html", "<h1>", "dist/_worker.js/index.js", `import a from "./chunks/a.mjs"; export default {fetch: () => new Response(a)}`,
		"dist/_worker.js/chunks/a.mjs", `export default "a"`, "dist/_routes.json", "{}")
	b := builder(t, dir, Options{})
	m := manifest.Manifest{Entry: "dist/_worker.js/index.js", Assets: "dist"}
	if bundle, _ := b.Build(t.Context(), &m); bundle != nil {
		t.Errorf("the Worker is public: %q", assetPaths(bundle))
	}
	list := filepath.Join(realDir(dir), "dist", ".assetsignore")
	if !slices.Contains(b.Inputs(), list) {
		t.Errorf("%q is not watched: %q", list, b.Inputs())
	}
	put(t, dir, "dist/.assetsignore", "_worker.js\n_routes.json\n")
	bundle := build(t, b, m)
	if got := assetPaths(bundle); !slices.Equal(got, []string{"/index.html"}) || !strings.Contains(string(bundle.Worker.Code), `"a"`) {
		t.Errorf("served: %q", got)
	}
}
