package runtime_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestWhatIsThrown: any thrown value is an exception of the Worker's, described as well as possible.
func TestWhatIsThrown(t *testing.T) {
	for _, c := range []struct{ name, thrown, want string }{
		{"null", "null", "null"},
		{"undefined", "undefined", "undefined"},
		{"a symbol", `Symbol("s")`, "Symbol(s)"},
		{"a BigInt", "10n", "10n"},
		{"a string", `"text"`, "'text'"},
		{"an Error", `new Error("an error")`, "Error: an error"},
		{"a throwing toString", `{ toString() { throw 1 } }`, "{ toString: [Function: toString] }"},
		{"a throwing stack", `Object.defineProperty(new Error("m"), "stack", { get() { throw 1 } })`, "Error: m"},
		{"a throwing name", `Object.defineProperty(new Error("m"), "name", { get() { throw 1 } })`, "Error: m"},
		{"a hostile proxy", `new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 }, ownKeys() { throw 3 } })`, "{}"},
		{
			"a hostile proxy of an Error",
			`new Proxy(new Error("m"), { get() { throw 1 }, getPrototypeOf() { throw 2 }, ownKeys() { throw 3 } })`,
			"Error: m",
		},
		{"a revoked proxy", `(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()`, "<Revoked Proxy>"},
		{
			"a hostile cause",
			`Object.assign(new Error("m"), { cause: new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } }) })`,
			"Error: m",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, how := range []string{"throw", "return Promise.reject"} {
				w := mustStart(t, `export default { fetch() { `+how+` (`+c.thrown+`) } }`, pagesruntime.WorkerOptions{})
				_, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
				f, ok := errors.AsType[*pagesruntime.Error](err)
				if !ok || f.Kind != pagesruntime.KindException || !strings.HasPrefix(f.Error(), c.want) ||
					strings.Contains(f.Error(), "pages:") {
					t.Errorf("%s %s: got %v, want %q", how, c.thrown, err, c.want)
				}
			}
		})
	}
}

// TestRefusedBody: the error about a refused body points at the call that asked for it, which has
// returned when the body arrives.
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
