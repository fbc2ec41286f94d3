package service_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/toolapi"
)

// TestGeneratedArguments: every property of every tool with values of all
// classes. The expected response is computed from the served schema.
func TestGeneratedArguments(t *testing.T) {
	testmachine.Unraced(t)
	w := newFixture(t)
	var document struct {
		Components struct{ Schemas map[string]*jsonschema.Schema }
	}
	if err := json.Unmarshal(w.request("GET", toolapi.OpenAPIPath, "", "").body, &document); err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, tool := range toolapi.NewContract().Tools() {
		schema := document.Components.Schemas[tool.Name+".arguments"]
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for property, rule := range schema.Properties {
			for _, value := range classes(rule) {
				cases++
				body := "{" + strings.Join(append(required(schema, property), `"`+property+`":`+value), ",") + "}"
				var header []string
				if tool.Replays && property != "idempotency_key" {
					header = []string{"Idempotency-Key", "k"}
				}
				a := w.call("member", tool.Name, body, header...)
				var sent map[string]any
				malformed := strings.Count(value, "[") > toolapi.MaxDepth || strings.Contains(value, `\ud800`) ||
					json.Unmarshal([]byte(body), &sent) != nil && !strings.Contains(value, "1e400")
				invalid := !malformed && (strings.Contains(value, "1e400") || resolved.Validate(sent) != nil)
				switch {
				case malformed && a.code() != toolapi.CodeMalformedBody,
					invalid && a.code() != toolapi.CodeInvalidArguments,
					!malformed && !invalid && a.status != http.StatusOK,
					!malformed && !invalid && a.code() == toolapi.CodeInvalidArguments && property != "at" && property != "week" &&
						!(tool.Name == "page.schedule_publish"):
					t.Errorf("%s %.120s: %d %s", tool.Name, body, a.status, a.body)
				}
			}
			twice := "{" + strings.Join(append(required(schema, property), `"`+property+`":1,"`+property+`":1`), ",") + "}"
			if a := w.call("member", tool.Name, twice); a.status != http.StatusBadRequest {
				t.Errorf("%s %s: %d", tool.Name, twice, a.status)
			}
			absent := "{" + strings.Join(required(schema, property), ",") + "}"
			if a := w.call("member", tool.Name, absent); slices.Contains(schema.Required, property) &&
				a.code() != toolapi.CodeInvalidArguments || a.status != http.StatusOK {
				t.Errorf("%s %s: %d %s", tool.Name, absent, a.status, a.body)
			}
			if a := w.call("member", tool.Name, "\ufeff"+absent); a.code() != toolapi.CodeMalformedBody {
				t.Errorf("%s with a BOM: %d %s", tool.Name, a.status, a.body)
			}
		}
	}
	if cases < 500 {
		t.Errorf("only %d cases", cases)
	}
	t.Logf("%d cases", cases)
}

// required are values of the other required properties.
func required(s *jsonschema.Schema, but string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if name == but || !slices.Contains(s.Required, name) {
			continue
		}
		value := `"x"`
		if s.Properties[name].Format == "uuid" {
			value = `"00000000-0000-4000-8000-000000000000"`
		}
		all = append(all, `"`+name+`":`+value)
	}
	return all
}

// classes are values of a property, from good to absurd.
func classes(s *jsonschema.Schema) []string {
	all := []string{
		`null`, `true`, `1`, `1.0`, `1.5`, `-1`, `1e400`, `-1e400`, `""`, `"x"`, `"\u0000"`, `"\ud800"`, `"\ufeff"`,
		`[]`, `[1]`, `["x"]`, `{}`, `{"a":1}`,
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), `"2026-11-25"`,
		`"00000000-0000-4000-8000-00000000000g"`, `"'; DROP TABLE pieces; --"`,
	}
	for _, n := range []*int{s.MinLength, s.MaxLength} {
		for _, d := range []int{-1, 0, 1} {
			if n != nil && *n+d >= 0 {
				all = append(all, `"`+strings.Repeat("k", *n+d)+`"`)
			}
		}
	}
	for _, n := range []*float64{s.Minimum, s.Maximum} {
		for _, d := range []float64{-1, 0, 1} {
			if n != nil {
				text, _ := json.Marshal(*n + d)
				all = append(all, string(text))
			}
		}
	}
	for _, value := range s.Enum {
		text, _ := json.Marshal(value)
		all = append(all, string(text), strings.ToUpper(string(text)), `"`+strings.Trim(string(text), `"`)+`x"`)
	}
	return all
}
