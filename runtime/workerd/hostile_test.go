package workerd_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
)

// hostile attacks the script around the Worker.
const hostile = `
for (const name of ["toJSON", "id", "name", "value"]) {
	for (const proto of [Array.prototype, String.prototype, Object.prototype])
		Object.defineProperty(proto, name, { __proto__: null, configurable: true, get() { throw new Error("patched"); }, set() {} });
}
JSON.stringify = () => { throw new Error("patched"); };
Promise.prototype.then = function () { throw new Error("patched"); };
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = function () { throw new Error("patched"); };
Reflect.apply = Object.defineProperty = () => { throw new Error("patched"); };
Headers.prototype.get = Headers.prototype.set = () => "forged";
globalThis.Response = class {}; 
Error.prepareStackTrace = () => { throw new Error("patched"); };
export default { async fetch() { throw new Error("honest"); } };
`

// forger writes lines that look like those of our script and of workerd.
const forger = `export default { async fetch(request) {
	if (request.url.endsWith("/forged")) {
		console.log('{"kind":"line","level":"error","text":"forged"}');
		console.log("\n{\"kind\":\"done\",\"id\":\"x-1\"}\n");
		process.stdout.write("{}\n".repeat(2000) + "y".repeat(3 << 20) + "\n");
		process.stderr.write("service main: Uncaught Error: forged\n  at worker.js:1:1\n");
		process.stderr.write("error: Uncaught exception: remote.jsg.Error: forged\n");
	}
	if (request.url.endsWith("/large")) console.log("z".repeat(5 << 20));
	throw new Error("honest");
} };`

// TestHostile: a Worker that changes the functions that our script may call, and one that writes lines like ours.
func TestHostile(t *testing.T) {
	t.Parallel()
	var c console
	for _, code := range []string{hostile, forger} {
		w := start(t, pagesruntime.WorkerOptions{Code: []byte(code), Console: c.log})
		for _, target := range []string{"/", "/forged", "/large", "/"} {
			_, _, err := ask(t, w, target)
			if f, ok := errors.AsType[*pagesruntime.Error](err); !ok || f.Headline() != "Error: honest" {
				t.Errorf("%s: %v", target, err)
			}
		}
	}
	if l := c.await(t, "more bytes"); len(l.Text) > 70<<10 {
		t.Errorf("a line of %d bytes", len(l.Text))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lines {
		if l.Text == "forged" || strings.HasPrefix(l.Text, "forged") {
			t.Errorf("a forged line: %+v", l)
		}
	}
}

// TestQuota: the log of a request has a limit.
func TestQuota(t *testing.T) {
	t.Parallel()
	var c console
	w := start(t, options(&c))
	if _, _, err := ask(t, w, "/many"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ask(t, w, "/log"); err != nil {
		t.Fatal(err)
	}
	c.await(t, "deeper") // of another request
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := 0
	for _, l := range c.lines {
		if strings.HasPrefix(l.Text, "line ") {
			lines++
		}
	}
	if lines != 1000 || c.lines[1000].Text != pagesruntime.OverLogs || c.lines[1000].Level != "warn" {
		t.Errorf("%d lines, and then %q", lines, c.lines[1000].Text)
	}
}

// TestOutbound: outbound requests pass our guard, and count for the request that makes them.
func TestOutbound(t *testing.T) {
	t.Parallel()
	var c console
	o := options(&c)
	world := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if strings.HasPrefix(name, "Pages-") {
				t.Errorf("the world sees %s", name)
			}
		}
		_, _ = io.WriteString(w, "the world")
	}))
	defer world.Close()
	o.Web.AllowFetch = []string{strings.TrimPrefix(world.URL, "http://")}
	w := start(t, o)
	rec, usage, err := ask(t, w, "/fetch?times=6&url="+world.URL)
	want := strings.Repeat("the world\n", 5) + "Error: Too many subrequests: limits.subRequests allows 5 for one request, redirects counted"
	if err != nil || rec.Body.String() != want || usage.SubRequests != 5 {
		t.Errorf("%v %v\n%s", err, usage, rec.Body)
	}
	rec, _, err = ask(t, w, "/fetch?url=http://127.0.0.1:1/")
	if err != nil || !strings.HasPrefix(rec.Body.String(), `Error: fetch to "127.0.0.1:1" is refused`) {
		t.Errorf("%v %s", err, rec.Body)
	}
}

// wasmAdd is a module that exports add of two numbers.
const wasmAdd = "\x00asm\x01\x00\x00\x00\x01\x07\x01\x60\x02\x7f\x7f\x01\x7f\x03\x02\x01\x00" +
	"\x07\x07\x01\x03add\x00\x00\x0a\x09\x01\x07\x00\x20\x00\x20\x01\x6a\x0b"

// TestModules: modules other than the entry, secrets, and no Node.js.
func TestModules(t *testing.T) {
	t.Parallel()
	var c console
	const code = `import add from "./0123456789abcdef-add.wasm";
import { name } from "./lib/a b.js";
import { env as global } from "cloudflare:workers";
const { exports } = new WebAssembly.Instance(add);
export class Other {}
export default { async fetch(request, env, ctx) {
	console.log(Promise.resolve(1), typeof process, typeof Buffer);
	return Response.json([exports.add(2, 3), name, env.SECRET, global.SECRET, Object.keys(env), typeof require]);
} };`
	w, err := program(t).NewWorker(t.Context(), pagesruntime.WorkerOptions{
		Name: "worker.js", Folder: "src", Code: []byte(code), Console: c.log, Limits: pagesruntime.Limits{CPU: time.Second},
		Wasm: map[string][]byte{"./0123456789abcdef-add.wasm": []byte(wasmAdd)},
		Scripts: map[string]pagesruntime.Script{
			"./lib/a b.js": {Text: `export { name } from "../other.js";`}, "./other.js": {Text: `export const name = "other";`},
		},
		Bindings: &binding.Set{Secrets: map[string]string{"SECRET": "a \"quoted\" ü☃ \\ value\nof two lines"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(t.Context()) })
	rec, _, err := ask(t, w, "/")
	const secret = `"a \"quoted\" ü☃ \\ value\nof two lines",`
	const want = `[5,"other",` + secret + secret + `["SECRET"],"undefined"]`
	if err != nil || rec.Body.String() != want {
		t.Errorf("%v\n%s", err, rec.Body)
	}
	c.await(t, "Promise { <state unknown> } undefined undefined")
}

// TestClass: the default export may be a class.
func TestClass(t *testing.T) {
	t.Parallel()
	w := start(t, pagesruntime.WorkerOptions{Code: []byte(`import { WorkerEntrypoint } from "cloudflare:workers";
export default class Site extends WorkerEntrypoint {
	fetch(request) {
		if (request.url.endsWith("/throw")) throw new Error("in a class");
		if (request.url.endsWith("/nothing")) return;
		return Response.json([this.ctx.member, Object.keys(this.env)]);
	}
}`)})
	if rec, _, err := ask(t, w, "/"); err != nil || rec.Body.String() != "[null,[]]" {
		t.Errorf("%v %s", err, rec.Body)
	}
	for target, want := range map[string]string{
		"/throw":   "Error: in a class (Site.fetch (src/worker.js:4:45))",
		"/nothing": "TypeError: the method fetch of the default export's class Site returned undefined, not a Response",
	} {
		if _, _, err := ask(t, w, target); err == nil || err.Error() != want {
			t.Errorf("%s: %v", target, err)
		}
	}
}
