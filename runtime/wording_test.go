package runtime_test

import (
	"encoding/json"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// worded are mistakes with what V8 says of them, or what is said here where that holds a
// value that the engine does not tell.
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
	{`const { a } = undefined`, "TypeError: Cannot destructure a value that is undefined or null"},
	{`Object.keys(null)`, "TypeError: Cannot convert undefined or null to object"},
	{`missing`, "ReferenceError: missing is not defined"},
	{`x; let x = 1`, "ReferenceError: Cannot access 'x' before initialization"},
	{`class A {}; A()`, "TypeError: Class constructor cannot be invoked without 'new'"},
	{`Map()`, "TypeError: Constructor Map requires 'new'"},
	{`class A {}; class B extends A { constructor() {} }; new B()`, "ReferenceError: Must call super constructor in derived class before accessing 'this' or returning from derived constructor"},
	{`Object.freeze({ a: 1 }).a = 2`, "TypeError: Cannot assign to read only property 'a' of object"},
	{`1n + 1`, "TypeError: Cannot mix BigInt and other types, use explicit conversions"},
	{`JSON.stringify({ a: 1n })`, "TypeError: Do not know how to serialize a BigInt"},
	{`const a = {}; a.a = a; JSON.stringify(a)`, "TypeError: Converting circular structure to JSON"},
	{`new Array(-1)`, "RangeError: Invalid array length"},
	{`(1).toFixed(101)`, "RangeError: toFixed() digits argument must be between 0 and 100"},
	{`new Date(NaN).toISOString()`, "RangeError: Invalid time value"},
	{`decodeURIComponent("%")`, "URIError: URI malformed"},
	{`new RegExp("(")`, "SyntaxError: Invalid regular expression: Unterminated group"},
	{`[].reduce((a) => a)`, "TypeError: Reduce of empty array with no initial value"},
	{`Map.prototype.get.call({}, 1)`, "TypeError: Method Map.prototype.get called on incompatible receiver"},
	{`class A { #x; static t(o) { return o.#x } }; A.t({})`, "TypeError: Cannot read private member #x from an object whose class did not declare it"},
	{`JSON.parse("<html>")`, `SyntaxError: Unexpected token '<', "<html>" is not valid JSON`},
	{`JSON.parse({})`, `SyntaxError: "[object Object]" is not valid JSON`},
	{`await new Response("{").json()`, "SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)"},
	{`await request.json()`, "SyntaxError: Unexpected end of JSON input"},
	// what the author makes is the author's
	{`throw new TypeError("not a function")`, "TypeError: not a function"},
	{`const o = { fail: (m) => { throw TypeError(m) } }; o.fail("not a function")`, "TypeError: not a function"},
	{`throw new Error("invalid array length")`, "Error: invalid array length"},
	{`class E extends TypeError {}; throw new E("circular reference")`, "TypeError: circular reference"},
	{`JSON.parse("{}", () => { throw new SyntaxError("mine") })`, "SyntaxError: mine"},
	// and what is said is what the stack says
	{`const o = {}; try { o.foo() } catch (e) { throw e.stack.split("\n")[0] }`, "TypeError: o.foo is not a function"},
	{`try { JSON.parse("x") } catch (e) { throw [e.stack.includes("at fetch (worker.js"), Object.keys(e).length] }`, "true,0"},
}

func TestWording(t *testing.T) {
	for _, c := range worded {
		s := serve(t, mustStart(t, `export default {
  async fetch(request) {
    try {
      `+c.code+`;
    } catch (e) {
      return Response.json(String(e));
    }
    return Response.json("nothing");
  }
}`, pagesruntime.WorkerOptions{}))
		var got string
		if _, body := get(t, s, "/"); json.Unmarshal([]byte(strings.TrimSpace(body)), &got) != nil || got != c.want {
			t.Errorf("%s: %s, want %s", c.code, body, c.want)
		}
	}
}

// TestHostileWording: what an author does to Error and the language does not end a
// Worker in another way.
func TestHostileWording(t *testing.T) {
	for _, code := range []string{
		`const { get } = Map.prototype; Map.prototype.get = () => { Map.prototype.get = get; throw 1 }`,
		`Object.getPrototypeOf = Object.getOwnPropertyDescriptor = () => { throw 1 }`,
		`Array.prototype.filter = () => [() => 5]`,
		`Object.defineProperty(Object.prototype, "value", { get() { throw 1 } })`,
		`Error.prepareStackTrace = () => { throw 1 }`,
		`Error.prepareStackTrace = () => { undefined.x }`,
		`TypeError.prototype.message = "x"; Object.freeze(TypeError.prototype)`,
	} {
		s := serve(t, mustStart(t, `export default { fetch() { `+code+`; const o = {}; let n = 0; for (let i = 0; i < 50; i++) try { o.foo() } catch { n++ } return new Response(n) } }`, pagesruntime.WorkerOptions{}))
		if _, body := get(t, s, "/"); body != "50" {
			t.Errorf("%s: %s", code, body)
		}
	}
}
