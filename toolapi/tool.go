package toolapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Effect is the effect of a tool's call.
type Effect int

// The effects.
const (
	// Reads changes nothing.
	Reads Effect = iota
	// Writes takes effect by one call.
	Writes
	// Proposes takes two calls: the first proposes, the second confirms (platform
	// document, section 3.3).
	Proposes
)

// Tool is the definition of one tool.
type Tool struct {
	Name        string // such as "content.status"
	Title       string // a short name for people
	Description string // effect of the tool, and when not to use it
	Effect      Effect
	Replays     bool // the tool takes an idempotency key, and needs one
	Rehearses   bool // the tool runs migrations on a copy, which may take a while

	// The schemas are made on first use: a client needs only a few.
	arguments func() *jsonschema.Schema
	result    func() *jsonschema.Schema
	mistyped  func(response []byte) string
}

// ArgumentsSchema returns the JSON Schema (2020-12) of the request body.
func (t *Tool) ArgumentsSchema() json.RawMessage { return encode(t.arguments()) }

// ResultSchema returns the JSON Schema (2020-12) of the response when ok is true.
func (t *Tool) ResultSchema() json.RawMessage { return encode(t.result()) }

// ResponseSchema returns the JSON Schema (2020-12) of every response of the tool: its result or a refusal.
func (t *Tool) ResponseSchema() json.RawMessage {
	return encode(&jsonschema.Schema{Type: "object", OneOf: []*jsonschema.Schema{t.result(), schemaOf[ToolRefusal]()}})
}

// Lacks returns a required property of the tool's results that a response lacks, or has with another type;
// "" for none. A service may add properties.
func (t *Tool) Lacks(response []byte) string {
	return cmp.Or(missingProperty(t.result(), response), t.mistyped(response))
}

// Lacks is [Tool.Lacks] for an endpoint other than a tool.
func Lacks[R any](response []byte) string {
	return cmp.Or(missingProperty(schemaOf[R](), response), mistypedProperty[R](response))
}

func mistypedProperty[R any](response []byte) string {
	var result R
	err := json.Unmarshal(response, &result)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return wrong.Field
	}
	if err != nil {
		return "ok"
	}
	return ""
}

func missingProperty(s *jsonschema.Schema, response []byte) string {
	var has map[string]json.RawMessage
	if json.Unmarshal(response, &has) != nil {
		return "ok"
	}
	for _, of := range s.OneOf { // of the two calls
		if text, err := json.Marshal(of.Properties["state"].Const); err == nil && bytes.Equal(text, has["state"]) {
			s = of
		}
	}
	if s.OneOf != nil {
		return "state"
	}
	for _, name := range s.Required {
		if value := has[name]; value == nil || string(value) == "null" && s.Properties[name].Type != "" {
			return name
		}
	}
	return ""
}

func encode(s *jsonschema.Schema) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // of a schema of this package's own types, which every test makes
	}
	return text
}

// Typed is a tool with the Go types of its arguments and its result.
type Typed[Args, Result any] struct{ *Tool }

// define adds a tool to the list, with the schemas of its types.
func define[Args, Result any](all *[]*Tool, t Tool) Typed[Args, Result] {
	t.mistyped = mistypedProperty[Result]
	t.arguments = sync.OnceValue(func() *jsonschema.Schema {
		arguments := schemaOf[Args]()
		for _, property := range arguments.Properties {
			if len(property.Types) > 0 { // of a pointer, whose nil is an absent argument
				property.Type, property.Types = property.Types[len(property.Types)-1], nil
			}
		}
		return arguments
	})
	proposes := t.Effect == Proposes
	t.result = sync.OnceValue(func() *jsonschema.Schema {
		if proposes {
			return twoCallResult(schemaOf[Result]())
		}
		return schemaOf[Result]()
	})
	*all = append(*all, &t)
	return Typed[Args, Result]{&t}
}

func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: scalars()})
	if err != nil {
		panic(fmt.Sprintf("%v has no JSON Schema: %v", reflect.TypeFor[T](), err)) // as in encode
	}
	for _, property := range s.Properties {
		property.Deprecated = strings.HasPrefix(property.Description, "deprecated:")
	}
	return s
}

// proposal lists the properties that only the first of two calls returns.
var proposal = []string{"confirmation_id", "expires_in_seconds", "request_summary"}

// twoCallResult returns the schema of a proposal or of a result, for a Go type that has the fields of both.
func twoCallResult(both *jsonschema.Schema) *jsonschema.Schema {
	proposed, done := both.CloneSchemas(), both.CloneSchemas()
	only := func(s *jsonschema.Schema, state ProposalState) {
		value := any(string(state))
		s.Properties["state"] = &jsonschema.Schema{Type: "string", Const: &value}
	}
	only(proposed, ConfirmationRequired)
	proposed.Required = append(slices.Clone(proposed.Required), proposal...)
	only(done, Done)
	for _, name := range proposal {
		delete(done.Properties, name)
	}
	done.PropertyOrder = slices.DeleteFunc(slices.Clone(done.PropertyOrder), func(name string) bool {
		return slices.Contains(proposal, name)
	})
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{proposed, done}}
}
