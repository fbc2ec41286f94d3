package web_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// The classes have the shape that their standards' Web IDL gives them.
func TestInterfaceShapes(t *testing.T) {
	const phases = "AT_TARGET:2 BUBBLING_PHASE:3 CAPTURING_PHASE:1 NONE:0"
	webtest.Shapes(t,
		"Event/1: "+phases+" bubbles cancelBubble= cancelable composed composedPath/0 currentTarget defaultPrevented eventPhase "+
			"initEvent/1 isTrusted preventDefault/0 "+
			"returnValue= srcElement stopImmediatePropagation/0 stopPropagation/0 target timeStamp type static AT_TARGET:2 static "+
			"BUBBLING_PHASE:3 static CAPTURING_PHASE:1 static NONE:0",
		"CustomEvent/1 < Event: detail",
		"EventTarget/0: addEventListener/2 dispatchEvent/1 removeEventListener/2",
		"AbortSignal/0 < EventTarget: aborted onabort= reason throwIfAborted/0 static abort/0 static any/1 static timeout/1",
		"AbortController/0: abort/0 signal",
		"URL/1: hash= host= hostname= href= origin password= pathname= port= protocol= search= searchParams toJSON/0 toString/0 username= "+
			"static canParse/1 static createObjectURL/1 static parse/1 static revokeObjectURL/1",
		"URLSearchParams/0: append/2 delete/1 entries/0 forEach/1 get/1 getAll/1 has/1 keys/0 set/2 size sort/0 toString/0 values/0",
		"Blob/0: arrayBuffer/0 bytes/0 size slice/0 stream/0 text/0 type",
		"File/2 < Blob: lastModified name",
		"TextEncoder/0: encode/0 encodeInto/2 encoding",
		"TextDecoder/0: decode/0 encoding fatal ignoreBOM",
		"TextEncoderStream/0: encoding readable writable",
		"TextDecoderStream/0: encoding fatal ignoreBOM readable writable",
		"CompressionStream/1: readable writable",
		"DecompressionStream/1: readable writable",
		"SubtleCrypto/0: decrypt/3 deriveBits/2 deriveKey/5 digest/2 encrypt/3 exportKey/2 generateKey/3 importKey/5 sign/3 "+
			"timingSafeEqual/2 unwrapKey/7 verify/4 wrapKey/4",
		"CryptoKey/0: algorithm extractable type usages",
		"PerformanceResourceTiming/0 < PerformanceEntry: connectEnd connectStart decodedBodySize domainLookupEnd domainLookupStart "+
			"encodedBodySize fetchStart initiatorType "+
			"nextHopProtocol redirectEnd redirectStart requestStart responseEnd responseStart responseStatus secureConnectionStart "+
			"transferSize workerStart",
		"Navigator/0: hardwareConcurrency language languages platform sendBeacon/1 userAgent",
		"WorkerGlobalScope/0 < EventTarget: ",
		"ServiceWorkerGlobalScope/0 < WorkerGlobalScope: ",
	)
}

// An operation of the global object is one of that object alone: a client that
// keeps fetch in a field fails on the platform, so it fails here. Timers and the
// console may be called on anything, there and here.
func TestGlobalOperations(t *testing.T) {
	const refused = `const { message } = await (async () => f())().catch((e) => e); return message;`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"fetch as a field of a class",
			`class Client { fetch = fetch; } const f = () => new Client().fetch("https://a.test/"); ` + refused,
			`"Illegal invocation: fetch was called as a method of another object; call fetch(…), or keep fetch.bind(globalThis)"`,
		},
		{
			"operations of other objects",
			`const out = [];
				for (const name of ["fetch", "atob", "btoa", "queueMicrotask", "structuredClone", "reportError", "addEventListener",
				"removeEventListener", "dispatchEvent"]) {
  for (const holder of [{ [name]: globalThis[name] }, Object.create(globalThis)]) try { holder[name]("", () => {}); out.push(name);
    } catch (e) { if (!(e instanceof TypeError) || !e.message.startsWith("Illegal invocation: " + name)) out.push(name + ": " + e); }
} return out;`,
			`[]`,
		},
		{
			"operations without an object",
			`const { atob, btoa, structuredClone } = globalThis;
				return [atob("aGk="), btoa.call(null, "hi"), globalThis.structuredClone(1), self.btoa("x"),
				structuredClone.call(undefined, 2)]`,
			`["hi","aGk=",1,"eA==",2]`,
		},
		{
			"timers and console of other objects",
			`const held = { setTimeout, clearTimeout, log: console.log }; held.clearTimeout(held.setTimeout(() => {}, 1)); held.log("x");
				return "fine"`,
			`"fine"`,
		},
		{
			"names and lengths of operations",
			`return ["setTimeout", "setInterval", "clearTimeout", "clearInterval", "structuredClone", "queueMicrotask", "reportError",
				"atob", "btoa", "addEventListener"].map((k) => [globalThis[k].name === k, globalThis[k].length])`,
			`[[true,1],[true,1],[true,0],[true,0],[true,1],[true,1],[true,1],[true,1],[true,1],[true,2]]`,
		},
		{
			"lengths of console's methods",
			`return ["assert", "count", "countReset", "dir", "table", "time", "timeEnd", "timeLog", "log"].map((k) => console[k].length)`,
			`[0,0,0,0,0,0,0,0,0]`,
		},
		{
			"the global object",
			`return [String(globalThis), origin, Object.getOwnPropertyDescriptor(globalThis, Symbol.toStringTag) === undefined]`,
			`["[object ServiceWorkerGlobalScope]","null",true]`,
		},
		{"randomUUID without its object", `crypto.randomUUID.call(undefined)`, `TypeError: Illegal invocation: this is not a Crypto`},
		{
			"getRandomValues without its object",
			`const { getRandomValues } = crypto; getRandomValues(new Uint8Array(1))`,
			`TypeError: Illegal invocation: this is not a Crypto`,
		},
		{"createObjectURL", `URL.createObjectURL(new Blob(["x"]))`, `Error: URL.createObjectURL() is not implemented`},
		{"revokeObjectURL", `URL.revokeObjectURL("blob:x")`, `Error: URL.revokeObjectURL() is not implemented`},
		{
			"Error.isError",
			`return [Error.isError(new DOMException("x")), Error.isError(new TypeError()),
				Error.isError(Object.create(DOMException.prototype)), Error.isError({}), Error.isError(null), Error.isError.length]`,
			`[true,true,false,false,false,1]`,
		},
	})
}

// An exception of a callback reaches the listeners of "error", from microtasks too.
func TestMicrotaskFailure(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"BigInt for numbers",
			`const key = await crypto.subtle.importKey("raw", new Uint8Array(4), "PBKDF2", false, ["deriveBits"]),
				derive = (iterations, length) => crypto.subtle.deriveBits({
				name: "PBKDF2", hash: "SHA-256", salt: new Uint8Array(1), iterations }, key, length);
		const [a] = Object.values(new WebSocketPair()); a.accept();
		const takes = [() => new Response("", { status: 200n }), () => Response.redirect("https://a.test", 302n),
			() => AbortSignal.timeout(1n), () => new File([], "n", { lastModified: 1n }), () => new Blob(["a"]).slice(0n),
			() => performance.mark("x", { startTime: 1n }), () => a.close(1000n), () => new QuotaExceededError("", { quota: 1n }),
		  () => new CloseEvent("x", { code: 1n }), () => new ErrorEvent("x", { lineno: 1n }), () => new WebAssembly.Memory({ initial: 1n }),
		    () => new Response("hello").body.getReader({ mode: "byob" }).readAtLeast(1n, new Uint8Array(2)), () => derive(1n, 8),
		    () => derive(1, 8n)];
		const out = []; for (const f of takes) out.push(await (async () => f())().then(() => String(f), (e) => e.name));
			return [...new Set(out)]`,
			`["TypeError"]`,
		},
		{
			"a microtask that throws",
			`const seen = []; addEventListener("error", (e) => { seen.push(e.message); e.preventDefault(); });
				queueMicrotask(() => { throw new RangeError("late"); }); await scheduler.wait(1); return seen`,
			`["Uncaught RangeError: late"]`,
		},
		{"a callback that is not a function", `queueMicrotask({ call() {} })`, `TypeError: queueMicrotask: the callback is not a function`},
		{
			"the order of microtasks",
			`const order = []; queueMicrotask(() => order.push(1)); Promise.resolve().then(() => order.push(2));
				queueMicrotask(() => order.push(3)); await scheduler.wait(1); return order`,
			`[1,2,3]`,
		},
	})
}

func TestEventMembers(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		// an invalid target leaves the event unchanged
		{
			"dispatch at another object",
			`const e = new Event("x"); let name; try { EventTarget.prototype.dispatchEvent.call({}, e); } catch (error) { name = error.name;
				} return [name, new EventTarget().dispatchEvent(e)]`,
			`["TypeError",true]`,
		},
		{
			"a listener without a target",
			`EventTarget.prototype.addEventListener.call(null, "x", null)`,
			`TypeError: Illegal invocation: this is not a EventTarget`,
		},
		{
			"setters of other objects",
			`const of = (name) => Object.getOwnPropertyDescriptor(Event.prototype, name).set;
				return ["cancelBubble", "returnValue"].map((name) => { try { of(name).call({}, false); } catch (e) { return e.name; } })`,
			`["TypeError","TypeError"]`,
		},
		{
			"returnValue and cancelBubble",
			`const e = new Event("x", { cancelable: true }); e.returnValue = true; const before = e.defaultPrevented; e.returnValue = false;
				e.returnValue = true; e.cancelBubble = true; e.cancelBubble = false; return [before, e.defaultPrevented, e.cancelBubble]`,
			`[false,true,true]`,
		},
		{
			"the accessor of onabort",
			`const { get, set } = Object.getOwnPropertyDescriptor(AbortSignal.prototype, "onabort");
				return [get.name, set.name, set.length]`,
			`["get onabort","set onabort",1]`,
		},
		{
			"arguments of AbortSignal's functions",
			`return [() => AbortSignal.any(), () => AbortSignal.any("ab"), () => AbortSignal.any([1]),
				() => AbortSignal.timeout()].map((f) => { try { f(); } catch (e) { return e.message; } })`,
			`["AbortSignal.any: 1 argument required, but only 0 present","AbortSignal.any: the argument is not a sequence",
				"AbortSignal.any: an item is not an AbortSignal","AbortSignal.timeout: 1 argument required, but only 0 present"]`,
		},
	})
}

// Conversions come in the order of Web IDL, each once.
func TestBlobConversions(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"the order of conversions",
			`const seen = [], text = (name, value) => ({ toString() { seen.push(name); return value; } });
const parts = { get [Symbol.iterator]() { seen.push("iterator");
				return function* () { yield text("first", "a\r\nb"); yield text("second", "c"); }; } };
const b = new Blob(parts, { get type() { seen.push("type"); return text("type text", "T/Y"); }, get endings() { seen.push("endings");
				return text("endings text", "native"); } });
return [seen, b.type, await b.text()]`,
			`[["iterator","first","second","endings","endings text","type","type text"],"t/y","a\nbc"]`,
		},
		{
			"a list that shrinks",
			`const list = ["a", { toString() { list.pop(); return "b"; } }, "c"]; return await new Blob(list).text()`,
			`"ab"`,
		},
		{
			"unknown endings",
			`new Blob([], { endings: "Native" })`,
			`TypeError: Blob constructor: endings is "Native", not "transparent" or "native"`,
		},
		{
			"detached buffers",
			`const b = new ArrayBuffer(2), v = new Uint8Array(b), d = new DataView(b); b.transfer();
				return [new Blob([b, v, d]).size, new TextDecoder().decode(b), new TextDecoder().decode(d)]`,
			`[0,"",""]`,
		},
	})
}

// The views of a resizable buffer whose length follows it, and shared memory.
func TestCloneOfViews(t *testing.T) {
	const copies = `const grown = (view, transfer) => { const c = structuredClone(view, { transfer }); const before = c.byteLength;
		c.buffer.resize(32); return [before, c.byteOffset, c.byteLength]; }; const b = new ArrayBuffer(16, { maxByteLength: 64 });`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"views whose length follows the buffer",
			copies + `return [grown(new Uint8Array(b)), grown(new Uint8Array(b, 4)), grown(new Uint8Array(b, 4, 12)),
				grown(new Uint8Array(b, 4, 3)), grown(new Uint16Array(b, 2)), grown(new DataView(b, 1)), grown(new DataView(b, 1, 15))]`,
			`[[16,0,32],[12,4,28],[12,4,12],[3,4,3],[14,2,30],[15,1,31],[15,1,15]]`,
		},
		{
			"the contents of a view",
			copies + `const v = new Uint8Array(b); v.set([1, 2, 3], 13); const c = structuredClone(new Uint8Array(b, 12));
				return [[...c], [...v.slice(12)], b.byteLength]`,
			`[[0,1,2,3],[0,1,2,3],16]`,
		},
		{"a transferred buffer", copies + `const r = grown(new DataView(b), [b]); return [r, b.detached]`, `[[16,0,32],true]`},
		{
			"shared memory",
			`const s = new SharedArrayBuffer(4), v = new Uint8Array(s, 1), c = structuredClone({ s, v }); v[0] = 7;
				return [c.s instanceof SharedArrayBuffer, c.v.byteOffset, c.v[0]]`,
			`[true,1,7]`,
		},
		{"a transfer list that is none", `structuredClone(1, { transfer: 1 })`, `TypeError: structuredClone: transfer is not a sequence`},
	})
}

// The last space of an opaque path before a query or fragment is encoded (URL
// standard, 4.4), so that removing these does not change the path.
func TestOpaquePaths(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"the last space of a path",
			`return ["x:a  ?q", "x:a  #f", "x: ?", "x:a  b", "x:a  ", "x:?q", "javascript:a b ?c d"].map((s) => new URL(s).href)`,
			`["x:a %20?q","x:a %20#f","x:%20?","x:a  b","x:a","x:?q","javascript:a b%20?c%20d"]`,
		},
		{
			"without query and fragment",
			`const u = new URL("data:a  ?q#f"); u.search = ""; const s = u.href; u.hash = ""; return [s, u.href, u.pathname]`,
			`["data:a %20#f","data:a %20","a %20"]`,
		},
		{"without search parameters", `const u = new URL("data:a  ?q"); u.searchParams.delete("q"); return u.href`, `"data:a %20"`},
		{
			"relative URLs and requests",
			`return [new URL("#g", "x:a  ?q#f").href, URL.canParse("x:a  ?q"), new Request("https://a.test/b ?q").url]`,
			`["x:a %20?q#g",true,"https://a.test/b%20?q"]`,
		},
	})
}

// A dictionary is an object, or nothing.
func TestDictionaries(t *testing.T) {
	const makers = `const makers = { Blob: (v) => new Blob([], v), Event: (v) => new Event("x", v),
		TextDecoder: (v) => new TextDecoder("utf-8", v), decode: (v) => new TextDecoder().decode(new Uint8Array(0), v),
  structuredClone: (v) => structuredClone(1, v), PerformanceMark: (v) => new PerformanceMark("x", v),
    observe: (v) => new PerformanceObserver(() => {}).observe(v), URLPattern: (v) => new URLPattern("/x", "https://a.test", v) };`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"dictionaries that are primitives",
			makers + `const out = []; for (const [name, f] of Object.entries(makers)) for (const v of [5, "x", true, 1n, Symbol()]) try {
				f(v); out.push(name + " takes " + String(v)); } catch (e) { if (!(e instanceof TypeError)) out.push(name + ": " + e);
				} return out`,
			`[]`,
		},
		{
			"dictionaries that may be left out",
			makers + `delete makers.observe; for (const f of Object.values(makers)) for (const v of [undefined, null, {}, [], () => {}]) f(
				v); return "fine"`,
			`"fine"`,
		},
		{
			"delays of timers",
			`const seen = [];
				for (const delay of [Infinity, 2 ** 31, 2 ** 32 + 1, 1e300, NaN, -Infinity, -5, "x", {}, 0.9, undefined, null]) setTimeout((
				) => seen.push(String(delay)), delay); await scheduler.wait(20); return seen`,
			`["NaN","-Infinity","-5","x","[object Object]","0.9","undefined","null"]`,
		},
		{
			"delays that cannot be converted",
			`return [() => setTimeout(() => {}, 1n), () => setTimeout(() => {}, Symbol()),
				() => setInterval(() => {}, { valueOf() { throw new RangeError("mine"); } })].map((f) => { try { f();
				} catch (e) { return e.name; } })`,
			`["TypeError","TypeError","RangeError"]`,
		},
		{
			"BigInt for numbers",
			`const key = await crypto.subtle.importKey("raw", new Uint8Array(4), "PBKDF2", false, ["deriveBits"]),
				derive = (iterations, length) => crypto.subtle.deriveBits({
				name: "PBKDF2", hash: "SHA-256", salt: new Uint8Array(1), iterations }, key, length);
		const [a] = Object.values(new WebSocketPair()); a.accept();
		const takes = [() => new Response("", { status: 200n }), () => Response.redirect("https://a.test", 302n),
			() => AbortSignal.timeout(1n), () => new File([], "n", { lastModified: 1n }), () => new Blob(["a"]).slice(0n),
			() => performance.mark("x", { startTime: 1n }), () => a.close(1000n), () => new QuotaExceededError("", { quota: 1n }),
		  () => new CloseEvent("x", { code: 1n }), () => new ErrorEvent("x", { lineno: 1n }), () => new WebAssembly.Memory({ initial: 1n }),
		    () => new Response("hello").body.getReader({ mode: "byob" }).readAtLeast(1n, new Uint8Array(2)), () => derive(1n, 8),
		    () => derive(1, 8n)];
		const out = []; for (const f of takes) out.push(await (async () => f())().then(() => String(f), (e) => e.name));
			return [...new Set(out)]`,
			`["TypeError"]`,
		},
		{
			"reportError",
			`const seen = []; addEventListener("error", (e) => { seen.push(e.message); e.preventDefault(); }); reportError("plain");
				reportError(new TypeError("typed")); return seen`,
			`["Uncaught plain","Uncaught TypeError: typed"]`,
		},
	})
}
