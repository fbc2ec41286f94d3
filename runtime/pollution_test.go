package runtime_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// Properties that a library adds to all objects do not break the modules of Node.js, which are evaluated after it.
func TestPollutedModules(t *testing.T) {
	const source = `
Object.prototype.toJSON = function () { const copy = {}; for (const key of Object.keys(this)) copy[key] = this[key]; return copy; };
export default { async fetch() {
	const { gzipSync, gunzipSync } = await import("node:zlib"), { createHash } = await import("node:crypto");
	return new Response(gunzipSync(gzipSync("hello")).toString() + createHash("md5").update("x").digest("hex").length);
} };`
	w := mustStart(t, source, pagesruntime.WorkerOptions{NodeJS: true})
	answer := httptest.NewRecorder()
	if _, err := w.Serve(answer, httptest.NewRequest(http.MethodGet, "/", nil)); err != nil || answer.Body.String() != "hello32" {
		t.Errorf("got %q, %v", answer.Body, err)
	}
}

// The runtime's functions for the modules of Node.js reach the bytes of keys that may not be exported: no code of the Worker's gets them.
func TestModulesKeepWhatIsLent(t *testing.T) {
	const source = `
const before = Symbol.for("pages.node") in globalThis;
export default { async fetch() {
	const { createSign } = await import("node:crypto");
	return Response.json([before, Symbol.for("pages.node") in globalThis, typeof createSign]);
} };`
	w := mustStart(t, source, pagesruntime.WorkerOptions{NodeJS: true})
	answer := httptest.NewRecorder()
	if _, err := w.Serve(answer, httptest.NewRequest(http.MethodGet, "/", nil)); err != nil ||
		answer.Body.String() != `[false,false,"function"]` {
		t.Errorf("got %q, %v", answer.Body, err)
	}
}
