package web_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// Objects that belong to a request cannot be made outside of one. The platform
// refuses the same code when the Worker is uploaded.
func TestTopLevel(t *testing.T) {
	for code, refused := range map[string]bool{
		`new Response("x")`: true, `new Response("")`: true, `new Response(new Uint8Array(1))`: true, `Response.json({})`: true,
		`Response.redirect("https://a.test/")`: true, `new Request("https://a.test/", { method: "POST", body: "x" })`: true,
		`new IdentityTransformStream()`: true, `new FixedLengthStream(1)`: true, `new CompressionStream("gzip")`: true,
		`new DecompressionStream("gzip")`: true, `new Blob(["x"]).stream()`: true, `new WebSocketPair()`: true,
		`new WebSocket("wss://a.test/")`:      true,
		`new Response(null, { status: 204 })`: false, `new Response(new ReadableStream())`: false, `new Response()`: false,
		`Response.error()`: false, `new Request("https://a.test/")`: false,
		`new ReadableStream()`: false, `new TransformStream()`: false, `new WritableStream()`: false, `new FormData()`: false,
		`new Blob(["x"])`: false, `new Headers({ a: "b" })`: false, `new TextDecoderStream()`: false,
		`new AbortController().abort()`:  false,
		`new HTMLRewriter().on("p", {})`: false, `new MessageChannel()`: false, `structuredClone({})`: false, `caches.default`: false,
	} {
		t.Run(code, func(t *testing.T) {
			_, err := webtest.Start(t, code+";"+webtest.Handler(`return new Response("x");`), web.Options{})
			switch {
			case refused && (err == nil || !strings.Contains(err.Error(), "Disallowed operation called within global scope")):
				t.Errorf("%s: %v", code, err)
			case !refused && err != nil:
				t.Errorf("%s: %v", code, err)
			}
		})
	}
}

// Compilers of templates and schemas make code of strings, and may while the
// module is evaluated.
func TestCodeFromStringsAtTheTop(t *testing.T) {
	w := webtest.Serve(t, `
const six = new Function("a", "b", "return a * b")(2, 3), made = (0, eval)("(x) => x + 1"), later = Function;
const kinds = [(async () => {}).constructor("return 5"), (function* () {}).constructor("yield 5")];
let wrong = "";
try { new Function("}"); } catch (error) { wrong = error.name; }
`+webtest.Handler(`
	const refused = [() => eval("1"), () => eval(7), () => new later("1"), () => kinds[0].constructor("1"),
		() => kinds[1].constructor("1")].map((f) => {
		try { f(); return "run"; } catch (error) { return error.name; }
	});
	return Response.json([six, made(1), await kinds[0](), kinds[1]().next().value, wrong, kinds[0] instanceof Function, Function.length,
		refused]);`), web.Options{})
	const want = `[6,2,5,5,"SyntaxError",true,1,["EvalError","EvalError","EvalError","EvalError","EvalError"]]`
	if _, body := w.Get("/"); body != want {
		t.Errorf("got %s", body)
	}
}

// A request cannot use the objects of another.
func TestForeignObjects(t *testing.T) {
	for _, c := range []struct {
		name, code string
		foreign    bool
	}{
		{"a clone", `(kept ??= new Response("x")).clone()`, true},
		{"the text of a clone", `await (kept ??= new Response("x").clone()).text()`, true},
		{"a response returned", `return (kept ??= Response.json({}))`, true},
		{"a clone of a stream", `(kept ??= new Response(new ReadableStream({ type: "bytes" }))).clone()`, false},
		{"a clone of a request", `(kept ??= new Request("https://a.test/", { method: "POST", body: "x" })).clone()`, true},
		{"the JSON of a request", `await (kept ??= new Request("https://a.test/", { method: "POST", body: "x" })).json()`, true},
		{"a request fetched", `await fetch(kept ??= new Request("data:,x", { method: "POST", body: "x" }))`, true},
		{"accept of a WebSocket", `(kept ??= new WebSocketPair())[1].accept()`, true},
		{"send of a WebSocket", `(kept ??= new WebSocketPair())[1].send("x")`, true},
		{"a WebSocket returned", `return new Response(null, { status: 101, webSocket: (kept ??= new WebSocketPair())[0] })`, true},
		{"a clone without a body", `(kept ??= new Response(null, { status: 204 })).clone()`, false},
		{"headers of a response", `(kept ??= new Response("x", { headers: { a: "b" } })).headers.get("a")`, false},
		{"headers", `(kept ??= new Headers({ a: "c" })).get("a")`, false},
		{"a blob", `await (kept ??= new Blob(["d"])).text()`, false},
		{"a text", `new Response(kept ??= "e")`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := webtest.Serve(t, "let kept;"+webtest.Handler(`try { `+c.code+` } catch (error) { return new Response(error.message); }
			return new Response("fine");`), web.Options{})
			w.Get("/") // keeps it, and the other uses it
			_, body := w.Get("/")
			for _, err := range w.Errors() {
				body += err.Error()
			}
			if strings.Contains(body, "Cannot perform I/O on behalf of a different request.") != c.foreign {
				t.Errorf("%s: %q", c.code, body)
			}
		})
	}
}

// A long request keeps its objects, while any number of other requests begin and end.
func TestOwnObjectsLast(t *testing.T) {
	w := webtest.Serve(t, `const waiting = [];`+webtest.Handler(`
		const path = new URL(request.url).pathname;
		if (path === "/go") { for (const gate of waiting.splice(0)) gate.open = true; return new Response("gone"); }
		if (path !== "/slow") return new Response("quick");
		const mine = new Response("mine"), pair = new WebSocketPair();
		const gate = { open: false };
		waiting.push(gate);
		while (!gate.open) await scheduler.wait(1);
		pair[1].accept();
		return mine.clone();`), web.Options{})
	done := make(chan string)
	go func() {
		_, body := w.Get("/slow")
		done <- body
	}()
	for range 20 {
		w.Get("/quick")
	}
	for {
		select {
		case body := <-done:
			if body != "mine" {
				t.Errorf("%q", body)
			}
			return
		default:
			w.Get("/go")
		}
	}
}

// Where production refuses or takes something, so does this.
func TestAsInProduction(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"fetch called on another object",
			`return await fetch.call({}, "data:,x")`,
			`/TypeError: Illegal invocation: fetch (was|is) called as a method/`,
		},
		{"fetch in an object", `const api = { fetch }; return await api.fetch("data:,x")`, `/TypeError: Illegal invocation/`},
		{
			"fetch of the global object",
			`const f = fetch; return [(await f("data:,x")).status, (await self.fetch("data:,x")).status,
				(await fetch.call(null, "data:,x")).status, await fetch.bind(globalThis)("data:,x").then(r => r.text())]`,
			`[200,200,200,"x"]`,
		},
		{
			"waitUntil taken from its context",
			`const { waitUntil } = ctx; waitUntil(1)`,
			`TypeError: Illegal invocation: this is not a ExecutionContext`,
		},
		{
			"waitUntil without an argument",
			`ctx.waitUntil()`,
			`TypeError: ExecutionContext.waitUntil: 1 argument required, but only 0 present`,
		},
		{"request.cf is frozen", `"use strict"; request.cf.country = "XX"`, `/TypeError/`},
		{"headers that are null", `new Response("", { headers: null })`, `/TypeError: Headers constructor/`},
		{
			"a null body status",
			`const r = new Response("", { status: 204 }); return [r.status, r.body, [...r.headers], await r.text()]`,
			`[204,null,[],""]`,
		},
		{"a body with status 204", `new Response("x", { status: 204 })`, `/TypeError: Response with null body status/`},
		{"a lower-case PATCH", `return new Request("https://a.test/", { method: "patch" }).method`, `"PATCH"`},
		{
			"readAtLeast of a short body",
			`const r = new Response("hello").body.getReader({ mode: "byob" }); const { value } = await r.readAtLeast(4, new Uint8Array(8));
				return value.byteLength >= 4`,
			`true`,
		},
		{
			"readAtLeast of a byte stream",
			`const parts = ["he", "llo", "there"], rs = new ReadableStream({
				type: "bytes", pull(c) { c.enqueue(new TextEncoder().encode(parts.shift())); if (parts.length === 0) c.close(); } });
			const r = rs.getReader({ mode: "byob" }), one = await r.readAtLeast(4, new Uint8Array(6)),
				two = await r.readAtLeast(20, new Uint8Array(20)), three = await r.readAtLeast(1, new Uint8Array(9));
			return [one, two, three].map(({ done, value }) => [done, new TextDecoder().decode(value), value.buffer.byteLength])`,
			`[[false,"hello",6],[false,"there",20],[true,"",9]]`,
		},
		{
			"readAtLeast twice at once",
			`let next = 0; const r = new ReadableStream({ type: "bytes", pull(c) { c.enqueue(new Uint8Array([++next]));
				} }).getReader({ mode: "byob" });
			const both = await Promise.all([r.readAtLeast(2, new Uint16Array(2)), r.readAtLeast(2, new Uint8Array(2))]);
				return both.map(({ value }) => [...value])`,
			`[[513,1027],[5,6]]`,
		},
		{
			"readAtLeast of wider elements",
			`const r = new Response(new Uint8Array([1, 2, 3])).body.getReader({ mode: "byob" }), { done, value }
				= await r.readAtLeast(2, new Uint16Array(2)); return [done, value.constructor.name, [...value]]`,
			`[false,"Uint16Array",[513]]`,
		},
		{
			"a disposed DigestStream",
			`const hash = new crypto.DigestStream("SHA-256"), writer = hash.getWriter(); hash[Symbol.dispose]();
				return Promise.all([writer.write(new Uint8Array(1)), hash.digest].map((p) => p.catch((e) => e.message)))`,
			`["The DigestStream was disposed.","The DigestStream was disposed."]`,
		},
		{
			"readAtLeast of odd numbers",
			`const r = new Response("x").body.getReader({ mode: "byob" });
				return Promise.all([0, 9, NaN].map((n) => r.readAtLeast(n, new Uint8Array(8)).catch((e) => e.name)))`,
			`["TypeError","TypeError","TypeError"]`,
		},
		{
			"a stream of text",
			`await new Response(new ReadableStream({ start(c) { c.enqueue("x"); c.close(); } })).text()`,
			`/TypeError: This ReadableStream did not return bytes/`,
		},
		{"a request with headers that are null", `new Request("https://a.test/", { headers: null })`, `/TypeError/`},
		{
			"gzip of many bytes",
			`const { readable, writable } = new CompressionStream("gzip"), w = writable.getWriter(); await w.write(new Uint8Array(200000));
				await w.close();
		  const d = new DecompressionStream("gzip"), v = d.writable.getWriter(); await v.write(await new Response(readable).bytes());
		    await v.close(); return (await new Response(d.readable).bytes()).length`,
			`200000`,
		},
		{
			"many appends to a document",
			`const many = new HTMLRewriter().onDocument({ end(e) { for (let i = 0; i < 20000; i++) e.append("<br>", { html: true }); } });
				return (await many.transform(new Response("<p>")).text()).length`,
			`80003`,
		},
		{
			"attributes as an iterator",
			`const seen = []; await new HTMLRewriter().on("p", { element(e) { seen.push(e.attributes.map(([name]) => name).toArray());
				} }).transform(new Response("<p a b=1>")).text(); return seen`,
			`[["a","b"]]`,
		},
		{
			"multipart with bare line feeds",
			`const body = '--x\nContent-Disposition: form-data; name="a"\n\none\ntwo\n' +
				'--x\r\nContent-Disposition: form-data; name="f"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n\r\n' +
				'--x\r\nContent-Disposition: form-data; name="g"; filename="g"\n\r\n\r\r\n--x--';
		  const form = await new Response(body, { headers: { "content-type": "multipart/form-data; boundary=x" } }).formData();
		    return [form.get("a"), form.get("f"), await form.get("g").bytes().then((b) => [...b])]`,
			`["one\ntwo","",[13]]`,
		},
		{
			"half-open WebSockets",
			`const [a, b] = new WebSocketPair(); a.accept({ allowHalfOpen: true }); b.accept({ allowHalfOpen: true }); const log = [];
		  await new Promise((resolve) => {
			b.addEventListener("close", (e) => { log.push(e.code, b.readyState); b.send("last"); b.close(1000, "done");
				log.push(b.readyState); });
			a.addEventListener("message", (e) => log.push(e.data));
			a.addEventListener("close", (e) => { log.push(e.code, e.reason, a.readyState); resolve(); });
			a.close(1001);
		  }); return log`,
			`[1001,2,3,"last",1000,"done",3]`,
		},
	})
	w := webtest.Serve(t, webtest.Handler(`return new Response(new ReadableStream({ start(c) { c.enqueue("é");
		c.enqueue(new Uint8Array([65])); c.close(); } }));`), web.Options{})
	if _, body := w.Get("/"); body != "éA" {
		t.Errorf("a stream of text is sent as %q", body)
	}
}
