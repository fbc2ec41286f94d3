package wasm_test

import (
	"strings"
	"testing"
)

// echo exports a function for each type that returns its argument, and some of
// several results.
var echo = module(
	types(
		functype(list{i32}, list{i32}), functype(list{i64}, list{i64}), functype(list{f32}, list{f32}), functype(list{f64}, list{f64}),
		functype(list{externref}, list{externref}), functype(list{funcref}, list{funcref}),
		functype(list{i32, i64}, list{i64, i32}), functype(list{v128}, list{v128}), functype(list{}, list{}),
		functype(list{i32, i64, f32, f64, i32, i32}, list{f64, f32, i64, i32}),
	),
	funcs(0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
	exports(exported("i32", 0, 0), exported("i64", 0, 1), exported("f32", 0, 2), exported("f64", 0, 3),
		exported("x", 0, 4), exported("f", 0, 5),
		exported("two", 0, 6), exported("v128", 0, 7), exported("none", 0, 8), exported("four", 0, 9)),
	bodies(
		code(0, 0, localGet, 0), code(0, 0, localGet, 0), code(0, 0, localGet, 0), code(0, 0, localGet, 0),
		code(0, 0, localGet, 0), code(0, 0, localGet, 0),
		code(0, 0, localGet, 1, localGet, 0), code(0, 0, localGet, 0), code(0, 0),
		code(0, 0, localGet, 3, localGet, 2, localGet, 1, localGet, 0, localGet, 5, i32Add),
	),
)

// TestConversions: the conversion of arguments and results. The expected values are those of wrangler dev.
func TestConversions(t *testing.T) {
	got := run(t, echo, `const e = new WebAssembly.Instance(m).exports;
		const values = [0, -0, 1.9, -1.9, 2 ** 31, 2 ** 32 + 5, -(2 ** 31) - 1, NaN, Infinity, 1e300, "0x10", "no", true, null,
		undefined, [], [7], {}, { valueOf: () => 3 }, 5n, 2n ** 63n, -(2n ** 64n) - 1n, Symbol.iterator];
		const lines = [];
		for (const type of ["i32", "i64", "f32", "f64"]) lines.push(type + " " + values.map((v) => attempt(() => e[type](v))).join(" | "));
		return lines`)
	for _, want := range []string{
		"i32 0 | 0 | 1 | -1 | -2147483648 | 5 | 2147483647 | 0 | 0 | 0 | 16 | 0 | 1 | 0 | 0 | 0 | 7 | 0 | 3 | TypeError",
		"f64 0 | -0 | 1.9 | -1.9 | 2147483648 | 4294967301 | -2147483649 | NaN | Infinity | 1e+300 | 16 | NaN | 1 | 0 " +
			"| NaN | 0 | 7 | NaN | 3 | TypeError",
		"f32 0 | -0 | 1.899999976158142 | -1.899999976158142 | 2147483648 | 4294967296 | -2147483648 | NaN | Infinity | Infinity |",
		"| 5n | -9223372036854775808n | -1n | TypeError",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

func TestResults(t *testing.T) {
	got := run(t, echo, `const e = new WebAssembly.Instance(m).exports; const o = {}, none = e.none;
		return [e.none(), e.two(1, 2n), e.four(1.5, 2n, 3.5, 4.5, 5, 6), e.x(o) === o, e.x(null), e.x(undefined), e.x(-0), e.x(5n),
		e.f(none) === none, e.f(null),
			attempt(() => e.f(() => 0)), attempt(() => e.f({})), attempt(() => e.v128(1)), e.none === none, e.two.name, e.two.length,
			attempt(() => new e.none()), e.i32.call(e, "7", 9),
			Object.isFrozen(e), Object.getPrototypeOf(e), attempt(() => { "use strict"; e.none = 1 })]`)
	want := `["undefined",["2n",1],[4.5,3.5,"2n",7],true,null,"undefined","-0","5n",true,null,` +
		`"TypeError: type incompatibility when transforming from/to JS: function-typed object expected",` +
		`"TypeError: type incompatibility when transforming from/to JS: function-typed object expected",` +
		`"TypeError: type incompatibility when transforming from/to JS",true,"6",2,"TypeError: e.none is not a constructor",7,true,` +
		`null,"TypeError: Cannot assign to read only property 'none' of object"]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestTraps: each is a RuntimeError, or a RangeError for the stack, and the
// instance can be used afterwards.
func TestTraps(t *testing.T) {
	m := module(
		types(
			functype(list{}, list{}), functype(list{i32, i32}, list{i32}), functype(list{f64}, list{i32}),
			functype(list{i32}, list{i32}), functype(list{i32}, list{}),
		),
		funcs(0, 1, 2, 3, 4, 0, 0), tables([]byte{funcref, 0, 2}), memories([]byte{1, 1, 1}),
		exports(
			exported("unreachable", 0, 0), exported("div", 0, 1), exported("trunc", 0, 2), exported("load", 0, 3),
			exported("indirect", 0, 4), exported("recurse", 0, 5), exported("fill", 0, 6),
		),
		elems(join([]byte{0, i32Const, 0, end}, []byte{1, 1})),
		bodies(
			code(0, 0, unreachable),
			code(0, 0, localGet, 0, localGet, 1, i32DivS),
			code(0, 0, localGet, 0, i32TruncF64S),
			code(0, 0, localGet, 0, i32Load, 2, 0),
			code(0, 0, localGet, 0, callIndirect, 0, 0),
			code(0, 0, call, 5),
			code(0, 0, i32Const, 0, i32Const, 0, i32Const, 0x7f, misc, 11, 0),
		))
	got := run(t, m, `const e = new WebAssembly.Instance(m).exports;
		return [attempt(e.unreachable), attempt(() => e.div(1, 0)), attempt(() => e.div(-(2 ** 31), -1)), attempt(() => e.trunc(NaN)),
		attempt(() => e.trunc(1e10)), attempt(() => e.load(65533)), attempt(() => e.load(-1)),
			attempt(() => e.indirect(0)), attempt(() => e.indirect(1)), attempt(() => e.indirect(9)), attempt(e.recurse),
			attempt(e.fill), e.div(7, 2), e.load(65532),
			(() => { try { e.unreachable() } catch (x) {
			return x instanceof WebAssembly.RuntimeError && x instanceof Error && x.stack.includes("worker.js") } })()]`)
	want := `["RuntimeError: unreachable","RuntimeError: integer divide by zero","RuntimeError: integer overflow","RuntimeError: ` +
		`float unrepresentable in integer range","RuntimeError: integer overflow",` +
		`"RuntimeError: memory access out of bounds","RuntimeError: memory access out of bounds","RuntimeError: null function or ` +
		`function signature mismatch","RuntimeError: invalid table access","RuntimeError: invalid table access",` +
		`"RangeError: Maximum call stack size exceeded","RuntimeError: memory access out of bounds",3,0,true]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestImports: exceptions pass through an instance as the object that was thrown,
// and the results of JavaScript are converted.
func TestImports(t *testing.T) {
	m := module(
		types(functype(list{i32, i64, f64, externref}, list{i64}), functype(list{}, list{i32, f64}), functype(list{i32}, list{i32})),
		imports(imported("a", "one", 0, 0), imported("a", "many", 0, 1), imported("b", "self", 0, 2)),
		funcs(0, 1, 2),
		exports(exported("one", 0, 3), exported("many", 0, 4), exported("again", 0, 5), exported("import", 0, 2)),
		bodies(
			code(0, 0, localGet, 0, localGet, 1, localGet, 2, localGet, 3, call, 0),
			code(0, 0, call, 1),
			code(0, 0, localGet, 0, call, 2),
		))
	got := run(t, m, `const thrown = { name: "RuntimeError", message: "mine" }, seen = []; let answer, list, depth = 0, e;
		const imports = { a: { one(...args) { seen.push(args, this === undefined); if (answer === thrown) throw thrown;
		return answer }, many: () => list },
			b: { self(n) { return n === 0 ? 0 : 1 + e.again(n - 1) } } };
		e = new WebAssembly.Instance(m, imports).exports;
		const out = [];
		answer = 7n; out.push(e.one(-1, 2n ** 40n, 0.5, "ref"), seen.splice(0));
		for (answer of [7, "8", true, undefined, {}]) out.push(attempt(() => e.one(1, 2n, 3, null)));
		answer = thrown;
		try { e.one(1, 2n, 3, null) } catch (x) { out.push(x === thrown) }
		for (list of [[1, 2.5], [1], 5, new Set([3, 4]), [1, 2, 3]]) out.push(attempt(() => e.many()) );
		const steps = [];
		list = { get [Symbol.iterator]() { steps.push("look"); return () => { steps.push("iterate"); return [1, 2].values() } } };
		e.many(); out.push(steps);
		out.push(e.again(20), attempt(() => e.again(1e6)), e.again(20), typeof e.import, e.import === imports.b.self, e.import(3),
		String(e.import.name));
		return out`)
	want := `["7n",[[-1,"1099511627776n",0.5,"ref"],true],"TypeError: Cannot convert the value to a BigInt","8n","1n","TypeError: ` +
		`Cannot convert the value to a BigInt","SyntaxError: Cannot convert the text to a BigInt",true,` +
		`[1,2.5],"TypeError: multi-return length mismatch","TypeError: multi-return value must be iterable",[3,4],"TypeError: ` +
		`multi-return length mismatch",["look","iterate"],` +
		`20,"RangeError: Maximum call stack size exceeded",20,"function",false,3,"2"]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
