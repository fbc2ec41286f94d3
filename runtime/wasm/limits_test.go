package wasm_test

import (
	"strings"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// bombs run without end, or take all there is, each in its way.
var bombs = module(
	types(functype(list{}, list{}), functype(list{i32}, list{}), functype(list{i32}, list{i32})),
	imports(imported("js", "f", 0, 0)),
	funcs(0, 1, 0, 0, 2, 2, 0, 0, 0), tables([]byte{funcref, 0, 1}), memories([]byte{0, 16}),
	exports(exported("spin", 0, 1), exported("tree", 0, 2), exported("fill", 0, 3), exported("back", 0, 4),
		exported("growMemory", 0, 5), exported("growTable", 0, 6),
		exported("refs", 0, 7), exported("tail", 0, 8), exported("recurse", 0, 9), exported("memory", 2, 0)),
	bodies(
		code(0, 0, loop, empty, br, 0, end),
		// calls itself twice, down to nothing: no loop anywhere
		code(0, 0, localGet, 0, opIf, empty, localGet, 0, i32Const, 1, i32Sub, call, 2, localGet, 0, i32Const, 1, i32Sub, call, 2, end),
		code(0, 0, loop, empty, i32Const, 0, i32Const, 1, i32Const, 0x80, 0x80, 0xc0, 0x00, misc, 11, 0, br, 0, end),
		code(0, 0, loop, empty, call, 0, br, 0, end),
		code(0, 0, localGet, 0, memoryGrow, 0),
		code(0, 0, refNull, funcref, localGet, 0, misc, 15, 0),
		code(0, 0, loop, empty, refFunc, 3, drop, br, 0, end),
		code(0, 0, 0x12, 8),
		code(100, i64, call, 9),
	))

const bombTop = `const make = () => new WebAssembly.Instance(m, { js: { f() {} } }).exports; let e = make(); let count = 0;`

// TestKilled: code of an instance ends at the budget like JavaScript; the process and the Worker continue.
func TestKilled(t *testing.T) {
	for name, handler := range map[string]string{
		"loop":         `e.spin()`,
		"calls":        `e.tree(200)`,
		"bulk":         `e.fill()`,
		"through JS":   `e.back()`,
		"JS in wasm":   `new WebAssembly.Instance(m, { js: { f() { for (;;); } } }).exports.back()`,
		"references":   `e.refs()`,
		"tail calls":   `e.tail()`,
		"JS and wasm":  `for (;;) e.growMemory(0)`,
		"instances":    `for (;;) { make(); await 0 }`,
		"while loaded": `WebAssembly.validate(new Uint8Array(8)); e.spin()`,
		"validated":    manyBlocks + `for (;;) WebAssembly.validate(blocks)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := worker(t, bombs, bombTop, `count++; if (request.headers.get("bomb")) {`+handler+`} return [count, e.growMemory(0)]`,
				pagesruntime.WorkerOptions{Isolates: 1, Limits: pagesruntime.Limits{CPU: 150 * time.Millisecond}})
			if got := get(t, s); got != `[1,16]` {
				t.Fatalf("before: %s", got)
			}
			start := time.Now()
			if got := bomb(t, s); !strings.HasPrefix(got, "cpu: ") {
				t.Errorf("got %s", got)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("killed after %v", took)
			}
			if got := get(t, s); got != `[1,16]` {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

// manyBlocks makes a module of one function, with as many blocks as validation accepts.
const manyBlocks = `const u32 = (n) => n < 128 ? [n] : [n & 127 | 128, ...u32(n >> 7)];
	const body = [0, ...Array.from({ length: 50000 }, () => [0x41, 0, 0x04, 0x40, 0x0b]).flat(), 0x0b];
	const codes = [1, ...u32(body.length)];
	const blocks = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10,
	...u32(codes.length + body.length)].concat(codes, body));
`

// TestValidated: a module is validated in the time that its length takes. Its machine code would take the square.
func TestValidated(t *testing.T) {
	s := worker(t, bombs, bombTop,
		manyBlocks+
			`return [WebAssembly.validate(blocks), WebAssembly.validate(blocks.fill(0, -1)), WebAssembly.validate(blocks.subarray(0, -1)),
		attempt(() => WebAssembly.validate(new Uint8Array(300000)))]`, pagesruntime.WorkerOptions{Isolates: 1})
	const want = `[true,false,false,"RangeError: WebAssembly.validate(): 300000 bytes are more than the 262144 that can be validated here"]`
	if got := get(t, s); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestBounded: an instance is bounded, and the error names the bound.
func TestBounded(t *testing.T) {
	for name, c := range map[string]struct{ handler, want string }{
		"memory": {
			`const had = e.growMemory(1000); return [had, e.growMemory(1100), e.growMemory(-1), e.memory.buffer.byteLength,
				attempt(() => e.memory.grow(2000))]`,
			`[16,-1,-1,66584576,"RangeError: WebAssembly.Memory.grow(): Maximum memory size exceeded"]`,
		},
		"memories": {
			`const list = []; for (let n = 0; ; n++) try { list.push(new WebAssembly.Memory({ initial: 160 })) } catch (x) {
				return [n, x.name, new WebAssembly.Memory({ initial: 0 }).grow(1)] }`,
			`[12,"RangeError",0]`,
		},
		"a memory": {
			`return attempt(() => new WebAssembly.Memory({ initial: 65536 }))`,
			`"RangeError: WebAssembly.Instance(): Out of memory: the isolate would hold more than 128 MB"`,
		},
		"tables": {`return [e.growTable(9000000), e.growTable(9000000), e.growTable(-1), e.growTable(1)]`, `[1,-1,-1,9000001]`},
		"a table": {
			`const t = new WebAssembly.Table({ element: "externref", initial: 9000000 });
				return [t.length, attempt(() => new WebAssembly.Table({ element: "anyfunc", initial: 9000000 }))]`,
			`[9000000,"RangeError: WebAssembly.Table(): failed to grow table by 9000000"]`,
		},
		"recursion": {
			`const out = []; for (let n = 0; n < 3; n++) out.push(attempt(e.recurse)); return out`,
			`["RangeError: Maximum call stack size exceeded","RangeError: Maximum call stack size exceeded","RangeError: Maximum call ` +
				`stack size exceeded"]`,
		},
		"both heaps": {
			`e.growMemory(1900); const keep = []; return attempt(() => { for (;;) keep.push(new Uint8Array(1 << 20)) })`,
			`"RangeError: Array buffer allocation failed"`,
		},
		"nesting": {
			`let depth = 0; const inner = new WebAssembly.Instance(m, { js: { f() { depth++; inner.back() } } }).exports;
				return [attempt(inner.back), depth > 50 && depth < 1000]`,
			`["RangeError: Maximum call stack size exceeded",true]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := worker(t, bombs, bombTop, c.handler, pagesruntime.WorkerOptions{Isolates: 1})
			if got := get(t, s); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// state has everything that an instance can change: memory, globals of all types,
// tables, dropped segments.
var state = module(
	types(
		functype(list{}, list{i32}), functype(list{i32}, list{i32}), functype(list{externref}, list{}),
		functype(list{}, list{externref}), functype(list{}, list{}), functype(list{i32}, list{i32}),
	),
	imports(imported("js", "start", 0, 4)),
	funcs(0, 1, 2, 3, 4, 5, 0, 4),
	tables([]byte{funcref, 0, 4}, []byte{externref, 0, 1}), memories([]byte{0, 1}),
	globals(
		[]byte{i32, 1, i32Const, 5, end}, []byte{funcref, 1, refFunc, 1, end},
		[]byte{externref, 1, refNull, externref, end},
		[]byte{v128, 1, 0xfd, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, end},
	),
	exports(exported("count", 0, 1), exported("call", 0, 2), exported("keep", 0, 3), exported("kept", 0, 4),
		exported("change", 0, 5), exported("lane", 0, 6), exported("seven", 0, 7),
		exported("memory", 2, 0), exported("table", 1, 0), exported("f", 3, 1), exported("drop", 0, 8)),
	[]byte{8, 1, 0},
	elems(join([]byte{0, i32Const, 1, end}, []byte{2, 1, 7}), join([]byte{1, 0}, []byte{1, 7})),
	bodies(
		// count: globals[0]++, memory[0]++, and their sum
		code(
			0, 0, i32Const, 0, i32Const, 0, i32Load, 2, 0, i32Const, 1, i32Add, i32Store, 2, 0, globalGet, 0, i32Const,
			1, i32Add, globalSet, 0, globalGet, 0, i32Const, 0, i32Load, 2, 0, i32Add,
		),
		code(0, 0, localGet, 0, callIndirect, 0, 0),
		code(0, 0, localGet, 0, globalSet, 2, i32Const, 0, localGet, 0, tableSet, 1),
		code(0, 0, i32Const, 0, tableGet, 1),
		// change: the function global, two elements, the vector
		code(
			0, 0, refFunc, 7, globalSet, 1, i32Const, 0, refFunc, 7, tableSet, 0, i32Const, 1, refNull, funcref,
			tableSet, 0, globalGet, 3, globalGet, 3, 0xfd, 0xae, 1, globalSet, 3,
		),
		code(0, 0, globalGet, 3, 0xfd, 22, 5),
		code(0, 0, i32Const, 7),
		code(0, 0, i32Const, 0, i32Const, 0, i32Const, 1, misc, 12, 1, 0, misc, 13, 1),
	))

// TestImage: an isolate that starts over has the instances of the top level in their state after the evaluation of the module, without any
// later change.
func TestImage(t *testing.T) {
	top := `let started = 0; const object = { its: "own" };
		const instance = new WebAssembly.Instance(m, { js: { start() { started++ } } }), e = instance.exports;
		const other = new WebAssembly.Table({ element: "anyfunc", initial: 1 }, e.seven), view = new Uint8Array(e.memory.buffer);
		e.count(); e.keep(object); e.change(); e.drop(); view[100] = 1; e.table.grow(2, e.count); e.memory.grow(1); globalThis.hits = 0;`
	handler := `hits++; const bytes = new Uint8Array(e.memory.buffer); bytes[100]++;
		const was = [hits, started, e.count(), e.kept() === object, e.lane(), attempt(() => e.call(0)), attempt(() => e.call(1)),
		e.call(2), e.table.length, e.table.get(4) === e.count, e.f.value === e.seven,
			bytes[100], view.length, e.memory.buffer.byteLength, other.get(0) === e.seven, other.get(0)(), attempt(e.drop)];
		e.keep({}); e.table.set(2, null); e.table.grow(3); e.f.value = null; e.memory.grow(1); e.change();
		return was`
	const first = `[1,1,9,true,12,7,"RuntimeError: invalid table access",7,6,true,true,2,0,131072,true,7,"RuntimeError: invalid table ` +
		`access"]`
	t.Run("request", func(t *testing.T) {
		s := worker(t, state, top, handler, pagesruntime.WorkerOptions{Pristine: true})
		for range 5 {
			if got := get(t, s); got != first {
				t.Fatalf("got  %s\nwant %s", got, first)
			}
		}
	})
	t.Run("killed", func(t *testing.T) {
		s := worker(
			t, state, top, `if (request.headers.get("bomb")) for (;;) e.count(); `+handler,
			pagesruntime.WorkerOptions{Isolates: 1, Limits: pagesruntime.Limits{CPU: 200 * time.Millisecond}},
		)
		for range 3 {
			if got := get(t, s); got != first {
				t.Fatalf("got  %s\nwant %s", got, first)
			}
			if got := get(t, s); got == first {
				t.Fatal("state is not kept between requests")
			}
			if got := bomb(t, s); !strings.HasPrefix(got, "cpu: ") {
				t.Fatal(got)
			}
		}
	})
	t.Run("isolates", func(t *testing.T) {
		s := worker(t, state, top, `await new Promise((f) => setTimeout(f, 30));`+handler, pagesruntime.WorkerOptions{Isolates: 3})
		done := make(chan string, 3)
		for range 3 {
			go func() { done <- get(t, s) }()
		}
		for range 3 {
			if got := <-done; got != first {
				t.Errorf("got  %s\nwant %s", got, first)
			}
		}
	})
}
