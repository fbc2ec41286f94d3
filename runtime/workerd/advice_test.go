package workerd_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestAdvice: advice of the built-in engine also follows V8's messages, with the author's line.
func TestAdvice(t *testing.T) {
	t.Parallel()
	cases := []struct{ code, fix string }{
		{`await fetch("/data.json")`, "ask for a public file as env.ASSETS.fetch("},
		{`new Request("/x")`, `write new URL("/x", request.url)`},
		{`Response.redirect("/login")`, `write new URL("/login", request.url)`},
		{`new URL("./data.bin", import.meta.url)`, "a Worker has no import.meta.url"},
		{"await env.DB\n.prepare('')", `declare "database": {}`},
		{`await import("cloudflare:email")`, "there are neither queues nor mail here"},
		{`String({ __proto__: null })`, ""},
		{`[1].map(() => { throw new Error("in a call of V8's") })`, ""},
	}
	var code strings.Builder
	code.WriteString("const cases = [\n")
	for _, c := range cases {
		code.WriteString("async (request, env) => { " + c.code + " },\n")
	}
	code.WriteString("];\nexport default { fetch: (request, env) => cases[new URL(request.url).search.slice(1)](request, env) };")
	w := start(t, pagesruntime.WorkerOptions{Code: []byte(code.String())})
	for i, c := range cases {
		_, _, err := ask(t, w, "/?"+strconv.Itoa(i))
		f, ok := errors.AsType[*pagesruntime.Error](err)
		if !ok || !strings.HasPrefix(f.Fix, c.fix) || c.fix == "" && f.Fix != "" {
			t.Errorf("%s: %v: the fix is %q, want %q", c.code, err, f.Fix, c.fix)
		}
		if ok && (len(f.Frames) == 0 || f.Frames[0].File != "src/worker.js") && !strings.Contains(c.code, "cloudflare:") {
			t.Errorf("%s: %v: the place is %v", c.code, err, f.Frames)
		}
	}
}
