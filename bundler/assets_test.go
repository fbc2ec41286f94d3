package bundler

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
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
		"worker.ts", "import './lib/a'; import p from 'p'; import t from './page.html'; export default { p, t }", "lib/a.ts", "",
		"page.html", "", "client.js", "",
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
	var left []string
	for _, l := range bundle.LeftOut {
		left = append(left, l.Reason+" "+l.Path)
	}
	if want := []string{
		"private .dev.vars", "private .env.local", "hidden .git/", "hidden .pages/", "private data.sqlite-wal", "private db/",
		"private id_rsa", "hidden img/.DS_Store",
		"source lib/a.ts", "hidden node_modules/", "private package.json", "private pages.deploy.json", "hidden sub/.well-known/",
		"hidden sub/node_modules/",
		"private tls/server.pem", "private tsconfig.json", "private worker.ts",
	}; !slices.Equal(left, want) {
		t.Errorf("left out\n%q, want\n%q", left, want)
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
	if bundle == nil || bundle.Assets[0].Path != "/"+nfc || filepath.Base(bundle.Assets[0].File) != nfd ||
		!strings.Contains(render(found), "asset-renamed") {
		t.Errorf("bundle %+v\n%s", bundle, render(found))
	}
	put(t, dir, "public/"+nfc, "")
	if bundle, found = b.Build(t.Context(), &manifest.Manifest{Assets: "public"}); bundle != nil ||
		!strings.Contains(render(found), "path_collision") {
		t.Errorf("both forms: %+v\n%s", bundle, render(found))
	}
}

// TestLinks follows a link to a file of the site that may be served, only.
func TestLinks(t *testing.T) {
	for _, c := range []struct{ name, target, want string }{
		{"inside", "../shared/logo.svg", ""},
		{"outside", "../../outside.txt", "leads out of the site's folder"},
		{"absolute", "/etc/hostname", "an absolute link, which holds on this machine alone"},
		{"dangling", "../none", "is a link to nothing"},
		{"loop", "link", "leads to itself"},
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
			testmachine.Link(t, filepath.FromSlash(c.target), filepath.Join(top, "site/public/link"))
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

// TestSwapped: between the walk and the reading something else takes a file's
// place. The reader reads only files that may be served.
func TestSwapped(t *testing.T) {
	for _, c := range []struct {
		name, link, want string
		swap             func(t *testing.T, dir string)
	}{
		{"a link to a secret", "../.dev.vars", "path_secret", nil},
		{"a link to the package", "../package.json", "path_reserved", nil},
		{"a link outside", "../../outside.txt", "path_symlink_escape", nil},
		{"a link to itself", "a.txt", "path_symlink_loop", nil},
		{"a link to another public file", "b.txt", "", nil},
		{"a folder above", "", "path_symlink_escape", func(t *testing.T, dir string) {
			linkInstead(t, filepath.Join(dir, "public/sub"), "../private")
		}},
		{"another file", "", "", func(t *testing.T, dir string) {
			put(t, dir, "public/.new", "<b>")
			if err := os.Rename(filepath.Join(dir, "public/.new"), filepath.Join(dir, "public/a.txt")); err != nil {
				t.Fatal(err)
			}
		}},
		{"the target of a link", "", "", func(t *testing.T, dir string) {
			put(t, dir, "shared/new", "<b>")
			if err := os.Rename(filepath.Join(dir, "shared/new"), filepath.Join(dir, "shared/logo.svg")); err != nil {
				t.Fatal(err)
			}
		}},
		{"nothing", "", "", func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "public/a.txt")); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := site(t, "outside.txt", "secret", "site/.dev.vars", "secret", "site/package.json", "secret",
				"site/private/c.txt", "secret",
				"site/public/a.txt", "<a>", "site/public/b.txt", "<b>", "site/public/sub/c.txt", "<c>", "site/shared/logo.svg", "<a>")
			dir := filepath.Join(top, "site")
			testmachine.Link(t, "../shared/logo.svg", filepath.Join(dir, "public/logo.svg"))
			change := func() {
				if c.swap != nil {
					c.swap(t, dir)
					return
				}
				linkInstead(t, filepath.Join(dir, "public/a.txt"), c.link)
			}
			m := &manifest.Manifest{Assets: "public"}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			cache := hashCache{now: time.Now}
			var before map[string]os.FileInfo
			reads := newReads(dir)
			w := walkAssets(t.Context(), dir, root, m, nil, reads, func(ctx context.Context, from reading, files []candidate) error {
				before = (&assetWalk{files: files}).infos()
				change()
				return cache.fill(ctx, from, files)
			})
			switch {
			case c.want != "" && (len(w.diagnostics) != 1 || w.diagnostics[0].Code != c.want):
				t.Errorf("want %s, got %v", c.want, w.diagnostics)
			case c.want == "" && len(w.diagnostics) > 0:
				t.Error(w.diagnostics)
			}
			for _, f := range w.files {
				if f.sum == sum([]byte("secret")) || c.want == "" && f.sum == "" {
					t.Errorf("%s has the hash %s", f.file, f.sum)
				}
			}
			opener := (&Bundle{read: before}).Opener(root, m.AssetsFolder())
			defer opener.Close()
			for _, name := range []string{"public/a.txt", "public/sub/c.txt", "public/logo.svg"} {
				opened, err := opener.Open(name)
				if err != nil {
					continue
				}
				text, err := io.ReadAll(opened)
				if _ = opened.Close(); err != nil || string(text) == "secret" {
					t.Errorf("%s was opened: %q, %v", name, text, err)
				}
			}
		})
	}
}

// TestOpener opens files of more folders than it keeps, from several goroutines, and
// those that came after the build.
func TestOpener(t *testing.T) {
	var files []string
	for i := range 200 {
		files = append(files, fmt.Sprintf("public/d%03d/f.txt", i), fmt.Sprint("text ", i))
	}
	dir := site(t, files...)
	bundle := build(t, builder(t, dir, Options{}), manifest.Manifest{Assets: "public"})
	put(t, dir, "public/d000/new.txt", "text new")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	opener := bundle.Opener(root, publicfiles.Folder{Dir: "public"})
	defer opener.Close()
	read := func(name, want string) {
		f, err := opener.Open(name)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if text, err := io.ReadAll(f); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 400 {
				n := (i*37 + worker*11) % 200
				read(files[2*n], files[2*n+1])
			}
		})
	}
	wg.Wait()
	read("public/d000/new.txt", "text new")
	if f, err := opener.Open("public/d000/none.txt"); err == nil {
		t.Errorf("%s was opened", f.Name())
	}
}

// linkInstead puts a link in the place of a file or folder.
func linkInstead(t *testing.T, name, target string) {
	t.Helper()
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
	testmachine.Link(t, filepath.FromSlash(target), name)
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

// TestKeys refuses a private key by the bytes that would be published, whenever it came.
func TestKeys(t *testing.T) {
	const key = "-----BEGIN PRIVATE KEY-----\nMII"
	dir := site(t, "public/index.html", "", "public/old.txt", "text")
	later := func() time.Time { return time.Now().Add(time.Minute) } // late enough for hashes to be stored
	b := builder(t, dir, Options{Now: later})
	m := &manifest.Manifest{Assets: "public"}
	if bundle, found := b.Build(t.Context(), m); bundle == nil {
		t.Fatal(render(found))
	}
	put(t, dir, "public/old.txt", key)
	for range 2 { // read, and not read again
		bundle, found := b.Build(t.Context(), m)
		if bundle != nil || len(found) != 1 || found[0].Code != "asset-secret" || found[0].Path != "/assets" ||
			!strings.Contains(found[0].Fix, `out of "public"`) {
			t.Errorf("bundle %v\n%s", bundle != nil, render(found))
		}
	}
	put(t, dir, "public/old.txt", "text\n"+key)
	if bundle, found := b.Build(t.Context(), m); bundle == nil {
		t.Error(render(found))
	}
}

// BenchmarkRebuild builds a site of 20,000 files again, without a change.
func BenchmarkRebuild(b *testing.B) {
	dir := folder(b)
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
	dir := site(t, "dist/index.html", "<h1>", "dist/_worker.js/index.js",
		`import a from "./chunks/a.mjs"; export default {fetch: () => new Response(a)}`,
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
	put(t, dir, "dist/_headers", "/*\n  X-A: b\n")
	put(t, dir, "dist/.assetsignore", "_worker.js\n_routes.json\n_headers\n_redirects\n")
	if got := assetPaths(build(t, b, m)); !slices.Equal(got, []string{"/_headers", "/index.html"}) {
		t.Errorf("rules that SvelteKit lists too do not come along: %q", got)
	}
}

// TestCheckout: a folder whose files disappear before they are read is listed again. Files that
// disappear every time are reported.
func TestCheckout(t *testing.T) {
	dir := site(t, "public/index.html", "home", "public/a.html", "a", "public/docs/b.html", "b")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	hashes := hashCache{now: time.Now}
	m := manifest.Manifest{Assets: "public"}
	fills := 0
	removing := func(ctx context.Context, from reading, files []candidate) error {
		fills++
		for _, name := range []string{"public/a.html", "public/docs"} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		return hashes.fill(ctx, from, files)
	}
	w := walkAssets(t.Context(), dir, root, &m, nil, newReads(dir), removing)
	if fills != 2 || len(w.diagnostics) != 0 || len(w.files) != 1 || w.files[0].path != "index.html" || len(w.files[0].sum) != 64 {
		t.Errorf("after %d times: %+v", fills, w)
	}
	fills = 0
	w = walkAssets(t.Context(), dir, root, &m, nil, newReads(dir), func(context.Context, reading, []candidate) error {
		fills++
		return fs.ErrNotExist
	})
	if fills != maxWalks || !w.diagnostics.HasErrors() {
		t.Errorf("after %d times: %+v", fills, w)
	}
}
