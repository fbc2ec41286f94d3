package web_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// Features that work here and fail in production give a warning, once for each kind.
func TestCautions(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"a capturing listener", `new EventTarget().addEventListener("a", () => {}, true)`, "production refuses capture: true"},
		{"its option", `new EventTarget().addEventListener("a", () => {}, { capture: true })`, "production refuses capture: true"},
		{"other options", `new EventTarget().addEventListener("a", () => {}, { once: true, passive: true, capture: false })`, ""},
		{
			"a Blob that is sent", `const s = new WebSocketPair()[0]; s.accept(); s.send(new Blob(["x"]))`,
			`production sends the text "[object Blob]"`,
		},
		{"bytes that are sent", `const s = new WebSocketPair()[0]; s.accept(); s.send(new Uint8Array(1)); s.send("x")`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := webtest.Serve(t, webtest.Handler(`for (const n of [1, 2]) { `+c.code+` } return new Response();`), web.Options{})
			w.Get("/")
			if got := w.Lines(); strings.Count(got, "production") != min(len(c.want), 1) || !strings.Contains(got, c.want) {
				t.Errorf("the console has %q, want once %q", got, c.want)
			}
		})
	}
}
