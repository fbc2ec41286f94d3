package node_test

import (
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/runtime/node"
)

// The bundler leaves these modules to the runtime.
func ExampleSpecifiers() {
	names := node.Specifiers()
	fmt.Println(slices.Contains(names, "node:buffer"), slices.Contains(names, "node:stream/promises"), slices.Contains(names, node.Globals))
	// Output: true true false
}
