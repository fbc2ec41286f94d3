package runtime_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// bombs are bodies of handlers that attack through the platform's API. Each must end: with a kill, with an exception, or with an answer.
var bombs = map[string]string{
	"endless":              `for (;;) Math.abs(1)`,
	"timers":               `for (;;) setTimeout(() => {}, 1000)`,
	"timer that sets two":  `(function f() { setTimeout(f, 0); setTimeout(f, 0) })(); await new Promise(() => {})`,
	"interval":             `setInterval(() => { for (let i = 0; i < 1e4; i++) Math.abs(i) }, 0); await new Promise(() => {})`,
	"microtasks":           `(function f() { queueMicrotask(f) })(); await new Promise(() => {})`,
	"unhandled rejections": `for (;;) Promise.reject(new Error("x"))`,
	"thrown in tasks":      `(function f() { setTimeout(f, 0); throw new Error("x") })()`,
	"rejection riddle":     `const o = { toString() { throw o } }; Promise.reject(o); throw o`,
	"console of much":      `console.log("x".repeat(5e7))`,
	"console of rings":     `const a = {}; a.a = a; a.b = [a, new Map([[a, a]])]; for (;;) console.log(a)`,
	"console of proxies":   `console.log(new Proxy({}, { get() { for (;;) Math.abs(1) }, ownKeys() { for (;;) Math.abs(1) } }))`,
	"console of getters":   `console.log({ get [Symbol.toStringTag]() { for (;;) Math.abs(1) } })`,
	"console of depth":     `let a = []; for (let i = 0; i < 1e5; i++) a = [a]; console.dir(a, { depth: Infinity })`,
	"console of width":     `console.table(Array.from({ length: 1e5 }, (_, i) => ({ ["k" + i]: i })))`,
	"console loop":         `for (;;) console.log("x")`,
	"clone depth":          `let a = []; for (let i = 0; i < 1e5; i++) a = [a]; structuredClone(a)`,
	"clone width":          `structuredClone(new Array(3e7).fill(1))`,
	"clone of getters":     `structuredClone({ get a() { for (;;) Math.abs(1) } })`,
	"decode":               `const b = new Uint8Array(3e7).fill(0xc3); for (;;) new TextDecoder().decode(b)`,
	"encode":               `const s = "é".repeat(1e7); for (;;) new TextEncoder().encode(s)`,
	"encode into":          `const s = "é".repeat(1e6), b = new Uint8Array(3e6); for (;;) new TextEncoder().encodeInto(s, b)`,
	"atob":                 `const s = "A".repeat(1e7); for (;;) btoa(atob(s))`,
	"URL of a megabyte":    `for (;;) new URL("http://example.com/" + "a/../".repeat(2e5))`,
	"URL host":             `for (;;) { try { new URL("http://" + "ü.".repeat(1e5)) } catch {} }`,
	"search params":        `const u = new URLSearchParams("a=b&".repeat(1e5)); for (;;) u.sort()`,
	"params from iterator": `new URLSearchParams((function* () { for (;;) yield ["a", "b"] })())`,
	"URL pattern":          `for (;;) new URLPattern({ pathname: "/:a(a+)+".repeat(100) }).test("http://x/" + "a".repeat(1e4))`,
	"headers of many":      `const h = new Headers(); for (let i = 0; i < 1e5; i++) h.append("x" + i, "v"); [...h]`,
	"headers of one":       `const h = new Headers(); for (;;) h.append("x", "v".repeat(100))`,
	"headers from a proxy": `new Headers(new Proxy({}, { ownKeys() { for (;;) Math.abs(1) } }))`,
	"header sent":          `return new Response("x", { headers: { a: "x".repeat(2e7) } })`,
	"request bodies":       `const all = []; for (;;) all.push(new Request("http://x/", { method: "POST", body: new Uint8Array(1e6) }))`,
	"response clones":      `let r = new Response("x".repeat(1e6)); const all = []; for (;;) all.push(r.clone())`,
	"blob parts":           `let b = new Blob(["x".repeat(1e6)]); for (;;) b = new Blob([b, b])`,
	"form data":            `const f = new FormData(); for (let i = 0;; i++) f.append("n" + i, "v")`,
	"form data sent":       `const f = new FormData(); for (let i = 0; i < 2e5; i++) f.append("n", "v"); await new Response(f).formData()`,
	"json body":            `await new Response("[".repeat(1e6)).json()`,
	"stream without end":   `return new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1e5)) } }))`,
	"stream of start":      `new ReadableStream({ start(c) { for (;;) c.enqueue(new Uint8Array(1e5)) } })`,
	"stream of nothing":    `return new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(0)) } }))`,
	"stream of strings":    `return new Response(new ReadableStream({ pull(c) { c.enqueue("text") } }))`,
	"tee unread": `const [a] = new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1e6)) } }).tee();
		for await (const x of a) Math.abs(1)`,
	"pipe in a ring": `const t = new TransformStream(); t.readable.pipeTo(t.writable); await t.writable.getWriter?.call(t.writable)`,
	"transform that grows": `const t = new TransformStream({ transform(c, k) { for (;;) k.enqueue(c) } });
		t.writable.getWriter().write("x"); await t.readable.getReader().read()`,
	"compress": `for (;;) new Response(new Response(new Uint8Array(1e6)).body.pipeThrough(new ` +
		`CompressionStream("gzip"))).arrayBuffer()`,
	"digests": `for (;;) crypto.subtle.digest("SHA-256", new Uint8Array(1e6))`,
	"key derivation": `const k = await crypto.subtle.importKey("raw", new Uint8Array(9), "PBKDF2", false, ["deriveBits"]);
		for (;;) crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-512", salt: new Uint8Array(9), iterations: 1e5 }, k, 512)`,
	"random values": `for (;;) crypto.getRandomValues(new Uint8Array(65536))`,
	"events": `const t = new EventTarget(); t.addEventListener("x", () => t.dispatchEvent(new Event("x")));
		t.dispatchEvent(new Event("x"))`,
	"listeners":      `const t = new EventTarget(); for (;;) t.addEventListener("x", () => {})`,
	"abort signals":  `const all = []; for (;;) all.push(AbortSignal.timeout(1e6))`,
	"any of signals": `let s = new AbortController().signal; for (;;) s = AbortSignal.any([s, s])`,
	"message channels": `const all = []; for (;;) { const c = new MessageChannel(); c.port1.postMessage(new Uint8Array(1e6));
		all.push(c) }`,
	"waitUntil loop":     `ctx.waitUntil((async () => { for (;;) await 0 })()); return new Response("x")`,
	"waitUntil for many": `for (;;) ctx.waitUntil(Promise.resolve())`,
	"waitUntil thenable": `ctx.waitUntil({ then() { for (;;) Math.abs(1) } }); return new Response("x")`,
	"response getter":    `return { get status() { for (;;) Math.abs(1) } }`,
	"response thenable":  `return { then(f) { f({ then() { for (;;) Math.abs(1) } }) } }`,
	"response proxy":     `return new Proxy(new Response("x"), {})`,
	"rewriter": `const r = new HTMLRewriter(); for (let i = 0; i < 1e4; i++) r.on("p", { element() {} });
		await r.transform(new Response("<p>".repeat(1e5))).text()`,
	"import":  `for (;;) import("none").catch(() => {})`,
	"env":     `for (let i = 0;; i++) env["k" + i] = "x".repeat(1e6)`,
	"globals": `for (let i = 0;; i++) globalThis["k" + i] = new Uint8Array(1e6)`,
	"prototype": `Object.prototype.toString = Array.prototype.push = Promise.prototype.then = () => { for (;;) Math.abs(1) };
		return new Response("x")`,
	"prepare stack":     `Error.prepareStackTrace = () => { for (;;) Math.abs(1) }; throw new Error("x")`,
	"then of promises":  `Promise.prototype.then = function () { for (;;) Math.abs(1) }; await 0; return new Response("x")`,
	"Intl":              `for (;;) new Intl.NumberFormat("de", { style: "currency", currency: "EUR" }).format(1e15)`,
	"fetch without end": `for (;;) fetch("http://127.0.0.1:1/").catch(() => {})`,
}

const bombBudget = 50 * time.Millisecond

// TestBombs: no handler harms the process or the next request.
func TestBombs(t *testing.T) {
	code, names := bombsCode()
	testBombs(t, names, mustStart(t, code, bombOptions("")))
}

// TestBombsInWorkerd: the same in workerd, whose process ends over the limit, and starts again.
func TestBombsInWorkerd(t *testing.T) {
	testmachine.Long(t)
	code, names := bombsCode()
	testBombs(t, names, enginetest.Workerd(t).MustStart(t, bombOptions(code)))
}

func bombOptions(code string) pagesruntime.WorkerOptions {
	return pagesruntime.WorkerOptions{
		Name: "worker.js", Code: []byte(code), Isolates: 1,
		Limits: pagesruntime.Limits{CPU: bombBudget}, Console: func(pagesruntime.Line) {},
	}
}

// bombsCode is a Worker that runs the bomb that a header names.
func bombsCode() (text string, names []string) {
	var code strings.Builder
	code.WriteString("const bombs = {\n")
	for name, body := range bombs {
		names = append(names, name)
		code.WriteString("\"" + name + "\": async (request, env, ctx) => { " + body + " },\n")
	}
	slices.Sort(names)
	code.WriteString(`};
		export default { fetch(request, env, ctx) {
			const name = request.headers.get("bomb");
			return name === null ? new Response("fine") : bombs[name](request, env, ctx);
		} }`)
	return code.String(), names
}

func testBombs(t *testing.T, names []string, w enginetest.Worker) {
	t.Helper()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Bomb", name)
			usage, err := w.Serve(&limitedRecorder{ResponseRecorder: httptest.NewRecorder()}, r)
			f, ok := errors.AsType[*pagesruntime.Error](err)
			if err != nil && (!ok || f.Kind == pagesruntime.KindInternal) {
				t.Errorf("got %v", err)
			}
			// Host functions that run when the budget ends may finish, and other tests use the machine too.
			if usage.CPU > 20*bombBudget*slowdown {
				t.Errorf("used %v of %v: %v", usage.CPU, bombBudget, err)
			}
			t.Logf("%v: %v", usage.CPU.Round(time.Millisecond), err)
			for range 2 {
				rec := httptest.NewRecorder()
				if _, err := w.Serve(rec, httptest.NewRequest(http.MethodGet, "/", nil)); err == nil && rec.Body.String() == "fine" {
					return
				}
				// waitUntil may have gone on into the budget's end: once.
			}
			t.Error("the next request is not served")
		})
	}
}

// limitedRecorder is a client that has read enough after a megabyte.
type limitedRecorder struct {
	*httptest.ResponseRecorder
	size int
}

var errEnough = errors.New("the client has read enough")

// Write implements http.ResponseWriter.
func (l *limitedRecorder) Write(b []byte) (int, error) {
	if l.size += len(b); l.size > 1<<20 {
		return 0, errEnough
	}
	return l.ResponseRecorder.Write(b)
}
