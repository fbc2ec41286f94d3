package host

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A Worker of several modules that keeps the form of its build runs with the text of its functions. Public files are not among its modules.
func TestModulesOfAWorker(t *testing.T) {
	h, of := newHost(t)
	const manifest = `{"entry":"_worker/index.js","assets":"public","routes":[{"pattern":"/w"}]}`
	next, err := h.Prepare(t.Context(), sizedRelease(t, of("s", "one"), manifest, map[string]string{
		"_worker/index.js": `import { page } from "./assets/page.js"; import wasm from "./assets/empty.wasm";
			export default { async fetch() { const all = [String(page), wasm instanceof WebAssembly.Module];
				await import("./assets/absent.js").catch((e) => all.push(e.message)); return new Response(all.join()) } }`,
		"_worker/assets/page.js": `export function   page( ) {  }`, "_worker/assets/empty.wasm": "\x00asm\x01\x00\x00\x00",
		"public/assets/absent.js": "export {}", "public/absent.js": "export {}",
	}))
	if err != nil {
		t.Fatal(err)
	}
	next.Show()
	w := httptest.NewRecorder()
	h.Serve(w, httptest.NewRequest(http.MethodGet, "http://page.localhost/w", nil), "s", nil)
	if got, want := w.Body.String(), `function   page( ) {  },true,no such module "./assets/absent.js"`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
