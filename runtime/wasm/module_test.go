package wasm_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
)

// This file writes small modules, and runs Workers that import them.

// Types and instructions by their names in the text format.
const (
	i32, i64, f32, f64, v128, funcref, externref, exnref = 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f, 0x69

	unreachable, block, loop, opIf, opElse, end    = 0x00, 0x02, 0x03, 0x04, 0x05, 0x0b
	try, catch, throw, rethrow, throwRef           = 0x06, 0x07, 0x08, 0x09, 0x0a
	delegate, catchAll, tryTable                   = 0x18, 0x19, 0x1f
	br, brIf, brTable, ret, call, callIndirect     = 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11
	returnCall, returnCallIndirect                 = 0x12, 0x13
	drop, localGet, localSet, localTee             = 0x1a, 0x20, 0x21, 0x22
	globalGet, globalSet, tableGet, tableSet       = 0x23, 0x24, 0x25, 0x26
	i32Load, i32Load8U, i32Store, i32Store8        = 0x28, 0x2d, 0x36, 0x3a
	memorySize, memoryGrow                         = 0x3f, 0x40
	i32Const, i64Const, i32Eqz, i32Add, i32Sub     = 0x41, 0x42, 0x45, 0x6a, 0x6b
	i32DivS, i64Add, f32Add, f64Add, i32TruncF64S  = 0x6d, 0x7c, 0x92, 0xa0, 0xaa
	i32Eq, f32Const, f64Const                      = 0x46, 0x43, 0x44
	refNull, refIsNull, refFunc, misc, empty, void = 0xd0, 0xd1, 0xd2, 0xfc, 0x40, 0x40
)

// module is a module of sections.
func module(sections ...[]byte) []byte {
	m := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		m = append(m, s...)
	}
	return m
}

// section is a vector of items.
func section(id byte, items ...[]byte) []byte {
	body := u32(len(items))
	for _, x := range items {
		body = append(body, x...)
	}
	return append(append([]byte{id}, u32(len(body))...), body...)
}

func u32(n int) (b []byte) {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func name(s string) []byte { return append(u32(len(s)), s...) }

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

type list = []byte

func functype(params, results list) []byte {
	return join([]byte{0x60}, u32(len(params)), params, u32(len(results)), results)
}

func types(items ...[]byte) []byte    { return section(1, items...) }
func imports(items ...[]byte) []byte  { return section(2, items...) }
func tables(items ...[]byte) []byte   { return section(4, items...) }
func globals(items ...[]byte) []byte  { return section(6, items...) }
func elems(items ...[]byte) []byte    { return section(9, items...) }
func data(items ...[]byte) []byte     { return section(11, items...) }
func memories(items ...[]byte) []byte { return section(5, items...) }

// tags are the types of tags.
func tags(types ...byte) []byte {
	var items [][]byte
	for _, t := range types {
		items = append(items, []byte{0, t})
	}
	return section(13, items...)
}

func exports(items ...[]byte) []byte { return section(7, items...) }

// funcs are the types of functions.
func funcs(types ...byte) []byte {
	var items [][]byte
	for _, t := range types {
		items = append(items, []byte{t})
	}
	return section(3, items...)
}

func imported(module, field string, desc ...byte) []byte {
	return join(name(module), name(field), desc)
}

func exported(field string, desc ...byte) []byte { return join(name(field), desc) }

// code is a function's body, without its end, with locals of one type.
func code(locals int, typ byte, ops ...byte) []byte {
	body := []byte{0}
	if locals > 0 {
		body = append(append([]byte{1}, u32(locals)...), typ)
	}
	body = append(append(body, ops...), end)
	return append(u32(len(body)), body...)
}

func bodies(items ...[]byte) []byte { return section(10, items...) }

var opened = sync.OnceValues(func() (*pagesruntime.Runtime, error) {
	return pagesruntime.Open(context.Background(), pagesruntime.Options{})
})

// worker runs a Worker that imports "./m.wasm" as m; handler is the body of its
// fetch function, and its result is the response, as JSON. Text before the line "---" is the top level of the module.
func worker(t testing.TB, wasm []byte, top, handler string, o pagesruntime.WorkerOptions) *httptest.Server {
	t.Helper()
	r, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	o.Name, o.Bindings = "worker.js", &binding.Set{}
	o.Code = []byte(`import m from "./m.wasm";` + top + `
		const show = (v) => typeof v === "bigint" ? v + "n" : Object.is(v,
		-0) ? "-0" : typeof v === "number" && !Number.isFinite(v) ? String(v)
			: v instanceof Error ? v.constructor.name + ": " + v.message : v === undefined ? "undefined"
			: typeof v === "function" ? "function " + v.name : v;
		const attempt = (f) => { try { return show(f()) } catch (e) { return show(e) } };
		export default { async fetch(request) { let result; try { result = await (async () => {` + handler +
		`})() } catch (e) { result = e }
			return new Response(JSON.stringify(result, (k, v) => show(v))) } }`)
	if o.Wasm == nil {
		o.Wasm = map[string][]byte{"./m.wasm": wasm}
	}
	if o.Limits.CPU == 0 {
		o.Limits.CPU = 10 * time.Second
	}
	w, err := r.NewWorker(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(context.Background()) })
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if _, err := w.Serve(rw, r); err != nil {
			f, ok := errors.AsType[*pagesruntime.Error](err)
			if !ok {
				t.Errorf("no Error: %v", err)
				return
			}
			http.Error(rw, string(f.Kind)+": "+f.Error(), f.Status())
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func get(t testing.TB, s *httptest.Server) string {
	t.Helper()
	return send(t, s, "")
}

// bomb is a request with the header bomb.
func bomb(t testing.TB, s *httptest.Server) string {
	t.Helper()
	return send(t, s, "bomb")
}

func send(t testing.TB, s *httptest.Server, header string) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != "" {
		r.Header.Set(header, "1")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// run is the answer of a handler.
func run(t testing.TB, wasm []byte, handler string) string {
	t.Helper()
	return get(t, worker(t, wasm, "", handler, pagesruntime.WorkerOptions{}))
}
