package bundler

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

const (
	// taken stands in files that no import may reach.
	taken   = "taken-7c1f"
	openKey = "-----BEGIN OPENSSH PRIVATE KEY-----\n" + taken + "\n-----END OPENSSH PRIVATE KEY-----\n"
)

// machine writes a home folder with the usual files, and a site in a checkout. It returns the site's folder.
func machine(t *testing.T, files ...string) (home, dir string) {
	t.Helper()
	home = site(t, append([]string{
		".ssh/id_ed25519", openKey, ".npmrc", "//r/:_authToken=" + taken, ".config/pages/credentials.json", `{"keys": "` + taken + `"}`,
		"notes/diary.txt", taken, "notes/leak.json", `{"a": "` + taken + `"}`, "notes/code.js", "export default '" + taken + "'",
		"notes/page.css", "p { color: " + taken + " }", "notes/x.bin", taken, "notes/add.wasm", emptyWasm,
		"notes/env.ts", "export default '" + taken + "'",
		"other/node_modules/q/package.json", `{"main": "q.js"}`, "other/node_modules/q/q.js", "export default '" + taken + "'",
		"repos/club/.git/HEAD", "", "repos/club/.git/config", "url = https://x:" + taken + "@example.com",
		"repos/club/shared/lib.ts", "export default 1", "repos/club/shared/data.json", `{"a": 1}`,
		"repos/club/site/src/index.js", "",
	}, files...)...)
	return home, filepath.Join(home, "repos/club/site")
}

// archive is a zip file with one file, as Yarn keeps packages, into which esbuild looks.
func archive(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create(name)
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOutside builds sites that import files of others, in every way that esbuild has.
func TestOutside(t *testing.T) {
	const text, up = "with { type: 'text' }", "../../../../"
	for _, c := range []struct {
		name, index string
		files       []string    // relative to the home folder
		links       [][2]string // from, relative to the home folder, and to
		want        string      // the code of the error
	}{
		{"a key as text", `import c from '` + up + `.ssh/id_ed25519' ` + text + `; export default c`, nil, nil, "import-outside"},
		{
			"as bytes",
			`import c from '` + up + `.config/pages/credentials.json' with { type: 'bytes' }; export default c`, nil,
			nil, "import-outside",
		},
		{"JSON", `import c from '` + up + `notes/leak.json'; export default c`, nil, nil, "import-outside"},
		{
			"JSON by attribute", `import c from '` + up + `notes/leak.json' with { type: 'json' }; export default c`,
			nil, nil, "import-outside",
		},
		{"a script", `export { default } from '` + up + `notes/code.js'`, nil, nil, "import-outside"},
		{"without its ending", `export { default } from '` + up + `notes/code'`, nil, nil, "import-outside"},
		{"required", `export default require('` + up + `notes/leak.json')`, nil, nil, "import-outside"},
		{"import()", `export default () => import('` + up + `notes/code.js')`, nil, nil, "import-outside"},
		{"a pattern", "export default (n) => import('" + up + "notes/' + n + '.js')", nil, nil, "import-outside"},
		{"a text file", `export { default } from '` + up + `notes/diary.txt'`, nil, nil, "import-outside"},
		{"a .bin file", `export { default } from '` + up + `notes/x.bin'`, nil, nil, "import-outside"},
		{"WebAssembly", `export { default } from '` + up + `notes/add.wasm'`, nil, nil, "import-outside"},
		{"WebAssembly as a module", `export { default } from '` + up + `notes/add.wasm?module'`, nil, nil, "import-outside"},
		{"a style sheet", `import '` + up + `notes/page.css'; export default 1`, nil, nil, "import-outside"},
		{
			"by a style sheet", `import './a.css'; export default 1`,
			[]string{"repos/club/site/src/a.css", `@import "` + up + `notes/page.css";`},
			nil, "import-outside",
		},
		{"JSX", `import * as React from '` + up + `notes/env.ts'; export default React`, nil, nil, "import-outside"},
		{
			"a package's main", `export { default } from 'p'`,
			[]string{"repos/club/node_modules/p/package.json", `{"main": "../../../../notes/leak.json"}`},
			nil, "import-outside",
		},
		{
			"a package's browser", `export { default } from 'p'`,
			[]string{
				"repos/club/node_modules/p/package.json",
				`{"main": "m.js", "browser": {"./m.js": "../../../../notes/code.js"}}`,
				"repos/club/node_modules/p/m.js", "",
			},
			nil, "import-outside",
		},
		{
			"paths of tsconfig.json", `export { default } from 'secret'`,
			[]string{
				"repos/club/site/tsconfig.json",
				`{"compilerOptions": {"baseUrl": ".", "paths": {"secret": ["../../../notes/code.js"]}}}`,
			},
			nil, "import-outside",
		},
		{
			"the base of tsconfig.json", `export { default } from 'notes/code.js'`,
			[]string{"repos/club/site/tsconfig.json", `{"compilerOptions": {"baseUrl": "../../.."}}`},
			nil, "import-outside",
		},
		{
			"a link to a file", `import c from './l.txt'; export default c`, nil,
			[][2]string{{"repos/club/site/src/l.txt", "notes/diary.txt"}},
			"import-outside",
		},
		{
			"a link to a script", `import c from './l.js'; export default c`, nil,
			[][2]string{{"repos/club/site/src/l.js", "notes/code.js"}},
			"import-outside",
		},
		{
			"a link to a folder", `import c from './l/diary.txt'; export default c`, nil,
			[][2]string{{"repos/club/site/src/l", "notes"}},
			"import-outside",
		},
		{
			"a link as the folder of packages", `import c from 'notes/leak.json'; export default c`, nil,
			[][2]string{{"repos/club/node_modules", ""}},
			"import-outside",
		},
		{
			"a link as a package", `import c from 'p/leak.json'; export default c`, nil,
			[][2]string{{"repos/club/node_modules/p", "notes"}},
			"import-outside",
		},
		{"another project's package", `import c from '` + up + `other/node_modules/q/q.js'; export default c`, nil, nil, "import-outside"},
		{
			"of an archive", `import c from '` + up + `notes/backup.zip/diary.txt' ` + text + `; export default c`,
			[]string{"notes/backup.zip", archive(t, "diary.txt", taken)},
			nil, "import-outside",
		},
		{
			"of an archive that is called as Yarn's are",
			`import c from '` + up + `notes/q-npm-1.0.0-00.zip/node_modules/q/diary.txt'; export default c`,
			[]string{"notes/q-npm-1.0.0-00.zip", archive(t, "node_modules/q/diary.txt", taken)},
			nil, "import-outside",
		},
		{
			"another way to write it", `import c from './../../site/../../../notes/./diary.txt'; export default c`, nil,
			nil, "import-outside",
		},

		{"the token of the checkout", `import c from '../../.git/config' ` + text + `; export default c`, nil, nil, "import-credentials"},
		{
			"the site's secrets", `import c from '../.dev.vars' ` + text + `; export default c`,
			[]string{"repos/club/site/.dev.vars", "A=" + taken},
			nil, "import-credentials",
		},
		{
			"the site's environment", `import c from '../.env.local' ` + text + `; export default c`,
			[]string{"repos/club/site/.env.local", "A=" + taken},
			nil, "import-credentials",
		},
		{
			"the token of npm", `import c from '../.npmrc' ` + text + `; export default c`,
			[]string{"repos/club/site/.npmrc", taken},
			nil, "import-credentials",
		},
		{
			"a key by another name", `import c from './license.txt'; export default c`,
			[]string{"repos/club/site/src/license.txt", openKey},
			nil, "import-credentials",
		},
		{
			"a key in a package", `import c from 'p/k.txt'; export default c`,
			[]string{"repos/club/node_modules/p/k.txt", openKey},
			nil, "import-credentials",
		},
		{
			"leads", `import c from '../.pages/state/platform.db' with { type: 'bytes' }; export default c`,
			[]string{"repos/club/site/.pages/state/platform.db", taken},
			nil, "import-credentials",
		},
		{
			"credentials as JSON", `import c from '../credentials.json'; export default c`,
			[]string{"repos/club/site/credentials.json", `{"a": "` + taken + `"}`},
			nil, "import-credentials",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, dir := machine(t, c.files...)
			put(t, dir, "src/index.js", c.index)
			for _, link := range c.links {
				from := filepath.Join(home, filepath.FromSlash(link[0]))
				if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.Join(home, filepath.FromSlash(link[1])), from); err != nil {
					t.Skip(err) // Windows lets few users
				}
			}
			bundle, found := builder(t, dir, Options{Home: home}).Build(t.Context(), &manifest.Manifest{Entry: "src/index.js"})
			if !found.HasErrors() || !strings.Contains(render(found), " error "+c.want+": ") {
				t.Errorf("want %s:\n%s", c.want, render(found))
			}
			if strings.Contains(render(found), taken) ||
				bundle != nil && bundle.Worker != nil && strings.Contains(string(bundle.Worker.Code), taken) {
				t.Error("the text is taken in")
			}
			for _, d := range found {
				if d.Line == 0 {
					t.Errorf("no place: %s", render(found))
				}
			}
		})
	}
}

// TestInside builds sites whose imports lead out of their folder, to files of the same project.
func TestInside(t *testing.T) {
	pem := "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n"
	for _, c := range []struct {
		name, index string
		files       []string
	}{
		{"the checkout's", `import a from '../../shared/lib'; import b from '../../shared/data.json'; export default [a, b]`, nil},
		{"the checkout's package", `export { default } from 'p'`, []string{
			"repos/club/node_modules/p/package.json", `{"main": "p.js"}`, "repos/club/node_modules/p/p.js",
			"export default 1",
		}},
		{"a package above the checkout", `export { default } from 'p'`, []string{
			"node_modules/p/package.json", `{"main": "p.js"}`, "node_modules/p/p.js", "export default 1",
		}},
		{"a package's data", `export { default } from 'p/secrets.json'`, []string{"repos/club/node_modules/p/secrets.json", `{}`}},
		{
			"a certificate", `export { default } from './ca.txt'; export { default as b } from './ca.txt'`,
			[]string{"repos/club/site/src/ca.txt", pem},
		},
		{
			"a certificate by its name", `import c from './ca.pem' with { type: 'text' }; export default c`,
			[]string{"repos/club/site/src/ca.pem", pem},
		},
		{
			"an example of secrets", `import c from '../.dev.vars.example' with { type: 'text' }; export default c`,
			[]string{"repos/club/site/.dev.vars.example", "A="},
		},
		{"a script that has a name like one", `export { default } from '../.env.js'`, []string{
			"repos/club/site/.env.js", "export default 1",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, dir := machine(t, c.files...)
			put(t, dir, "src/index.js", c.index)
			build(t, builder(t, dir, Options{Home: home}), manifest.Manifest{Entry: "src/index.js"})
		})
	}
	t.Run("allowed", func(t *testing.T) {
		home, dir := machine(t)
		put(t, dir, "src/index.js", "export { default } from '../../../../notes/code.js'")
		build(
			t, builder(t, dir, Options{Home: home, AllowImport: []string{filepath.Join(home, "notes")}}),
			manifest.Manifest{Entry: "src/index.js"},
		)
	})
	t.Run("packages of several projects", func(t *testing.T) {
		home, dir := machine(t, "repos/club/site/src/index.js", "export { default } from 'q'")
		if err := os.Symlink(filepath.Join(home, "other/node_modules"), filepath.Join(dir, "node_modules")); err != nil {
			t.Skip(err)
		}
		build(t, builder(t, dir, Options{Home: home}), manifest.Manifest{Entry: "src/index.js"})
	})
	t.Run("pnpm's store of all projects", func(t *testing.T) {
		const link = "store/v11/links/@/p/1.0.0/0a1b/node_modules/p"
		home, dir := machine(t, link+"/package.json", `{"main": "p.js"}`, link+"/p.js", "export default 1", "store/v11/files/00/a", "")
		if err := os.MkdirAll(filepath.Join(dir, "node_modules"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(home, link), filepath.Join(dir, "node_modules/p")); err != nil {
			t.Skip(err)
		}
		put(t, dir, "src/index.js", "export { default } from 'p'")
		m := manifest.Manifest{Entry: "src/index.js"}
		build(t, builder(t, dir, Options{Home: home}), m)
		if err := os.RemoveAll(filepath.Join(home, "store/v11/files")); err != nil {
			t.Fatal(err)
		}
		if _, found := builder(t, dir, Options{Home: home}).Build(t.Context(), &m); !strings.Contains(render(found), "import-outside") {
			t.Errorf("any folder of that name is a store:\n%s", render(found))
		}
	})
	t.Run("Yarn's cache of archives", func(t *testing.T) {
		home, dir := machine(t, ".yarn/berry/cache/p-npm-1.0.0-0a1b2c3d4e-10c0.zip", archive(t, "node_modules/p/p.js", "export default 1"))
		put(
			t, dir, "src/index.js",
			"export { default } from '"+filepath.ToSlash(home)+"/.yarn/berry/cache/p-npm-1.0.0-0a1b2c3d4e-10c0.zip/node_modules/p/p.js'",
		)
		build(t, builder(t, dir, Options{Home: home}), manifest.Manifest{Entry: "src/index.js"})
	})
	t.Run("without a checkout", func(t *testing.T) {
		for marker, fine := range map[string]bool{
			"work/pnpm-workspace.yaml": true, "work/package.json": true, "package.json": false, ".git/HEAD": false,
		} {
			t.Run(marker, func(t *testing.T) {
				home := site(
					t, "work/site/src/index.js", "export { default } from '../../shared/a'", "work/shared/a.ts",
					"export default 1", marker, "{}",
				)
				_, found := builder(t, filepath.Join(home, "work/site"), Options{
					Home: home,
				}).Build(t.Context(), &manifest.Manifest{Entry: "src/index.js"})
				if found.HasErrors() == fine {
					t.Errorf("%s:\n%s", marker, render(found))
				}
			})
		}
	})
}

// TestForeignSources has a package's source map name a file of the machine, which esbuild reads for it.
func TestForeignSources(t *testing.T) {
	home, dir := machine(t, "repos/club/shared/own.ts", "own text", "repos/club/site/.dev.vars", taken)
	if err := os.Symlink(filepath.Join(home, "notes/diary.txt"), filepath.Join(dir, "l.txt")); err != nil {
		t.Skip(err)
	}
	urlOf := func(path string) string { return "file://" + filepath.ToSlash(filepath.Join(home, path)) }
	m, err := json.Marshal(map[string]any{
		"version": 3, "names": []string{}, "mappings": "AAAA,ACAA,ACAA,ACAA,ACAA,ACAA",
		"sources": []string{
			urlOf(".ssh/id_ed25519"), urlOf("repos/club/shared/own.ts"), "virtual.ts", "../../../../../notes/diary.txt",
			urlOf("repos/club/site/l.txt"), urlOf("repos/club/site/.dev.vars"),
		},
		"sourcesContent": []any{nil, nil, "of the map", nil, nil, nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	put(
		t, dir, "node_modules/p/index.js",
		"export default 1\n//# sourceMappingURL=data:application/json;base64,"+base64.StdEncoding.EncodeToString(m)+"\n",
	)
	put(t, dir, "src/index.js", "import p from 'p'; export default p")
	bundle := build(t, builder(t, dir, Options{Home: home}), manifest.Manifest{Entry: "src/index.js"})
	text := string(bundle.Worker.Map)
	if strings.Contains(text, taken) {
		t.Errorf("the map holds a file of the machine:\n%s", text)
	}
	for _, want := range []string{"own text", "of the map", "import p from"} {
		if !strings.Contains(text, want) {
			t.Errorf("the map lacks %q:\n%s", want, text)
		}
	}
}
