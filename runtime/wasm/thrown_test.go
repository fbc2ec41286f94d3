package wasm_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestTag and the next compare the classes with wrangler dev.
func TestTag(t *testing.T) {
	got := run(t, module(), `const W = WebAssembly, names = (o) => Object.getOwnPropertyNames(o).join();
		const made = (d) => attempt(() => String(new W.Tag(d)));
		return [made(), made(5), made({}), made({ parameters: 5 }), made({ parameters: ["i31"] }), made({
		parameters: new Set(["i32"]) }), made({ parameters: Array(1001).fill("i32") }),
			made({ parameters: ["i32", "i64", "f32", "f64", "v128", "anyfunc", "externref", "exnref"] }),
			made({ parameters: { length: 1, 0: "i32" } }),
			names(W.Tag.prototype), W.Tag.length, String(W.JSTag), W.JSTag === W.JSTag,
			JSON.stringify(Object.getOwnPropertyDescriptor(W, "JSTag")), attempt(() => structuredClone(W.JSTag)).split(":")[0]]`)
	want := `["TypeError: WebAssembly.Tag(): Argument 0 must be a tag type","TypeError: WebAssembly.Tag(): Argument 0 must be a tag ` +
		`type","TypeError: WebAssembly.Tag(): Argument 0 must be a tag type with 'parameters'",` +
		`"TypeError: WebAssembly.Tag(): Argument 0 must be a tag type with 'parameters'","TypeError: WebAssembly.Tag(): Argument 0 ` +
		`parameter type at index #0 must be a value type",` +
		`"TypeError: WebAssembly.Tag(): Argument 0 contains parameters without 'length'","TypeError: WebAssembly.Tag(): Argument 0 ` +
		`contains too many parameters",` +
		`"[object WebAssembly.Tag]","[object WebAssembly.Tag]","constructor",1,"[object WebAssembly.Tag]",true,"{\"value\":{},` +
		`\"writable\":false,\"enumerable\":false,\"configurable\":true}","DOMException"]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestException(t *testing.T) {
	got := run(t, echo, `const W = WebAssembly, e = new W.Instance(m).exports, out = [];
		const none = new W.Tag({ parameters: [] }), all = new W.Tag({
		parameters: ["i32", "i64", "f32", "f64", "externref", "anyfunc"] }), vector = new W.Tag({ parameters: ["v128"] });
		for (const args of [[], [{}, []], [none], [none, 5], [none, null], [none, [1]], [all, [1]], [none, new Set()], [W.JSTag, [1]],
		[vector, [1]], [none, [], 5], [all, [1, 2, 3, 4, 5, null]], [all, [1, 2n, 3, 4, 5, () => 1]]])
			out.push(attempt(() => String(new W.Exception(...args))));
		const x = new W.Exception(all, ["7.9", 2n ** 64n - 1n, 1.1, "2.5", none, e.none]);
		for (const at of [0, 1, 2, 3, 4, 5, 6, -1, "1", 1.5, undefined, NaN, Infinity,
		2 ** 32]) out.push(attempt(() => at === 4 ? x.getArg(all, at) === none : x.getArg(all, at)));
		out.push(attempt(() => x.getArg()), attempt(() => x.getArg(none, 0)), x.is(all), x.is(none), x.is(W.JSTag),
		attempt(() => x.is()), attempt(() => W.Exception.prototype.is.call({}, all)), attempt(() => W.Exception.prototype.getArg.call(5,
		all, 0)));
		const traced = new W.Exception(none, { length: 0 }, { traceStack: true });
		out.push(x.stack, traced.stack.startsWith("Error\n    at "), Object.keys(traced), Object.keys(W.Exception.prototype),
		W.Exception.length, x instanceof Error, String(x), JSON.stringify(x));
		return out.join("\n")`)
	want := []string{
		"TypeError: WebAssembly.Exception(): Argument 0 must be a WebAssembly tag",
		"TypeError: WebAssembly.Exception(): Argument 0 must be a WebAssembly tag",
		"TypeError: WebAssembly.Exception(): Exception values must be an iterable object",
		"TypeError: WebAssembly.Exception(): Exception values must be an iterable object",
		"TypeError: WebAssembly.Exception(): Exception values must be an iterable object",
		"TypeError: WebAssembly.Exception(): Number of exception values does not match signature length",
		"TypeError: WebAssembly.Exception(): Number of exception values does not match signature length",
		"TypeError: WebAssembly.Exception(): Exception values argument has no length",
		"TypeError: WebAssembly.Exception(): Argument 0 cannot be WebAssembly.JSTag",
		"TypeError: WebAssembly.Exception(): Invalid type v128",
		"TypeError: WebAssembly.Exception(): Argument 2 is not an object",
		"TypeError: Cannot convert the value to a BigInt",
		"TypeError: WebAssembly.Exception(): function-typed object must be null (if nullable) or a Wasm function object",
		"7", "-1n", "1.100000023841858", "2.5", "true", "function 8",
		"RangeError: WebAssembly.Exception.getArg(): Index out of range",
		"TypeError: WebAssembly.Exception.getArg(): Index must be non-negative", "-1n", "-1n",
		"TypeError: WebAssembly.Exception.getArg(): Index must be convertible to a valid number",
		"TypeError: WebAssembly.Exception.getArg(): Index must be convertible to a valid number",
		"TypeError: WebAssembly.Exception.getArg(): Index must be convertible to a valid number",
		"TypeError: WebAssembly.Exception.getArg(): Index must be in the unsigned long range",
		"TypeError: WebAssembly.Exception.getArg(): Argument 0 must be a WebAssembly.Tag",
		"TypeError: WebAssembly.Exception.getArg(): First argument does not match the exception tag", "true", "false", "false",
		"TypeError: WebAssembly.Exception.is(): Argument 0 must be a WebAssembly.Tag",
		"TypeError: WebAssembly.Exception.is(): Receiver is not a WebAssembly.Exception",
		"TypeError: WebAssembly.Exception.getArg(): Receiver is not a WebAssembly.Exception",
		"", "true", "", "getArg,is,stack", "2", "false", "[object WebAssembly.Exception]", "{}",
	}
	if got := strings.Split(strings.Trim(got, `"`), `\n`); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// throwing imports a function and a tag, exports tags, throws and catches; outer has
// no exceptions, and calls its imports and the functions of its table.
var (
	throwing = module(
		types(
			functype(list{}, list{}), functype(list{i32}, list{}), functype(list{i32}, list{i32}),
			functype(list{i32, i64, externref, funcref}, list{}), functype(list{}, list{i32, i64, externref, funcref}),
		),
		imports(imported("a", "f", 0, 1), imported("a", "tag", 4, 0, 1)),
		funcs(1, 2, 3, 2, 0), tables([]byte{funcref, 0, 2}), tags(0, 3), globals([]byte{exnref, 1, refNull, exnref, end}),
		exports(
			exported("tag", 4, 0), exported("none", 4, 1), exported("many", 4, 2), exported("throw", 0, 1),
			exported("catch", 0, 2), exported("throwMany", 0, 3), exported("keep", 0, 4), exported("again", 0, 5),
			exported("table", 1, 0),
		),
		elems(join([]byte{0, i32Const, 0, end}, []byte{2, 1, 2})),
		bodies(
			code(0, 0, localGet, 0, throw, 0),
			code(0, 0, block, i32, tryTable, empty, 1, 0, 0, 0, localGet, 0, call, 0, end, i32Const, 0x7f, end),
			code(0, 0, localGet, 0, localGet, 1, localGet, 2, localGet, 3, throw, 2),
			code(
				0, 0, block, exnref, tryTable, empty, 1, 3, 0, localGet, 0, call, 0, end, i32Const, 0, ret, end,
				globalSet, 0, i32Const, 1,
			),
			code(0, 0, globalGet, 0, throwRef),
		))
	outer = module(
		types(functype(list{i32}, list{})), imports(imported("a", "f", 0, 0), imported("a", "table", 1, funcref, 0, 2)), funcs(0, 0),
		exports(exported("through", 0, 1), exported("indirect", 0, 2)),
		bodies(code(0, 0, localGet, 0, call, 0, unreachable), code(0, 0, localGet, 0, i32Const, 0, callIndirect, 0, 0, unreachable)))
)

// TestExceptionSharing: exceptions of a tag pass between instances, through those without exceptions, and JavaScript, unchanged.
func TestExceptionSharing(t *testing.T) {
	s := worker(t, throwing, `import outer from "./outer.wasm";`,
		`const W = WebAssembly, tag = new W.Tag({ parameters: ["i32"] }), out = [], kept = {};
		const a = new W.Instance(m, { a: { f() {}, tag } }).exports;
		const b = new W.Instance(m, { a: { f: a.throw, tag } }).exports;
		const c = new W.Instance(m, { a: { f: a.throw, tag: a.tag } }).exports;
		const other = new W.Instance(m, { a: { f: a.throw, tag: new W.Tag({ parameters: ["i32"] }) } }).exports;
		const plain = new W.Instance(outer, { a: { f: a.throw, table: a.table } }).exports;
		const d = new W.Instance(m, { a: { f: plain.through, tag } }).exports, g = new W.Instance(m, {
		a: { f: plain.indirect, tag } }).exports;
		const js = new W.Instance(m, { a: { f(n) { try { b.throw(n) } catch (e) { kept.e = e; throw e } }, tag } }).exports;
		const seen = (f) => { try { return f() } catch (e) {
		return e instanceof W.Exception ? [e.is(tag), e.is(a.none), e.is(other.none)].join() : String(e) } };
		out.push(a.tag === tag, c.tag === tag, a.none === a.none, a.none === b.none, b.catch(5), c.catch(6), d.catch(7), g.catch(8),
		seen(() => other.catch(9)), seen(() => plain.through(1)), seen(() => plain.indirect(2)), js.catch(10));
		try { d.throwMany(3, 4n, kept, b.catch) } catch (e) {
		out.push(e.is(d.many), e.is(a.many), e.getArg(d.many, 0), e.getArg(d.many, 1), e.getArg(d.many, 2) === kept,
		e.getArg(d.many, 3) === b.catch) }
		out.push(js.keep(11)); try { js.again() } catch (e) { out.push(e === kept.e, e.getArg(tag, 0)) }
		for (const x of [null, {}, 5, W.JSTag, a.none]) out.push(attempt(() => new W.Instance(m, { a: { f() {}, tag: x } })));
		out.push(W.Module.imports(m)[1], W.Module.exports(m)[1], Object.keys(a).slice(0, 3));
		return out`, pagesruntime.WorkerOptions{Wasm: map[string][]byte{"./m.wasm": throwing, "./outer.wasm": outer}})
	wrong := `"LinkError: WebAssembly.Instance(): Import #1 \"a\" \"tag\": tag import requires a WebAssembly.Tag",`
	other := `"LinkError: WebAssembly.Instance(): Import #1 \"a\" \"tag\": imported tag does not match the expected type",`
	want := `[true,true,true,false,5,6,7,8,"true,false,false","true,false,false","true,false,false",10,true,false,3,"4n",true,true,1,` +
		`true,11,` + wrong + wrong + wrong + other + other +
		`{"module":"a","name":"tag","kind":"tag"},{"name":"none","kind":"tag"},["tag","none","many"]]`
	if got := get(t, s); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestExceptionStart: the constructor throws the exception of a start function.
func TestExceptionStart(t *testing.T) {
	m := module(
		types(functype(list{}, list{})), imports(imported("a", "tag", 4, 0, 0)), funcs(0), []byte{8, 1, 0},
		bodies(code(0, 0, throw, 0)),
	)
	got := run(
		t, m,
		`const tag = new WebAssembly.Tag({ parameters: [] }); try { new WebAssembly.Instance(m, { a: { tag } }) } catch (e) {
			return e.is(tag) }`,
	)
	if got != "true" {
		t.Error(got)
	}
}

// catching throws and catches in a loop of n, boxed and not: loose(n), boxed(n),
// thrown(n) of JavaScript's, kept(n) raised on, held(n) that may be, and for ever(): spin() in a handler
// and chase() from one to the next.
var catching = module(
	types(functype(list{}, list{}), functype(list{i32}, list{}), functype(list{i64}, list{}), functype(list{}, list{i64})),
	imports(imported("a", "f", 0, 0)), funcs(1, 1, 1, 1, 0, 0, 0, 1), tags(1, 2),
	exports(
		exported("held", 0, 8), exported("loose", 0, 1), exported("boxed", 0, 2), exported("thrown", 0, 3),
		exported("kept", 0, 4), exported("spin", 0, 5), exported("chase", 0, 6),
	),
	bodies(
		code(0, 0, loop, empty, try, empty, localGet, 0, throw, 0, catch, 0, i32Const, 1, i32Sub, localTee, 0, brIf, 1, end, end),
		code(
			0, 0, loop, empty, try, empty, i64Const, 1, throw, 1, catch, 1, drop, localGet, 0, i32Const, 1, i32Sub,
			localTee, 0, brIf, 1, end, end,
		),
		code(0, 0, loop, empty, try, empty, call, 0, catchAll, localGet, 0, i32Const, 1, i32Sub, localTee, 0, brIf, 1, end, end),
		code(
			0, 0, loop, empty, try, empty, try, empty, i64Const, 1, throw, 1, catchAll, rethrow, 0, end, catchAll,
			localGet, 0, i32Const, 1, i32Sub, localTee, 0, brIf, 1, end, end,
		),
		code(0, 0, try, empty, i32Const, 1, throw, 0, catchAll, loop, empty, br, 0, end, end),
		code(0, 0, loop, empty, try, empty, i64Const, 1, throw, 1, catchAll, br, 1, end, end),
		code(0, 0, try, empty, i64Const, 1, throw, 1, catchAll, i32Const, 0, opIf, empty, rethrow, 1, end, end),
		code(
			0, 0, loop, empty, call, 7, try, empty, i64Const, 1, throw, 1, catch, 1, drop, localGet, 0, i32Eqz, opIf,
			empty, rethrow, 1, end, localGet, 0, i32Const, 1, i32Sub, localTee, 0, brIf, 1, end, end,
		),
	))

// TestExceptionsFreed: a caught exception is freed, also during a call.
func TestExceptionsFreed(t *testing.T) {
	s := worker(t, catching, "",
		`let made = 0; const e = new WebAssembly.Instance(m, { a: { f() { made++; throw new Uint8Array(100_000) } } }).exports;
		e.loose(1_000_000); e.boxed(1_000_000); e.kept(1_000_000); e.held(1_000_000); e.thrown(10_000); return made`,
		pagesruntime.WorkerOptions{Limits: pagesruntime.Limits{CPU: time.Minute}})
	if got := get(t, s); got != "10000" {
		t.Error(got)
	}
}

// TestExceptionsKilled: a handler is metered as all code is.
func TestExceptionsKilled(t *testing.T) {
	for _, f := range []string{"spin", "chase"} {
		s := worker(t, catching, `const e = new WebAssembly.Instance(m, { a: { f() {} } }).exports;`,
			`if (request.headers.get("bomb")) e.`+f+`(); e.loose(3); return 1`,
			pagesruntime.WorkerOptions{Isolates: 1, Limits: pagesruntime.Limits{CPU: 150 * time.Millisecond}})
		start := time.Now()
		if got := bomb(t, s); !strings.HasPrefix(got, "cpu: ") {
			t.Errorf("%s: %s", f, got)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: killed after %v", f, took)
		}
		if got := get(t, s); got != "1" {
			t.Errorf("%s: afterwards: %s", f, got)
		}
	}
}

// TestExceptionsBounded: exceptions kept by references count as memory.
func TestExceptionsBounded(t *testing.T) {
	m := module(types(functype(list{}, list{}), functype(list{i64}, list{}), functype(list{}, list{i64, exnref})),
		funcs(0), tables(join([]byte{exnref, 0}, u32(1_000_000))), tags(1),
		exports(exported("fill", 0, 0)),
		bodies(codeWith(list{exnref, i32}, loop, empty, block, 2, tryTable, empty, 1, 1, 0, 0, i64Const, 1, throw, 0,
			end, unreachable, end, localSet, 0, drop,
			localGet, 1, localGet, 0, tableSet, 0, localGet, 1, i32Const, 1, i32Add, localSet, 1, br, 0, end)))
	s := worker(t, m, "",
		`const e = new WebAssembly.Instance(m).exports, out = []; for (let n = 0; n < 2; n++) out.push(attempt(e.fill)); return out`,
		pagesruntime.WorkerOptions{Limits: pagesruntime.Limits{CPU: time.Minute}})
	got := get(t, s)
	if want := `["RangeError: WebAssembly.Exception: Out of memory: the isolate would hold more than 128 MB","RangeError: ` +
		`WebAssembly.Exception: Out of memory: the isolate would hold more than 128 MB"]`; got != want {
		t.Errorf("got %s", got)
	}
}

// TestExceptionImage: tags and references are those of the top level after a restart.
func TestExceptionImage(t *testing.T) {
	top := `const W = WebAssembly, tag = new W.Tag({ parameters: ["i32"] }), object = { its: "own" };
		const thrown = new W.Exception(tag, [3]); let throws = thrown;
		const a = new W.Instance(m, { a: { f() { throw throws }, tag } }).exports; a.keep(0);
		const b = new W.Instance(m, { a: { f() { throw throws }, tag: a.tag } }).exports; throws = object; b.keep(0); throws = thrown;
		let hits = 0;`
	handler := `const again = (x) => { try { x.again() } catch (e) { return e } }; const own = new W.Instance(m, {
		a: { f: b.throw, tag: new W.Tag({ parameters: ["i32"] }) } }).exports;
		const was = [++hits, again(a) === thrown, again(b) === object, a.tag === tag, a.catch(0), b.catch(0),
		attempt(() => own.catch(5)) === a.tag, (() => { try { own.catch(9) } catch (e) {
		return [e.is(tag), e.getArg(tag, 0), e.is(own.tag)] } })()];
		throws = 5; try { a.keep(0) } catch {} throws = thrown; a.keep(0); return was`
	const first = `[1,true,true,true,3,3,false,[true,9,false]]`
	s := worker(
		t, throwing, top, `if (request.headers.get("bomb")) for (;;) a.catch(1);`+handler,
		pagesruntime.WorkerOptions{Isolates: 1, Limits: pagesruntime.Limits{CPU: 200 * time.Millisecond}},
	)
	for range 3 {
		if got := get(t, s); got != first {
			t.Fatalf("got  %s\nwant %s", got, first)
		}
		if got := bomb(t, s); !strings.HasPrefix(got, "cpu: ") {
			t.Fatal(got)
		}
	}
	pristine := worker(t, throwing, top, handler, pagesruntime.WorkerOptions{Pristine: true})
	for range 3 {
		if got := get(t, pristine); got != first {
			t.Fatalf("got  %s\nwant %s", got, first)
		}
	}
}
