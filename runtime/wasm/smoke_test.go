package wasm_test

import "testing"

func TestSmoke(t *testing.T) {
	m := module(types(functype(list{i32, i32}, list{i32}), functype(list{i32}, list{})),
		imports(imported("env", "log", 0, 1)),
		funcs(0, 0), memories([]byte{0, 1}),
		exports(exported("add", 0, 1), exported("load", 0, 2), exported("memory", 2, 0)),
		bodies(code(0, 0, localGet, 0, localGet, 1, i32Add, localTee, 0, call, 0, localGet, 0), code(0, 0, localGet, 0, i32Load, 2, 0)))
	t.Log(run(t, m, `const i = new WebAssembly.Instance(m, {env: {log(x) { seen.push(x) }}}); const seen = [];
	const b = new Uint32Array(i.exports.memory.buffer); b[3] = 77;
	return [i.exports.add(2, 3), seen, i.exports.load(12), Object.keys(i.exports), String(m), String(i), String(WebAssembly), WebAssembly.Module.imports(m), WebAssembly.Module.exports(m)]`))
}
