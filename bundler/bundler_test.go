package bundler

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

var update = flag.Bool("update", false, "write the results to testdata")

// folder is a new one, below a package.json of its own: one that lies above, in the system's folder of temporary files, says
// nothing of the tests then.
func folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "package.json"), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// site writes the files ("name", "text", …) to a new folder.
func site(t testing.TB, files ...string) string {
	t.Helper()
	dir := folder(t)
	for i := 0; i < len(files); i += 2 {
		put(t, dir, files[i], files[i+1])
	}
	return dir
}

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func builder(t testing.TB, dir string, o Options) *Builder {
	t.Helper()
	b := New(dir, o)
	t.Cleanup(b.Close)
	return b
}

// build builds a site that must have no errors.
func build(t *testing.T, b *Builder, m manifest.Manifest) *Bundle {
	t.Helper()
	bundle, found := b.Build(t.Context(), &m)
	if found.HasErrors() || bundle == nil {
		t.Fatalf("the site does not build:\n%s", render(found))
	}
	return bundle
}

// render writes diagnostics one line each.
func render(found diagnostic.List) string {
	var s strings.Builder
	for _, d := range found {
		fmt.Fprintf(&s, "%s:%d:%d-%d:%d: %s %s: %s", d.File, d.Line, d.Column, d.EndLine, d.EndColumn, d.Severity, d.Code, d.Message)
		if d.Path != "" {
			fmt.Fprintf(&s, " {%s}", d.Path)
		}
		if d.Fix != "" {
			fmt.Fprintf(&s, " [%s]", d.Fix)
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// TestDiagnostics builds each testdata/*.txtar: a manifest and files, and in
// "want" the diagnostics. -update writes them.
func TestDiagnostics(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			dir, want := folder(t), ""
			var m *manifest.Manifest
			for _, f := range archive.Files {
				switch f.Name {
				case "want":
					want = string(f.Data)
				case manifest.FileName:
					var bad diagnostic.List
					if m, bad = manifest.Parse(f.Name, f.Data); bad.HasErrors() {
						t.Fatal(render(bad))
					}
					fallthrough
				default:
					put(t, dir, f.Name, string(f.Data))
				}
			}
			bundle, found := builder(t, dir, Options{}).Build(t.Context(), m)
			if found.HasErrors() != (bundle == nil) {
				t.Errorf("errors = %v, but no bundle = %v", found.HasErrors(), bundle == nil)
			}
			if got := render(found); got != want {
				if *update {
					writeWant(t, name, archive, got)
					return
				}
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func writeWant(t *testing.T, name string, a *txtar.Archive, got string) {
	t.Helper()
	i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
	if i < 0 {
		i, a.Files = len(a.Files), append(a.Files, txtar.File{Name: "want"})
	}
	a.Files[i].Data = []byte(got)
	if err := os.WriteFile(name, txtar.Format(a), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestWholeBundle looks at every part of one Bundle.
func TestWholeBundle(t *testing.T) {
	dir := site(t,
		"src/index.ts", "import { greet } from './greet';\nexport default { fetch: (r: Request): Response => new Response(greet('é')) };\n",
		"src/greet.ts", "export const greet = (s: string) => `hello ${s}`;\n",
		"public/index.html", "<h1>hi</h1>",
		"public/css/site.css", "h1 { color: teal }",
		"migrations/0002_b.sql", "SELECT 2;",
		"migrations/0001_a.sql", "SELECT 1;",
		"migrations/readme.md", "no migration",
	)
	m := manifest.Manifest{
		Entry: "src/index.ts", Assets: "public",
		Bindings: manifest.Bindings{Database: &manifest.Database{Migrations: "migrations", Tables: []string{"a"}}},
	}
	b := builder(t, dir, Options{})
	bundle := build(t, b, m)

	if w := bundle.Worker; w == nil || w.Name != "worker.js" || !strings.Contains(string(w.Code), "hello ${s}") {
		t.Errorf("the Worker is %+v", w)
	}
	if s := string(bundle.Worker.Map); !strings.Contains(s, `"src/greet.ts"`) || !strings.Contains(s, "sourcesContent") {
		t.Errorf("the source map is %s", s)
	}
	var paths []string
	for _, a := range bundle.Assets {
		paths = append(paths, fmt.Sprint(a.Path, " ", a.Size, " ", a.SHA256[:8], " ", a.ContentType))
	}
	want := []string{
		"/css/site.css 18 " + sum([]byte("h1 { color: teal }"))[:8] + " text/css; charset=utf-8",
		"/index.html 11 " + sum([]byte("<h1>hi</h1>"))[:8] + " text/html; charset=utf-8",
	}
	if !slices.Equal(paths, want) {
		t.Errorf("assets %q, want %q", paths, want)
	}
	if len(bundle.Migrations) != 2 || bundle.Migrations[0].Name != "0001_a.sql" || bundle.Migrations[1].SHA256 != sum([]byte("SELECT 2;")) {
		t.Errorf("migrations %+v", bundle.Migrations)
	}
	if got, want := string(bundle.Manifest), `{"assets":"public","bindings":{"database":{"migrations":"migrations","tables":["a"]}},`+
		`"entry":"src/index.ts"}`; got != want {
		t.Errorf("manifest %s, want %s", got, want)
	}
	for _, input := range []string{"src/index.ts", "src/greet.ts", "public", "public/css", "migrations"} {
		if !slices.Contains(b.Inputs(), filepath.Join(b.dir, input)) {
			t.Errorf("inputs %q lack %s", b.Inputs(), input)
		}
	}
}

// TestRebuild edits one thing at a time: the digest changes, and changes back.
func TestRebuild(t *testing.T) {
	files := map[string]string{
		"index.ts":         "import { a } from './a';\nexport default { fetch: () => a };",
		"a.ts":             "export const a = 1;",
		"public/x.txt":     "x",
		"migrations/1.sql": "SELECT 1;",
	}
	dir := folder(t)
	for name, text := range files {
		put(t, dir, name, text)
	}
	m := manifest.Manifest{
		Entry: "index.ts", Assets: "public",
		Bindings: manifest.Bindings{Database: &manifest.Database{Migrations: "migrations"}},
	}
	b := builder(t, dir, Options{})
	first := build(t, b, m).Digest
	if again := build(t, b, m).Digest; again != first {
		t.Fatalf("nothing changed, but the digest: %s, %s", first, again)
	}
	for name, text := range files {
		put(t, dir, name, text+" -- // edited")
		if name == "index.ts" || name == "a.ts" {
			put(t, dir, name, text+" // edited")
		}
		if build(t, b, m).Digest == first {
			t.Errorf("%s changed, but not the digest", name)
		}
		put(t, dir, name, text)
		if build(t, b, m).Digest != first {
			t.Errorf("%s was changed back, but not the digest", name)
		}
	}
	m.Limits.CPUMs = 1
	if build(t, b, m).Digest == first {
		t.Error("the manifest changed, but not the digest")
	}
}

// TestNewEntry follows the manifest to another entry and to none.
func TestNewEntry(t *testing.T) {
	dir := site(t, "a.js", "export default { fetch: () => 'a' }", "b.js", "export default { fetch: () => 'b' }")
	b := builder(t, dir, Options{})
	for _, entry := range []string{"a.js", "b.js", "", "a.js"} {
		bundle := build(t, b, manifest.Manifest{Entry: entry})
		switch {
		case entry == "":
			if bundle.Worker != nil {
				t.Error("no entry, but a Worker")
			}
		case !strings.Contains(string(bundle.Worker.Code), "'"+entry[:1]+"'") &&
			!strings.Contains(string(bundle.Worker.Code), `"`+entry[:1]+`"`):
			t.Errorf("entry %s gives %s", entry, bundle.Worker.Code)
		}
	}
}

// TestRecovers builds after failures of each kind.
func TestRecovers(t *testing.T) {
	dir := site(t, "index.js", "import './later.js'; export default {}")
	m := manifest.Manifest{Entry: "index.js", Assets: "public"}
	b := builder(t, dir, Options{})
	if bundle, found := b.Build(t.Context(), &m); bundle != nil || len(found) != 2 {
		t.Fatalf("a bundle, or not both errors:\n%s", render(found))
	}
	for _, absent := range []string{"later.js", "later.ts", "public"} {
		if !slices.Contains(b.Inputs(), filepath.Join(b.dir, absent)) {
			t.Errorf("inputs %q lack %q, which is missing", b.Inputs(), absent)
		}
	}
	if slices.Contains(b.Inputs(), b.dir) {
		t.Errorf("inputs %q have the site's folder, in which a log may be written", b.Inputs())
	}
	put(t, dir, "later.js", "syntax error")
	put(t, dir, "public/index.html", "")
	if bundle, found := b.Build(t.Context(), &m); bundle != nil || len(found) != 1 {
		t.Fatalf("a bundle, or not one error:\n%s", render(found))
	}
	if !slices.Contains(b.Inputs(), filepath.Join(b.dir, "later.js")) {
		t.Errorf("inputs %q lack the broken module", b.Inputs())
	}
	put(t, dir, "later.js", "globalThis.later = true")
	build(t, b, m)
	if !slices.Contains(b.Inputs(), filepath.Join(b.dir, "tsconfig.json")) {
		t.Errorf("inputs %q lack the options that may come", b.Inputs())
	}
}

// TestAwaits: files whose change could end a failure are watched, and never the site's folder as such.
func TestAwaits(t *testing.T) {
	for name, tt := range map[string]struct {
		files []string
		await []string
	}{
		"package": {[]string{"src/index.ts", "import 'hono'"}, []string{"node_modules/hono", "src/node_modules/hono"}},
		"half": {
			[]string{"src/index.ts", "import 'hono'", "node_modules/hono/package.json", "{}"},
			[]string{"node_modules/hono"},
		}, // npm continues
		"scoped": {[]string{"src/index.ts", "import '@hono/zod/x'"}, []string{"node_modules/@hono/zod"}},
		"alias":  {[]string{"src/index.ts", "import '@/lib/x'", "shared/y.ts", "", ".cache/z", ""}, []string{"src", "shared"}},
		"paths": {
			[]string{"src/index.ts", "import 'lib/x'", "tsconfig.json", `{"compilerOptions": {"paths": {"lib/*": ["./src/*"]}}}`},
			[]string{"src"},
		},
		"file":  {[]string{"src/index.ts", "import './x.js'"}, []string{"src/x.js", "src/x.ts", "src/x.js.ts"}},
		"entry": {nil, []string{"src/index.ts"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := builder(t, site(t, tt.files...), Options{})
			if bundle, _ := b.Build(t.Context(), &manifest.Manifest{Entry: "src/index.ts"}); bundle != nil {
				t.Fatal("it builds")
			}
			for _, path := range tt.await {
				if !slices.Contains(b.Inputs(), filepath.Join(b.dir, filepath.FromSlash(path))) {
					t.Errorf("inputs %q lack %q", b.Inputs(), path)
				}
			}
			for _, path := range []string{".", ".cache"} {
				if slices.Contains(b.Inputs(), filepath.Join(b.dir, path)) {
					t.Errorf("inputs %q have %q", b.Inputs(), path)
				}
			}
		})
	}
}

// TestSettingsThatChange: options that come, change or go count at the next build.
func TestSettingsThatChange(t *testing.T) {
	dir := site(t, "src/index.jsx", "export default { fetch: () => <p/> }", "node_modules/preact/package.json",
		`{"exports": {"./jsx-runtime": "./jsx.js"}}`,
		"node_modules/preact/jsx.js", "export const jsx = (name) => 'automatic ' + name")
	b := builder(t, dir, Options{})
	for _, c := range []struct{ settings, want string }{
		{"", "React.createElement"},
		{`{"compilerOptions": {"jsx": "react-jsx", "jsxImportSource": "preact"}}`, "automatic"},
		{`{"compilerOptions": {"jsxFactory": "h"}}`, "h("},
		{"", "React.createElement"},
	} {
		if put(t, dir, "tsconfig.json", c.settings); c.settings == "" {
			if err := os.Remove(filepath.Join(dir, "tsconfig.json")); err != nil {
				t.Fatal(err)
			}
		}
		if bundle := build(t, b, manifest.Manifest{Entry: "src/index.jsx"}); !strings.Contains(string(bundle.Worker.Code), c.want) {
			t.Errorf("%s: want %s in %s", c.settings, c.want, bundle.Worker.Code)
		}
	}
}

func TestStopped(t *testing.T) {
	dir := site(t, "index.js", "export default {}", "public/index.html", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	bundle, found := builder(t, dir, Options{}).Build(ctx, &manifest.Manifest{Entry: "index.js", Assets: "public"})
	if bundle != nil || !strings.Contains(render(found), "build-stopped") {
		t.Errorf("a stopped build gave %v\n%s", bundle, render(found))
	}
}

func TestNoFolder(t *testing.T) {
	bundle, found := builder(t, filepath.Join(folder(t), "none"), Options{}).Build(t.Context(), &manifest.Manifest{})
	if bundle != nil || !found.HasErrors() {
		t.Errorf("no folder, but %v\n%s", bundle, render(found))
	}
}
