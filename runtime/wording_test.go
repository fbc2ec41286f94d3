package runtime_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// worded are mistakes with V8's messages, or ours where V8's has a value that the engine does not reveal.
var worded = []struct{ code, want string }{
	{`const o = {}; o.foo()`, "TypeError: o.foo is not a function"},
	{`let f; f(1)`, "TypeError: f is not a function"},
	{`const o = { a: {} }; o.a.b.c()`, "TypeError: Cannot read properties of undefined (reading 'c')"},
	{`let x = null; x.y = 1`, "TypeError: Cannot set properties of null (setting 'y')"},
	{`let x; x[Symbol.toStringTag]`, "TypeError: Cannot read properties of undefined (reading 'Symbol(Symbol.toStringTag)')"},
	{`const o = {}; new o.Foo(1)`, "TypeError: o.Foo is not a constructor"},
	{`const o = {}; Response.json(o.foo())`, "TypeError: o.foo is not a function"},
	{`const o = {}, p = { q() {} }; o.foo(p.q())`, "TypeError: p.q or o.foo is not a function"},
	{`const o = {}; o.use(new Map())`, "TypeError: o.use is not a function"},
	{`new Symbol()`, "TypeError: Symbol is not a constructor"},
	{`[1].map(3)`, "TypeError: the argument of map is not a function"},
	{`Reflect.construct(1, [])`, "TypeError: the target of Reflect.construct is not a constructor"},
	{`new Promise()`, "TypeError: Promise resolver is not a function"},
	{`const o = {}; for (const x of o);`, "TypeError: o is not iterable"},
	{`const o = {}; for (const x of o.all);`, "TypeError: o.all is not iterable"},
	{`const o = { f() {} }; [...o.f()]`, "TypeError: o.f is not a function or its return value is not iterable"},
	{`new Set(undefined); new Set(5)`, "TypeError: value is not iterable"},
	{`const { a } = undefined`, "TypeError: Cannot destructure property 'a' of 'undefined' as it is undefined or null."},
	{`const o = {}; const { a, b } = o.c`, "TypeError: Cannot destructure property 'a' of 'o.c' as it is undefined or null."},
	{`const { ...rest } = null`, "TypeError: Cannot destructure 'null' as it is undefined or null."},
	{`(({ a: { b } }) => b)({})`, "TypeError: Cannot destructure property 'b' of a value that is undefined or null"},
	{`(({ ...a }) => a)()`, "TypeError: Cannot destructure a value that is undefined or null"},
	{`const o = {}; const [a] = o.all`, "TypeError: o.all is not iterable"},
	{`const o = { f() {} }; const [a] = o.f()`, "TypeError: o.f is not a function or its return value is not iterable"},
	{`const [a] = await null`, "TypeError: (intermediate value) is not iterable"},
	{`const o = { error: "text" }; o.error.status = 500`, "TypeError: Cannot create property 'status' on a value that is not an object"},
	{`let n = 5; n.a += 1`, "TypeError: Cannot create property 'a' on a value that is not an object"},
	{`"abc"[0] = "x"`, "TypeError: not an object"},
	{`let o; delete o.a`, "TypeError: Cannot convert undefined or null to object"},
	{`Object.keys(null)`, "TypeError: Cannot convert undefined or null to object"},
	{`missing`, "ReferenceError: missing is not defined"},
	{`x; let x = 1`, "ReferenceError: Cannot access 'x' before initialization"},
	{`class A {}; A()`, "TypeError: Class constructor A cannot be invoked without 'new'"},
	{`(class {})()`, "TypeError: Class constructor cannot be invoked without 'new'"},
	{
		`class A extends Object { constructor() { return 1 } }; new A()`,
		"TypeError: Derived constructors may only return object or undefined",
	},
	{`function F() {}; F.prototype = 3; class A extends F {}`, "TypeError: Class extends value does not have valid prototype property"},
	{`const o = {}; for await (const x of o.all);`, "TypeError: o.all is not async iterable"},
	{`const o = {}; for await (const x of o);`, "TypeError: o is not iterable"},
	{`const o = {}, own = { [Symbol.iterator]: () => o }; [...own]`, "TypeError: own is not iterable"},
	{`let own; for await (const x of own);`, "TypeError: own is not async iterable"},
	{
		`let r; const p = new Promise((resolve) => { r = resolve }); r(p); await p`,
		"TypeError: Chaining cycle detected for promise #<Promise>",
	},
	{
		`(function f() { f.caller })()`,
		"TypeError: 'caller', 'callee', and 'arguments' properties may not be accessed on strict mode functions or " +
			"the arguments objects for calls to them",
	},
	{`new Proxy({}, { set: () => false }).x = 1`, "TypeError: 'set' on proxy: trap returned falsish"},
	{
		`Reflect.apply(Object.defineProperty, null, [new Proxy({}, { defineProperty: () => false }), "a", {}])`,
		"TypeError: 'defineProperty' on proxy: trap returned falsish",
	},
	{`Object.create(1)`, "TypeError: Object prototype may only be an Object or null"},
	{`Object.setPrototypeOf({}, 1)`, "TypeError: Object prototype may only be an Object or null"},
	{`Promise.all.call(1)`, "TypeError: Promise.all called on non-object"},
	{`new FinalizationRegistry()`, "TypeError: FinalizationRegistry: cleanup must be callable"},
	{`new FinalizationRegistry(() => {}).register(1)`, "TypeError: FinalizationRegistry.prototype.register: invalid target"},
	{`new WeakSet().add(1)`, "TypeError: Invalid value used in weak set"},
	{`Number.prototype.toFixed.call("x")`, "TypeError: Number.prototype.toFixed requires that 'this' be a Number"},
	{`Symbol.prototype.toString.call(1)`, "TypeError: Symbol.prototype.toString requires that 'this' be a Symbol"},
	{`Symbol.keyFor(1)`, "TypeError: not a symbol"},
	{`1n >>> 0n`, "TypeError: BigInts have no unsigned right shift, use >> instead"},
	{`BigInt(undefined)`, "TypeError: Cannot convert the value to a BigInt"},
	{`BigInt(NaN)`, "RangeError: The number cannot be converted to a BigInt because it is not an integer"},
	{`BigInt.asIntN(-1, 1n)`, "RangeError: Invalid value: not (convertible to) a safe integer"},
	{`new Uint8Array(1).set([1, 2])`, "RangeError: offset is out of bounds"},
	{`new DataView(new ArrayBuffer(1)).getInt8(-1)`, "RangeError: Offset is outside the bounds of the DataView"},
	{`new Uint8Array(2 ** 40)`, "RangeError: Array buffer allocation failed"},
	{`const b = new ArrayBuffer(1); b.transfer(); b.slice(0)`, "TypeError: Cannot perform slice on a detached ArrayBuffer"},
	{`const v = new Uint8Array(1); v.buffer.transfer(); v.fill(1)`, "TypeError: Cannot perform fill on a detached ArrayBuffer"},
	{`(1).toExponential(101)`, "RangeError: toExponential() argument must be between 0 and 100"},
	{`Map()`, "TypeError: Constructor Map requires 'new'"},
	{
		`class A {}; class B extends A { constructor() {} }; new B()`,
		"ReferenceError: Must call super constructor in derived class before accessing 'this' or returning from derived constructor",
	},
	{`Object.freeze({ a: 1 }).a = 2`, "TypeError: Cannot assign to read only property 'a' of object"},
	{`1n + 1`, "TypeError: Cannot mix BigInt and other types, use explicit conversions"},
	{`JSON.stringify({ a: 1n })`, "TypeError: Do not know how to serialize a BigInt"},
	{
		`const a = {}; a.a = a; JSON.stringify(a)`,
		"TypeError: Converting circular structure to JSON\n    --> starting at object with constructor 'Object'\n    " +
			"--- property 'a' closes the circle",
	},
	{`new Array(-1)`, "RangeError: Invalid array length"},
	{`(1).toFixed(101)`, "RangeError: toFixed() digits argument must be between 0 and 100"},
	{`new Date(NaN).toISOString()`, "RangeError: Invalid time value"},
	{`decodeURIComponent("%")`, "URIError: URI malformed"},
	{`new RegExp("(")`, "SyntaxError: Invalid regular expression: Unterminated group"},
	{`[].reduce((a) => a)`, "TypeError: Reduce of empty array with no initial value"},
	{`Map.prototype.get.call({}, 1)`, "TypeError: Method Map.prototype.get called on incompatible receiver"},
	{
		`class A { #x; static t(o) { return o.#x } }; A.t({})`,
		"TypeError: Cannot read private member #x from an object whose class did not declare it",
	},
	{`JSON.parse("<html>")`, `SyntaxError: Unexpected token '<', "<html>" is not valid JSON`},
	{`JSON.parse({})`, `SyntaxError: "[object Object]" is not valid JSON`},
	{`await new Response("{").json()`, "SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)"},
	{`await request.json()`, "SyntaxError: Unexpected end of JSON input"},
	{`null.foo`, "TypeError: Cannot read properties of null (reading 'foo')"},
	{`const { a: [b] } = { a: null }`, "TypeError: null is not iterable (cannot read property Symbol(Symbol.iterator))"},
	{`new Map([1])`, "TypeError: Iterator value is not an entry object"},
	{`new WeakMap([1])`, "TypeError: Iterator value is not an entry object"},
	{`Object.fromEntries([1])`, "TypeError: Iterator value is not an entry object"},
	{`new Proxy(1, {})`, "TypeError: Cannot create proxy with a non-object as target or handler"},
	{`Object.getPrototypeOf(null)`, "TypeError: Cannot convert undefined or null to object"},
	{`Object.defineProperty(1, "a", {})`, "TypeError: Object.defineProperty called on non-object"},
	{`Reflect.ownKeys(1)`, "TypeError: Reflect.ownKeys called on non-object"},
	{`(() => {}).apply(null, 5)`, "TypeError: CreateListFromArrayLike called on non-object"},
	{`Function.prototype.apply.call(1)`, "TypeError: Function.prototype.apply was called on a value that is not a function"},
	{`Function.prototype.bind.call(1)`, "TypeError: Bind must be called on a function"},
	{`[2, 1].sort(5)`, "TypeError: The comparison function must be either a function or undefined"},
	{`[2, 1].toSorted(5)`, "TypeError: The comparison function must be either a function or undefined"},
	{`Promise()`, "TypeError: Promise constructor cannot be invoked without 'new'"},
	{`class A extends (void 0) {}`, "TypeError: Class extends value is not a constructor or null"},
	{
		`class A {}; class B extends A { constructor() { super(); super() } }; new B()`,
		"ReferenceError: Super constructor may only be called once",
	},
	{`Object.setPrototypeOf(Object.preventExtensions({}), {})`, "TypeError: Object is not extensible"},
	{
		`Object.defineProperty(Object.preventExtensions({}), "a", { value: 1 })`,
		"TypeError: Cannot define property, object is not extensible",
	},
	{`Object.preventExtensions({}).x = 1`, "TypeError: Cannot add property x, object is not extensible"},
	{`const o = { a: Object.freeze({}) }; o.a.b = 1`, "TypeError: Cannot add property b, object is not extensible"},
	{`const o = Object.freeze({}); o["a" + 1] = 1`, "TypeError: Cannot add property, object is not extensible"},
	{`Object.freeze([1]).push(2)`, "TypeError: Cannot add property, object is not extensible"},
	{`const a = {}, b = Object.create(a); Object.setPrototypeOf(a, b)`, "TypeError: Cyclic __proto__ value"},
	{`({ get a() { return 1 } }).a = 2`, "TypeError: Cannot set property which has only a getter"},
	{
		`class A { get size() { return 1 } }; const a = new A(); a.size++`,
		"TypeError: Cannot set property size of an object which has only a getter",
	},
	{`delete Object.freeze({ a: 1 }).a`, "TypeError: Cannot delete property"},
	{
		`const o = {}; Object.defineProperty(o, "a", { value: 1 }); Object.defineProperty(o, "a", { value: 2 })`,
		"TypeError: Cannot redefine property",
	},
	{`({}) instanceof {}`, "TypeError: Right-hand side of 'instanceof' is not callable"},
	{`({}) instanceof (() => 1)`, "TypeError: Function has non-object prototype in instanceof check"},
	{`"a" in "b"`, "TypeError: Cannot use 'in' operator to search in a value that is not an object"},
	{`+1n`, "TypeError: Cannot convert a BigInt value to a number"},
	{`Math.max(1n)`, "TypeError: Cannot convert a BigInt value to a number"},
	{`1n / 0n`, "RangeError: Division by zero"},
	{`2n ** -1n`, "RangeError: Exponent must be positive"},
	{`BigInt("x")`, "SyntaxError: Cannot convert the text to a BigInt"},
	{`BigInt(1.5)`, "RangeError: The number cannot be converted to a BigInt because it is not an integer"},
	{"`${Symbol(\"a\")}`", "TypeError: Cannot convert a Symbol value to a string"},
	{`+Symbol("a")`, "TypeError: Cannot convert a Symbol value to a number"},
	{"`${Object.create(null)}`", "TypeError: Cannot convert object to primitive value"},
	{`let g; function* f() { g.next() }; g = f(); g.next()`, "TypeError: Generator is already running"},
	{`class A { #m() {} static t(o) { o.#m() } }; A.t({})`, "TypeError: Receiver must be an instance of the class"},
	{
		`const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); proxy.x`,
		"TypeError: Cannot perform an operation on a proxy that has been revoked",
	},
	{`for (const x of { [Symbol.iterator]: () => ({ next: () => 1 }) });`, "TypeError: Iterator result is not an object"},
	{`new ArrayBuffer(-1)`, "RangeError: Invalid array buffer length"},
	{`new Uint8Array(-1)`, "RangeError: Invalid typed array length"},
	{`"x".repeat(-1)`, "RangeError: Invalid count value"},
	{`"x".repeat(2 ** 30)`, "RangeError: Invalid string length"},
	{`let s = "x".repeat(2 ** 20); for (;;) s += s`, "RangeError: Invalid string length"},
	{`2n ** 2000000n`, "RangeError: Maximum BigInt size exceeded"},
	{
		`/^(?:a|b)*$/.test("ab".repeat(4e6))`,
		"RangeError: Maximum call stack size exceeded: the regular expression keeps more places to go back to than " +
			"memory holds; match smaller parts of the text, or repeat lazily",
	},
	{`(1).toPrecision(101)`, "RangeError: toPrecision() argument must be between 1 and 100"},
	{`"a".normalize("x")`, "RangeError: The normalization form should be one of NFC, NFD, NFKC, NFKD."},
	{`String.fromCodePoint(-1)`, "RangeError: Invalid code point"},
	{`new DataView(new ArrayBuffer(1)).getInt16(0)`, "RangeError: Offset is outside the bounds of the DataView"},
	{`new WeakMap().set(1, 2)`, "TypeError: Invalid value used as weak map key"},
	{`new WeakRef(1)`, "TypeError: WeakRef: invalid target"},
	{`encodeURI("\ud800")`, "URIError: URI malformed"},
	{`decodeURIComponent("%ff")`, "URIError: URI malformed"},
	{`Date.prototype.getTime.call({})`, "TypeError: this is not a Date object."},
	{`Uint8Array.prototype.fill.call([])`, "TypeError: this is not a typed array."},
	{`"a".matchAll(/a/)`, "TypeError: String.prototype.matchAll called with a non-global RegExp argument"},
	{`"a".replaceAll(/a/, "")`, "TypeError: String.prototype.replaceAll called with a non-global RegExp argument"},
	{`"a".startsWith(/a/)`, "TypeError: First argument to String.prototype.startsWith must not be a regular expression"},
	{`new RegExp("a", "zz")`, "SyntaxError: Invalid flags supplied to RegExp constructor"},
	{`new RegExp("[b-a]")`, "SyntaxError: Invalid regular expression: Range out of order in character class"},
	{`new RegExp("*")`, "SyntaxError: Invalid regular expression: Nothing to repeat"},
	{`new RegExp(")")`, "SyntaxError: Invalid regular expression: Unmatched ')'"},
	{`new RegExp("(?<1>a)")`, "SyntaxError: Invalid regular expression: Invalid capture group name"},
	{`new RegExp("\\p{X}", "u")`, "SyntaxError: Invalid regular expression: Invalid property name"},
	{`new RegExp("\\-", "u")`, "SyntaxError: Invalid regular expression: Invalid escape"},
	// errors of the author's own keep their text
	{`throw new TypeError("not a function")`, "TypeError: not a function"},
	{`const o = { fail: (m) => { throw TypeError(m) } }; o.fail("not a function")`, "TypeError: not a function"},
	{`throw new RangeError("string too long")`, "RangeError: string too long"},
	{`throw new Error("invalid array length")`, "Error: invalid array length"},
	{`class E extends TypeError {}; throw new E("circular reference")`, "TypeError: circular reference"},
	{`JSON.stringify({ get a() { throw new TypeError("circular reference") } })`, "TypeError: circular reference"},
	{`JSON.parse("{}", () => { throw new SyntaxError("mine") })`, "SyntaxError: mine"},
	// and the message equals that of the stack
	{`const o = {}; try { o.foo() } catch (e) { throw e.stack.split("\n")[0] }`, "TypeError: o.foo is not a function"},
	{`try { JSON.parse("x") } catch (e) { throw [e.stack.includes("(worker.js:"), Object.keys(e).length] }`, "true,0"},
}

func TestWording(t *testing.T) {
	var code strings.Builder
	code.WriteString("const cases = [\n")
	for _, c := range worded {
		code.WriteString("  async (request) => { " + c.code + " },\n")
	}
	code.WriteString(`];
export default {
  async fetch(request) {
    const fetch = (made) => made(request).then(() => "nothing", String);
    return Response.json(await Promise.all(cases.map(fetch)));
  }
}`)
	s := serve(t, mustStart(t, code.String(), pagesruntime.WorkerOptions{Limits: pagesruntime.Limits{CPU: 20 * time.Second}}))
	var got []string
	if _, body := get(t, s, "/"); json.Unmarshal([]byte(body), &got) != nil || len(got) != len(worded) {
		t.Fatal(body)
	}
	for i, c := range worded {
		if got[i] != c.want {
			t.Errorf("%s: %s, want %s", c.code, got[i], c.want)
		}
	}
}

// TestHostileWording: changes of Error and the language by an author do not change how a Worker ends.
func TestHostileWording(t *testing.T) {
	for _, c := range []struct{ name, code string }{
		{"Map.prototype.get", `const { get } = Map.prototype; Map.prototype.get = () => { Map.prototype.get = get; throw 1 }`},
		{"Object.getPrototypeOf", `Object.getPrototypeOf = Object.getOwnPropertyDescriptor = () => { throw 1 }`},
		{"Array.prototype.filter", `Array.prototype.filter = () => [() => 5]`},
		{"Object.prototype.value", `Object.defineProperty(Object.prototype, "value", { get() { throw 1 } })`},
		{"a throwing prepareStackTrace", `Error.prepareStackTrace = () => { throw 1 }`},
		{"a failing prepareStackTrace", `Error.prepareStackTrace = () => { undefined.x }`},
		{"a frozen TypeError.prototype", `TypeError.prototype.message = "x"; Object.freeze(TypeError.prototype)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(
				t,
				mustStart(
					t,
					`export default { fetch() { `+c.code+
						`; const o = {}; let n = 0; for (let i = 0; i < 50; i++) try { o.foo() } catch { n++ } return new Response(n) } }`,
					pagesruntime.WorkerOptions{},
				),
			)
			if _, body := get(t, s, "/"); body != "50" {
				t.Errorf("%s: %s", c.code, body)
			}
		})
	}
}
