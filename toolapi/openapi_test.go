package toolapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

var update = flag.Bool("update", false, "write the golden of the OpenAPI document anew")

const golden = "testdata/openapi.json"

// TestOpenAPIGolden: a change of the interface shows in the golden, which is
// the source of generated clients.
func TestOpenAPIGolden(t *testing.T) {
	got, err := toolapi.NewContract().OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the OpenAPI document is not the golden one; see what changed with -update and git diff")
	}
}

// TestOpenAPIReferences: every reference leads somewhere, and every component is used.
func TestOpenAPIReferences(t *testing.T) {
	text, err := toolapi.NewContract().OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components map[string]map[string]any
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, ref := range regexp.MustCompile(`"#/components/([^"]+)"`).FindAllSubmatch(text, -1) {
		kind, name, _ := strings.Cut(string(ref[1]), "/")
		if _, ok := document.Components[kind][name]; !ok {
			t.Errorf("%s leads nowhere", ref[1])
		}
		used[string(ref[1])] = true
	}
	for kind, all := range document.Components {
		for name := range all {
			if !used[kind+"/"+name] && kind != "securitySchemes" {
				t.Errorf("%s/%s is unused", kind, name)
			}
		}
	}
}
