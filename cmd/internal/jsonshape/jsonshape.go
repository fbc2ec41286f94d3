// Package jsonshape makes JSON Schemas (draft 2020-12) of the --json output of commands.
//
// Input: Go types, and tools of the contract. Output: schemas, and an error for a type without one. All of it is safe for concurrent use.
//
// It does not know which command prints which document.
package jsonshape

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/cmd/internal/ending"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/runtime/trace"
	"github.com/pages-toolchain/pages/toolapi"
)

// Shape makes a schema.
type Shape = func() (*jsonschema.Schema, error)

// Of returns the schema of a Go type.
func Of[T any]() (*jsonschema.Schema, error) {
	return jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[site.Stamp]():      {Type: "string", Format: "date-time"},
		reflect.TypeFor[site.Fields]():     {Type: "object"},
		reflect.TypeFor[json.RawMessage](): {},

		reflect.TypeFor[trace.ID]():         {Type: "string", Pattern: "^[0-9a-f]{32}$"},
		reflect.TypeFor[trace.SpanID]():     {Type: "string", Pattern: "^[0-9a-f]{16}$"},
		reflect.TypeFor[trace.Attributes](): {Type: "object"},
	}})
}

// ToolResult returns the schema of the result of a tool of the service, which commands print unchanged.
func ToolResult(tool *toolapi.Tool) Shape {
	return func() (*jsonschema.Schema, error) {
		s := new(jsonschema.Schema)
		return s, json.Unmarshal(tool.ResultSchema(), s)
	}
}

// Confirmed returns the schema of the second response of any two-call tool.
func Confirmed() (*jsonschema.Schema, error) {
	either := new(jsonschema.Schema)
	for _, t := range toolapi.NewContract().Tools() {
		if t.Effect != toolapi.Proposes {
			continue
		}
		s, err := ToolResult(t)()
		if err != nil {
			return nil, err
		}
		either.AnyOf = append(either.AnyOf, s)
	}
	return either, nil
}

// Lines returns the schema of lines of several kinds; "type" names the kind.
func Lines(kinds map[string]Shape) Shape {
	return func() (*jsonschema.Schema, error) {
		either := new(jsonschema.Schema)
		for _, name := range slices.Sorted(maps.Keys(kinds)) {
			s, err := kinds[name]()
			if err != nil {
				return nil, err
			}
			value := any(name)
			s.Properties["type"] = &jsonschema.Schema{Type: "string", Const: &value}
			either.OneOf = append(either.OneOf, s)
		}
		return either, nil
	}
}

// MayFail returns the schema of a document that may hold a failure instead.
func MayFail(s Shape) Shape {
	return func() (*jsonschema.Schema, error) {
		whole, err := s()
		if err != nil {
			return nil, err
		}
		for _, more := range []Shape{Of[ending.FailureReport], Of[diagnostic.Report]} {
			part, err := more()
			if err != nil {
				return nil, err
			}
			for name, p := range part.Properties {
				if whole.Properties[name] == nil {
					whole.Properties[name] = p
				}
			}
		}
		return whole, nil
	}
}

// Validation returns the schema of a report of diagnostics, or of several.
func Validation() (*jsonschema.Schema, error) {
	one, err := Of[diagnostic.Report]()
	if err != nil {
		return nil, err
	}
	several, err := Of[diagnostic.Reports]()
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{one, several}}, err
}
