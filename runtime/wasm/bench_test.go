package wasm_test

import (
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// work is a module with small exports: add, an import that it calls, a sum over
// memory of n bytes, and a recursive Fibonacci.
var work = module(
	types(functype(list{i32, i32}, list{i32}), functype(list{}, list{}), functype(list{i32}, list{i32})),
	imports(imported("env", "f", 0, 1)),
	funcs(0, 1, 2, 2), memories([]byte{0, 16}),
	exports(exported("add", 0, 1), exported("back", 0, 2), exported("sum", 0, 3), exported("fib", 0, 4), exported("memory", 2, 0)),
	bodies(
		code(0, 0, localGet, 0, localGet, 1, i32Add),
		code(0, 0, call, 0),
		code(1, i32,
			block, empty, loop, empty, localGet, 0, i32Eqz, brIf, 1,
			localGet, 0, i32Const, 1, i32Sub, localTee, 0, i32Load8U, 0, 0, localGet, 1, i32Add, localSet, 1, br, 0, end, end,
			localGet, 1),
		code(0, 0, localGet, 0, i32Const, 2, 0x48, opIf, i32, localGet, 0, opElse,
			localGet, 0, i32Const, 1, i32Sub, call, 4, localGet, 0, i32Const, 2, i32Sub, call, 4, i32Add, end),
	))

// BenchmarkWorker runs loops of 10,000 calls, or of the number in the name, in one request.
func BenchmarkWorker(b *testing.B) {
	for _, c := range []struct{ name, code string }{
		{"nothing", `for (let n = 0; n < 10000; n++) plain(n, 1); return 0`},
		{"add", `for (let n = 0; n < 10000; n++) add(n, 1); return 0`},
		{"import", `for (let n = 0; n < 10000; n++) back(); return 0`},
		{"sum 1 MB", `return sum(1 << 20)`},
		{"fill and sum 1 MB", `new Uint8Array(memory.buffer).fill(1); return sum(1 << 20)`},
		{"fib 25", `return fib(25)`},
		{"instance", `for (let n = 0; n < 100; n++) new WebAssembly.Instance(m, { env: { f() {} } }); return 0`},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := worker(
				b, work,
				`const { add, back, sum, fib, memory } = new WebAssembly.Instance(m, { env: { f() {} } }).exports; function plain(a, b) {}`,
				c.code, pagesruntime.WorkerOptions{},
			)
			for b.Loop() {
				get(b, s)
			}
		})
	}
}
