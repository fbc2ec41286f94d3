package bundler

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// TestValidateAgrees builds odd trees and validates them. validate refuses the same files of a site in the same words as a build, and no
// others, except secrets that a build skips.
func TestValidateAgrees(t *testing.T) {
	const static = `{"assets": "public"}`
	for name, c := range map[string]struct {
		manifest string
		files    []string // names; "a -> b" is a link, "a/" a folder
		refused  int      // how many files
	}{
		"plain": {static, []string{
			"public/index.html", "public/a b.txt", "public/é/日本.txt", "public/[x].html",
			"public/100%.txt",
		}, 0},
		"nothing":        {static, []string{"public/"}, 0},
		"url characters": {static, []string{"public/a?b", "public/a#b/c", "public/a%20b"}, 3},
		"windows": {static, []string{
			"public/con.txt", "public/x/LPT1", "public/a:b", "public/a|b", `public/a\b`,
			"public/a\"b",
		}, 6},
		"ends": {static, []string{"public/a.", "public/ a", "public/a ", "public/b./c"}, 4},
		"unseen": {
			static,
			[]string{"public/a\u200bb", "public/a\nb", "public/a\u202eb", "public/a\u2028b", "public/a\x7f"},
			5,
		},
		"no UTF-8": {static, []string{"public/a\xff", "public/b\ufffd"}, 2},
		"long": {
			static,
			[]string{"public/" + strings.Repeat("d/", 30) + "f", "public/" + strings.Repeat("e/", 31) + "f"},
			1,
		},
		"reserved":         {static, []string{"public/__pages/x", "public/__PREVIEW", "public/x/__pages"}, 2},
		"case":             {static, []string{"public/A.txt", "public/a.txt", "public/b/x", "public/B/x"}, 2},
		"folded":           {static, []string{"public/straße", "public/STRASSE", "public/K", "public/k"}, 2},
		"decomposed":       {static, []string{"public/cafe\u0301", "public/caf\u00e9"}, 1},
		"decomposed alone": {static, []string{"public/cafe\u0301"}, 0},
		"link inside":      {static, []string{"shared/a.txt", "public/l -> ../shared/a.txt", "public/m -> l"}, 0},
		"link out":         {static, []string{"public/l -> ../../x", "public/m -> /etc/hostname"}, 2},
		"link nowhere":     {static, []string{"public/l -> none", "public/m -> l"}, 2},
		"link in a circle": {static, []string{"public/l -> m", "public/m -> l", "public/n -> n"}, 3},
		"link to a folder": {static, []string{"shared/a.txt", "public/l -> ../shared", "public/m -> ."}, 2},
		"a long chain":     {static, append(chain(12), "public/l0 -> a.txt", "public/a.txt"), 5},
		"link to a secret": {static, []string{".env", "public/l -> ../.env"}, 1},
		"link to hidden": {static, []string{
			".git/config", "node_modules/p.js", "public/l -> ../.git/config",
			"public/m -> ../node_modules/p.js",
		}, 2},
		"link to manifest":   {static, []string{"public/l -> ../pages.deploy.json"}, 1},
		"link with bad name": {static, []string{"public/a.txt", "public/a?b -> a.txt"}, 1},
		"hidden": {static, []string{
			"public/.x/a?b", "public/node_modules/a:b", "public/Thumbs.db", "public/.DS_Store",
			"public/.well-known/a",
		}, 0},
		"hidden links":       {static, []string{"public/.bin/l -> none", "public/node_modules/.bin/l -> ../none", "public/.l -> none"}, 0},
		"well-known below":   {static, []string{"public/a/.well-known/b?c"}, 0},
		"a folder is a link": {`{"assets": "pub"}`, []string{"public/a?b", "public/c", "pub -> public"}, 1},
		"the root":           {`{"assets": ".", "entry": "w.js"}`, []string{"w.js", "index.html", "tsconfig.json", "a?b"}, 1},
		"entry among them":   {`{"assets": "public", "entry": "public/w:1.js"}`, []string{"public/w:1.js", "public/index.html"}, 1},
		"source among them": {
			`{"assets": "public", "entry": "public/w.js", "bindings": {"database": {"migrations": "public/db"}}}`,
			[]string{"public/w.js", "public/db/1.sql"},
			2,
		},
		"another manifest": {static, []string{"public/pages.deploy.json", "public/x/PAGES.deploy.json"}, 2},
		"below migrations": {
			`{"assets": "db/p", "bindings": {"database": {"migrations": "db"}}}`,
			[]string{"db/p/a.txt", "db/1.sql"},
			1,
		},
		"all at the root": {
			`{"assets": ".", "bindings": {"database": {"migrations": "."}}}`,
			[]string{"1.sql", "a.txt", "sub/pages.deploy.json"},
			1,
		},
		"a link to the entry": {`{"assets": "public", "entry": "w.js"}`, []string{"w.js", "public/w.js -> ../w.js"}, 1},
		"migrations": {
			`{"assets": ".", "bindings": {"database": {"migrations": "db"}}}`,
			[]string{"db/1.sql", "db/a?b.txt", "index.html"},
			0,
		},
		"migration names": {
			`{"bindings": {"database": {"migrations": "db"}}}`,
			[]string{"db/1?.sql", "db/2 a.sql", "db/.3:.sql", "db/4:.txt", "db/ 5.sql"},
			2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := odd(t, c.manifest, c.files)
			m, bad := manifest.Parse(manifest.FileName, []byte(c.manifest))
			if m == nil {
				t.Fatal(bad)
			}
			_, built := builder(t, dir, Options{}).Build(t.Context(), m)
			_, validated := validate.Load(os.DirFS(dir), manifest.FileName)
			of := func(diags diagnostic.List) (list []string) {
				for _, d := range diags {
					if d.Severity == diagnostic.Error && d.File != "" {
						list = append(list, fmt.Sprintf("%s %s: %s [%s]", d.File, d.Code, d.Message, d.Fix))
					}
				}
				slices.Sort(list)
				return list
			}
			want, got := of(built), of(validated)
			if !slices.Equal(got, want) {
				t.Errorf("validate says\n%s\nbuild says\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if len(want) != c.refused || validated.HasErrors() != built.HasErrors() {
				t.Errorf("%d files are refused, want %d\n%s%s", len(want), c.refused, render(built), render(validated))
			}
		})
	}
}

// chain is links that lead one to the next, the last to "l0".
func chain(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("public/l%d -> l%d", i+1, i))
	}
	return list
}

// odd makes a site of empty files, links and folders.
func odd(t *testing.T, manifestText string, files []string) string {
	t.Helper()
	dir := folder(t)
	put(t, dir, manifest.FileName, manifestText)
	for _, file := range files {
		link, target, isLink := strings.Cut(file, " -> ")
		name := filepath.Join(dir, filepath.FromSlash(link))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case isLink:
			testmachine.Link(t, filepath.FromSlash(target), name)
		case strings.HasSuffix(file, "/"):
			err = os.MkdirAll(name, 0o755)
		default:
			text := ""
			switch filepath.Ext(file) {
			case ".js":
				text = "export default {}"
			case ".json":
				text = "{}"
			}
			err = os.WriteFile(name, []byte(text), 0o644)
		}
		if err != nil && runtime.GOOS == "windows" {
			testmachine.Lacks(t, "names such as "+file, err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
