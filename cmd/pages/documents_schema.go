package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/toolapi"
)

// schema is the JSON Schema (draft 2020-12) of a document.
func (d document) schema() (*jsonschema.Schema, error) {
	s, err := d.shape()
	if err != nil {
		return nil, err
	}
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", "any command --json"
	if len(d.commands) > 0 {
		s.Title = d.commands[0] + " --json"
	}
	s.Description = d.about
	return s, nil
}

// shape makes a schema.
type shape = func() (*jsonschema.Schema, error)

// of is the schema of a Go type.
func of[T any]() (*jsonschema.Schema, error) {
	return jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[site.Stamp]():      {Type: "string", Format: "date-time"},
		reflect.TypeFor[site.Fields]():     {Type: "object"},
		reflect.TypeFor[json.RawMessage](): {},
	}})
}

// toolResult is the schema of what a tool of the service answers, which is printed as
// it came.
func toolResult(tool func(*toolapi.Contract) *toolapi.Tool) shape {
	return func() (*jsonschema.Schema, error) {
		s := new(jsonschema.Schema)
		return s, json.Unmarshal(tool(toolapi.NewContract()).ResultSchema(), s)
	}
}

// confirmed is the schema of what any tool of two calls answers to the second.
func confirmed() (*jsonschema.Schema, error) {
	either := new(jsonschema.Schema)
	for _, t := range toolapi.NewContract().Tools() {
		if t.Effect != toolapi.Proposes {
			continue
		}
		s, err := toolResult(func(*toolapi.Contract) *toolapi.Tool { return t })()
		if err != nil {
			return nil, err
		}
		either.AnyOf = append(either.AnyOf, s)
	}
	return either, nil
}

// linesOf is the schema of one line of several kinds, told apart by their "type".
func linesOf(kinds map[string]shape) shape {
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

func devLines() (*jsonschema.Schema, error) {
	return linesOf(map[string]shape{
		"ready": of[readyEvent], "build": of[buildEvent], "error": of[errorEvent], "request": of[typedRequest], "log": of[typedLine], "delivery": of[typedEvent],
		"pairing": of[pairingEvent],
	})()
}

// mayFail is the schema of a document that a failure is told in too.
func mayFail(s shape) shape {
	return func() (*jsonschema.Schema, error) {
		whole, err := s()
		if err != nil {
			return nil, err
		}
		for _, more := range []shape{of[failureDoc], of[diagnostic.Report]} {
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

// validation is the schema of one report of diagnostics, or of several.
func validation() (*jsonschema.Schema, error) {
	one, err := of[diagnostic.Report]()
	if err != nil {
		return nil, err
	}
	several, err := of[diagnostic.Reports]()
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{one, several}}, err
}
