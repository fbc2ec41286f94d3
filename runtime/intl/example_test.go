package intl_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/intl"
)

// JavaScript resolves the options once, keeps the specification, and passes it with each call.
func ExampleFuncs() {
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close(ctx)
	funcs := intl.Funcs()
	image, err := e.Boot(ctx, engine.Source{Name: "prelude.js", Code: `
		const { intl_canonical, intl_collator, intl_compare } = __host;
		({ sorted: (tag) => {
			const spec = intl_collator([tag], JSON.stringify({ usage: "sort" }));
			const names = ["Zander", "Aal", "Äsche"].sort((a, b) => intl_compare(spec, a, b));
			return JSON.parse(spec).locale + ": " + names.join(" ");
		} })`}, slices.Sorted(maps.Keys(funcs)))
	if err != nil {
		fmt.Println(err)
		return
	}
	isolate, err := e.NewIsolate(ctx, image, engine.IsolateOptions{Funcs: funcs})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer isolate.Close()
	for _, tag := range []string{"DE", "sv-se", "a language"} {
		err := isolate.Do(engine.NewScope(ctx, 0, nil), func(vm *engine.VM) error {
			v, err := vm.Call("sorted", tag)
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
	// de: Aal Äsche Zander
	// sv-SE: Aal Zander Äsche
	// RangeError: Incorrect locale information provided: "a language" is not a well-formed language tag
}
