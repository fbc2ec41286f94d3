package runtime_test

import (
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// A Worker of several modules: paths are relative to the importing one, and the text of a function is the author's.
func TestScripts(t *testing.T) {
	w := mustStart(t, `import { page } from "./assets/page.js"; import { same } from "./assets/deep/../deep/x.mjs";
		export default { async fetch() { const late = await import("./assets/late.js");
			return new Response([page(), late.same === same, late.fails()].join()) } }`, pagesruntime.WorkerOptions{
		Wasm: map[string][]byte{"./assets/growing.wasm": growingModule},
		Scripts: map[string]string{
			"./assets/page.js": `import module from "./growing.wasm"; import { same } from "./deep/x.mjs";
				export function   page( ) { return String(page) + (new WebAssembly.Instance(module).exports.grow(0)) }`,
			"./assets/deep/x.mjs": `export const same = {};`,
			"./assets/late.js": `export { same } from "./deep/x.mjs";
				export function fails() { try { null.x } catch (e) { return e.message + " " + e.stack.includes("./assets/late.js:2") } }`,
		},
	})
	want := "function   page( ) { return String(page) + (new WebAssembly.Instance(module).exports.grow(0)) }1,true," +
		"Cannot read properties of null (reading 'x') true"
	if _, got := get(t, serve(t, w), "/"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
