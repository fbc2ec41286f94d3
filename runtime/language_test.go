package runtime_test

import (
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestLanguage checks corrections of the engine: ECMA-262 and V8's additions to it that packages rely on. Node 22 has the same results.
func TestLanguage(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{
			"setters of an invalid date",
			`const d = new Date(0); out = [d.setDate(NaN), +d, d.setDate(3), d.setFullYear(2020)]`,
			`[null,null,null,1577836800000]`,
		},
		{
			"setters without arguments",
			`out = ["setMonth", "setUTCHours", "setMilliseconds", "setYear"].map((name) => { const d = new Date(0); d[name]();
				return isNaN(d) })`,
			`[true,true,true,true]`,
		},
		{
			"invalid hours",
			`const d = new Date(0); d.setHours(1, Infinity);
				out = [String(d), new Date(0).setHours(1, 2, 3, 4), new Date(8.64e15).setMilliseconds(1)]`,
			`["Invalid Date",3723004,null]`,
		},
		{
			"an invalid date set again",
			`const d = new Date(NaN); out = [d.setMonth(1), d.setFullYear(2000, 1, 29), d.setTime(5)]`,
			`[null,951782400000,5]`,
		},
		{
			"the shape of setters",
			`out = [Date.prototype.setHours.name, Date.prototype.setHours.length, Date.prototype.setDate.length,
				Object.keys(Date.prototype).length, "prototype" in Date.prototype.setDate]`,
			`["setHours",4,1,0,false]`,
		},
		{
			"dates as text",
			`const d = new Date(0); out = [String(d), d.toTimeString(), d.toDateString(), Date.parse(d), String(new Date(NaN)),
				new Date(NaN).toTimeString(), Date.prototype.toString.name]`,
			`["Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)","00:00:00 GMT+0000 (Coordinated Universal Time)","Thu ` +
				`Jan 01 1970",0,"Invalid Date","Invalid Date","toString"]`,
		},
		{
			"a date set by its argument",
			`const at = (name) => { const d = new Date(NaN); return [d[name]({ valueOf() { d.setTime(5); return 1 } }), d.getTime()] };
				out = [at("setHours"), at("setUTCDate"), new Date(NaN).setFullYear(NaN)]`,
			`[[null,5],[null,5],null]`,
		},
		{
			"constructors of functions",
			`const own = (f) => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(f), "constructor").writable;
				out = [own(() => 1), own(async () => 1), own(function* () {}), own(async function* () {})]`,
			`[true,false,false,false]`,
		},
		{"a setter of no date", `try { Date.prototype.setDate.call({}, 1) } catch (e) { out = e.name }`, `"TypeError"`},
		{
			"a stack that is set",
			`const e = new Error("x"); e.stack = "mine"; out = [Object.keys(e), e.stack, { ...e }, JSON.stringify(e)]`,
			`[[],"mine",{},"{}"]`,
		},
		{
			"a stack that is undefined",
			`const e = new TypeError("x"); e.stack = undefined; out = [Object.keys(e), typeof e.stack, "stack" in e]`,
			`[[],"undefined",true]`,
		},
		{
			"RegExp.escape",
			`out = [RegExp.escape("ab\uD840\uDC2A"), RegExp.escape("\uD840\uDC2Aab-\uD840\uDC2A\uD840\uDC2Ac"),
				RegExp.escape("a\uD840"), RegExp.escape("")]`,
			`["\\x61b𠀪","𠀪ab\\x2d𠀪𠀪c","\\x61\\ud840",""]`,
		},
		{
			"Promise.try",
			`const p = Promise.resolve(1); class Own extends Promise {};
				out = [Promise.try(() => p) === p, Promise.try((a, b) => a + b, 1, 2) instanceof Promise,
				Own.try(() => p) instanceof Own, Promise.try.length, Promise.try.name, RegExp.escape.length]; try {
				Promise.try.call(1, () => 2) } catch (e) { out.push(e.name) }`,
			`[true,true,true,1,"try",1,"TypeError"]`,
		},
		{
			"Promise.try that throws",
			`const lines = []; for (const f of [() => { throw 5 }, async () => {
				throw 6 }, undefined]) await Promise.try(f).catch((e) => lines.push(String(e))); out = lines`,
			`["5","6","TypeError: not a function"]`,
		},
		{
			"values of prepareStackTrace",
			`const before = Error.prepareStackTrace, head = () => new TypeError("x").stack.split("\n")[0]; out = [typeof before];
				for (const value of [() => 5, undefined, null, "text", before]) { Error.prepareStackTrace = value;
				out.push(typeof value === "function" ? new Error().stack : head(), Error.prepareStackTrace === value) }`,
			`["undefined",5,true,"TypeError: x",true,"TypeError: x",true,"TypeError: x",true,"TypeError: x",true]`,
		},
		{
			"captureStackTrace",
			`Error.prepareStackTrace = (error, frames) => frames.length > 0; const o = {}; Error.captureStackTrace(o);
				delete Error.prepareStackTrace; out = [o.stack, "prepareStackTrace" in Error, new Error("x").stack.split("\n")[0]]`,
			`[true,false,"Error: x"]`,
		},
		{
			"stackTraceLimit",
			`Error.stackTraceLimit = 0; const none = new RangeError("x").stack; Error.stackTraceLimit = 1;
				out = [none, new RangeError("x").stack.split("\n").length]`,
			`["RangeError: x",2]`,
		},
		{"a frozen error", `try { Object.freeze(new Error("x")).stack = "y"; out = "set" } catch (e) { out = e.name }`, `"set"`},
		{
			"own properties of errors",
			`const own = (f) => { try { f() } catch (e) { out.push(Reflect.ownKeys(e).join()) } }; out = [];
				own(() => { throw new Error("x", { cause: 1 }) }); own(() => { throw new Error() });
				own(() => { throw new TypeError("x", { cause: 1 }) });
				own(() => { throw new AggregateError([1], "x", { cause: 1 }) }); own(() => { throw new AggregateError([]) });
				class Own extends Error { code = 5; constructor(m, o) { super(m, o); this.extra = 1 } }
				own(() => { throw new Own("x", { cause: 1 }) }); own(() => { throw Error.captureStackTrace(Error("x")) ?? Error("x") });
				own(() => null.x); own(() => new Array(-1)); own(() => JSON.parse("{")); own(() => new RegExp("("));
				own(() => { throw structuredClone(new Error("x", { cause: 1 })) });
				out.push(Object.keys(new Error("x")).length, "stack" in Error.prototype)`,
			`["stack,message,cause","stack","stack,message,cause","stack,message,cause,errors","stack,errors",` +
				`"stack,message,cause,code,extra","stack,message","stack,message","stack,message","stack,message","stack,message",` +
				`"stack,message,cause",0,false]`,
		},
		{
			"accessors of stack",
			`const of = (o) => Object.getOwnPropertyDescriptor(o, "stack"), a = of(new Error("x")), o = {}; Error.captureStackTrace(o);
				out = [a.get === of(new TypeError("y")).get, a.set === of(o).set, a.enumerable, a.configurable,
				a.get.call({}) === undefined, a.get.call(1) === undefined, a.set.call({}, 1) === undefined]`,
			`[true,true,false,true,true,true,true]`,
		},
		{
			"stack of an heir",
			`const e = new Error("x"), o = Object.create(e); o.stack = "set"; out = [Object.hasOwn(o, "stack"), e.stack, o.stack]`,
			`[false,"set","set"]`,
		},
		{
			"stack deleted",
			`const e = new Error("x"); delete e.stack; try { throw e } catch {} out = [typeof e.stack, Object.hasOwn(e, "stack")];
				e.stack = "again"; out.push(Object.keys(e))`,
			`["undefined",false,["stack"]]`,
		},
		{
			"an old style class",
			`function Old(m) { this.stack = Error.call(this, m).stack } Old.prototype = Object.create(Error.prototype);
				out = Object.keys(new Old("x"))`,
			`["stack"]`,
		},
		{
			"stack of a deep call",
			`const deep = () => deep(); let late; try { deep() } catch (e) {
				late = e } out = ["stack" in Error.prototype, "stack" in TypeError.prototype, "stack" in Object.create(Error.prototype),
				late.stack.split("\n")[0], Object.keys(late)]`,
			`[false,false,false,"RangeError: Maximum call stack size exceeded",[]]`,
		},
		{
			"a class field named stack",
			`class Own extends Error { stack = "mine" } const d = Object.getOwnPropertyDescriptor(new Own("x"), "stack");
				out = [d.value, d.enumerable]; Error.prepareStackTrace = () => { throw 1 }; const e = new Error("x");
				delete Error.prepareStackTrace; out.push(e.stack)`,
			`["mine",true,null]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(
				t,
				mustStart(
					t, `export default { async fetch() { let out; `+c.code+`; return Response.json(out) } }`,
					pagesruntime.WorkerOptions{},
				),
			)
			if _, got := get(t, s, "/"); strings.TrimSpace(got) != c.want {
				t.Errorf("%s: %s, want %s", c.code, got, c.want)
			}
		})
	}
}
