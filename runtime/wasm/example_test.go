package wasm_test

import (
	"context"
	"fmt"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasm"
)

// A Worker's modules are compiled once. The companion of an isolate holds its instances, by number; a module that cannot be compiled is
// an error where JavaScript asks for it.
func Example() {
	ctx := context.Background()
	r, err := wasm.Open(ctx, wasm.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close(ctx)
	set := r.Load(ctx, []wasm.Source{
		{Specifier: "./twice.wasm", Bytes: []byte("\x00asm\x01\x00\x00\x00" +
			"\x01\x06\x01\x60\x01\x7f\x01\x7f" + // type: (i32) -> i32
			"\x03\x02\x01\x00" + // one function, of that type
			"\x07\x09\x01\x05twice\x00\x00" +
			"\x0a\x09\x01\x07\x00\x20\x00\x20\x00\x6a\x0b")}, // argument + argument
		{Specifier: "./broken.wasm", Bytes: []byte("no module")},
	})
	defer set.Close(ctx)

	e, err := engine.Open(ctx, engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close(ctx)
	image, err := e.Boot(ctx, engine.Source{Name: "prelude.js", Code: `
		const { wasm_load, wasm_instantiate, wasm_exports, wasm_call } = __host;
		({ run: (specifier, n) => {
			const instance = wasm_instantiate(wasm_load(specifier), []);
			return wasm_exports(instance).map((e) => e.name + " " + wasm_call(e.code, n)).join();
		}, wasmError: (name, message) => Object.assign(new Error(message), { name }) })`}, wasm.Names())
	if err != nil {
		fmt.Println(err)
		return
	}
	isolate, err := e.NewIsolate(ctx, image, engine.IsolateOptions{Funcs: wasm.Funcs(), Companion: set.Companion})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer isolate.Close()
	for _, specifier := range []string{"./twice.wasm", "./broken.wasm"} {
		err := isolate.Do(engine.NewScope(ctx, 0, nil), func(vm *engine.VM) error {
			v, err := vm.Call("run", specifier, 21)
			if err != nil {
				return err
			}
			defer vm.Free(v)
			text, err := vm.Text(v)
			fmt.Println(text)
			return err
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// twice 42
	// CompileError: expected the magic bytes 00 61 73 6d @+0
}
