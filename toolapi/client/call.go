package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// Call is one call of a tool.
type Call struct {
	Tool      string
	Arguments json.RawMessage // a JSON object; nil for none
	// IdempotencyKey is sent if set. Otherwise a tool that needs one gets a fresh key, unless the
	// arguments hold one.
	IdempotencyKey string
	Replays        bool // whether a tool unknown to this version takes a key
	// Complete refuses a success that lacks a property of the tool's results, if this version knows
	// the tool: for callers that act on the response instead of passing it on.
	Complete bool
}

// The service may take migrationTime to apply migrations before it responds to a confirmation, and rehearsalTime to
// rehearse them for a proposal.
const (
	migrationTime = 10 * time.Minute
	rehearsalTime = 2 * time.Minute
)

// Response is the result of a call.
type Response struct {
	Body      json.RawMessage // as received, with the key removed
	RequestID string
	At        time.Time // by the service's clock; zero for a response without it
}

// Do calls a tool. Its error is one of this package's four, or ctx's.
func (c *Client) Do(ctx context.Context, call Call) (Response, error) {
	arguments := call.Arguments
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	r := request{
		method: http.MethodPost, path: toolapi.ToolsPath + call.Tool, header: http.Header{"Content-Type": {"application/json"}},
		body: jsonBody(arguments), size: int64(len(arguments)), window: c.tools,
		sent: call.Tool,
	}
	var named struct {
		Key          *string `json:"idempotency_key"`
		Confirmation string  `json:"confirmation_id"`
	}
	_ = json.Unmarshal(arguments, &named) // the service reports their faults
	t, known := c.Tool(call.Tool)
	replays := known && t.Replays || !known && call.Replays
	switch {
	case call.IdempotencyKey != "":
		r.header.Set(toolapi.HeaderIdempotencyKey, call.IdempotencyKey)
	case replays && named.Key == nil:
		r.header.Set(toolapi.HeaderIdempotencyKey, newID())
	}
	// Proposing changes nothing, and confirming twice gets the first response.
	r.safe = replays || known && t.Effect != toolapi.Writes || named.Confirmation != ""
	switch {
	case named.Confirmation != "":
		r.work = migrationTime
	case known && (t.Effect == toolapi.Proposes || t.Rehearses):
		r.work = rehearsalTime
	}
	a, err := c.send(ctx, r)
	if err != nil {
		return Response{RequestID: a.id}, err
	}
	result, err := c.result(call.Tool, a)
	if err == nil && known && call.Complete {
		err = requireProperty(a, t.Lacks(result.Body))
	}
	return result, err
}

// requireProperty returns the error of a success that lacks a property; nil for "".
func requireProperty(a httpResponse, lacks string) error {
	if lacks == "" {
		return nil
	}
	return &ContractError{a.status, "has no " + strconv.Quote(lacks), a.id}
}

// result reads a response with status 200: a success, or a *RefusalError.
func (c *Client) result(tool string, a httpResponse) (Response, error) {
	body := a.body
	if c.key != "" {
		body = bytes.ReplaceAll(body, []byte(c.key), []byte(Hint(c.key)))
	}
	var head struct {
		OK *bool `json:"ok"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return Response{RequestID: a.id}, &ContractError{a.status, "is not a JSON object", a.id}
	}
	switch {
	case head.OK == nil:
		return Response{RequestID: a.id}, &ContractError{a.status, `has no "ok"`, a.id}
	case *head.OK:
		at, _ := http.ParseTime(a.header.Get("Date")) // zero for an invalid date
		return Response{Body: body, RequestID: a.id, At: at}, nil
	}
	refused := &RefusalError{Tool: tool, Boundary: a.header.Get(toolapi.HeaderToolError) == "true", RequestID: a.id}
	if err := json.Unmarshal(body, &refused.Refusal); err != nil || refused.Refusal.Code == "" {
		return Response{RequestID: a.id}, &ContractError{a.status, "is a refusal without a code", a.id}
	}
	return Response{Body: body, RequestID: a.id}, refused
}

// Run calls a tool of the contract with typed arguments and result.
func Run[A, R any](ctx context.Context, c *Client, t toolapi.Typed[A, R], arguments A) (result R, err error) {
	text, err := json.Marshal(arguments)
	if err != nil {
		return result, err
	}
	a, err := c.Do(ctx, Call{Tool: t.Name, Arguments: text, Complete: true})
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(a.Body, &result); err != nil {
		return result, &ContractError{http.StatusOK, "is not a result of " + t.Name, a.RequestID}
	}
	return result, nil
}

// ToolInfo is a tool in the service's own description.
type ToolInfo struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	TwoCalls    bool            `json:"two_calls"`
	Replays     bool            `json:"idempotency_key"`
	Arguments   json.RawMessage `json:"arguments"`
	Result      json.RawMessage `json:"result"`
}

// Tools reads the service's interface description: every tool, in the order of their names.
func (c *Client) Tools(ctx context.Context) ([]ToolInfo, error) {
	a, err := c.send(ctx, request{method: http.MethodGet, path: toolapi.OpenAPIPath, window: newWindow(c), safe: true})
	if err != nil {
		return nil, err
	}
	tools, err := parseTools(a.body)
	if err != nil {
		return nil, &ContractError{a.status, "is not an OpenAPI document: " + err.Error(), a.id}
	}
	return tools, nil
}

// document is an OpenAPI document, as far as it describes tools.
type document struct {
	OpenAPI string `json:"openapi"`
	Paths   map[string]struct {
		Post *operation `json:"post"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	Summary     string `json:"summary"`
	Description string `json:"description"`
	Parameters  []struct {
		Name string `json:"name"`
		In   string `json:"in"`
	} `json:"parameters"`
	RequestBody struct {
		Content map[string]media `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]media `json:"content"`
	} `json:"responses"`
}

type media struct {
	Schema json.RawMessage `json:"schema"`
}

var errNoTools, errNoJSON = errors.New("it lists no tools"), errors.New("it is not JSON")

func parseTools(text []byte) ([]ToolInfo, error) {
	var d document
	if !json.Valid(text) {
		return nil, errNoJSON
	}
	if json.Unmarshal(text, &d) != nil { // whose error would name our types
		return nil, errNoTools
	}
	tools := []ToolInfo{}
	for path, item := range d.Paths {
		name, ok := strings.CutPrefix(path, toolapi.ToolsPath)
		if !ok || name == "" || strings.Contains(name, "/") || item.Post == nil {
			continue
		}
		t := ToolInfo{Name: name, Title: item.Post.Summary, Description: item.Post.Description}
		for _, p := range item.Post.Parameters {
			t.Replays = t.Replays || p.In == "header" && strings.EqualFold(p.Name, toolapi.HeaderIdempotencyKey)
		}
		t.Arguments = d.resolve(item.Post.RequestBody.Content["application/json"].Schema)
		var arguments struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		t.TwoCalls = json.Unmarshal(t.Arguments, &arguments) == nil && arguments.Properties["confirmation_id"] != nil
		t.Result = item.Post.Responses["200"].Content["application/json"].Schema
		var response struct {
			OneOf []json.RawMessage `json:"oneOf"` // the result first, then the refusal
		}
		if json.Unmarshal(t.Result, &response) == nil && len(response.OneOf) > 0 {
			t.Result = response.OneOf[0]
		}
		t.Result = d.resolve(t.Result)
		tools = append(tools, t)
	}
	if len(tools) == 0 {
		return nil, errNoTools
	}
	slices.SortFunc(tools, func(a, b ToolInfo) int { return cmp.Compare(a.Name, b.Name) })
	return tools, nil
}

func (d *document) resolve(schema json.RawMessage) json.RawMessage {
	var s struct {
		Ref string `json:"$ref"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return schema
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.Components.Schemas[name]
	}
	return schema
}
