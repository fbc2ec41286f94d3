package web_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

func TestRequestAndResponse(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{"method and URL", `return request.method + " " + new URL(request.url).pathname + new URL(request.url).search`, `"POST /path?q=1"`},
		{"json", `return await request.json()`, `{"sent":true}`},
		{"text", `return await request.text()`, `"{\"sent\":true}"`},
		{"arrayBuffer", `return [...new Uint8Array(await request.arrayBuffer())].length`, `13`},
		{"bytes", `return (await request.bytes()).constructor.name`, `"Uint8Array"`},
		{"blob", `const b = await request.blob(); return [b.size, b.type]`, `[13, "application/json"]`},
		{
			"a body read twice",
			`await request.text(); return [request.bodyUsed, request.body.locked, await request.text().catch(e => e.name)]`,
			`[true, true, "TypeError"]`,
		},
		{
			"a body read by a reader",
			`const r = request.body.getReader(); const {value} = await r.read();
				return [new TextDecoder().decode(value), (await r.read()).done]`,
			`["{\"sent\":true}", true]`,
		},
		{"json after a look at body", `request.body; return await request.json()`, `{"sent":true}`},
		{
			"a locked body",
			`request.body.getReader(); return await request.json()`,
			`TypeError: This ReadableStream is currently locked to a reader.`,
		},
		{
			"a clone of the request",
			`const c = request.clone(); return [await request.text(), await c.text()].map(s => s.length)`,
			`[13, 13]`,
		},
		{"immutable headers", `request.headers.set("a", "b")`, `TypeError: Can't modify immutable headers.`},
		{
			"a copy with other headers",
			`const r = new Request(request); r.headers.set("a", "b"); return [r.headers.get("a"), await r.text(), request.bodyUsed]`,
			`["b", "{\"sent\":true}", true]`,
		},
		{
			"a byobRequest that is filled",
			`const lent = () => new Response(new ReadableStream({ type: "bytes", pull(c) { const { view } = c.byobRequest;
				view.set([104, 105]); c.byobRequest.respond(2); c.close(); } })); return [await lent().text(), (await lent().blob()).size]`,
			`["hi",2]`,
		},
		{
			"types of a blob",
			`const type = async (value) => (await new Response("x", { headers: { "content-type": value } }).blob()).type;
				return Promise.all(["text/plain, x/y, text/html", "text/html;charset=utf-8, text/html", "text/html;charset=utf-8, text/css",
				"a/b;c=\"d,e/f\"", "text/css, */*, junk", ", ,"].map(type))`,
			`["text/html","text/html;charset=utf-8","text/css","a/b;c=\"d,e/f\"","text/css",""]`,
		},
		{
			"a copy without a body",
			`const r = new Request(request, { method: "GET", body: null }); return [r.method, r.body, await request.text()]`,
			`["GET", null, "{\"sent\":true}"]`,
		},
		{
			"a copy with another method",
			`const r = new Request(request, { method: "PUT" }); return [r.method, r.headers.get("content-type")]`,
			`["PUT", "application/json"]`,
		},
		{
			"a new request with text",
			`const r = new Request("https://a.test", { method: "post", body: "x" });
				return [r.method, r.url, r.headers.get("content-type"), await r.text()]`,
			`["POST", "https://a.test/", "text/plain;charset=UTF-8", "x"]`,
		},
		{
			"a request made of another",
			`const r = new Request("https://a.test", { method: "post", body: "x" }); new Request(r); return r.bodyUsed`,
			`true`,
		},
		{
			"a GET with a body",
			`new Request("https://a.test", { body: "x" })`,
			`TypeError: Request with a GET or HEAD method cannot have a body.`,
		},
		{"a relative URL", `new Request("/x")`, `TypeError: Invalid URL: "/x"`},
		{"a malformed method", `new Request("https://a.test", { method: "a b" })`, `TypeError: Invalid HTTP method string: a b`},
		{
			"an unknown redirect mode",
			`new Request("https://a.test", { redirect: "maybe" })`,
			`TypeError: Invalid redirect value: "maybe" is not "follow", "error" or "manual"`,
		},
		{"the request's signal", `return [request.signal.aborted, request.signal instanceof AbortSignal]`, `[false, true]`},
		{
			"members of a response",
			`const r = new Response("x", { status: 201, statusText: "Made", headers: { "Content-Type": "a/b" } });
				return [r.status, r.ok, r.statusText, r.headers.get("content-type"), r.url, r.type, r.redirected]`,
			`[201, true, "Made", "a/b", "", "default", false]`,
		},
		{
			"status 199",
			`new Response("x", { status: 199 })`,
			`RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive; got 199.`,
		},
		{
			"status 600",
			`new Response("x", { status: 600 })`,
			`RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive; got 600.`,
		},
		{
			"status 204 with a body",
			`new Response("x", { status: 204 })`,
			`TypeError: Response with null body status (101, 204, 205, or 304) cannot have a body.`,
		},
		{
			"Response.json",
			`const r = Response.json({ a: [1] }); return [r.headers.get("content-type"), await r.json()]`,
			`["application/json", {"a":[1]}]`,
		},
		{
			"Response.json with a content type",
			`return Response.json(1, { headers: { "content-type": "text/x" } }).headers.get("content-type")`,
			`"text/x"`,
		},
		{
			"Response.json of a value without JSON",
			`const out = []; for (const x of [undefined, () => 1, Symbol("x")]) { const r = Response.json(x);
				out.push(await r.text(), r.headers.get("content-type")) } return out`,
			`["undefined","application/json","undefined","application/json","undefined","application/json"]`,
		},
		{
			"Response.redirect",
			`const r = Response.redirect("https://a.test/b"); return [r.status, r.headers.get("location")]`,
			`[302, "https://a.test/b"]`,
		},
		{
			"Response.redirect with status 200",
			`Response.redirect("https://a.test/b", 200)`,
			`RangeError: Response.redirect: 200 is not a redirect status (301, 302, 303, 307 or 308)`,
		},
		{"Response.redirect to a relative URL", `Response.redirect("/b")`, `TypeError: Invalid URL: "/b"`},
		{"Response.error", `return [Response.error().status, Response.error().type]`, `[0, "error"]`},
		{
			"a clone of a response",
			`const r = new Response("abc"), c = r.clone(); return [await r.text(), await c.text()]`,
			`["abc", "abc"]`,
		},
		{
			"a clone after reading",
			`const r = new Response("abc"); await r.text(); r.clone()`,
			`TypeError: Response.clone: the body has already been used or is locked`,
		},
		{
			"body and bodyUsed",
			`const r = new Response("abc"); return [r.body instanceof ReadableStream, await r.text(), r.bodyUsed]`,
			`[true, "abc", true]`,
		},
		{
			"responses without a body",
			`return [new Response().body, new Response(null).bodyUsed, await new Response().text()]`,
			`[null, false, ""]`,
		},
		{"a view as the body", `return await new Response(new Uint8Array([104, 105])).text()`, `"hi"`},
		{"a buffer as the body", `return await new Response(new Uint8Array([1, 104, 105]).buffer.slice(1)).text()`, `"hi"`},
		{"URLSearchParams as the body", `return await new Response(new URLSearchParams({ a: "b c" })).text()`, `"a=b+c"`},
		{
			"a blob as the body",
			`const r = new Response(new Blob(["x"], { type: "a/b" })); return [r.headers.get("content-type"), await r.text()]`,
			`["a/b", "x"]`,
		},
		{
			"a stream as the body",
			`const s = new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode("st"));
				c.enqueue(new TextEncoder().encode("ream")); c.close(); } }); return await new Response(s).text()`,
			`"stream"`,
		},
		{
			"a stream of text as the body",
			`const s = new ReadableStream({ start(c) { c.enqueue("text"); c.close(); } }); return await new Response(s).text()`,
			`TypeError: This ReadableStream did not return bytes. A piece is a string: encode text, with a TextEncoder or a ` +
				`TextEncoderStream.`,
		},
		{
			"malformed JSON",
			`return await new Response("{").json()`,
			`SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)`,
		},
		{"a byte order mark", `return await new Response("\ufeffx").text()`, `"x"`},
		{
			"tag and enumerable members",
			`return Object.prototype.toString.call(new Response()) + Object.keys(Response.prototype).includes("text")`,
			`"[object Response]true"`,
		},
		{"text of another object", `return Response.prototype.text.call({}).catch(e => e.name)`, `"TypeError"`},
		{
			"status of another object",
			`return Object.getOwnPropertyDescriptor(Response.prototype, "status").get.call({})`,
			`TypeError: Illegal invocation: this is not a Response`,
		},
	})
}

// Platform objects keep their state to themselves: copies by property, as
// frameworks make them of a request, find nothing.
func TestNoOwnProperties(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"platform objects",
			`
			const signal = AbortSignal.any([new AbortController().signal]);
			signal.onabort = () => {};
			const all = [
				request, new Request(request.url, { method: "POST", body: "x" }), request.clone(), new Response("x"),
					new Response("x").clone(), Response.json({}), Response.error(),
				new Headers({ a: "b" }), new Headers().entries(), new URL(request.url), new URL(request.url).searchParams,
					new URLSearchParams("a=b").keys(),
				new Blob(["x"]), new File(["x"], "y"), new FormData(), new Event("x"), new CustomEvent("x"), new EventTarget(),
					new AbortController(), signal, request.signal,
				new TextEncoder(), new TextDecoder(), crypto, crypto.subtle,
					await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign"]), performance, navigator,
				new TextEncoderStream(), new TextDecoderStream(),
			];
			return all.filter((o) => Reflect.ownKeys(o).length > 0).map((o) => [o.constructor?.name, Reflect.ownKeys(o).map(String)])`,
			`[]`,
		},
		{
			"streams in all states",
			`
			const parts = [];
			const readable = new ReadableStream({ start(c) { parts.push(c); c.enqueue(1); } });
			const bytes = new ReadableStream({ type: "bytes", start(c) { parts.push(c); }, pull(c) { const r = c.byobRequest;
				if (r === null) return c.enqueue(new Uint8Array(1)); parts.push(r); r.view[0] = 1; r.respond(1); } });
			const writable = new WritableStream({ start(c) { parts.push(c); }, write(chunk) { if (chunk === 2) throw new Error("full");
				} });
			const transform = new TransformStream({ start(c) { parts.push(c); } });
			const [left, right] = readable.tee(), reader = left.getReader();
			await reader.read();
			const byob = bytes.getReader({ mode: "byob" });
			await byob.read(new Uint8Array(4));
			byob.releaseLock();
			const again = bytes.getReader();
			await again.read();
			const writer = writable.getWriter();
			await writer.write(1);
			writer.write(2).catch(() => {});
			writer.write(3).catch(() => {});
			await writer.closed.catch(() => {});
			const into = transform.writable.getWriter(), out = transform.readable.getReader();
			into.write(5);
			await out.read();
			const aborted = into.abort(new Error("enough")).catch(() => {});
			await out.closed.catch(() => {});
			await aborted;
			parts[0].error(new Error("broken"));
			const all = [...parts, readable, left, right, reader, bytes, byob, again, writable, writer, transform, transform.readable,
				transform.writable, into, out,
				new FixedLengthStream(1), new IdentityTransformStream(), new ByteLengthQueuingStrategy({ highWaterMark: 1 }),
					new CountQueuingStrategy({ highWaterMark: 1 }), request.body];
			return all.filter((o) => Object.keys(o).length > 0 || Object.getOwnPropertySymbols(o).length > 0 ||
				JSON.stringify(o) !== "{}").map((o) => [o.constructor.name, Object.keys(o)])`,
			`[]`,
		},
		{
			"copies by property",
			`return [{ ...request }, Object.assign({}, new Response("x")), { ...new Proxy(request, {}) }]`,
			`[{},{},{}]`,
		},
		{"structuredClone of a request", `structuredClone(request)`, `DataCloneError: [object Request] could not be cloned.`},
		{"a Proxy with bound methods", `
			const proxy = new Proxy(request, { get: (of, key) => of[key]?.bind?.(of) ?? of[key] });
			return [proxy.method, proxy.headers.get("content-type"), await proxy.text()]`, `["POST","application/json","{\"sent\":true}"]`},
		{"a bare Proxy", `const proxy = new Proxy(request, {}); return proxy.url`, `TypeError: Illegal invocation: this is not a Request`},
		{
			"a subclass of Request",
			`class Own extends Request { get upper() { return this.method + this.url.length;
				} } return new Own("https://a.test", { method: "PUT" }).upper`,
			`"PUT15"`,
		},
		{
			"members of other objects",
			`return [Blob, FormData, URLSearchParams, AbortSignal, Event, EventTarget].map((c) => {
				try { Object.getOwnPropertyNames(c.prototype).forEach((k) => {
				Object.getOwnPropertyDescriptor(c.prototype, k).get?.call({}); }); c.prototype.append?.call({}, "a", "b");
				c.prototype.addEventListener?.call({}, "a", () => {}); return c.name + " took it"; } catch (e) { return e.name; } })`,
			`["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"]`,
		},
	})
}

func TestHeaders(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"names in order, values joined",
			`const h = new Headers({ b: "2", A: " 1 " }); h.append("b", "3"); return [...h]`,
			`[["a","1"],["b","2, 3"]]`,
		},
		{
			"Set-Cookie",
			`const h = new Headers([["set-cookie", "a"], ["Set-Cookie", "b"]]);
				return [h.getSetCookie(), h.get("set-cookie"), [...h.keys()]]`,
			`[["a","b"], "a, b", ["set-cookie","set-cookie"]]`,
		},
		{
			"set, has and delete",
			`const h = new Headers({ a: "1" }); h.set("A", "2"); h.delete("x"); return [h.has("a"), h.get("a"), h.get("b"), h.has("b")]`,
			`[true,"2",null,false]`,
		},
		{
			"set in place of two",
			`const h = new Headers([["a", "1"], ["b", "2"], ["a", "3"]]); h.set("a", "4"); return [...h.entries()]`,
			`[["a","4"],["b","2"]]`,
		},
		{"delete of two", `const h = new Headers([["a", "1"], ["b", "2"], ["a", "3"]]); h.delete("a"); return [...h.values()]`, `["2"]`},
		{"a malformed name", `new Headers({ "a b": "1" })`, `TypeError: Invalid header name: "a b"`},
		{"a malformed value", `new Headers({ a: "1\n2" })`, `TypeError: Invalid header value: "1\n2"`},
		{"a pair that is none", `new Headers([["a"]])`, `TypeError: Headers constructor: each item must be a pair of a name and a value`},
		{"a number for headers", `new Headers(1)`, `TypeError: Headers constructor: the argument is neither an object nor a sequence`},
		{"a copy", `const h = new Headers({ a: "1" }), c = new Headers(h); c.set("a", "2"); return h.get("a")`, `"1"`},
		{
			"forEach",
			`const out = []; new Headers({ a: "1" }).forEach(function (v, k, h) { out.push(v, k, h instanceof Headers, this.x) }, { x: 7 });
				return out`,
			`["1","a",true,7]`,
		},
		{
			"the iterator",
			`return [Object.prototype.toString.call(new Headers().entries()), new Headers()[Symbol.iterator] === new Headers().entries]`,
			`["[object Headers Iterator]", true]`,
		},
		{"a value beyond ASCII", `return new Headers({ a: "żółć" }).get("a")`, `"żółć"`},
		{"get of another object", `Headers.prototype.get.call({}, "a")`, `TypeError: Illegal invocation: this is not a Headers`},
	})
}

func TestURL(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"all members",
			`const u = new URL("HTTPS://u:p@EXAMPLE.com:8080/a/../b c?x=1#f");
				return [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash]`,
			`["https://u:p@example.com:8080/b%20c?x=1#f","https://example.com:8080","https:","u","p","example.com:8080","example.com",
				"8080","/b%20c","?x=1","#f"]`,
		},
		{
			"relative URLs",
			`return [new URL("../x", "https://a.test/b/c/d").href, String(new URL("//b.test", "https://a.test")),
				JSON.stringify({ u: new URL("https://a.test") })]`,
			`["https://a.test/b/x","https://b.test/","{\"u\":\"https://a.test/\"}"]`,
		},
		{
			"the error of a malformed URL",
			`try { new URL("nope") } catch (e) { return [e.name, e.code, e instanceof TypeError] }`,
			`["TypeError","ERR_INVALID_URL",true]`,
		},
		{
			"canParse and parse",
			`return [URL.canParse("x:y"), URL.canParse("nope"), URL.canParse("/a", "https://b.test"), URL.parse("nope"),
				URL.parse("https://a.test").href]`,
			`[true,false,true,null,"https://a.test/"]`,
		},
		{
			"searchParams change the URL",
			`const u = new URL("https://a.test/?a=1"); u.searchParams.append("b", "2 3"); u.searchParams.delete("a");
				return [u.href, u.search]`,
			`["https://a.test/?b=2+3","?b=2+3"]`,
		},
		{
			"the URL changes searchParams",
			`const u = new URL("https://a.test/?a=1"); const p = u.searchParams; u.search = "?c=3";
				return [p.get("a"), p.get("c"), u.searchParams === p]`,
			`[null,"3",true]`,
		},
		{
			"the last parameter deleted",
			`const u = new URL("https://a.test/?a=1"); u.searchParams.delete("a"); return u.href`,
			`"https://a.test/"`,
		},
		{
			"setters",
			`const u = new URL("https://a.test/x"); u.pathname = "/y z"; u.hash = "h"; u.port = "81"; u.protocol = "http";
				u.hostname = "b.test"; u.username = "me"; return u.href`,
			`"http://me@b.test:81/y%20z#h"`,
		},
		{
			"a new href",
			`const u = new URL("https://a.test/x?q"); u.href = "https://b.test/?z=1"; return [u.searchParams.get("z"), u.host]`,
			`["1","b.test"]`,
		},
		{
			"parameters of text",
			`const p = new URLSearchParams("?a=1&b=2&a=%C3%A9+x&c");
				return [p.getAll("a"), p.size, p.has("b", "2"), p.has("b", "3"), p.toString()]`,
			`[["1","é x"],4,true,false,"a=1&b=2&a=%C3%A9+x&c="]`,
		},
		{
			"sort and set",
			`const p = new URLSearchParams([["b", "1"], ["a", "2"], ["b", "3"]]); p.sort(); p.set("b", "9"); return [...p]`,
			`[["a","2"],["b","9"]]`,
		},
		{"parameters of an object", `return [...new URLSearchParams({ a: 1, b: null })]`, `[["a","1"],["b","null"]]`},
		{"malformed bytes in parameters", `return new URLSearchParams("a=%ff&b=\ud800").toString()`, `"a=%EF%BF%BD&b=%EF%BF%BD"`},
		{
			"a pair that is none",
			`new URLSearchParams([["a"]])`,
			`TypeError: URLSearchParams constructor: each item must be a pair of a name and a value`,
		},
		{"an address as a number", `return new URL("http://2130706433/").hostname`, `"127.0.0.1"`},
		{"a domain beyond ASCII", `return new URL("https://münchen.test/").host`, `"xn--mnchen-3ya.test"`},
		{
			"setters and searchParams in turn",
			`const u = new URL("https://a.test/?a=1"), p = u.searchParams; u.hash = "h"; p.set("a", "2"); u.port = "81";
				return [u.href, u.searchParams === p]`,
			`["https://a.test:81/?a=2#h",true]`,
		},
		{
			"lone surrogates in a long query",
			`const long = "x".repeat(9000); return new URL("https://a.test/?" + long + "\udc00\ud800").search.slice(9001)`,
			`"%EF%BF%BD%EF%BF%BD"`,
		},
		{
			"toString of another object",
			`URL.prototype.toString.call({})`,
			`TypeError: Cannot read private member #packed from an object whose class did not declare it`,
		},
		{"the length of URL", `return [URL.length, Object.getOwnPropertyDescriptor(URL, "length").writable]`, `[1,false]`},
		{"URL without an argument", `new URL()`, `TypeError: Invalid URL: "undefined"`},
	})
}

func TestText(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{"encode", `return [...new TextEncoder().encode("é€😀\ud800")]`, `[195,169,226,130,172,240,159,152,128,239,191,189]`},
		{
			"encodeInto",
			`const b = new Uint8Array(5); const r = new TextEncoder().encodeInto("a😀é", b); return [r, [...b]]`,
			`[{"read":3,"written":5},[97,240,159,152,128]]`,
		},
		{
			"ill-formed bytes",
			`return new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xe2, 0x82, 0x41, 0xff]))`,
			`"a` + "\ufffd" + `A` + "\ufffd" + `"`,
		},
		{
			"a byte order mark that stays",
			`return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])).length`,
			`2`,
		},
		{
			"fatal",
			`new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff]))`,
			`TypeError: The encoded data was not valid for encoding utf-8`,
		},
		{
			"a character in two pieces",
			`const d = new TextDecoder(); return [d.decode(new Uint8Array([0xf0, 0x9f]), { stream: true }),
				d.decode(new Uint8Array([0x98, 0x80]), { stream: true }), d.decode()]`,
			`["","😀",""]`,
		},
		{
			"a character cut off at the end",
			`const d = new TextDecoder(); return [d.decode(new Uint8Array([0xf0, 0x9f]), { stream: true }), d.decode()]`,
			`["","` + "\ufffd" + `"]`,
		},
		{
			"a byte order mark in two pieces",
			`const d = new TextDecoder(); return d.decode(new Uint8Array([0xef]), { stream: true }) +
				d.decode(new Uint8Array([0xbb, 0xbf, 0x61]))`,
			`"a"`,
		},
		{
			"labels",
			`return ["latin1", "UTF-16", "shift_jis", " gbk ", "koi8-r", "iso-8859-8-i"].map(l => new TextDecoder(l).encoding)`,
			`["windows-1252","utf-16le","shift_jis","gbk","koi8-r","iso-8859-8-i"]`,
		},
		{
			"other encodings",
			`return [new TextDecoder("windows-1252").decode(new Uint8Array([0x80, 0xe9])),
				new TextDecoder("shift_jis").decode(new Uint8Array([0x82, 0xa0])),
				new TextDecoder("utf-16le").decode(new Uint8Array([0x3d, 0xd8, 0x00, 0xde]))]`,
			`["€é","あ","😀"]`,
		},
		{
			"shift_jis in two pieces",
			`const d = new TextDecoder("shift_jis"); return d.decode(new Uint8Array([0x82]), { stream: true }) +
				d.decode(new Uint8Array([0xa0]))`,
			`"あ"`,
		},
		{
			"iso-2022-jp in two pieces",
			`const d = new TextDecoder("iso-2022-jp"); return d.decode(new Uint8Array([0x1b, 0x24, 0x42, 0x24]), { stream: true }) +
				d.decode(new Uint8Array([0x22]))`,
			`"あ"`,
		},
		{"an unknown label", `new TextDecoder("nope")`, `RangeError: The encoding label "nope" is not known`},
		{
			"TextDecoderStream",
			`const s = new Blob(["é€"]).stream().pipeThrough(new TextDecoderStream()); let out = ""; for await (const c of s) out += c;
				return out`,
			`"é€"`,
		},
		{
			"TextEncoderStream",
			`const s = ReadableStream.from(["a\ud83d", "\ude00"]).pipeThrough(new TextEncoderStream());
				return await new Response(s).text()`,
			`"a😀"`,
		},
	})
}
