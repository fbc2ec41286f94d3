package quickjspatch_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// A loop without end calls its host each Period of its iterations, until the host panics.
func ExampleInstrument() {
	module, err := quickjspatch.Instrument([]byte("\x00asm\x01\x00\x00\x00" +
		"\x01\x08\x02\x60\x00\x01\x7f\x60\x00\x00" + // types: () -> i32, () -> ()
		"\x02\x16\x01\x03env\x0ehost_interrupt\x00\x00" +
		"\x03\x02\x01\x01" + // one function, of the second type
		"\x06\x06\x01\x7f\x01\x41\x00\x0b" + // a global of its own
		"\x07\x08\x01\x04spin\x00\x01" +
		"\x0a\x09\x01\x07\x00\x03\x40\x0c\x00\x0b\x0b")) // (loop br 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	errEnough, heard := errors.New("enough"), 0
	_, err = r.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(func() uint32 {
		if heard++; heard == 3 {
			panic(errEnough)
		}
		return 0
	}).Export("host_interrupt").Instantiate(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	instance, err := r.Instantiate(ctx, module)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = instance.ExportedFunction("spin").Call(ctx)
	fmt.Println("heard of", heard*quickjspatch.Period, "iterations, ended:", errors.Is(err, errEnough))
	// Output: heard of 30000 iterations, ended: true
}
