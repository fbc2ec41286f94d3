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

// platform reads a list of testdata: the platform's value of each name, for a Worker with the flag nodejs_compat at the
// date of the assumptions.
func platform(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, has, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[name] = has
	}
	return all
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
	want := platform(t, "names.list")
	for module, names := range want {
		for name := range strings.FieldsSeq(names) {
			if !slices.Contains(have[module], name) {
				t.Errorf("%s has no %s", module, name)
			}
		}
	}
	for module := range have {
		if _, ok := want[module]; !ok {
			t.Errorf("%s is not on the platform", module)
		}
	}
}

func quote(s string) string { return `"` + s + `"` }
