package web_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

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
			"Maps nested too deep",
			`let deep = {}; for (let i = 0; i < 1e5; i++) deep = new Map([[1, deep]]);
				try { structuredClone(deep) } catch (e) { return e.name }`,
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
		{"a body without a form", `await request.formData()`, `TypeError: The body is not a form: its content type is "application/json"`},
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
		{"new Function of an empty text", `new Function("")`, `EvalError: Code generation from strings disallowed for this context`},
		{"new Function of nothing", `return [typeof new Function(), typeof Function(), Function()()]`, `["function","function",null]`},
		{"eval of a number", `eval(3)`, `EvalError: Code generation from strings disallowed for this context`},
		{
			"the error of Promise.any",
			`const out = [];
				for (const list of [[Promise.reject(1)], []]) await Promise.any(list).catch((e) => out.push(String(e), e.stack, e.errors,
					Object.getOwnPropertyNames(e), Object.keys(e), e instanceof AggregateError));
				return out`,
			`["AggregateError: All promises were rejected","AggregateError: All promises were rejected",[1],
				["stack","message","errors"],[],true,"AggregateError: All promises were rejected",
				"AggregateError: All promises were rejected",[],["stack","message","errors"],[],true]`,
		},
		{
			"Promise.any of other kinds",
			`class P extends Promise { static resolve(v) { seen.push(this === P); return super.resolve(v) } }
				const seen = [], p = P.any([P.reject(2), 3]), thrown = new AggregateError([4]);
				const other = await Promise.any({ [Symbol.iterator]() { throw thrown } }).catch((e) => [e === thrown, e.message]);
				return [p instanceof P, await p, seen, other, Promise.any.name, Promise.any.length,
					await P.any([]).catch((e) => e.message)]`,
			`[true,3,[true,true],[true,""],"any",1,"All promises were rejected"]`,
		},
		{
			"Promise.any without a constructor",
			`return [() => Promise.any.call(undefined, []), () => Promise.any.call({}, []), () => Promise.any.call(() => {}, [])]
				.map((f) => { try { return typeof f() } catch (e) { return e.name } })`,
			`["TypeError","TypeError","TypeError"]`,
		},
		{
			"the order of Promise.any",
			`const log = [], any = Promise.any([Promise.reject(1), Promise.reject(2)]).catch(() => log.push("any"));
				let p = Promise.resolve();
				for (let i = 0; i < 4; i++) p = p.then(() => log.push(i));
				await p; return log`,
			`[0,"any",1,2,3]`,
		},
		{
			"what a DOMException has of its own",
			`const of = (e) => Object.entries(Object.getOwnPropertyDescriptors(e)).map(([k, d]) => k + (d.enumerable ? "+" : "-") +
					(d.writable ?? "get"));
				const made = new DOMException("m", "AbortError"), c = new AbortController(), { stack, ...rest } = made;
				c.abort();
				return [of(made), of(c.signal.reason), of(structuredClone(made)), rest, JSON.stringify({ ...made, stack: "" }),
					Object.keys(await crypto.subtle.digest("none", new Uint8Array()).catch((e) => e)),
					/^AbortError: m\n    at (?!DOMException|construct)/.test(stack),
					new QuotaExceededError().stack.includes("at DOMException"),
					JSON.stringify(new DOMException()).slice(0, 40)]`,
			`[["code+false","name+false","message+false","stack+get"],["code+false","name+false","message+false","stack+get"],
				["code+false","name+false","message+false","stack+true"],{"code":20,"name":"AbortError","message":"m"},
				"{\"code\":20,\"name\":\"AbortError\",\"message\":\"m\",\"stack\":\"\"}",["code","name","message","stack"],true,false,
				"{\"code\":0,\"name\":\"Error\",\"message\":\"\",\"s"]`,
		},
		{
			"the class DOMException",
			`class X extends DOMException { constructor() { super("m", "DataError"); this.q = 1 } }
				const x = new X(), get = Object.getOwnPropertyDescriptor(DOMException.prototype, "name").get;
				let called; try { DOMException("m") } catch (e) { called = e.name }
				return [x instanceof X, x.constructor.name, Object.keys(x), get.call(x), DOMException.name, DOMException.length,
					DOMException.prototype.constructor === DOMException, DOMException.ABORT_ERR, called,
					new QuotaExceededError("q").name, QuotaExceededError.__proto__ === DOMException, new QuotaExceededError("q").code]`,
			`[true,"X",["code","name","message","stack","q"],"DataError","DOMException",0,true,20,"TypeError",
				"QuotaExceededError",true,22]`,
		},
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
		// A thrown value other than an Error has no stack, and is not inspected.
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
			"captureStackTrace above others", // as in V8: nothing is above a function that did not call, and other values are ignored
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
