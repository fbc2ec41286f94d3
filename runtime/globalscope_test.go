package runtime_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/binding/kv"
)

// TestGlobalScope: as in workerd 2026-06-01, the top level of a module may not use I/O,
// timers, random values, and objects that belong to a request.
func TestGlobalScope(t *testing.T) {
	const refused = "Error: Disallowed operation called within global scope."
	for _, c := range []struct {
		name, code string
		allowed    bool
	}{
		{"fetch", `fetch("https://example.com")`, false},
		{"setTimeout", `setTimeout(() => {}, 1)`, false},
		{"setInterval", `setInterval(() => {}, 1)`, false},
		{"clearTimeout", `clearTimeout(1)`, false},
		{"scheduler.wait", `scheduler.wait(1)`, false},
		{"AbortSignal.timeout", `AbortSignal.timeout(10)`, false},
		{"getRandomValues", `crypto.getRandomValues(new Uint8Array(2))`, false},
		{"randomUUID", `crypto.randomUUID()`, false},
		{"generateKey", `crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign"])`, false},
		{"cache match", `caches.default.match("https://a.test/")`, false},
		{"cache put", `caches.default.put("https://a.test/", new Response("x"))`, false},
		{"WebSocketPair", `new WebSocketPair()`, false},
		{"WebSocket", `new WebSocket("wss://a.test")`, false},
		{"EventSource", `new EventSource("https://a.test")`, false},
		{"IdentityTransformStream", `new IdentityTransformStream()`, false},
		{"CompressionStream", `new CompressionStream("gzip")`, false},
		{"a body", `new Response("abc").text()`, false},
		{"KV get", `env.KV.get("a")`, false},
		{"KV put", `env.KV.put("a", "b")`, false},
		{"waitUntil", `waitUntil(Promise.resolve())`, false},
		{"Math.random", `Math.random()`, true},
		{"Date.now", `Date.now()`, true},
		{"digest", `crypto.subtle.digest("SHA-256", new Uint8Array(2))`, true},
		{"importKey", `crypto.subtle.importKey("raw", new Uint8Array(32), { name: "HMAC", hash: "SHA-256" }, true, ["sign"])`, true},
		{"caches.open", `caches.open("x")`, true},
		{"queueMicrotask", `queueMicrotask(() => {})`, true},
		{"URL", `new URL("https://a.test")`, true},
		{"Headers", `new Headers({ a: "b" })`, true},
		{"AbortController", `new AbortController().abort()`, true},
		{"ReadableStream", `new ReadableStream({})`, true},
		{"DigestStream", `new crypto.DigestStream("SHA-256")`, true},
		{"a variable of env", `env.GREETING`, true},
		{"console", `console.log("at load")`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := mustStart(t, `import { env, waitUntil } from "cloudflare:workers";
			let result = "done";
			try { await (`+c.code+`); } catch (error) { result = String(error); }
			export default { fetch() { return new Response(result); } };`,
				pagesruntime.WorkerOptions{Bindings: withKV(t)})
			_, got := get(t, serve(t, w), "/")
			if c.allowed && got != "done" || !c.allowed && !strings.HasPrefix(got, refused) {
				t.Errorf("%s: %s", c.code, got)
			}
		})
	}
}

// The clock throws at the top level, so that code which would keep the first of
// January 1970 fails here.
func TestClockStandsAtTheTop(t *testing.T) {
	w := mustStart(t, `const loaded = [Date.now(), new Date().getFullYear(), performance.now()];
		export default { fetch() { return Response.json([loaded, new Date().getFullYear() > 2024, performance.now() > 0]);
		} };`, pagesruntime.WorkerOptions{})
	if _, got := get(t, serve(t, w), "/"); got != "[[0,1970,0],true,true]" {
		t.Error(got)
	}
}

// A binding that was refused at the top level works in the handler.
func TestGlobalScopeEnds(t *testing.T) {
	w := mustStart(t, `export default { async fetch(request, env) {
		await env.KV.put("a", "b");
		clearTimeout(setTimeout(() => {}, 1));
		return new Response(await env.KV.get("a") + await new Response("c").text() + typeof new WebSocketPair()[0]);
	} };`, pagesruntime.WorkerOptions{Bindings: withKV(t)})
	if _, got := get(t, serve(t, w), "/"); got != "bcobject" {
		t.Error(got)
	}
}

func withKV(t *testing.T) *binding.Set {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "kv.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	namespace, err := kv.New(db, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return &binding.Set{Secrets: map[string]string{"GREETING": "hello"}, KV: map[string]*kv.Namespace{"KV": namespace}}
}

// Handlers that the platform never calls are named when the Worker starts, and so are exports with which workerd starts none.
func TestUncalledHandlers(t *testing.T) {
	const values = ": wrangler dev starts no Worker that exports anything but functions, classes and objects; " +
		"keep it in another module, or do not export it\n"
	for _, c := range []struct{ code, want string }{
		{
			`export default { fetch() {}, scheduled() {}, email() {}, helper() {} };`,
			"warn: the default export has the handlers scheduled and email, " +
				"which are never called on this platform: it has no triggers\n",
		},
		{
			`import { WorkerEntrypoint } from "cloudflare:workers";
				export default class extends WorkerEntrypoint { fetch() {} queue() {} }`,
			"warn: the default export has a handler queue, which is never called on this platform: it has no triggers\n",
		},
		{`export default { fetch() {}, scheduled: true };`, ""},
		{
			`export const VERSION = "1.0", none = null; export default { fetch() {} };`,
			"warn: the entry exports VERSION, of type string" + values + "warn: the entry exports none, null" + values,
		},
		{`export const list = [], map = {}; export function f() {} export class C {} export default { fetch() {} };`, ""},
	} {
		got := ""
		mustStart(t, c.code, pagesruntime.WorkerOptions{Console: func(l pagesruntime.Line) { got += l.Level + ": " + l.Text + "\n" }})
		if got != c.want {
			t.Errorf("%s: %q", c.code, got)
		}
	}
}

// Packages detect features of Intl at their top level. Those dates are never shown, so a
// calendar without data is an error only where dates are.
func TestCalendarsAtTheTop(t *testing.T) {
	w := mustStart(t, `
		const format = new Intl.DateTimeFormat("en-u-ca-chinese", { timeZone: "UTC" });
		const text = new Date(0).toLocaleDateString("en-u-ca-chinese"), options = format.resolvedOptions();
		const tried = (f) => { try { return f() } catch (error) { return String(error) } };
		export default { fetch() { return Response.json([text, options.calendar, "missing" in options, tried(() => format.format(0)),
		tried(() => new Intl.DateTimeFormat("en-u-ca-chinese"))]) } }`,
		pagesruntime.WorkerOptions{})
	const want = `["1/1/1970","gregory",false,"Error: the calendar chinese is not available in this version of the runtime","Error: ` +
		`the calendar chinese is not available in this version of the runtime"]`
	if _, got := get(t, serve(t, w), "/"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// Streams of node:zlib work at a module's top level, as on the platform. A stream that is not ended there does not belong to the state that
// requests start from.
func TestZlibAtTheTopLevel(t *testing.T) {
	w := mustStart(t, `import zlib from "node:zlib";
		const out = [], told = (z) => z.on("data", (b) => out.push(b.toString())).on("error", (e) => out.push(e.message.slice(0, 50)));
		const packed = zlib.createGzip().on("data", (b) => told(zlib.createGunzip()).end(b));
		packed.end("hello");
		const open = told(zlib.createDeflate({ level: 0 }));
		open.write("open");
		export default { async fetch() {
			open.end("more");
			await new Promise((go) => setTimeout(go));
			const made = told(zlib.createInflate());
			made.end(zlib.deflateSync("in a request"));
			await new Promise((go) => made.on("end", go));
			return Response.json(out);
		} };`, pagesruntime.WorkerOptions{NodeJS: true})
	_, got := get(t, serve(t, w), "/")
	if want := `["hello","Cannot perform I/O on behalf of a different reques","in a request"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
