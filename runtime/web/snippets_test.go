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
		{"Response.json of undefined", `Response.json(undefined)`, `TypeError: Response.json: the value cannot be written as JSON`},
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
		{"URL without an argument", `new URL()`, `TypeError: URL constructor: 1 argument required, but only 0 present`},
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

func TestStreams(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a TransformStream",
			`const { readable, writable } = new TransformStream({ transform(c, k) { k.enqueue(c * 2) } }); const w = writable.getWriter();
				w.write(1); w.write(2); w.close(); const out = []; for await (const c of readable) out.push(c); return out`,
			`[2,4]`,
		},
		{
			"tee",
			`const [a, b] = new Response("tee").body.tee(); return [await new Response(a).text(), await new Response(b).text()]`,
			`["tee","tee"]`,
		},
		{
			"a BYOB reader",
			`const r = new Response("abcdef").body.getReader({ mode: "byob" }); const { value } = await r.read(new Uint8Array(3));
				return new TextDecoder().decode(value)`,
			`"abc"`,
		},
		{
			"pipeThrough and pipeTo",
			`let out = ""; await request.body.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write(c) { out += c } }));
				return out`,
			`"{\"sent\":true}"`,
		},
		{
			"a source that throws",
			`const s = new ReadableStream({ pull(c) { throw new Error("pulled") } }); return await new Response(s).text()`,
			`Error: pulled`,
		},
		{"the desired size of a writer", `const w = new WritableStream().getWriter(); return w.desiredSize`, `1`},
		{
			"a cancelled body",
			`const s = new Response("abc").body; const out = [s.locked, s instanceof ReadableStream, Object.keys(s).length, String(s)];
				await s.cancel(); const r = s.getReader(); out.push(s.locked, (await r.read()).done); return out`,
			`[false,true,0,"[object ReadableStream]",true,true]`,
		},
		{
			"a reader made by its constructor",
			`const s = new Response("abc").body, r = new ReadableStreamDefaultReader(s), first = await r.read(), second = await r.read();
				await r.closed; return [first.value.length, second.done]`,
			`[3,true]`,
		},
		{
			"iteration and pipe",
			`let n = 0; for await (const c of new Response("abc").body) n += c.length;
				await new Response("de").body.pipeTo(new WritableStream({ write(c) { n += c.length } })); return n`,
			`5`,
		},
		{
			"a body passed on twice",
			`const a = new Response("passed on"), b = new Response(a.body, { status: 201 }), c = new Response(b.body);
				return [await c.text(), a.bodyUsed, b.bodyUsed, c.bodyUsed, a.body.locked, c.body.locked,
				await a.text().catch((e) => e.name)]`,
			`["passed on",true,true,true,true,true,"TypeError"]`,
		},
		{
			"the request's body passed on",
			`const a = new Response(request.body), b = new Response(a.body);
				return [await b.json(), request.bodyUsed, await request.text().catch((e) => e.name)]`,
			`[{"sent":true},true,"TypeError"]`,
		},
		{
			"a body that was read in part",
			`const a = new Response("abc"), r = a.body.getReader({ mode: "byob" }); const { value } = await r.read(new Uint8Array(2));
				r.releaseLock(); try { new Response(a.body) } catch (e) { return [value.length, e.name] }`,
			`[2,"TypeError"]`,
		},
		{
			"a stream that is locked meanwhile",
			`const s = new Response("abc").body, r = new Response(s), reader = s.getReader();
				return [await r.text().catch((e) => e.name), new TextDecoder().decode((await reader.read()).value)]`,
			`["TypeError","abc"]`,
		},
		{
			"asynchronous generators as bodies",
			`async function* pieces() { yield new TextEncoder().encode("one "); await null; yield new TextEncoder().encode("two");
				} return [await new Response(pieces()).text(),
				await new Request("https://a.test", { method: "POST", body: pieces() }).text(),
				new Response(pieces()).headers.get("content-type")]`,
			`["one two","one two",null]`,
		},
		{
			"an iterator that is left",
			`let left = 0; const body = { async *[Symbol.asyncIterator]() { try { for (;;) yield new Uint8Array(1); } finally { left++;
				} } }; const r = new Response(body), reader = r.body.getReader(); await reader.read(); await reader.cancel(); return left`,
			`1`,
		},
		{
			"a generator of text",
			`return await new Response((async function* () { yield "text"; })()).text()`,
			`TypeError: This ReadableStream did not return bytes. A piece is a string: encode text, with a TextEncoder or a ` +
				`TextEncoderStream.`,
		},
		{
			"buffers and views as pieces",
			`const of = (...pieces) => new Response(new ReadableStream({ start(c) { pieces.forEach((p) => c.enqueue(p)); c.close();
				} })).text(); const hi = new TextEncoder().encode("hi");
				return [await of(hi.buffer, new DataView(hi.buffer, 1)), await of({}).catch(String)]`,
			`["hii","TypeError: This ReadableStream did not return bytes."]`,
		},
		{
			"a generator that throws",
			`return await new Response((async function* () { throw new RangeError("mine"); })()).text()`,
			`RangeError: mine`,
		},
		{"an array of pieces", `return await new Response([new Uint8Array([104]), new Uint8Array([105])]).text()`, `"hi"`},
		{
			"objects as text",
			`class Own extends Array { toString() { return "own";
				} } return [await new Response(new Own()).text(), await new Response(Object("boxed")).text(), await new Response({}).text(),
				await new Response(7).text()]`,
			`["own","boxed","[object Object]","7"]`,
		},
		{
			"a FixedLengthStream that is short",
			`const { readable, writable } = new FixedLengthStream(2); const w = writable.getWriter();
				w.write(new Uint8Array(1)).catch(() => {}); w.close().catch(() => {}); await new Response(readable).bytes()`,
			`TypeError: FixedLengthStream did not see all expected bytes before close().`,
		},
		{
			"an IdentityTransformStream",
			`const { readable, writable } = new IdentityTransformStream(); const w = writable.getWriter();
				w.write(new TextEncoder().encode("same")); w.close(); return await new Response(readable).text()`,
			`"same"`,
		},
		{
			"readers and strategies",
			`return [typeof ReadableStreamBYOBReader, typeof ByteLengthQueuingStrategy,
				new CountQueuingStrategy({ highWaterMark: 3 }).highWaterMark]`,
			`["function","function",3]`,
		},
	})
}

func TestEventsAndAbort(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"listeners and objects",
			`const t = new EventTarget(), out = []; t.addEventListener("x", e => out.push(e.type, e.target === t, e.detail));
				t.addEventListener("x", { handleEvent() { out.push("object") } }, { once: true });
				t.dispatchEvent(new CustomEvent("x", { detail: 7 })); t.dispatchEvent(new CustomEvent("x")); return out`,
			`["x",true,7,"object","x",true,null]`,
		},
		{
			"preventDefault",
			`const t = new EventTarget(); t.addEventListener("x", e => e.preventDefault());
				return [t.dispatchEvent(new Event("x", { cancelable: true })), t.dispatchEvent(new Event("x"))]`,
			`[false,true]`,
		},
		{
			"stopImmediatePropagation",
			`const t = new EventTarget(), out = []; t.addEventListener("x", e => { out.push(1); e.stopImmediatePropagation() });
				t.addEventListener("x", () => out.push(2)); t.dispatchEvent(new Event("x")); return out`,
			`[1]`,
		},
		{
			"a listener with a signal",
			`const t = new EventTarget(), c = new AbortController(); let n = 0; t.addEventListener("x", () => n++, { signal: c.signal });
				t.dispatchEvent(new Event("x")); c.abort(); t.dispatchEvent(new Event("x")); return n`,
			`1`,
		},
		{
			"AbortController",
			`const c = new AbortController(), out = []; c.signal.onabort = e => out.push(e.type, e.isTrusted);
				c.signal.addEventListener("abort", () => out.push("listener")); c.abort(); c.abort();
				return [out, c.signal.aborted, c.signal.reason.name, c.signal.reason instanceof DOMException]`,
			`[["abort",true,"listener"],true,"AbortError",true]`,
		},
		{"throwIfAborted", `AbortSignal.abort("why").throwIfAborted()`, `why`},
		{
			"AbortSignal.any",
			`const c = new AbortController(); const s = AbortSignal.any([c.signal, new AbortController().signal]); c.abort(5);
				return [s.aborted, s.reason]`,
			`[true,5]`,
		},
		{
			"AbortSignal.timeout",
			`const s = AbortSignal.timeout(1); await new Promise(r => s.addEventListener("abort", r)); return s.reason.name`,
			`"TimeoutError"`,
		},
		{"new AbortSignal", `new AbortSignal()`, `TypeError: Illegal constructor`},
		{
			"Event's constants",
			`return [typeof EventTarget.prototype.constructor, Event.AT_TARGET, new Event("a").eventPhase,
				Object.keys(Event.prototype).includes("type")]`,
			`["function",2,0,true]`,
		},
	})
}

func TestTimers(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"the order of delays",
			`const out = []; setTimeout(() => out.push("b"), 60); setTimeout(x => out.push(x), 30, "a"); setTimeout(() => out.push("0"), 0);
				await new Promise(r => setTimeout(r, 70)); return out`,
			`["0","a","b"]`,
		},
		{
			"timers of one delay",
			`const out = []; for (let i = 0; i < 5; i++) setTimeout(() => out.push(i)); await new Promise(r => setTimeout(r)); return out`,
			`[0,1,2,3,4]`,
		},
		{
			"microtasks between timers",
			`const out = []; setTimeout(() => { Promise.resolve().then(() => out.push("micro")); out.push(1) });
				setTimeout(() => out.push(2)); await new Promise(r => setTimeout(r, 1)); return out`,
			`[1,"micro",2]`,
		},
		{
			"an interval",
			`let n = 0; await new Promise(done => { const id = setInterval(() => { if (++n === 3) { clearInterval(id);
				setTimeout(done, 5) } }, 1) }); return n`,
			`3`,
		},
		{
			"a cleared timer",
			`let hit = false; const id = setTimeout(() => { hit = true }, 1); clearTimeout(id); clearTimeout(undefined);
				await new Promise(r => setTimeout(r, 5)); return [hit, typeof id]`,
			`[false,"number"]`,
		},
		{"code in a string", `setTimeout("code")`, `TypeError: setTimeout: the callback is not a function (code in a string is not run)`},
		{
			"a timer that throws",
			`setTimeout(() => { throw new Error("later") }); await new Promise(r => setTimeout(r, 2)); return "on"`,
			`"on"`,
		},
		{
			"performance.now",
			`const a = performance.now(); await new Promise(r => setTimeout(r, 3)); const b = performance.now();
				return [b - a >= 2.9, performance.timeOrigin > 1e12]`,
			`[true,true]`,
		},
	})
}

func TestCrypto(t *testing.T) {
	const key = `const k = await crypto.subtle.importKey("raw", new TextEncoder().encode("key"), { name: "HMAC", hash: "SHA-256" }, true,
		["sign", "verify"]); const hex = b => new Uint8Array(b).toHex();`
	const text = `const data = new TextEncoder().encode("The quick brown fox jumps over the lazy dog");`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{"randomUUID", `return /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())`, `true`},
		{
			"getRandomValues",
			`const a = crypto.getRandomValues(new Uint8Array(32)), b = crypto.getRandomValues(new Uint32Array(8));
				return [a.some(x => x), b.some(x => x > 255)]`,
			`[true,true]`,
		},
		{
			"too many random bytes",
			`crypto.getRandomValues(new Uint8Array(65537))`,
			`QuotaExceededError: getRandomValues: 65537 bytes are more than the 65536 that one call gives`,
		},
		{
			"random values of floats",
			`crypto.getRandomValues(new Float32Array(1))`,
			`TypeMismatchError: getRandomValues: the argument is not an integer typed array`,
		},
		{
			"a digest of nothing",
			`return new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(0))).toHex()`,
			`"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`,
		},
		{
			"digests by name",
			`return Promise.all(["SHA-1", { name: "sha-384" }, "SHA-512",
				"MD5"].map(async a => (await crypto.subtle.digest(a, new Uint8Array(3))).byteLength))`,
			`[20,48,64,16]`,
		},
		{
			"an unknown digest",
			`await crypto.subtle.digest("SHA-3", new Uint8Array(0))`,
			`NotSupportedError: Unrecognized or unimplemented digest algorithm requested ("SHA-3").`,
		},
		{"a digest of text", `await crypto.subtle.digest("SHA-1", "text")`, `TypeError: The data is neither an ArrayBuffer nor a view`},
		{
			"HMAC signs and verifies",
			key + text + `const s = await crypto.subtle.sign("HMAC", k, data);
				return [hex(s), await crypto.subtle.verify("HMAC", k, s, data), await crypto.subtle.verify("HMAC", k, s, s)]`,
			`["f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",true,false]`,
		},
		{
			"an exported key",
			key + `return [await crypto.subtle.exportKey("jwk", k), hex(await crypto.subtle.exportKey("raw", k)), k.algorithm, k.type,
				k.usages]`,
			`[{"kty":"oct","k":"a2V5","alg":"HS256","key_ops":["sign","verify"],"ext":true},"6b6579",
				{"name":"HMAC","hash":{"name":"SHA-256"},"length":24},"secret",["sign","verify"]]`,
		},
		{
			"a generated key",
			`const k = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-512" }, true, ["sign"]);
				return [k.algorithm.length, await crypto.subtle.verify("HMAC", k, new Uint8Array(1),
				new Uint8Array(1)).catch(e => e.name)]`,
			`[1024,"InvalidAccessError"]`,
		},
		{
			"an unfit usage",
			`await crypto.subtle.importKey("raw", new Uint8Array(1), { name: "HMAC", hash: "SHA-256" }, true, ["encrypt"])`,
			`SyntaxError: A key for HMAC has no usage "encrypt"`,
		},
		{"timingSafeEqual", `return crypto.subtle.timingSafeEqual(new Uint8Array([1]), new Uint8Array([1]))`, `true`},
		{"Math.random", `return Math.random() !== Math.random() && Math.random() < 1`, `true`},
	})
}

func TestStructuredClone(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"objects of many kinds",
			`const o = { a: [1, , 3], d: new Date(5), r: /x/gi, m: new Map([[1, { z: 1 }]]), s: new Set([1]), n: null, u: undefined,
				b: 10n }; o.self = o; const c = structuredClone(o);
				return [c !== o, c.self === c, c.a.length, 1 in c.a, c.d.getTime(), String(c.r), c.m.get(1).z, c.s.has(1), c.n, "u" in c,
				typeof c.b]`,
			`[true,true,3,false,5,"/x/gi",1,true,null,true,"bigint"]`,
		},
		{
			"views of one buffer",
			`const b = new ArrayBuffer(8), c = structuredClone({ x: new Uint8Array(b, 2, 3), y: new DataView(b, 1) });
				return [c.x.length, c.x.byteOffset, c.y.byteOffset, c.x.buffer === c.y.buffer, c.x.buffer !== b]`,
			`[3,2,1,true,true]`,
		},
		{
			"a transferred buffer",
			`const b = new ArrayBuffer(8), c = structuredClone(b, { transfer: [b] }); return [c.byteLength, b.byteLength, b.detached]`,
			`[8,0,true]`,
		},
		{
			"an error with a cause",
			`const e = structuredClone(new RangeError("x", { cause: { y: 1 } }));
				return [e instanceof RangeError, e.name, e.message, e.cause.y]`,
			`[true,"RangeError","x",1]`,
		},
		{"a function", `structuredClone(() => 1)`, `DataCloneError: () => 1 could not be cloned.`},
		{"a symbol", `structuredClone(Symbol("s"))`, `DataCloneError: Symbol(s) could not be cloned.`},
		{"a response", `structuredClone({ r: new Response() })`, `DataCloneError: [object Response] could not be cloned.`},
		{"a promise", `structuredClone(Promise.resolve())`, `DataCloneError: [object Promise] could not be cloned.`},
		{
			"an object of a class",
			`class P { constructor() { this.a = 1 } get b() { return 2 } } const c = structuredClone(new P());
				return [c.constructor === Object, c]`,
			`[true,{"a":1}]`,
		},
		{
			"a file",
			`const c = structuredClone(new File(["x"], "n.txt", { type: "a/b" }));
				return [c instanceof File, c.name, c.type, await c.text()]`,
			`[true,"n.txt","a/b","x"]`,
		},
		{
			"boxed values and exceptions",
			`return [structuredClone(Object(1)) instanceof Number, structuredClone(Object("s")).length,
				structuredClone(new DOMException("m", "AbortError")).name]`,
			`[true,1,"AbortError"]`,
		},
		{
			"an object nested too deep",
			`let deep = {}; for (let i = 0; i < 1e5; i++) deep = { deep }; try { structuredClone(deep) } catch (e) { return e.name }`,
			`"RangeError"`,
		},
	})
}

func TestFormDataAndBlob(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"members of FormData",
			`const f = new FormData(); f.append("a", "1"); f.append("a", 2); f.set("b", new Blob(["x"]), "x.txt");
				f.append("c", new File(["y"], "y.bin", { type: "t/y" }));
				return [f.getAll("a"), f.get("b").name, f.get("c").type, [...f.keys()], f.has("z")]`,
			`[["1","2"],"x.txt","t/y",["a","a","b","c"],false]`,
		},
		{
			"a form there and back",
			`const f = new FormData(); f.append('q"\n', "l1\nl2"); f.append("f", new File(["dat\r\n--a"], 'n".txt', { type: "t/x" }));
				const r = new Response(f); const g = await r.formData();
				return [[...g.keys()], g.get('q"\r\n'), g.get("f").name, g.get("f").type, await g.get("f").text()]`,
			`[["q\"\r\n","f"],"l1\r\nl2","n\".txt","t/x","dat\r\n--a"]`,
		},
		// UTF-8 without BOM: a mark at the beginning of a value is a character of it (Fetch standard, 5.3, formData).
		{
			"byte order marks in a form",
			`const f = new FormData(); f.append("\ufeffa", "\ufeffb\ufeff");
				return [...await new Response(f).formData()].flat().map((s) => s.length)`,
			`[2,3]`,
		},
		{
			"the content type of a form",
			`return new Response(new FormData()).headers.get("content-type").startsWith("multipart/form-data; boundary=----")`,
			`true`,
		},
		{
			"a urlencoded form",
			`const g = await new Response("a=1&b=%20+&a=2", {
				headers: { "content-type": "application/x-www-form-urlencoded" } }).formData(); return [...g]`,
			`[["a","1"],["b","  "],["a","2"]]`,
		},
		{"a body that is no form", `await request.formData()`, `TypeError: The body is not a form: its content type is "application/json"`},
		{
			"multipart without an end",
			`await new Response("--x\r\n", { headers: { "content-type": "multipart/form-data; boundary=x" } }).formData()`,
			`TypeError: The body is not a multipart form: it ends before its last boundary`,
		},
		{
			"Blob",
			`const b = new Blob(["ab", new Uint8Array([99]), new Blob(["d"])], { type: "T/X" });
				return [b.size, b.type, await b.text(), await b.slice(1, -1).text(), (await b.arrayBuffer()).byteLength,
				(await b.bytes())[2]]`,
			`[4,"t/x","abcd","bc",4,99]`,
		},
		{"a blob of text", `new Blob("text")`, `TypeError: Blob constructor: the first argument is not a sequence`},
		{
			"File",
			`return [new File([], "a").lastModified > 1e12, new File([], "a", { lastModified: 5 }).lastModified,
				new File(["x"], "n") instanceof Blob]`,
			`[true,5,true]`,
		},
	})
}

func TestLanguage(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{"eval", `eval("1")`, `EvalError: Code generation from strings disallowed for this context`},
		{"new Function", `new Function("1")`, `EvalError: Code generation from strings disallowed for this context`},
		{
			"the constructor of async functions",
			`(async () => {}).constructor("1")`,
			`EvalError: Code generation from strings disallowed for this context`,
		},
		{
			"the constructor of generators",
			`(function* () {}).constructor("1")`,
			`EvalError: Code generation from strings disallowed for this context`,
		},
		{
			"kinds of functions",
			`return [(() => 1) instanceof Function, typeof Function.prototype.call, (async () => {}) instanceof Function,
				Object.getPrototypeOf(async () => {}).constructor.name]`,
			`[true,"function",true,"AsyncFunction"]`,
		},
		{"the head of a stack", `return new TypeError("boom").stack.split("\n")[0]`, `"TypeError: boom"`},
		{
			"frames of a stack",
			`function inner() { return new Error("x").stack } return /^Error: x\n    at inner \(worker\.js:\d+:\d+\)\n/.test(inner())`,
			`true`,
		},
		{"the stack of the engine's errors", `try { null.x } catch (e) { return e.stack.startsWith("TypeError: ") }`, `true`},
		// What is thrown and is no Error has no stack, and is not looked at.
		{
			"a thrown object is not looked at",
			`let looked = 0; const o = { get name() { looked++; return "n"; }, get message() { looked++; return "m"; } };
				try { throw o } catch (e) { return [e === o, looked, Object.keys(o)] }`,
			`[true,0,["name","message"]]`,
		},
		{
			"a thrown Proxy is not looked at",
			`const seen = []; try { throw new Proxy({}, { get(t, k) { seen.push(String(k)); }, defineProperty() { seen.push("define");
				return true; } }) } catch {} return seen`,
			`[]`,
		},
		{"captureStackTrace", `const o = {}; Error.captureStackTrace(o); return typeof o.stack`, `"string"`},
		{
			"a stack that was set",
			`const e = new Error("x"); return [undefined, null, 1, "s"].map(v => { e.stack = v;
				return e.stack === v && Object.keys(e).length; })`,
			`[0,0,0,0]`,
		},
		{
			"names that change",
			`class A extends Error { constructor(m) { super(m); this.name = this.constructor.name; } } class B extends A {}
			const a = new A("m"), read = new Error("r"), text = new Error("t"), first = read.stack; read.name = "Late"; text.message = "u";
				const none = new Error("n"), gone = new Error("g"), object = new Error("o"), bare = new Error(),
				frozen = Object.freeze(new B("f")); none.name = ""; gone.name = undefined; object.name = { toString: () => "Obj" };
				bare.name = "Bare"; read.cause = a.stack; a.name = "Later";
			return [a, new B("m"), read, text, none, gone, object, bare, frozen].map(e => e.stack.split("\n")[0]).concat(Object.keys(a),
				!/ at (new )?A \(/.test(a.stack), first === read.stack)`,
			`["A: m","B: m","Error: r","Error: t","n","Error: g","Obj: o","Bare","B: f","name",true,true]`,
		},
		{
			"captureStackTrace above a function",
			`class A extends Error { constructor(m) { super(m); Error.captureStackTrace(this, A); this.name = "Named";
				} } function from() { const o = { name: "O", message: "m" }; Error.captureStackTrace(o); return o;
				} function above() { const o = {}; Error.captureStackTrace(o, above); return o; }
			const o = from(), set = from(), keys = Object.keys(o), a = new A("x"); set.stack = 1; const q = above(); q.name = "Q";
				return [a, o, above(), q].map(e => e.stack.split("\n")[0]).concat(keys, set.stack,
				/^    at from /.test(o.stack.split("\n")[1]), /captureStackTrace|at above|new A/.test(o.stack + above().stack + a.stack),
				Error.captureStackTrace.length)`,
			`["Named: x","O: m","Error","Q","name","message",1,true,false,2]`,
		},
		{
			"captureStackTrace above others", // as in V8: nothing is above a function that did not call, and what is no function is none
			`function from(above) { const o = {}; Error.captureStackTrace(o, above); return o.stack;
				} const foreign = from(class Foreign {}), native = from(Math.max),
				all = [null, 5, {}, "x", undefined].map(v => from(v).split("\n")[1].startsWith("    at from ("));
			Error.prepareStackTrace = (e, frames) => frames.length; const counts = [from(Array) === 0, from(from) > 0, from() > 1];
				delete Error.prepareStackTrace; return [foreign, native, all, counts]`,
			`["Error","Error",[true,true,true,true,true],[true,true,true]]`,
		},
		{
			"a subclass with a stack of its own",
			`class Own extends Error { get stack() { return "own"; } } return new Own("x").stack.split("\n")[0]`,
			`"Error: x"`,
		}, // its own comes first
		{
			"kinds of globals",
			`return [typeof globalThis.__host, typeof self, self === globalThis, typeof XMLHttpRequest, typeof WebAssembly,
				typeof navigator.userAgent]`,
			`["undefined","object",true,"undefined","object","string"]`,
		},
		{
			"enumerable globals",
			`return Object.keys(globalThis).sort()`,
			`["Cloudflare","addEventListener","atob","btoa","caches","clearInterval","clearTimeout","crypto","dispatchEvent","fetch",
				"navigator","origin","performance","queueMicrotask","removeEventListener","reportError","scheduler","self","setInterval",
				"setTimeout","structuredClone"]`,
		},
		{
			"descriptors of globals",
			`return ["fetch", "Request", "console", "URL", "setTimeout"].map(k => Object.getOwnPropertyDescriptor(globalThis,
				k).enumerable)`,
			`[true,false,false,false,true]`,
		},
		{"atob and btoa", `return [atob("aGk="), btoa("hi"), typeof queueMicrotask]`, `["hi","aGk=","function"]`},
	})
}
