package rewrite_test

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"

	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
)

// Rewrite returns the declarations of the author's module. The module that runs is another one, which imports the host's parts
// and exports functions by number.
func ExampleRewrite() {
	m, err := rewrite.Rewrite([]byte("\x00asm\x01\x00\x00\x00" +
		"\x01\x06\x01\x60\x01\x7f\x01\x7f" + // type: (i32) -> i32
		"\x02\x0b\x01\x03env\x03log\x00\x00" +
		"\x03\x02\x01\x00" + // one function, of that type
		"\x07\x09\x01\x05twice\x00\x01" +
		"\x0a\x0a\x01\x08\x00\x20\x00\x10\x00\x10\x00\x0b")) // log(log(argument))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range m.Exports {
		fmt.Println("exports", e.Kind, e.Name, m.FuncType(e.Index).Key())
	}
	for _, i := range m.Imports {
		fmt.Println("imports", i.Kind, i.Module, i.Name, m.FuncType(i.Index).Key())
	}

	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	compiled, err := r.CompileModule(ctx, m.Bytes)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		fmt.Printf("the host gives %q of %q\n", name, module)
	}
	_, gives := compiled.ExportedFunctions()[rewrite.PrefixFunc+"1"]
	fmt.Println("the host calls it by number:", gives)
	// Output:
	// exports function twice i:i
	// imports function env log i:i
	// the host gives "interrupt" of "pages"
	// the host gives "overflow" of "pages"
	// the host gives "allow" of "pages"
	// the host gives "call" of "call i:i"
	// the host calls it by number: true
}
