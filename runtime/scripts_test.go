package runtime_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// A Worker of several modules: paths are relative to the importing one, and the text of a function is the author's.
func TestScripts(t *testing.T) {
	w := mustStart(t, `import { page } from "./assets/page.js"; import { same } from "./assets/deep/../deep/x.mjs";
		export default { async fetch() { const late = await import("./assets/late.js");
			return new Response([page(), late.same === same, late.fails()].join()) } }`, pagesruntime.WorkerOptions{
		Wasm: map[string][]byte{"./assets/growing.wasm": growingModule},
		Scripts: map[string]pagesruntime.Script{
			"./assets/page.js": {Text: `import module from "./growing.wasm"; import { same } from "./deep/x.mjs";
				export function   page( ) { return String(page) + (new WebAssembly.Instance(module).exports.grow(0)) }`},
			"./assets/deep/x.mjs": {Text: `export const same = {};`},
			"./assets/late.js": {Text: `export { same } from "./deep/x.mjs";
				export function fails() { try { null.x } catch (e) { return e.message + " " + e.stack.includes("./assets/late.js:2") } }`},
		},
	})
	want := "function   page( ) { return String(page) + (new WebAssembly.Instance(module).exports.grow(0)) }1,true," +
		"Cannot read properties of null (reading 'x') true"
	if _, got := get(t, serve(t, w), "/"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestScriptMaps: an error in a module that another tool built is shown in the file that it was built of.
func TestScriptMaps(t *testing.T) {
	// Line 1 of the module is line 3 of src/page.ts, and its column 20 the column 4 there.
	const sourceMap = `{"version":3,"sources":["src/page.ts"],"names":[],"mappings":"mBAEG",` +
		`"sourcesContent":["// the author's\n\nfn: page() { null.x }\n"]}`
	w := mustStart(t, `import { page } from "./assets/page.js"; export default { fetch: () => page() }`, pagesruntime.WorkerOptions{
		Folder: "dist", MapStacks: true,
		Scripts: map[string]pagesruntime.Script{
			"./assets/page.js": {Text: `export const page =() => { null.x };`, Map: []byte(sourceMap)},
		},
	})
	_, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://site.example/", nil))
	failed, ok := errors.AsType[*pagesruntime.Error](err)
	if !ok || len(failed.Frames) != 2 {
		t.Fatalf("%v", err)
	}
	if at := failed.Frames[0].String(); at != "at page (src/page.ts:3:4)" {
		t.Errorf("thrown %s", at)
	}
	if at := failed.Frames[1]; at.File != "dist/worker.js" || at.Line != 1 {
		t.Errorf("called %s", at)
	}
	if len(failed.Snippet) != 3 || failed.Snippet[2].Text != "fn: page() { null.x }" || !failed.Snippet[2].Hit {
		t.Errorf("around it: %+v", failed.Snippet)
	}
}
