package manifest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/xeipuuv/gojsonschema"

	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/limits"
)

//go:embed schema.json
var schemaTemplate string

// schemaJSON is the schema with the table of limits in its place.
var schemaJSON = sync.OnceValue(func() []byte {
	var rows []string
	for _, l := range limits.All() {
		rows = append(rows, fmt.Sprintf(`
        %q: {
          "description": "%s The platform ceiling is %d.",
          "type": "integer",
          "minimum": 1,
          "maximum": %d,
          "default": %d
        }`, l.Key, l.Schema, l.Ceiling, l.Ceiling, l.Default))
	}
	return []byte(strings.Replace(schemaTemplate, `"properties": {}`, `"properties": {`+strings.Join(rows, ",")+"\n      }", 1))
})

// Schema returns the JSON Schema (draft-07) of the manifest, with descriptions and defaults. It states every
// rule of section 2.9 that draft-07 can state. [Parse] validates with it.
func Schema() []byte { return slices.Clone(schemaJSON()) }

// compiled holds the schema after its first use. A process that never validates pays nothing for it.
var compiled = sync.OnceValues(func() (*gojsonschema.Schema, error) {
	dec := json.NewDecoder(bytes.NewReader(schemaJSON()))
	dec.UseNumber()
	var schema map[string]any
	if err := dec.Decode(&schema); err != nil {
		return nil, err
	}
	lighten(schema)
	loader := gojsonschema.NewSchemaLoader()
	loader.Draft, loader.AutoDetect = gojsonschema.Draft7, false
	return loader.Compile(gojsonschema.NewRawLoader(schema))
})

// lighten removes the most expensive keywords of a schema. The validator formats an unused error message for every value
// that "not" or "if" accepts; checkPaths, checkPatterns and checkStaticRoutes check the same in Go. It encodes and decodes
// each value with an "enum" three times; a pattern does the same for strings. A test compares the verdicts of both
// schemas.
func lighten(schema map[string]any) {
	delete(schema, "not")
	delete(schema, "if")
	delete(schema, "then")
	if list, ok := schema["enum"].([]any); ok {
		delete(schema, "enum")
		words := make([]string, len(list))
		for i, word := range list {
			words[i] = regexp.QuoteMeta(fmt.Sprint(word))
		}
		schema["pattern"] = "^(?:" + strings.Join(words, "|") + ")$"
	}
	for _, v := range schema {
		if sub, ok := v.(map[string]any); ok {
			lighten(sub)
		}
	}
}

// schemaNode is the part of a schema that the messages need.
type schemaNode struct {
	Properties map[string]*schemaNode `json:"properties"`
	Items      *schemaNode            `json:"items"`
	Enum       []string               `json:"enum"`
	Required   []string               `json:"required"`
	MaxLength  int                    `json:"maxLength"`
	Maximum    int                    `json:"maximum"`
}

// described holds the schema's own tree after the first violation.
var described = sync.OnceValue(func() *schemaNode {
	root := &schemaNode{}
	if err := json.Unmarshal(schemaJSON(), root); err != nil {
		return &schemaNode{}
	}
	return root
})

// at returns the part of the schema for the value of a pointer, an empty one for an unknown place.
func (s *schemaNode) at(p jsontree.Pointer) *schemaNode {
	for tok := range strings.SplitSeq(strings.TrimPrefix(string(p), "/"), "/") {
		next := s.Properties[tok]
		if s.Items != nil {
			next = s.Items
		}
		if next == nil && tok != "" {
			return &schemaNode{}
		}
		if next != nil {
			s = next
		}
	}
	return s
}

// keys returns the known keys of an object, sorted.
func (s *schemaNode) keys() []string { return slices.Sorted(maps.Keys(s.Properties)) }

// find returns the dotted paths of a key in all objects of the manifest, list items excepted.
func (s *schemaNode) find(key string) []string {
	var list []string
	for _, name := range s.keys() {
		if name == key {
			list = append(list, name)
		}
		for _, sub := range s.Properties[name].find(key) {
			list = append(list, name+"."+sub)
		}
	}
	return list
}

// violation is one violation of the schema.
type violation struct {
	at   jsontree.Pointer
	kind string // gojsonschema's name of the keyword
	key  string // of an unknown or missing key
	want string // the bound or type that was not met
}

// violations validates a document. Pointers contain known keys only, so that none needs unescaping; an unknown key is
// reported at its object.
func violations(root *jsontree.Node) ([]violation, error) {
	schema, err := compiled()
	if err != nil {
		return nil, err
	}
	result, err := schema.Validate(gojsonschema.NewRawLoader(root.Value()))
	if err != nil {
		return nil, err
	}
	list := make([]violation, 0, len(result.Errors()))
	for _, e := range result.Errors() {
		v := violation{kind: e.Type()}
		if _, rest, ok := strings.Cut(e.Context().String("/"), "/"); ok {
			v.at = jsontree.Pointer("/" + rest)
		}
		if v.kind == "pattern" && described().at(v.at).Enum != nil {
			v.kind = "enum" // lighten wrote the enum as a pattern
		}
		details := e.Details()
		if key, ok := details["property"].(string); ok {
			v.key = key
		}
		for _, name := range []string{"min", "max", "expected"} {
			if d, ok := details[name]; ok {
				v.want = fmt.Sprint(d)
			}
		}
		list = append(list, v)
	}
	return list, nil
}
