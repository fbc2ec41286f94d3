package wasm_test

import (
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// growing exports a memory, and functions that read, write and grow it; "touch"
// calls an import between a write and a read.
var growing = module(
	types(functype(list{i32}, list{i32}), functype(list{i32, i32}, list{}), functype(list{}, list{})),
	imports(imported("js", "look", 0, 2)),
	funcs(0, 1, 0, 0, 0), memories([]byte{1, 1, 4}),
	exports(
		exported("memory", 2, 0), exported("load", 0, 1), exported("store", 0, 2), exported("grow", 0, 3),
		exported("touch", 0, 4), exported("size", 0, 5),
	),
	bodies(
		code(0, 0, localGet, 0, i32Load8U, 0, 0),
		code(0, 0, localGet, 0, localGet, 1, i32Store8, 0, 0),
		code(0, 0, localGet, 0, memoryGrow, 0),
		code(0, 0, localGet, 0, i32Const, 1, i32Store8, 0, 0, call, 0, localGet, 0, i32Load8U, 0, 0),
		code(0, 0, memorySize, 0),
	),
	data(join([]byte{0, i32Const, 8, end}, name("data"))),
)

// TestMemory: JavaScript and the instance see the same bytes, also in an import
// that the instance calls; growing detaches the buffer.
func TestMemory(t *testing.T) {
	got := run(t, growing, `let memory, seen = [];
		const e = new WebAssembly.Instance(m, { js: { look() { const b = new Uint8Array(memory.buffer); seen.push(b[40]);
		b[40] = 9 } } }).exports;
		memory = e.memory;
		const first = memory.buffer, bytes = new Uint8Array(first);
		const out = [String.fromCharCode(...bytes.subarray(8, 12)), memory.buffer === first, e.touch(40), seen, first.byteLength];
		bytes[100] = 5; out.push(e.load(100)); e.store(101, 6); out.push(bytes[101]);
		out.push(e.grow(1), first.byteLength, bytes.length, memory.buffer === first, memory.buffer.byteLength,
		new Uint8Array(memory.buffer)[100]);
		const second = memory.buffer;
		out.push(memory.grow(1), second.byteLength, e.size(), e.load(101), memory.grow(0), attempt(() => memory.grow(2)), e.grow(2),
		attempt(() => memory.grow(-1)), attempt(() => memory.grow()));
		const third = memory.buffer, view = new Uint8Array(third, 8, 4);
		for (const f of [() => third.transfer(), () => third.transferToFixedLength(5), () => structuredClone(view, {
		transfer: [third] }), () => new ReadableStream({ type: "bytes", start(c) { c.enqueue(view); } })])
			out.push(attempt(f).replace(/:.*/, ""));
		const own = new ArrayBuffer(4), moved = own.transfer(8);
		out.push(third.detached, memory.buffer === third, String.fromCharCode(...view), own.detached, moved.byteLength,
		ArrayBuffer.prototype.transfer.name, String(memory));
		return out`)
	want := `["data",true,9,[1],65536,5,6,1,0,0,false,131072,5,2,0,3,6,3,"RangeError: WebAssembly.Memory.grow(): Maximum memory size ` +
		`exceeded",-1,` +
		`"TypeError: WebAssembly.Memory.grow(): Argument 0: value -1 is below the lower bound","TypeError: WebAssembly.Memory.grow(): ` +
		`Argument 0: value undefined is not within the bounds",` +
		`"TypeError","TypeError","DOMException","TypeError",false,true,"data",true,8,"transfer","[object WebAssembly.Memory]"]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// sharing imports a memory, a table, and globals, and exports them again.
var sharing = module(
	types(functype(list{}, list{i32}), functype(list{i32}, list{i32}), functype(list{i32, i32}, list{i32})),
	imports(
		imported("js", "memory", 2, 1, 1, 8), imported("js", "table", 1, funcref, 0, 4),
		imported("js", "one", 3, i32, 0), imported("js", "big", 3, i64, 0),
		imported("js", "count", 3, i32, 1), imported("js", "refs", 1, externref, 0, 1)),
	funcs(0, 1, 2, 1), globals([]byte{i32, 0, globalGet, 0, end}),
	exports(exported("memory", 2, 0), exported("table", 1, 0), exported("refs", 1, 1), exported("one", 3, 0),
		exported("count", 3, 2), exported("copy", 3, 3),
		exported("next", 0, 0), exported("peek", 0, 1), exported("through", 0, 2), exported("isNull", 0, 3)),
	elems(join([]byte{0, i32Const, 1, end}, []byte{2, 0, 1})),
	bodies(
		code(0, 0, globalGet, 2, globalGet, 0, i32Add, 0x24, 2, globalGet, 2),
		code(0, 0, localGet, 0, i32Load8U, 0, 0),
		code(0, 0, localGet, 0, localGet, 1, callIndirect, 1, 0),
		code(0, 0, localGet, 0, tableGet, 1, refIsNull),
	),
	data(join([]byte{0, i32Const, 0, end}, name("hi"))),
)

// TestSharing: an object that JavaScript makes and imports is the same object when it is
// exported, and instances share it.
func TestSharing(t *testing.T) {
	got := run(t, sharing, `const W = WebAssembly;
		const js = { memory: new W.Memory({ initial: 1, maximum: 8 }), table: new W.Table({ element: "anyfunc", initial: 4 }), one: 5,
		big: 7n,
			count: new W.Global({ value: "i32", mutable: true }, 30), refs: new W.Table({ element: "externref", initial: 2 }, "x") };
		const a = new W.Instance(m, { js }).exports, b = new W.Instance(m, {
		js: { ...js, one: new W.Global({ value: "i32" }, 100) } }).exports;
		new Uint8Array(js.memory.buffer)[5] = 77;
		js.refs.set(0, null);
		js.table.set(3, a.peek);
		const out = [a.memory === js.memory, a.table === js.table, b.count === js.count, a.one.value, b.one.value, a.copy.value,
		a.next(), b.next(), js.count.value, a.peek(5), b.peek(0),
			js.table.get(0), js.table.get(1) === b.next, js.table.get(2) === b.peek, b.through(5, 3), a.through(1, 2),
			attempt(() => a.through(0, 1)), js.refs.get(1), a.isNull(0), a.isNull(1)];
		return out`)
	want := `[true,true,true,5,100,5,35,135,135,77,104,null,true,true,77,105,"RuntimeError: null function or function signature ` +
		`mismatch","x",1,0]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLinkErrors(t *testing.T) {
	got := run(t, sharing, `const W = WebAssembly;
		const js = () => ({ memory: new W.Memory({ initial: 1, maximum: 8 }), table: new W.Table({ element: "anyfunc", initial: 4 }),
		one: 5, big: 7n,
			count: new W.Global({ value: "i32", mutable: true }, 30), refs: new W.Table({ element: "externref", initial: 2 }, "x") });
		const out = [];
		for (const wrong of [{ memory: {} }, { memory: new W.Memory({ initial: 1 }) }, {
		memory: new W.Memory({ initial: 1, maximum: 9 }) }, { memory: new W.Memory({ initial: 0, maximum: 8 }) },
			{ table: 1 }, { table: new W.Table({ element: "externref", initial: 4 }) }, {
			table: new W.Table({ element: "anyfunc", initial: 3 }) },
			{ one: "5" }, { one: 5n }, { big: 7 }, { one: new W.Global({ value: "f32" }, 1) }, {
			one: new W.Global({ value: "i32", mutable: true }, 1) }, { count: 5 }])
			out.push(attempt(() => new W.Instance(m, { js: { ...js(), ...wrong } })));
		out.push(attempt(() => new W.Instance(m)), attempt(() => new W.Instance(m, 5)), attempt(() => new W.Instance(m, {})),
		attempt(() => new W.Instance({})), attempt(() => W.Instance(m)));
		return out.join("\n")`)
	want := `"LinkError: WebAssembly.Instance(): Import #0 \"js\" \"memory\": memory import must be a WebAssembly.Memory object\n` +
		`LinkError: WebAssembly.Instance(): Import #0 \"js\" \"memory\": memory import has no maximum limit, expected at most 8\n` +
		`LinkError: WebAssembly.Instance(): Import #0 \"js\" \"memory\": memory import has a larger maximum size 9 than the module's ` +
		`declared maximum 8\n` +
		`LinkError: WebAssembly.Instance(): Import #0 \"js\" \"memory\": memory import has 0 pages, which is smaller than the ` +
		`declared initial of 1\n` +
		`LinkError: WebAssembly.Instance(): Import #1 \"js\" \"table\": table import requires a WebAssembly.Table\n` +
		`LinkError: WebAssembly.Instance(): Import #1 \"js\" \"table\": imported table does not match the expected type: externref, ` +
		`not funcref\n` +
		`LinkError: WebAssembly.Instance(): Import #1 \"js\" \"table\": table import has 3 elements, which is smaller than the ` +
		`declared initial of 4\n` +
		`LinkError: WebAssembly.Instance(): Import #2 \"js\" \"one\": global import must be a number, valid Wasm reference, or ` +
		`WebAssembly.Global object\n` +
		`LinkError: WebAssembly.Instance(): Import #2 \"js\" \"one\": global import must be a number, valid Wasm reference, or ` +
		`WebAssembly.Global object\n` +
		`LinkError: WebAssembly.Instance(): Import #3 \"js\" \"big\": global import must be a BigInt\n` +
		`LinkError: WebAssembly.Instance(): Import #2 \"js\" \"one\": imported global does not match the expected type: f32, not i32\n` +
		`LinkError: WebAssembly.Instance(): Import #2 \"js\" \"one\": imported global does not match the expected mutability\n` +
		`LinkError: WebAssembly.Instance(): Import #4 \"js\" \"count\": imported global does not match the expected mutability\n` +
		`TypeError: WebAssembly.Instance(): Imports argument must be present and must be an object\n` +
		`TypeError: WebAssembly.Instance(): Imports argument must be present and must be an object\n` +
		`TypeError: WebAssembly.Instance(): Import #0 \"js\": module is not an object or function\n` +
		`TypeError: WebAssembly.Instance(): Argument 0 must be a WebAssembly.Module\n` +
		`TypeError: Class constructor Instance cannot be invoked without 'new'"`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestTable and the next follow the constructors and methods of the standard.
func TestTable(t *testing.T) {
	got := run(t, echo, `const W = WebAssembly, e = new W.Instance(m).exports;
		const table = new W.Table({ element: "anyfunc", initial: 2, maximum: 4 }, e.none), out = [];
		out.push(table.length, table.get(0) === e.none, table.get(1).name, table.grow(1), table.get(2), table.grow(1, e.i32),
		table.get(3) === e.i32, attempt(() => table.grow(1)), table.length);
		out.push(attempt(() => table.get(4)), attempt(() => table.set(4, null)), attempt(() => table.set(0, {})),
		attempt(() => table.set(0, () => 1)), attempt(() => table.set(0, undefined)), attempt(() => table.grow(0, undefined)),
		table.set(0), table.get(0), attempt(() => table.get(-1)), attempt(() => table.get("1").name));
		const refs = new W.Table({ element: "externref", initial: 1 });
		out.push(refs.get(0), refs.set(0, out), refs.get(0) === out, refs.set(0), refs.get(0), refs.grow(2, Symbol.iterator),
		refs.get(2) === Symbol.iterator);
		for (const d of [undefined, 5, {}, { element: "i32", initial: 1 }, { element: "anyfunc" }, {
		element: "anyfunc", initial: -1 }, { element: "anyfunc", initial: 2, maximum: 1 }, { element: "anyfunc", initial: 1e8 }])
			out.push(attempt(() => new W.Table(d)));
		out.push(attempt(() => W.Table.prototype.get.call({}, 0)), String(refs), W.Table.prototype.set.length,
		W.Table.prototype.get.length);
		return out.slice(0, 23).concat(out.slice(24))`)
	want := `[2,true,"8",2,null,3,true,"RangeError: WebAssembly.Table.grow(): failed to grow table by 1",4,` +
		`"RangeError: WebAssembly.Table.get(): invalid address 4 in funcref table of size 4","RangeError: WebAssembly.Table.set(): ` +
		`invalid address 4 in funcref table of size 4",` +
		`"TypeError: WebAssembly.Table.set(): Argument 1 is invalid: function-typed object expected","TypeError: ` +
		`WebAssembly.Table.set(): Argument 1 is invalid: function-typed object expected",` +
		`"TypeError: WebAssembly.Table.set(): Argument 1 is invalid: function-typed object expected","TypeError: ` +
		`WebAssembly.Table.grow(): Argument 1 is invalid: function-typed object expected","undefined",null,"TypeError: ` +
		`WebAssembly.Table.get(): Argument 0: value -1 is below the lower bound","8","undefined","undefined",true,"undefined",` +
		`1,true,` +
		`"TypeError: WebAssembly.Table(): Argument 0 must be a table descriptor","TypeError: WebAssembly.Table(): Argument 0 must be ` +
		`a table descriptor",` +
		`"TypeError: WebAssembly.Table(): Descriptor property 'element' must be a WebAssembly reference type","TypeError: ` +
		`WebAssembly.Table(): Descriptor property 'element' must be a WebAssembly reference type",` +
		`"TypeError: WebAssembly.Table(): Property 'initial' is required","TypeError: WebAssembly.Table(): Property 'initial': value ` +
		`-1 is below the lower bound",` +
		`"RangeError: WebAssembly.Table(): Property 'maximum': value 1 is below the lower bound 2","RangeError: WebAssembly.Table(): ` +
		`Property 'initial': value 100000000 is above the upper bound 10000000",` +
		`"TypeError: Illegal invocation: this is not a WebAssembly.Table","[object WebAssembly.Table]",1,1]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestGlobal(t *testing.T) {
	got := run(t, echo, `const W = WebAssembly, e = new W.Instance(m).exports, out = [];
		for (const [value, v] of [["i32", 2 ** 31], ["i64", 2n ** 63n], ["f32", 0.1], ["f64", 0.1], ["externref", "x"],
		["anyfunc", e.none]]) {
			const fixed = new W.Global({ value }, v), free = new W.Global({ value, mutable: true });
			out.push(fixed.value, free.value, attempt(() => { fixed.value = v }), (free.value = v, free.valueOf()));
		}
		const mixed = new W.Global({ value: "i64", mutable: true }, 5n);
		out.push(attempt(() => { mixed.value = 5 }), mixed + 1n, attempt(() => new W.Global({ value: "i64" }, 5)),
		attempt(() => new W.Global({ value: "i31" })), attempt(() => new W.Global()),
			attempt(() => new W.Global({ value: "anyfunc" }, {})), attempt(() => new W.Global({ value: "v128" }).value), new W.Global({
			value: "i32" }, undefined).value, String(mixed), W.Global.length);
		return out`)
	fixed := `"TypeError: set WebAssembly.Global.value: Can't set the value of an immutable global."`
	want := `[-2147483648,0,` + fixed + `,-2147483648,"-9223372036854775808n","0n",` + fixed +
		`,"-9223372036854775808n",0.10000000149011612,0,` + fixed + `,0.10000000149011612,0.1,0,` + fixed + `,0.1,` +
		`"x","undefined",` + fixed + `,"x","function 8",null,` + fixed + `,"function 8",` +
		`"TypeError: Cannot convert the value to a BigInt","6n","TypeError: Cannot convert the value to a BigInt","TypeError: ` +
		`WebAssembly.Global(): Descriptor property 'value' must be a WebAssembly type","TypeError: WebAssembly.Global(): Argument ` +
		`0 must be a global descriptor",` +
		`"TypeError: WebAssembly.Global(): Argument 1 is invalid: function-typed object expected","TypeError: WebAssembly.Global(): a ` +
		`v128 has no value in JavaScript",0,"[object WebAssembly.Global]",1]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestModule: the imports, exports and custom sections of a module; bytes are refused as on the platform.
func TestModule(t *testing.T) {
	m := join(
		growing, []byte{0, 6}, name("note"), []byte("x"), []byte{0, 6}, name("note"), []byte("y"), []byte{0, 5},
		name("\ufffd"), []byte("z"),
	)
	got := run(t, m, `const W = WebAssembly, bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]), out = [];
		out.push(W.Module.imports(m), W.Module.exports(m).map((x) => x.kind + " " + x.name).join(), W.Module.customSections(m,
		"note").map((b) => String.fromCharCode(...new Uint8Array(b))), ["none", "\ufffd",
		"\udc01"].map((s) => W.Module.customSections(m, s).length), attempt(() => W.Module.exports({})),
			attempt(() => W.Module.customSections(m)), m instanceof W.Module, Object.prototype.toString.call(m),
			attempt(() => structuredClone(m)));
		for (const f of [() => new W.Module(bytes), () => W.compile(bytes), () => W.instantiate(bytes, {}),
		() => W.compileStreaming(new Response(bytes)), () => W.instantiateStreaming(Promise.resolve(new Response(bytes))),
		() => W.compile(5), () => W.instantiate(), () => W.instantiate(m, {})])
			try { out.push(typeof await f()) } catch (e) { out.push(show(e)) }
		const made = await W.instantiate(m, { js: { look() {} } });
		out.push(made instanceof W.Instance, made.exports.load(8), W.validate(bytes), W.validate(bytes.buffer),
		W.validate(new Uint8Array(4)), attempt(() => W.validate("x")), W.validate(new Uint8Array([...bytes, 9])));
		out.push(Object.keys(W).join(), Object.getOwnPropertyNames(W).join(), String(W), new W.LinkError("x", {
		cause: 5 }).cause, W.CompileError("called") instanceof W.CompileError, W.RuntimeError.prototype.name,
		Object.getPrototypeOf(W.LinkError) === Error, Object.keys(globalThis).includes("WebAssembly"));
		return out`)
	const refused = `Wasm code generation disallowed by embedder; import the file instead: import module from \"./file.wasm\"`
	want := `[[{"module":"js","name":"look","kind":"function"}],"memory memory,function load,function store,function grow,function ` +
		`touch,function size",["x","y"],[0,1,0],"TypeError: WebAssembly.Module.exports(): Argument 0 must be a WebAssembly.Module",` +
		`"TypeError: WebAssembly.Module.customSections(): Argument 1 is required",true,"[object WebAssembly.Module]","DOMException: ` +
		`[object WebAssembly.Module] could not be cloned.",` +
		`"CompileError: WebAssembly.Module(): ` + refused + `","CompileError: WebAssembly.compile(): ` + refused +
		`","CompileError: WebAssembly.instantiate(): ` + refused + `",` +
		`"CompileError: WebAssembly.compileStreaming(): ` + refused + `","CompileError: WebAssembly.instantiateStreaming(): ` +
		refused + `",` +
		`"TypeError: WebAssembly.compile(): Argument 0 must be a buffer source","TypeError: WebAssembly.instantiate(): Argument 0 ` +
		`must be a buffer source or a WebAssembly.Module","TypeError: WebAssembly.Instance(): Import #0 \"js\": module is not an ` +
		`object or function",` +
		`true,100,true,true,false,"TypeError: WebAssembly.validate(): Argument 0 must be a buffer source",false,` +
		`"compile,validate,instantiate,compileStreaming,instantiateStreaming","compile,validate,instantiate,compileStreaming,` +
		`instantiateStreaming,Module,Instance,Memory,Table,Global,Tag,JSTag,Exception,CompileError,LinkError,RuntimeError",` +
		`"[object WebAssembly]",5,true,"RuntimeError",true,false]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestCollected: instances without a reference release their memory, and instances with a reference of any kind do not.
func TestCollected(t *testing.T) {
	s := worker(t, growing, `const W = WebAssembly; const js = { look() {} };`, `
		const made = () => new W.Instance(m, { js }).exports;
		const view = new Uint8Array(made().memory.buffer), load = made().load, table = new W.Table({ element: "anyfunc", initial: 1 });
		view[9] = 42; table.set(0, made().load);
		for (let n = 0; n < 400; n++) made().memory.grow(3); // 256 KiB each
		return [view[9], load(8), table.get(0)(9), view.length]`, pagesruntime.WorkerOptions{Isolates: 1})
	for range 3 {
		if got := get(t, s); got != `[42,100,97,65536]` {
			t.Fatal(got)
		}
	}
}

// unlocked exports a shared memory, grows it and adds to it atomically.
var unlocked = module(
	types(functype(list{i32}, list{i32})), funcs(0, 0), memories([]byte{3, 1, 4}),
	exports(exported("memory", 2, 0), exported("grow", 0, 0), exported("add", 0, 1)),
	bodies(
		code(0, 0, localGet, 0, memoryGrow, 0),
		code(0, 0, localGet, 0, i32Const, 1, 0xfe, 0x1e, 2, 0), // i32.atomic.rmw.add
	),
)

// TestSharedMemory: a shared memory is a SharedArrayBuffer, which keeps its length when the memory grows, and shows the same bytes, even if
// they move.
func TestSharedMemory(t *testing.T) {
	got := run(t, unlocked, `const own = new WebAssembly.Memory({ initial: 1, maximum: 8, shared: true }), first = own.buffer;
		const out = [String(first), first === own.buffer, Object.isFrozen(first), first.growable];
		const view = new Uint8Array(first); view[3] = 7; Atomics.add(view, 3, 1);
		new WebAssembly.Memory({ initial: 1 }); // takes the room after
		out.push(own.grow(2), first.byteLength, own.buffer.byteLength, own.buffer === first, new Uint8Array(own.buffer)[3]);
		new Uint8Array(own.buffer)[4] = 9; out.push(view[4], view.length);
		const { memory, grow, add } = new WebAssembly.Instance(m).exports, before = new Int32Array(memory.buffer);
		out.push(add(8), add(8), before[2], grow(1), before.length, memory.buffer.byteLength, add(8), before[2]);
		const wide = own.toResizableBuffer(); out.push(wide.growable, wide.maxByteLength, wide.byteLength); own.grow(1);
		out.push(wide.byteLength, own.buffer === wide); wide.grow(5 * 65536); out.push(own.grow(0), wide[Symbol.toStringTag],
		attempt(() => wide.grow(5 * 65536 + 1)), own.toFixedLengthBuffer().growable, wide.byteLength, view[4]);
		out.push(attempt(() => new WebAssembly.Memory({ initial: 1, shared: true })));
		return out`)
	want := `["[object SharedArrayBuffer]",true,true,false,1,65536,196608,false,8,9,65536,0,1,2,1,16384,131072,2,3,true,524288,` +
		`196608,262144,true,5,"SharedArrayBuffer","RangeError: grow: Invalid length parameter: the buffer of a WebAssembly.Memory ` +
		`grows by whole pages",false,327680,9,"TypeError: WebAssembly.Memory(): If shared is true, maximum property should be defined."]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestResizableBuffer: a Memory's buffer may be one that is resized with it, and resizes it.
func TestResizableBuffer(t *testing.T) {
	got := run(t, growing, `const { memory, store, load, grow } = new WebAssembly.Instance(m, { js: { look() {} } }).exports;
		const fixed = memory.buffer, out = [memory.toFixedLengthBuffer() === fixed], wide = memory.toResizableBuffer();
		out.push(fixed.detached, wide.resizable, wide.maxByteLength, wide.byteLength, memory.buffer === wide,
		memory.toResizableBuffer() === wide);
		const all = new Uint8Array(wide), part = new Uint8Array(wide, 8, 4); new WebAssembly.Memory({ initial: 2 });
		all[100] = 5; out.push(load(100), grow(1), wide.byteLength, all.length, all[100], String.fromCharCode(...part)); store(70000, 6);
		out.push(all[70000], memory.grow(1), all.length); wide.resize(4 * 65536); out.push(memory.grow(0), all.length, all[70000]);
		for (const n of [0, 65537, 5 * 65536]) out.push(attempt(() => wide.resize(n)).replace(/:.*/, ""));
		const again = memory.toFixedLengthBuffer(); out.push(wide.detached, all.length, again.resizable, new Uint8Array(again)[70000],
		attempt(() => wide.resize(0)).replace(/:.*/, ""), attempt(() => again.resize(0)).replace(/:.*/, ""));
		const own = new ArrayBuffer(2, { maxByteLength: 9 }); own.resize(5); out.push(own.byteLength, ArrayBuffer.prototype.resize.name,
		attempt(() => new WebAssembly.Memory({ initial: 1 }).toResizableBuffer()),
		attempt(() => new WebAssembly.Memory({ initial: 1n, address: "i64" })));
		const read = [], noted = new Proxy({ element: "anyfunc", initial: 1 }, { get(of, name) { read.push(name); return of[name] } });
		new WebAssembly.Table(noted); out.push(read.join());
		for (const given of [null, 1, "", {}, undefined]) out.push(await WebAssembly.instantiate(new Uint8Array(8), given).catch(
			(e) => e.name + e.message.slice(25, 55)));
		return out`)
	want := `[true,true,true,262144,65536,true,true,5,1,131072,131072,5,"data",6,2,196608,4,262144,6,"RangeError","RangeError",` +
		`"RangeError",true,0,false,6,"TypeError","TypeError",5,"resize",` +
		`"TypeError: WebAssembly.Memory.toResizableBuffer(): Memory must have a maximum",` +
		`"TypeError: WebAssembly.Memory(): addresses of 64 bits (memory64) are not supported here; production has them",` +
		`"element,address,initial,maximum","TypeError: Argument 1 must be an object","TypeError: Argument 1 must be an object",` +
		`"TypeError: Argument 1 must be an object","CompileError: Wasm code generation disallo","CompileError: Wasm code generation ` +
		`disallo"]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
