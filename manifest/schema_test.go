package manifest_test

import (
	"encoding/json"
	"testing"

	"github.com/xeipuuv/gojsonschema"

	"github.com/pages-toolchain/pages/manifest"
)

// onlyInGo are the codes of errors that the schema alone cannot find, and why.
var onlyInGo = map[string]string{
	"duplicate-key":         "a JSON value has each key once: only the text shows a second one",
	"route-access-conflict": "draft-07 cannot compare items by one of their members",
	"route-reserved-like":   "draft-07 knows no Unicode normalisation",
	"syntax":                "a text that is not JSON, or has a number out of range, never reaches a schema",
}

// TestSchemaAlone validates every case that is JSON with the published schema, through another reader, and
// compares the verdict with Parse's. Every disagreement must be one that onlyInGo explains.
func TestSchemaAlone(t *testing.T) {
	schema, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(manifest.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range tableCases(t) {
		t.Run(c.name(), func(t *testing.T) {
			if !json.Valid([]byte(c.source)) {
				return
			}
			_, diags := manifest.Parse(manifest.FileName, []byte(c.source))
			explained := false
			for _, d := range diags {
				explained = explained || onlyInGo[d.Code] != ""
			}
			if explained {
				return
			}
			result, err := schema.Validate(gojsonschema.NewStringLoader(c.source))
			if err != nil {
				t.Errorf("testdata/cases.txt:%d: %v", c.line, err)
				return
			}
			if result.Valid() == diags.HasErrors() {
				t.Errorf("testdata/cases.txt:%d: %.100q: schema says %v, Parse says %s", c.line, c.source, result.Errors(), verdict(diags))
			}
		})
	}
}

// TestSchemaDescribes holds every property of the schema to a description, and every default to Parse's own.
func TestSchemaDescribes(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(manifest.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	describes(t, "", schema)
}

func describes(t *testing.T, at string, schema map[string]any) {
	t.Helper()
	if schema["type"] == "object" && schema["additionalProperties"] != false {
		t.Errorf("%s admits unknown keys", at)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		property, ok := p.(map[string]any)
		if !ok || property["description"] == nil {
			t.Errorf("%s/%s has no description", at, name)
		}
		describes(t, at+"/"+name, property)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		describes(t, at+"/*", items)
	}
}
