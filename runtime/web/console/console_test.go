package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// What console was called with is there for programs too: as JSON, bounded,
// without running what is the author's.
func TestConsoleArguments(t *testing.T) {
	cases := []struct{ call, want string }{
		{`console.log()`, `[]`},
		{`console.log("a %s", "b", 1, true, null)`, `["a %s","b",1,true,null]`},
		{
			`console.warn(undefined, NaN, -0, Infinity, 12n, Symbol("s"), () => 1)`,
			`["undefined","NaN","-0","Infinity","12n","Symbol(s)","[Function (anonymous)]"]`,
		},
		{`console.info({ a: [1, { b: 2 }] }, new Map([["k", new Set([1])]]))`, `[{"a":[1,{"b":2}]},[["k",[1]]]]`},
		{`const ring = { n: 1 }; ring.self = ring; console.log(ring)`, `[{"n":1,"self":"[Circular]"}]`},
		{`console.log({ a: { b: { c: { d: { e: { f: 1 } } } } } })`, `[{"a":{"b":{"c":{"d":{"e":"[Object]"}}}}}]`},
		{`console.log({ get a() { throw 1; }, toJSON() { throw 2; } })`, `[{"a":"[Getter]","toJSON":"[Function: toJSON]"}]`},
		{`console.log(new Proxy({}, { ownKeys() { throw 1; }, get() { throw 2; } }))`, `["[object that cannot be shown]"]`},
		{`console.error(new TypeError("no", { cause: "why" }))`, `[{"name":"TypeError","message":"no","cause":"why"}]`},
		{`console.error(Object.assign(new Error("no"), { code: 7 }))`, `[{"name":"Error","message":"no","code":7}]`},
		{
			`console.error(new AggregateError([new RangeError("a")], "both"))`,
			`[{"name":"AggregateError","message":"both","errors":[{"name":"RangeError","message":"a"}]}]`,
		},
		{
			`console.log(new Date(0), new Date(NaN), /x/g, new URL("https://a.test/"), new Headers({ a: "b" }))`,
			`["1970-01-01T00:00:00.000Z","Invalid Date","/x/g","https://a.test/",[["a","b"]]]`,
		},
		{`console.log(new Uint8Array([1, 2]), [1, , 3])`, `[[1,2],[1,"undefined",3]]`},
		{`console.log(Array.from({ length: 102 }, () => 0).length, "x".repeat(3))`, `[102,"xxx"]`},
		{`console.log(Object.fromEntries([["__proto__", 1]]))`, `[{"__proto__":1}]`},
		{`console.log("x".repeat(20000).match(/.{200}/g).map((x) => ({ x })))`, ``},
		{`console.table([{ a: 1 }])`, `[[{"a":1}]]`},
		{`console.dir({ a: 1 }, { depth: 0 })`, `[{"a":1}]`},
		{`console.trace("here", 1)`, `["here",1]`},
		{`console.assert(false, "no")`, `["Assertion failed: no"]`},
		{`JSON.stringify = () => "mine"; console.log(1)`, `[1]`},
	}
	for _, c := range cases {
		w := webtest.Serve(t, `export default { fetch() { `+c.call+`; return new Response("ok"); } };`, web.Options{})
		if _, body := w.Get("/"); body != "ok" {
			t.Errorf("%s: %s", c.call, body)
			continue
		}
		if len(w.Console()) != 1 {
			t.Fatalf("%s: %d lines", c.call, len(w.Console()))
		}
		if e := w.Console()[0]; e.Args != c.want || !e.Called {
			t.Errorf("%s: %.200s, want %s", c.call, e.Args, c.want)
		}
	}
}

// What is large is shown at the cost of what is shown of it: Node.js gives the same.
func TestConsoleOfLargeArrays(t *testing.T) {
	for code, want := range map[string]string{
		`new Uint8Array(4e7)`: "... 39999900 more items\n]", `new Array(1e9)`: "[ <1000000000 empty items> ]",
		`const a = new Array(1e9); a[5] = 1; a[1e8] = 2; return a`: "[\n  <5 empty items>,\n  1,\n  <99999994 empty items>,\n  2,\n" +
			"  <899999999 empty items>\n]",
		`const a = [1, , , 2]; a.name = "a"; a[Symbol("s")] = 1; return a`: "[ 1, <2 empty items>, 2, name: 'a', [Symbol(s)]: 1 ]",
		`"ab".match(/b/)`: "[ 'b', index: 1, input: 'ab', groups: undefined ]", `Array(1e6).fill(7)`: "... 999900 more items\n]",
		`Object.assign(new Uint8Array(2), { name: "b" })`: "Uint8Array(2) [ 0, 0, name: 'b' ]",
	} {
		if !strings.Contains(code, "return") {
			code = "return " + code
		}
		w := webtest.Serve(t, webtest.Handler(`console.log((() => { `+code+` })()); return new Response("ok");`), web.Options{})
		w.Budget = 5 * time.Second
		if _, body := w.Get("/"); body != "ok" || !strings.HasSuffix(strings.TrimSpace(w.Lines()), want) {
			t.Errorf("%s: %s, printed %.200s, want %s", code, body, w.Lines(), want)
		}
	}
}

// Groups are those of their request: what one leaves open does not indent another.
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

// Logging cannot fail, whatever it is given and whatever the author did to Error.
func TestConsoleCannotFail(t *testing.T) {
	for _, code := range []string{
		`console.log("%j", { a: 1n }, "%s", { toString() { throw 1; } })`,
		`console.log({ [Symbol.for("nodejs.util.inspect.custom")]() { throw new Error("mine"); } })`,
		`console.log("%s", { [Symbol.toPrimitive]() { throw 1; } })`,
		`Error.stackTraceLimit = 0; Error.prepareStackTrace = () => { throw 1; }; console.log("x")`,
		`Object.freeze(Error); console.log("x")`,
		`globalThis.Error = null; console.error(new TypeError("x"))`,
		`let deep = {}; for (let i = 0; i < 5000; i++) deep = { deep }; console.dir(deep, { depth: Infinity })`,
		`console.table(new Map([[1, { a: 1 }]])); console.table(new Set([1])); console.table(null); console.table([[1], 2]);
			console.table({})`,
		`console.group(); console.groupEnd(); console.groupEnd(); console.timeEnd("x"); console.timeLog("x"); console.countReset("x");
			console.clear(); console.profile(); console.profileEnd(); console.timeStamp("x")`,
		`console.log(globalThis, Math, JSON, new (class { get [Symbol.toStringTag]() { throw 1; } })())`,
	} {
		w := webtest.Serve(t, `export default { fetch() { `+code+`; return new Response("ok"); } };`, web.Options{})
		if _, body := w.Get("/"); body != "ok" {
			t.Errorf("%s: %s", code, body)
		}
		if strings.HasPrefix(code, "console.log") && w.Lines() == "" {
			t.Errorf("%s: nothing is logged", code)
		}
	}
}
