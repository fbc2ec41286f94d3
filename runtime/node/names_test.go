package node_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/node"
)

// platform lists what each module exports on the platform, of a Worker with the
// flag nodejs_compat at the date of the assumptions.
func platform(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/names.list")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		module, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		names[module] = strings.Fields(list)
	}
	return names
}

// TestNames sees that every name that can be imported on the platform can be
// imported here, from modules that are all evaluated.
func TestNames(t *testing.T) {
	var code strings.Builder
	specifiers := node.Specifiers()
	for _, specifier := range specifiers {
		code.WriteString("names[" + quote(specifier) + "] = async () => Object.keys(await import(" + quote(specifier) + "));\n")
	}
	w := start(t, "const names = {};\n"+code.String()+`export default { async fetch() {
  const all = {};
  for (const key in names) all[key.replace("node:", "")] = await names[key]();
  return Response.json(all);
} };`, pagesruntime.WorkerOptions{})
	var have map[string][]string
	if text := get(t, w, "/"); json.Unmarshal([]byte(text), &have) != nil {
		t.Fatal(text)
	}
	want := platform(t)
	for module, names := range want {
		for _, name := range names {
			if !slices.Contains(have[module], name) {
				t.Errorf("%s has no %s", module, name)
			}
		}
	}
	for module := range have {
		if want[module] == nil {
			t.Errorf("%s is not on the platform", module)
		}
	}
}

func quote(s string) string { return `"` + s + `"` }
