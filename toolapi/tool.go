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

	"github.com/google/jsonschema-go/jsonschema"
)

// Effect is what calling a tool can do.
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
	// Name is what the tool is called by, such as "content.status".
	Name string
	// Title is a short name for people.
	Title string
	// Description says what the tool does and when not to use it.
	Description string
	Effect      Effect
	// Replays says that the tool takes an idempotency key, and needs one.
	Replays bool

	arguments *jsonschema.Schema
	result    *jsonschema.Schema
	unread    func(answer []byte) string
}

// ArgumentsSchema is the JSON Schema (2020-12) of the request body.
func (t *Tool) ArgumentsSchema() json.RawMessage { return encode(t.arguments) }

// ResultSchema is the JSON Schema (2020-12) of the answer when ok is true.
func (t *Tool) ResultSchema() json.RawMessage { return encode(t.result) }

// AnswerSchema is the JSON Schema (2020-12) of every answer of the tool: its result
// or a refusal.
func (t *Tool) AnswerSchema() json.RawMessage {
	return encode(&jsonschema.Schema{Type: "object", OneOf: []*jsonschema.Schema{t.result, schemaOf[ToolRefusal]()}})
}

// Lacks is a property that every result of the tool has and this answer has not, or not of its type; ""
// when there is none. What the contract does not name is no fault: a service may add to it.
func (t *Tool) Lacks(answer []byte) string {
	return cmp.Or(missingProperty(t.result, answer), t.unread(answer))
}

// Lacks is [Tool.Lacks] for a result of an endpoint that is no tool.
func Lacks[R any](answer []byte) string {
	return cmp.Or(missingProperty(schemaOf[R](), answer), unreadProperty[R](answer))
}

// unreadProperty is a property that a result cannot hold, or "".
func unreadProperty[R any](answer []byte) string {
	var result R
	err := json.Unmarshal(answer, &result)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return wrong.Field
	}
	if err != nil {
		return "ok"
	}
	return ""
}

func missingProperty(s *jsonschema.Schema, answer []byte) string {
	var has map[string]json.RawMessage
	if json.Unmarshal(answer, &has) != nil {
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

// bodyOptional reports whether the tool can be called without a body.
func (t *Tool) bodyOptional() bool { return len(t.arguments.Required) == 0 && !t.Replays }

func encode(s *jsonschema.Schema) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a schema made of this package's own types; every test of the package runs this
	}
	return text
}

// Typed is a tool with the Go types of its arguments and its result.
type Typed[Args, Result any] struct{ *Tool }

// define adds a tool to the list, and gives it the schemas of its types.
func define[Args, Result any](all *[]*Tool, t Tool) Typed[Args, Result] {
	t.arguments, t.result, t.unread = schemaOf[Args](), schemaOf[Result](), unreadProperty[Result]
	for _, property := range t.arguments.Properties {
		if len(property.Types) > 0 { // of a pointer, whose nil is an argument that is not there
			property.Type, property.Types = property.Types[len(property.Types)-1], nil
		}
	}
	if t.Effect == Proposes {
		t.result = eitherCall(t.result)
	}
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

// proposal are the properties that only the first call of two answers.
var proposal = []string{"confirmation_id", "expires_in_seconds", "request_summary"}

// eitherCall is the result of a two-call tool, whose Go type has the fields of both
// calls: a proposal, or what was done.
func eitherCall(both *jsonschema.Schema) *jsonschema.Schema {
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
