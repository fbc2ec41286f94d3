package bundler_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/manifest"
)

// A Worker that another tool has bundled stays unchanged, byte for byte, with the modules that it imports.
func TestAsIs(t *testing.T) {
	const (
		main = "import { page } from \"./assets/page.js\";\nimport wasm from \"./assets/add.wasm\";\n" +
			"import { env } from \"cloudflare:workers\";\n\n" +
			"export default { async  fetch( ) { return page((await import('./assets/late.mjs')).x) } }\n" +
			"//# sourceMappingURL=index.js.map\n"
		page      = "import { x } from \"./late.mjs\";   function   page(a){return new Response(String(page)+a+x)}\nexport{page}\n"
		late      = "export const x=1,y=class{static z=2}\n//# sourceMappingURL=late.mjs.map\n"
		wasm      = "\x00asm\x01\x00\x00\x00"
		lateMap   = `{"version":3,"sources":["../../../src/late.ts"],"names":[],"mappings":"AAAA"}`
		sourceMap = `{"version":3,"sources":["../../src/app.ts"],"sourcesContent":["// the author's"],"names":[],"mappings":"AAAA"}`
	)
	rows := []struct {
		name    string
		files   map[string]string
		bundled string // why it is bundled again
	}{
		{name: "modules by their paths"},
		{"a package", map[string]string{
			"build/server/assets/late.mjs":    "export { x } from \"lib\";\n",
			"node_modules/lib/package.json":   `{"name":"lib","main":"lib.js"}`,
			"node_modules/lib/lib.js":         "export const x = 1;\n",
			"build/server/assets/unused.json": "{}",
		}, `"build/server/assets/late.mjs" imports "lib" by a name other than its path`},
		{"a path without its ending", map[string]string{
			"build/server/assets/page.js": "export { x as page } from './late';\n",
			"build/server/assets/late.js": late,
		}, `imports "./late" by a name other than its path`},
		{"JSON", map[string]string{
			"build/server/assets/page.js": "import x from './x.json'; export const page = x;\n",
			"build/server/assets/x.json":  "{}",
		}, `imports "build/server/assets/x.json", which is not JavaScript`},
		{"CommonJS", map[string]string{"build/server/assets/page.js": "exports.page = 1;\n"}, `"build/server/assets/page.js" is CommonJS`},
		{"a module above the entry", map[string]string{
			"build/server/assets/page.js": "export { x as page } from '../../x.js';\n",
			"build/x.js":                  late,
		}, `"build/x.js" is outside the entry's folder`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{
				"build/server/index.js": main, "build/server/index.js.map": sourceMap, "build/server/assets/page.js": page,
				"build/server/assets/late.mjs": late, "build/server/assets/late.mjs.map": lateMap,
				"build/server/assets/add.wasm": wasm, "package.json": "{}",
			}
			maps.Copy(files, row.files)
			for name, text := range files {
				at := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			b := bundler.New(dir, bundler.Options{NoBundle: func(string, string) bool { return true }})
			defer b.Close()
			bundle, found := b.Build(context.Background(), &manifest.Manifest{Entry: "build/server/index.js"})
			if bundle == nil {
				t.Fatal(found)
			}
			w := bundle.Worker
			if row.bundled != "" {
				if len(found) != 1 || found[0].Code != "worker-bundled" || !strings.Contains(found[0].Message, row.bundled) {
					t.Errorf("%v, want %q", found, row.bundled)
				}
				if string(w.Code) == main {
					t.Error("the Worker is not bundled")
				}
				return
			}
			if len(found) > 0 {
				t.Error(found)
			}
			got := map[string]string{w.Name: string(w.Code)}
			for _, m := range w.Modules {
				got[string(m.Kind)+" "+m.Specifier] = string(m.Bytes)
				if isLate := m.Specifier == "./assets/late.mjs"; isLate != strings.Contains(string(m.Map), `"sources":["src/late.ts"]`) {
					t.Errorf("%s has the map %s", m.Specifier, m.Map)
				}
			}
			want := map[string]string{
				"index.js": main, "script ./assets/page.js": page, "script ./assets/late.mjs": late, "wasm ./assets/add.wasm": wasm,
			}
			for name, text := range want {
				if got[name] != text {
					t.Errorf("%s is %q, want %q", name, got[name], text)
				}
			}
			if len(got) != len(want) || !strings.Contains(string(w.Map), `"sources":["src/app.ts"]`) {
				t.Errorf("%d modules, and the map %s", len(got), w.Map)
			}
		})
	}
}
