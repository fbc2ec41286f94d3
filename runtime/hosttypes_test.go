package runtime

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the declarations of the host functions anew")

// TestHostTypes compares the declarations for checks of the JavaScript with the existing functions.
func TestHostTypes(t *testing.T) {
	const file = "../cmd/tools/javascript/host.d.ts"
	var b strings.Builder
	b.WriteString("// The functions that Go gives to the JavaScript of the runtime.\n")
	b.WriteString("// Written by `go test ./runtime -run HostTypes -update`.\n\ninterface Host {\n")
	for _, name := range hostNames() {
		b.WriteString("  " + name + "(...args: any[]): any;\n")
	}
	b.WriteString("}\n")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != b.String() {
		t.Errorf("%s does not declare the host functions that there are (%v): run this test with -update", file, err)
	}
}
