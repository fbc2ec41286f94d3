package node

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the declaration of the operations anew")

// TestOperationTypes compares the declaration for checks of the JavaScript with the existing operations.
func TestOperationTypes(t *testing.T) {
	const file = "../../cmd/tools/javascript/operation.d.ts"
	var b strings.Builder
	b.WriteString("// The operations in Go that the modules of Node.js can call, by name.\n")
	b.WriteString("// Written by `go test ./runtime/node -run OperationTypes -update`.\n\ntype NodeOperation =")
	for _, name := range slices.Sorted(maps.Keys(operations(nil))) {
		b.WriteString("\n  | \"" + name + "\"")
	}
	b.WriteString(";\n")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != b.String() {
		t.Errorf("%s does not declare the operations that there are (%v): run this test with -update", file, err)
	}
}
