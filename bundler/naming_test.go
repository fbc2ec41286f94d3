package bundler

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// TestNameCallsThatCount: a call restores the name of a function that esbuild renames; other functions get no call.
func TestNameCallsThatCount(t *testing.T) {
	dir := site(t, "w.js", `import { f as other, C as D, g as h } from "./o.js";
const f = () => { const inner = () => 1; function deep() {} return [inner, deep, { f: function f() {} }, { g: function g() {} }] };
class C { field = () => 1 }
export function g() {}
export default { fetch: () => [f, other, C, D, g, h] };`,
		"o.js", `export const f = () => 2; export class C {} export function g() {}`)
	code := string(build(t, builder(t, dir, Options{}), manifest.Manifest{Entry: "w.js"}).Worker.Code)
	for _, want := range []string{
		`f2 = /* @__PURE__ */ __name(() => {`, `}, "f")`, `__name(function f3() {`, `__name(g2, "g")`,
		`__name(this, "C")`,
	} {
		if !strings.Contains(code, want) {
			t.Errorf("%q is missing in\n%s", want, code)
		}
	}
	for _, none := range []string{`"inner"`, `"deep"`, `"field"`, `"fetch"`, `__name(g, `} {
		if strings.Contains(code, none) {
			t.Errorf("%q is left in\n%s", none, code)
		}
	}
	if map1 := string(
		build(t, builder(t, dir, Options{}), manifest.Manifest{Entry: "w.js"}).Worker.Map,
	); !strings.Contains(map1, "mappings") {
		t.Errorf("no source map: %s", map1)
	}
	if code := string(
		build(t, builder(t, dir, Options{Minify: true}), manifest.Manifest{Entry: "w.js"}).Worker.Code,
	); !strings.Contains(code, `,"inner")`) {
		t.Errorf("minified code keeps its names by calls:\n%s", code)
	}
}
