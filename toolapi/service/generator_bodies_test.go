package service_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/toolapi"
)

// TestGeneratedBodies sends values of all classes in every property, also nested ones, of the bodies of endpoints other than tools.
func TestGeneratedBodies(t *testing.T) {
	w := newFixture(t)
	text, err := document()
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Components struct{ Schemas map[string]*jsonschema.Schema }
	}
	if err := json.Unmarshal(text, &parsed); err != nil {
		t.Fatal(err)
	}
	site := w.demo.IDs["site_id"]
	file := map[string]any{"path": "a.txt", "sha256": strings.Repeat("0a", 32), "size": 1, "content_type": "text/plain"}
	cases := 0
	for name, c := range map[string]struct {
		path string
		good map[string]any
	}{
		"pages.declare.arguments": {toolapi.UploadsPath, map[string]any{
			"site_id": site, "workspace": "acme", "base_revision": nil, "manifest": map[string]any{},
			"files": []any{file}, "client": map[string]any{"name": "n", "version": "1"},
		}},
		"pages.preview.arguments": {toolapi.PreviewLinksPath, map[string]any{
			"site_id": site, "workspace": "acme", "expires_in_seconds": 60,
		}},
		"pages.finalize.arguments": {toolapi.FinalizePath("upl_none"), map[string]any{}},
	} {
		schema := parsed.Components.Schemas[name]
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range variants(schema, c.good) {
			cases++
			body := v.body
			var sent any
			malformed := v.twice || strings.Count(body, "[") > toolapi.MaxDepth || strings.Contains(body, `\ud800`) ||
				strings.Contains(body, "\ufeff{") ||
				json.Unmarshal([]byte(body), &sent) != nil && !strings.Contains(body, "1e400")
			invalid := !malformed && (strings.Contains(body, "1e400") || resolved.Validate(sent) != nil)
			a := w.request(http.MethodPost, c.path, w.demo.Keys["member"], body)
			code, _ := at(a.fields, "error", "code").(string)
			switch {
			case a.status >= http.StatusInternalServerError,
				malformed != (code == toolapi.CodeMalformedBody),
				invalid && code != toolapi.CodeInvalidArguments,
				// This property has its own grammar.
				!invalid && code == toolapi.CodeInvalidArguments && !strings.Contains(string(a.body), "content type"):
				t.Errorf("%s %.200s: %d %s", name, body, a.status, a.body)
			}
			// The next bundle must find room.
			if id := a.text("upload_id"); id != "" {
				w.request(http.MethodDelete, toolapi.UploadPath(id), w.demo.Keys["member"], "")
			}
		}
	}
	if cases < 300 {
		t.Errorf("only %d cases", cases)
	}
	t.Logf("%d cases", cases)
}

// variant is a body; twice is true if it repeats a property.
type variant struct {
	body  string
	twice bool
}

// variants are a good body, and ones that differ from it in one value, at any depth.
func variants(s *jsonschema.Schema, good map[string]any) (all []variant) {
	encode := func(v any) string {
		text, _ := json.Marshal(v)
		return string(text)
	}
	const hole = `"the hole"`
	add := func(body string) { all = append(all, variant{body: body}) }
	add(encode(good))
	add("\ufeff" + encode(good))
	add(encode(good) + "{}")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		changed := maps.Clone(good)
		delete(changed, name)
		add(encode(changed)) // absent
		changed[name] = "the hole"
		around := encode(changed)
		for _, value := range classes(s.Properties[name]) {
			add(strings.Replace(around, hole, value, 1))
		}
		all = append(all, variant{strings.Replace(around, hole, `1,"`+name+`":1`, 1), true})
		inner := s.Properties[name]
		object, isObject := good[name].(map[string]any)
		if list, ok := good[name].([]any); ok && len(list) > 0 {
			inner, around = inner.Items, strings.Replace(around, hole, "["+hole+"]", 1)
			object, isObject = list[0].(map[string]any)
		}
		if isObject && len(inner.Properties) > 0 {
			for _, v := range variants(inner, object) {
				all = append(all, variant{strings.Replace(around, hole, v.body, 1), v.twice})
			}
		}
	}
	add(`{"no_such":1}`)
	return all
}
