package bundler

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// emptyWasm is the smallest WebAssembly module.
const emptyWasm = "\x00asm\x01\x00\x00\x00"

// value runs the Worker's module in Node and returns its default export as JSON.
func value(t *testing.T, w *Worker) string {
	t.Helper()
	dir := folder(t)
	put(t, dir, "worker.mjs", string(w.Code))
	put(t, dir, "run.mjs", "import value from './worker.mjs'; console.log(JSON.stringify(value))")
	out, err := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "run.mjs")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, w.Code)
	}
	return strings.TrimSpace(string(out))
}

// TestSources reads the entry's default export, for each kind of source.
func TestSources(t *testing.T) {
	const h = "const h = (tag, props, ...kids) => [tag, props, ...kids]; "
	for _, c := range []struct {
		name, want string
		o          Options
		files      []string
	}{
		{name: "typescript", want: `7`, files: []string{"index.ts", "enum E { A = 7 } export default E.A as number satisfies number"}},
		{
			name: "jsx in js", want: `["p",null,"hi"]`,
			files: []string{"index.js", "const React = { createElement: (...a) => a }; export default <p>hi</p>"},
		},
		{name: "classic jsx by tsconfig", want: `["p",{"id":"x"},"hi"]`, files: []string{
			"index.tsx", h + "export default <p id='x'>hi</p>",
			"tsconfig.json", `{"compilerOptions": {"jsx": "react", "jsxFactory": "h"}}`,
		}},
		{name: "automatic jsx by tsconfig", want: `{"type":"p","props":{"children":"hi"}}`, files: []string{
			"index.tsx", "export default <p>hi</p>",
			"tsconfig.json", `{"compilerOptions": {"jsx": "react-jsx", "jsxImportSource": "tiny"}}`,
			"node_modules/tiny/package.json", `{"name": "tiny", "exports": {"./jsx-runtime": "./jsx.js"}}`,
			"node_modules/tiny/jsx.js", "export const jsx = (type, props) => ({ type, props })",
		}},
		{name: "tsconfig paths", want: `"lib"`, files: []string{
			"index.ts", "import lib from '@/lib'; export default lib", "src/lib.ts", "export default 'lib'",
			"tsconfig.json", `{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}`,
		}},
		{name: "ts imported as js", want: `1`, files: []string{
			"index.ts", "import a from './a.js'; export default a", "a.ts",
			"export default 1",
		}},
		{name: "decorators", want: `["m","method"]`, files: []string{
			"index.ts",
			"let seen: unknown; const d = (f: unknown, c: any) => { seen = [c.name, c.kind] }; class A { @d m() {} accessor x = 1 } " +
				"new A(); export default seen",
		}},
		{name: "json", want: `{"a":[1]}`, files: []string{
			"index.js", "import j from './d.json'; export default j", "d.json",
			`{"a": [1]}`,
		}},
		{
			name: "json by attribute", want: `1`,
			files: []string{"index.js", "import j from './d.json' with { type: 'json' }; export default j.a", "d.json", `{"a": 1}`},
		},
		{name: "text", want: `"é\n<b>SELECT"`, files: []string{
			"index.js", "import a from './a.txt'; import b from './b.html'; import c from './c.sql'; export default a + b + c",
			"a.txt", "é\n", "b.html", "<b>", "c.sql", "SELECT",
		}},
		{
			name: "text by attribute", want: `"p{}"`,
			files: []string{"index.js", "import a from './a.css' with { type: 'text' }; export default a", "a.css", "p{}"},
		},
		{name: "commonjs", want: `{"one":1}`, files: []string{
			"index.js", "module.exports = { one: require('./a').one }", "a.js",
			"exports.one = 1",
		}},
		{name: "top-level await", want: `2`, files: []string{
			"index.js", "const { two } = await import('./a.js'); export default two",
			"a.js", "export const two = await Promise.resolve(2)",
		}},
		{name: "production", want: `"production"`, files: []string{"index.js", "export default process.env.NODE_ENV"}},
		{
			name: "development", want: `"development"`, o: Options{NodeEnv: Development},
			files: []string{"index.js", "export default process.env.NODE_ENV"},
		},
		{
			name: "a value of one's own", want: `"it's \"so\""`, o: Options{NodeEnv: `it's "so"`},
			files: []string{"index.js", "export default process.env.NODE_ENV"},
		},
		{name: "names are kept when minified", want: `["LongName","longer"]`, o: Options{Minify: true}, files: []string{
			"index.js",
			"class LongName {} function longer() {} globalThis.x = [LongName, longer]; export default globalThis.x.map((f) => f.name)",
		}},
		{name: "conditions", want: `"workerd"`, files: []string{
			"index.js", "import a from 'p'; export default a",
			"node_modules/p/package.json", `{"exports": {"node": "./node.js", "workerd": "./workerd.js", "browser": "./browser.js", ` +
				`"default": "./default.js"}}`,
			"node_modules/p/workerd.js", "export default 'workerd'",
		}},
		{name: "browser before module", want: `"browser"`, files: []string{
			"index.js", "import a from 'p'; export default a",
			"node_modules/p/package.json", `{"main": "main.js", "module": "module.js", "browser": "browser.js"}`,
			"node_modules/p/browser.js", "export default 'browser'",
		}},
		{name: "a browser field that drops fs", want: `{}`, files: []string{
			"index.js", "export { default } from 'p'",
			"node_modules/p/package.json", `{"main": "main.js", "browser": {"fs": false}}`,
			"node_modules/p/main.js", "module.exports = require('fs')",
		}},
		{name: "an entry called worker.js", want: `1`, files: []string{"worker.js", "export default 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bundle := build(t, builder(t, site(t, c.files...), c.o), manifest.Manifest{Entry: c.files[0]})
			if got := value(t, bundle.Worker); got != c.want {
				t.Errorf("the default export is %s, want %s\n%s", got, c.want, bundle.Worker.Code)
			}
		})
	}
}

// TestDevelopmentBuilds: packages choose their build by NODE_ENV, and a Worker names those whose build for development it has.
func TestDevelopmentBuilds(t *testing.T) {
	choose := "module.exports = process.env.NODE_ENV === 'production' ? require('./cjs/p.production.js') : " +
		"require('./cjs/p.development.js')"
	dir := site(
		t, "index.js", "import 'react'; import '@scope/p'; import 'vue'; import 'plain'; import './own.development.js'; export default {}",
		"node_modules/react/index.js", choose, "node_modules/@scope/p/index.js", choose,
		"node_modules/react/cjs/p.production.js", "", "node_modules/react/cjs/p.development.js", "",
		"node_modules/@scope/p/cjs/p.production.js", "", "node_modules/@scope/p/cjs/p.development.js", "",
		"node_modules/vue/index.js", "import './dist/vue.js'", "node_modules/vue/dist/vue.js", "",
		"node_modules/plain/index.js", "import 'vue'", "own.development.js", "",
	)
	for env, want := range map[string][]string{
		Development: {"@scope/p", "react", "vue"}, "test": {"@scope/p", "react", "vue"}, Production: nil, "": nil,
	} {
		t.Run(env, func(t *testing.T) {
			bundle := build(t, builder(t, dir, Options{NodeEnv: env}), manifest.Manifest{Entry: "index.js"})
			if got := bundle.Worker.DevelopmentBuilds; !slices.Equal(got, want) {
				t.Errorf("the builds for development are %q, want %q", got, want)
			}
		})
	}
}

func TestModules(t *testing.T) {
	dir := site(t,
		"index.js", "import a from './lib/add.wasm'; import b from './lib/add.wasm?module'; import bin from './x.bin'; export default "+
			"[a, b, bin]",
		"lib/add.wasm", emptyWasm, "x.bin", "\x00\xff",
	)
	b := builder(t, dir, Options{})
	w := build(t, b, manifest.Manifest{Entry: "index.js"}).Worker
	specifier := "./" + sum([]byte(emptyWasm))[:16] + "-add.wasm"
	if len(w.Modules) != 1 || w.Modules[0].Specifier != specifier || w.Modules[0].Kind != KindWasm ||
		string(w.Modules[0].Bytes) != emptyWasm {
		t.Errorf("modules %+v", w.Modules)
	}
	for _, part := range []string{`from "` + specifier + `"`, base64.StdEncoding.EncodeToString([]byte("\x00\xff"))} {
		if !strings.Contains(string(w.Code), part) {
			t.Errorf("the code lacks %s:\n%s", part, w.Code)
		}
	}

	put(t, dir, "lib/add.wasm", emptyWasm+"\x00\x02\x01x")
	if again := build(t, b, manifest.Manifest{Entry: "index.js"}).Worker; len(again.Modules) != 1 ||
		again.Modules[0].Specifier == specifier {
		t.Errorf("the module changed, but not its name: %+v", again.Modules)
	}
}

// A module with a feature of WebAssembly that pages cannot run is warned of, with the feature's name, in every build.
func TestWasmFeatures(t *testing.T) {
	dir := site(t, "index.js", "import a from './lib/gc.wasm'; import b from './add.wasm'; export default [a, b]",
		"lib/gc.wasm", "\x00asm\x01\x00\x00\x00\x01\x05\x01\x5f\x01\x7f\x00", "add.wasm", emptyWasm)
	b := builder(t, dir, Options{})
	for range 2 {
		_, found := b.Build(t.Context(), &manifest.Manifest{Entry: "index.js"})
		if len(found) != 1 || found[0].Code != WasmFeature || found[0].File != "lib/gc.wasm" || found[0].Severity != "warning" ||
			!strings.Contains(found[0].Message, "WebAssembly's garbage collection (GC), which production supports and pages does not") {
			t.Errorf("found %+v", found)
		}
	}
	put(t, dir, "lib/gc.wasm", emptyWasm)
	if _, found := b.Build(t.Context(), &manifest.Manifest{Entry: "index.js"}); len(found) != 0 {
		t.Errorf("found %+v", found)
	}
}

// TestProvided leaves the runtime's own modules as imports, and no others.
func TestProvided(t *testing.T) {
	dir := site(t, "index.js", "import { env } from 'cloudflare:workers'; import { httpServerHandler } from 'cloudflare:node'; import "+
		"path from 'path'; import * as util from 'node:util'; export default { env, httpServerHandler, path, util }")
	b := builder(t, dir, Options{Provided: []string{"cloudflare:workers", "cloudflare:node", "node:path", "node:util"}})
	m := manifest.Manifest{Entry: "index.js"}
	if _, found := b.Build(t.Context(), &m); strings.Count(render(found), "import-node") != 3 {
		t.Errorf("without the flag:\n%s", render(found))
	}
	m.Runtime.CompatibilityFlags = []string{manifest.FlagNodeJS}
	code := string(build(t, b, m).Worker.Code)
	for _, name := range []string{"cloudflare:workers", "cloudflare:node", "node:path", "node:util"} {
		if !strings.Contains(code, `from "`+name+`"`) {
			t.Errorf("the code does not import %s:\n%s", name, code)
		}
	}
}

// TestSourceMap: names of sources are relative to the site, also for files outside it.
func TestSourceMap(t *testing.T) {
	dir := site(t,
		".git/HEAD", "",
		"site/src/index.ts", "import '../../shared/lib'; import { p } from 'p'; export default p",
		"shared/lib.ts", "globalThis.shared = 1",
		"node_modules/p/package.json", `{"main": "p.js"}`, "node_modules/p/p.js", "export const p = 1",
	)
	b := builder(t, filepath.Join(dir, "site"), Options{})
	bundle := build(t, b, manifest.Manifest{Entry: "src/index.ts"})
	var m struct {
		Version                 int
		Sources, SourcesContent []string
	}
	if err := json.Unmarshal(bundle.Worker.Map, &m); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.Sources, " "); got != "../shared/lib.ts ../node_modules/p/p.js src/index.ts" || len(m.SourcesContent) != 3 {
		t.Errorf("sources %s", got)
	}
	if got := strings.Join(b.Inputs(), " "); !strings.Contains(got, "/shared/lib.ts") || !strings.Contains(got, "/node_modules/p/p.js") {
		t.Errorf("inputs %s", got)
	}
}

// TestNotUTF8 builds a file that an editor saved as Latin-1: esbuild alone never ends on a text that ends within a character.
func TestNotUTF8(t *testing.T) {
	dir := site(t,
		"index.js", `import text from './a.txt'; import same from './b.txt' with { type: 'text' }; `+
			`import { c } from './c.json' with { type: 'json' }
import bytes from './d.raw' with { type: 'bytes' }; import p from 'p'; import off from 'p/off'
export default 'caf`+"\xe9"+` – ' + text + same + c + bytes + p + off // perci`+"\xf2",
		"a.txt", "gr\xfc\xdfe", "b.txt", "voil\xe0", "c.json", `{"c": "`+"\xe9"+`"}`, "d.raw", "\xff\xf2",
		"node_modules/p/package.json", `{"main": "p.js", "browser": {"./off.js": false}}`, "node_modules/p/p.js",
		"module.exports = 1 // \xa9 \xe4",
		"node_modules/p/off.js", "globalThis.offIsOn = 1; require('absent') // \xa9 Latin-1",
	)
	bundle, found := builder(t, dir, Options{}).Build(t.Context(), &manifest.Manifest{Entry: "index.js"})
	if bundle == nil {
		t.Fatalf("no bundle:\n%s", render(found))
	}
	if strings.Contains(string(bundle.Worker.Code), "offIsOn") {
		t.Errorf("a module that the package turns off is loaded:\n%s", bundle.Worker.Code)
	}
	for _, part := range []string{"caf\ufffd \u2013 ", "gr\ufffd\ufffde", "voil\ufffd", `"//I="`} {
		if !strings.Contains(string(bundle.Worker.Code), part) {
			t.Errorf("the code lacks %q:\n%s", part, bundle.Worker.Code)
		}
	}
	var places []string
	for _, d := range found {
		places = append(places, fmt.Sprintf("%s:%d:%d %s %s", d.File, d.Line, d.Column, d.Severity, d.Code))
	}
	slices.Sort(places)
	const want = "a.txt:1:3 warning not-utf8\nb.txt:1:5 warning not-utf8\nc.json:1:8 warning not-utf8\nindex.js:3:20 warning not-utf8"
	if got := strings.Join(places, "\n"); got != want {
		t.Errorf("found\n%s", got)
	}
}

// FuzzSource: positions lie inside the file, and a build has either a bundle or an error.
func FuzzSource(f *testing.F) {
	for _, s := range []string{
		"export default {}", "let a; let a", "/* 🚣 */ const = 1", "import './é'", "import a from 'node:fs'", "<p>",
		"\ufeffexport default 1;;;)",
		"export default `${", "import x from './a.wasm'", "\x80", "await 1; with (a) {}", "import('x' + y)", "a\r\nb c\u2028=",
		"\"\x84\xf2\"", "import a from'\xf3e'", "// perci\xf2",
	} {
		f.Add(s)
	}
	dir := folder(f)
	entry := filepath.Join(dir, "index.tsx")
	b := New(dir, Options{})
	f.Cleanup(b.Close)
	f.Fuzz(func(t *testing.T, source string) {
		if err := os.WriteFile(entry, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		bundle, found := b.Build(t.Context(), &manifest.Manifest{Entry: "index.tsx"})
		if (bundle == nil) != found.HasErrors() {
			t.Fatalf("bundle = %v with\n%s", bundle, render(found))
		}
		for _, d := range found {
			if d.File != "index.tsx" {
				continue
			}
			length := len([]rune(d.Source))
			if d.Line < 0 || d.Line > strings.Count(source, "\n")+strings.Count(source, "\r")+strings.Count(source, "\u2028")+
				strings.Count(source, "\u2029")+1 ||
				d.Line >= 1 && (d.Column < 1 || d.Column > length+1 || d.EndColumn < d.Column || d.EndColumn > length+1) {
				t.Errorf("outside of the file: %s in %q", render(diagnostic.List{d}), d.Source)
			}
		}
	})
}
