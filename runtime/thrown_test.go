package runtime_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestWhatIsThrown: whatever it is, it is an exception of the Worker's, and said as well as it can be.
func TestWhatIsThrown(t *testing.T) {
	for thrown, want := range map[string]string{
		"null":                       "null",
		"undefined":                  "undefined",
		`Symbol("s")`:                "Symbol(s)",
		"10n":                        "10n",
		`"text"`:                     "'text'",
		`new Error("an error")`:      "Error: an error",
		`{ toString() { throw 1 } }`: "{ toString: [Function: toString] }",
		`Object.defineProperty(new Error("m"), "stack", { get() { throw 1 } })`:                                        "Error: m",
		`Object.defineProperty(new Error("m"), "name", { get() { throw 1 } })`:                                         "Error: m",
		`new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 }, ownKeys() { throw 3 } })`:                    "{}",
		`new Proxy(new Error("m"), { get() { throw 1 }, getPrototypeOf() { throw 2 }, ownKeys() { throw 3 } })`:        "Error: m",
		`(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()`:                      "<Revoked Proxy>",
		`Object.assign(new Error("m"), { cause: new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } }) })`: "Error: m",
	} {
		for _, how := range []string{"throw", "return Promise.reject"} {
			w := mustStart(t, `export default { fetch() { `+how+` (`+thrown+`) } }`, pagesruntime.WorkerOptions{})
			_, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
			f, ok := errors.AsType[*pagesruntime.Error](err)
			if !ok || f.Kind != pagesruntime.KindException || !strings.HasPrefix(f.Error(), want) || strings.Contains(f.Error(), "pages:") {
				t.Errorf("%s %s: got %v, want %q", how, thrown, err, want)
			}
		}
	}
}

// TestRefusedBody: what a body is refused for is told of at the call that asked for it, which is
// over when the body is there.
func TestRefusedBody(t *testing.T) {
	for _, method := range []string{"json", "formData"} {
		f := fault(
			t,
			"export default {\n  async fetch(request) {\n    const read = await request."+method+
				"();\n    return Response.json(read);\n  }\n}",
			nil,
		)
		if len(f.Frames) != 1 || f.Frames[0].Line != 3 {
			t.Errorf("%s: got %v at %v, want line 3", method, f, f.Frames)
		}
	}
}
