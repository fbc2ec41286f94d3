package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// Programs get the arguments of console too: as JSON, bounded, without running the author's code.
func TestConsoleArguments(t *testing.T) {
	cases := []struct{ name, call, want string }{
		{"nothing", `console.log()`, `[]`},
		{"primitives", `console.log("a %s", "b", 1, true, null)`, `["a %s","b",1,true,null]`},
		{
			"what JSON does not have",
			`console.warn(undefined, NaN, -0, Infinity, 12n, Symbol("s"), () => 1)`,
			`["undefined","NaN","-0","Infinity","12n","Symbol(s)","[Function (anonymous)]"]`,
		},
		{
			"objects and collections",
			`console.info({ a: [1, { b: 2 }] }, new Map([["k", new Set([1])]]))`,
			`[{"a":[1,{"b":2}]},[["k",[1]]]]`,
		},
		{"a circle", `const ring = { n: 1 }; ring.self = ring; console.log(ring)`, `[{"n":1,"self":"[Circular]"}]`},
		{"deep nesting", `console.log({ a: { b: { c: { d: { e: { f: 1 } } } } } })`, `[{"a":{"b":{"c":{"d":{"e":"[Object]"}}}}}]`},
		{
			"getters and toJSON",
			`console.log({ get a() { throw 1; }, toJSON() { throw 2; } })`,
			`[{"a":"[Getter]","toJSON":"[Function: toJSON]"}]`,
		},
		{
			"a Proxy whose traps throw",
			`console.log(new Proxy({}, { ownKeys() { throw 1; }, get() { throw 2; } }))`,
			`["[object that cannot be shown]"]`,
		},
		{
			"an error with a cause",
			`console.error(new TypeError("no", { cause: "why" }))`,
			`[{"name":"TypeError","message":"no","cause":"why"}]`,
		},
		{
			"an error with a code",
			`console.error(Object.assign(new Error("no"), { code: 7 }))`,
			`[{"name":"Error","message":"no","code":7}]`,
		},
		{
			"an AggregateError",
			`console.error(new AggregateError([new RangeError("a")], "both"))`,
			`[{"name":"AggregateError","message":"both","errors":[{"name":"RangeError","message":"a"}]}]`,
		},
		{
			"platform objects",
			`console.log(new Date(0), new Date(NaN), /x/g, new URL("https://a.test/"), new Headers({ a: "b" }))`,
			`["1970-01-01T00:00:00.000Z","Invalid Date","/x/g","https://a.test/",[["a","b"]]]`,
		},
		{"arrays and views", `console.log(new Uint8Array([1, 2]), [1, , 3])`, `[[1,2],[1,"undefined",3]]`},
		{"counts", `console.log(Array.from({ length: 102 }, () => 0).length, "x".repeat(3))`, `[102,"xxx"]`},
		{"__proto__", `console.log(Object.fromEntries([["__proto__", 1]]))`, `[{"__proto__":1}]`},
		{"too much", `console.log("x".repeat(20000).match(/.{200}/g).map((x) => ({ x })))`, ``},
		{"table", `console.table([{ a: 1 }])`, `[[{"a":1}]]`},
		{"dir", `console.dir({ a: 1 }, { depth: 0 })`, `[{"a":1}]`},
		{"trace", `console.trace("here", 1)`, `["here",1]`},
		{"assert", `console.assert(false, "no")`, `["Assertion failed: no"]`},
		{"JSON.stringify replaced", `JSON.stringify = () => "mine"; console.log(1)`, `[1]`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := webtest.Serve(t, `export default { fetch() { `+c.call+`; return new Response("ok"); } };`, web.Options{})
			if _, body := w.Get("/"); body != "ok" {
				t.Errorf("%s: %s", c.call, body)
				return
			}
			if len(w.Console()) != 1 {
				t.Fatalf("%s: %d lines", c.call, len(w.Console()))
			}
			if e := w.Console()[0]; e.Args != c.want || !e.Called {
				t.Errorf("%s: %.200s, want %s", c.call, e.Args, c.want)
			}
		})
	}
}

// A large value costs only its shown part: Node.js shows the same.
func TestConsoleOfLargeArrays(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"a view", `new Uint8Array(4e7)`, "... 39999900 more items\n]"},
		{"holes alone", `new Array(1e9)`, "[ <1000000000 empty items> ]"},
		{
			"holes and items",
			`const a = new Array(1e9); a[5] = 1; a[1e8] = 2; return a`,
			"[\n  <5 empty items>,\n  1,\n  <99999994 empty items>,\n  2,\n  <899999999 empty items>\n]",
		},
		{
			"holes and members",
			`const a = [1, , , 2]; a.name = "a"; a[Symbol("s")] = 1; return a`,
			"[ 1, <2 empty items>, 2, name: 'a', [Symbol(s)]: 1 ]",
		},
		{"a match", `"ab".match(/b/)`, "[ 'b', index: 1, input: 'ab', groups: undefined ]"},
		{"many items", `Array(1e6).fill(7)`, "... 999900 more items\n]"},
		{"a view with a member", `Object.assign(new Uint8Array(2), { name: "b" })`, "Uint8Array(2) [ 0, 0, name: 'b' ]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code := c.code
			if !strings.Contains(code, "return") {
				code = "return " + code
			}
			w := webtest.Serve(t, webtest.Handler(`console.log((() => { `+code+` })()); return new Response("ok");`), web.Options{})
			w.Budget = 5 * time.Second
			if _, body := w.Get("/"); body != "ok" || !strings.HasSuffix(strings.TrimSpace(w.Lines()), c.want) {
				t.Errorf("%s: %s, printed %.200s, want %s", code, body, w.Lines(), c.want)
			}
		})
	}
}

// Groups belong to their request: one that it leaves open does not indent another's.
func TestConsoleGroups(t *testing.T) {
	w := webtest.Serve(t, `console.group("load"); console.log("in"); console.groupEnd();
		export default { async fetch(request) {
			const name = new URL(request.url).pathname;
			console.group(name); console.group(); console.log("a\nb"); console.groupEnd(); console.log("c");
			return new Response("ok");
		} };`, web.Options{})
	w.Get("/1")
	w.Get("/2")
	want := "log: load\nlog:   in\nlog: /1\nlog:     a\n    b\nlog:   c\nlog: /2\nlog:     a\n    b\nlog:   c\n"
	if got := w.Lines(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Logging cannot fail, with any arguments, and after any change of Error by the author.
func TestConsoleCannotFail(t *testing.T) {
	for _, c := range []struct{ name, code string }{
		{"coercions that throw", `console.log("%j", { a: 1n }, "%s", { toString() { throw 1; } })`},
		{"an inspection that throws", `console.log({ [Symbol.for("nodejs.util.inspect.custom")]() { throw new Error("mine"); } })`},
		{"a primitive that throws", `console.log("%s", { [Symbol.toPrimitive]() { throw 1; } })`},
		{"hooks of stacks", `Error.stackTraceLimit = 0; Error.prepareStackTrace = () => { throw 1; }; console.log("x")`},
		{"a frozen Error", `Object.freeze(Error); console.log("x")`},
		{"no Error at all", `globalThis.Error = null; console.error(new TypeError("x"))`},
		{
			"nested too deep",
			`let deep = {}; for (let i = 0; i < 5000; i++) deep = { deep }; console.dir(deep, { depth: Infinity })`,
		},
		{
			"tables of all kinds",
			`console.table(new Map([[1, { a: 1 }]])); console.table(new Set([1])); console.table(null); console.table([[1], 2]);
				console.table({})`,
		},
		{
			"ends without a beginning",
			`console.group(); console.groupEnd(); console.groupEnd(); console.timeEnd("x"); console.timeLog("x"); console.countReset("x");
				console.clear(); console.profile(); console.profileEnd(); console.timeStamp("x")`,
		},
		{"the global object", `console.log(globalThis, Math, JSON, new (class { get [Symbol.toStringTag]() { throw 1; } })())`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := webtest.Serve(t, `export default { fetch() { `+c.code+`; return new Response("ok"); } };`, web.Options{})
			if _, body := w.Get("/"); body != "ok" {
				t.Errorf("%s: %s", c.code, body)
			}
			if strings.HasPrefix(c.code, "console.log") && w.Lines() == "" {
				t.Errorf("%s: nothing is logged", c.code)
			}
		})
	}
}
