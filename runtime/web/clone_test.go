package web_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// Objects with internal slots are copied by their slots, with any prototype, or not at all (HTML, StructuredSerializeInternal,
// steps 5 to 25).
func TestCloneByKind(t *testing.T) {
	const name = `const named = (f) => { try { const c = structuredClone(f());
		return Object.prototype.toString.call(c).slice(8, -1) + JSON.stringify(c); } catch (e) { return e.name; } }; `
	const refused = `"DataCloneError"`
	var snippets []webtest.Snippet
	for _, c := range []struct{ name, make, want string }{
		{"an object with a list", `({ a: [1, { b: 2 }] })`, `"Object{\"a\":[1,{\"b\":2}]}"`},
		{"an object without a prototype", `Object.assign(Object.create(null), { a: 1 })`, `"Object{\"a\":1}"`},
		{"an object of a class", `new (class A { x = 1; #y = 2; get z() { return 3; } })()`, `"Object{\"x\":1}"`},
		{"an array of a subclass", `new (class A extends Array {})(1, 2)`, `"Array[1,2]"`},
		{"a getter of its tag", `({ get [Symbol.toStringTag]() { return "Generator"; }, a: 1 })`, `"Object{\"a\":1}"`},
		{"a Map under another prototype", `Object.setPrototypeOf(new Map([[1, 2]]), Object.prototype)`, `"Map{}"`},
		{"a Set without a prototype", `Object.setPrototypeOf(new Set(), null)`, `"Set{}"`},
		{"an Error without a prototype", `Object.setPrototypeOf(new Error("x"), null)`, `"Error{}"`},
		{"an object that poses as a Map", `Object.setPrototypeOf({ a: 1 }, Map.prototype)`, `"Object{\"a\":1}"`},
		{"a Proxy", `new Proxy({ a: 1 }, {})`, refused},
		{"a Proxy in an array", `[new Proxy([], {})]`, refused},
		{"a Proxy in a Map", `new Map([[1, new Proxy({}, {})]])`, refused},
		{"a Proxy of a Map", `new Proxy(new Map(), {})`, refused},
		{"a Proxy of a buffer", `new Proxy(new ArrayBuffer(1), {})`, refused},
		{
			"a Proxy whose traps throw",
			`new Proxy({}, { get() { throw new RangeError("asked"); }, getPrototypeOf() { throw new RangeError("asked"); } })`,
			refused,
		},
		{"a revoked Proxy", `(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()`, refused},
		{"a generator", `(function* () {})()`, refused},
		{"an asynchronous generator", `(async function* () {})()`, refused},
		{"an iterator of an array", `[][Symbol.iterator]()`, refused},
		{"an iterator of a Map", `new Map().keys()`, refused},
		{"an iterator of matches", `"a".matchAll(/a/g)`, refused},
		{"arguments", `(function () { return arguments; })(1)`, refused},
		{"a Promise", `Promise.resolve()`, refused},
		{"a WeakMap", `new WeakMap()`, refused},
		{"a WeakSet", `new WeakSet()`, refused},
		{"a WeakRef", `new WeakRef({})`, refused},
		{"a FinalizationRegistry", `new FinalizationRegistry(() => {})`, refused},
		{"a boxed Symbol", `Object(Symbol())`, refused},
		{"a URL", `new URL("https://a.test")`, refused},
		{"a NumberFormat", `new Intl.NumberFormat()`, refused},
		{"a TextEncoder", `new TextEncoder()`, refused},
	} {
		snippets = append(snippets, webtest.Snippet{c.name, name + "return named(() => " + c.make + ")", c.want})
	}
	webtest.Try(t, web.Options{}, snippets)
}

// An AggregateError stays one, with the errors it was made of, as in production.
func TestCloneAggregateError(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"an AggregateError",
			`const e = structuredClone(new AggregateError([new RangeError("a"), 1], "both", { cause: 3 }));
				return [e instanceof AggregateError, e.name, e.message, e.cause, e.errors.length, e.errors[0] instanceof RangeError,
				e.errors[0].message]`,
			`[true,"AggregateError","both",3,2,true,"a"]`,
		},
		{
			"the error of Promise.any",
			`const e = await Promise.any([Promise.reject(new TypeError("no"))]).catch(e => structuredClone(e));
				return [e.name, e.errors.map(String)]`,
			`["AggregateError",["TypeError: no"]]`,
		},
		{
			"an AggregateError within itself",
			`const e = new AggregateError([]); e.errors.push(e); const c = structuredClone(e);
				return [c.errors[0] === c, Object.keys(c), "cause" in c]`,
			`[true,[],false]`,
		},
		{
			"an AggregateError of a function",
			`return structuredClone(new AggregateError([() => {}]))`,
			`DataCloneError: () => {} could not be cloned.`,
		},
	})
}

// An exception has the stack of the one that it is a copy of.
func TestCloneException(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"the stack of a DOMException",
			`function made() { return new DOMException("m", "DataError"); } const e = made(), c = structuredClone(e);
				return [c.name, c.message, c.code, c instanceof DOMException, c.stack === e.stack, c.stack.includes("made")]`,
			`["DataError","m",0,true,true,true]`,
		},
	})
}

// The name of a file of a form. An undefined argument counts as missing (Web IDL, 3.6).
func TestFormDataName(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"names of files",
			`const f = new FormData(), file = new File(["x"], "own"); f.append("a", file, undefined);
				f.append("b", new Blob(["y"]), undefined); f.append("c", file, null); f.append("d", "text", undefined);
			f.set("e", file, undefined); f.set("f", "text", undefined); return [...f].map(([k, v]) => [k, v.name ?? v]);`,
			`[["a","own"],["b","blob"],["c","null"],["d","text"],["e","own"],["f","text"]]`,
		},
		{
			"quotes in a disposition",
			`const body = (head) => "--b\r\nContent-Disposition: form-data; " + head + "\r\n\r\nx\r\n--b--";
			const parse = async (head) => { try { return [...await new Response(body(head), {
				headers: { "content-type": "multipart/form-data; boundary=b" } }).formData()].map(([k, v]) => [k, v.name ?? v])[0];
				} catch (e) { return e.name; } };
			const out = [];
				for (const head of ['name="a\\"b"', 'name="a"; filename="c\\"d\\".txt"', 'name="a"; filename="C:\\dir\\x"',
				'name="a\\"; filename="C:\\"', 'name="a\\" ; filename="\\"q"', 'name="a%22b\\\\"', 'name="a\\"b', 'name="a\\"b\\" '])
				out.push(await parse(head)); return out;`,
			`[["a\"b","x"],["a","c\"d\".txt"],["a","C:\\dir\\x"],["a\\","C:\\"],["a\\","\"q"],["a\"b\\\\","x"],"TypeError",["a\"b\\","x"]]`,
		},
		{
			"a file name for text",
			`const f = new FormData(), said = [], warn = console.warn; console.warn = (text) => said.push(text);
			try { f.append("a", "text", "name"); f.append("b", new Uint8Array([104, 105]), { filename: "x" }); f.set("c", 5, null);
				} finally { console.warn = warn; }
			return [[...f], said.length, said[0].includes("file name is left out")]`,
			`[[["a","text"],["b","104,105"],["c","5"]],3,true]`,
		},
	})
}

// Depth takes no calls, and properties are read in the order of a walk into the depth (HTML, StructuredSerializeInternal,
// step 26).
func TestCloneDepth(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a chain of 100,000", `const first = {}; let last = first; for (let i = 0; i < 100000; i++) last = last.next = { i };
				last.next = first; let copy = structuredClone(first); const begin = copy;
				for (let i = 0; i < 100000; i++) copy = copy.next; return [copy.i, copy.next === begin, begin !== first];`,
			"[99999,true,true]",
		},
		{
			"the order of getters", `const seen = [], see = (name, content) => ({ get [name]() { seen.push(name); return content; } });
				const of = { ...{}, a: see("b", [see("c", 1), see("d", 2)]), e: see("f", 3) };
				Object.defineProperty(of, "g", { enumerable: true, get() { seen.push("g"); return 4; } });
				return [structuredClone(of), seen.join("")];`,
			`[{"a":{"b":[{"c":1},{"d":2}]},"e":{"f":3},"g":4},"bcdfg"]`,
		},
		{
			"a property that a getter below removes", `const of = { a: { get x() { delete of.b; return 1; } }, b: 2, c: 3 };
				return structuredClone(of);`, `{"a":{"x":1},"c":3}`,
		},
	})
}
