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
//
//nolint:gochecknoglobals // a cache of a constant
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

// Schema returns the JSON Schema (draft-07) of the manifest, with descriptions and defaults. It says every
// rule of section 2.9 that draft-07 can say and is what [Parse] itself validates with.
func Schema() []byte { return slices.Clone(schemaJSON()) }

// compiled holds the schema after its first use. A process that never validates pays nothing for it.
//
//nolint:gochecknoglobals // a cache of a constant
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

// lighten takes out of a schema what costs most. The validator formats an error message, which nobody reads, for
// every value that "not" or "if" accepts; checkPaths, checkPatterns and checkStaticRoutes hold the same rules in
// Go. It writes and reads each value that has an "enum" as JSON, thrice; a pattern says the same of strings. A
// test holds the whole schema and these rules to the same verdicts.
func lighten(schema map[string]any) {
	delete(schema, "not")
	delete(schema, "if")
	delete(schema, "then")
	if list, ok := schema["enum"].([]any); ok {
		delete(schema, "enum")
		schema["pattern"] = oneOfPattern(list)
	}
	for _, v := range schema {
		if sub, ok := v.(map[string]any); ok {
			lighten(sub)
		}
	}
}

// oneOfPattern matches the strings of an enumeration and nothing else.
func oneOfPattern(list []any) string {
	words := make([]string, len(list))
	for i, word := range list {
		words[i] = regexp.QuoteMeta(fmt.Sprint(word))
	}
	return "^(?:" + strings.Join(words, "|") + ")$"
}

// schemaNode is the part of a schema that the explanations of refusals look at.
type schemaNode struct {
	Properties map[string]*schemaNode `json:"properties"`
	Items      *schemaNode            `json:"items"`
	Enum       []string               `json:"enum"`
	Required   []string               `json:"required"`
	MaxLength  int                    `json:"maxLength"`
	Maximum    int                    `json:"maximum"`
}

// described holds the schema's own tree after the first refusal.
//
//nolint:gochecknoglobals // a cache of a constant
var described = sync.OnceValue(func() *schemaNode {
	root := &schemaNode{}
	if err := json.Unmarshal(schemaJSON(), root); err != nil {
		return &schemaNode{}
	}
	return root
})

// at returns the part of the schema that rules what a pointer points at, an empty one for an unknown place.
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

// missing returns the required keys that an object lacks.
func (s *schemaNode) missing(n *jsontree.Node) []string {
	return slices.DeleteFunc(slices.Clone(s.Required), func(key string) bool { return n.Get(key) != nil })
}

// keys returns the known keys of an object, sorted.
func (s *schemaNode) keys() []string { return slices.Sorted(maps.Keys(s.Properties)) }

// find returns the dotted paths of a key in all objects of the manifest that are no list items.
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

// violation is one refusal by the schema.
type violation struct {
	at   jsontree.Pointer
	kind string // gojsonschema's own name of the keyword that refused
	key  string // of an unknown or missing key
	want string // the bound or type that was not met
}

// violations validates a document. Its keys are only known ones, or the object they are in is reported, so
// that no pointer needs unescaping.
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
		list = append(list, newViolation(e))
	}
	return list, nil
}

func newViolation(e gojsonschema.ResultError) violation {
	v := violation{kind: e.Type()}
	if _, rest, ok := strings.Cut(e.Context().String("/"), "/"); ok {
		v.at = jsontree.Pointer("/" + rest)
	}
	if v.kind == "pattern" && described().at(v.at).Enum != nil {
		v.kind = "enum" // which lighten wrote as a pattern
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
	return v
}
