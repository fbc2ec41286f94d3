package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// Call is one call of a tool.
type Call struct {
	Tool string
	// Arguments are a JSON object; nil for none.
	Arguments json.RawMessage
	// IdempotencyKey is sent when it is set. A tool that needs one, and whose
	// arguments hold none, gets a fresh one.
	IdempotencyKey string
	// Replays says that a tool which this version does not know takes a key.
	Replays bool
	// Whole refuses a success that lacks what the tool's results have, if this version knows the
	// tool: for who acts by the answer, and does not only pass it on.
	Whole bool
}

// migrationTime is how long a confirmed call may apply migrations before it answers.
const migrationTime = 10 * time.Minute

// Answer is the result of a call.
type Answer struct {
	// Body is the answer as it came, without the key.
	Body      json.RawMessage
	RequestID string
	// At is the time by the service's clock; zero where an answer does not say it.
	At time.Time
}

// Do calls a tool. Its error is one of this package's four, or of ctx.
func (c *Client) Do(ctx context.Context, call Call) (Answer, error) {
	arguments := call.Arguments
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	r := request{
		method: http.MethodPost, path: toolapi.ToolsPath + call.Tool, header: http.Header{"Content-Type": {"application/json"}},
		body: jsonBody(arguments), size: int64(len(arguments)), window: c.tools,
	}
	var named struct {
		Key          *string `json:"idempotency_key"`
		Confirmation string  `json:"confirmation_id"`
	}
	_ = json.Unmarshal(arguments, &named) // the service says what is wrong with them
	t, known := c.Tool(call.Tool)
	replays := known && t.Replays || !known && call.Replays
	switch {
	case call.IdempotencyKey != "":
		r.header.Set(toolapi.HeaderIdempotencyKey, call.IdempotencyKey)
	case replays && named.Key == nil:
		r.header.Set(toolapi.HeaderIdempotencyKey, newID())
	}
	// Proposing changes nothing, and confirming twice gets the first answer.
	r.safe = replays || known && t.Effect != toolapi.Writes || named.Confirmation != ""
	if named.Confirmation != "" {
		r.work = migrationTime
	}
	a, err := c.send(ctx, r)
	if err != nil {
		return Answer{RequestID: a.id}, err
	}
	result, err := c.result(call.Tool, a)
	if err == nil && known && call.Whole {
		err = requireProperty(a, t.Lacks(result.Body))
	}
	return result, err
}

// requireProperty is the fault of a success that lacks a property.
func requireProperty(a response, lacks string) error {
	if lacks == "" {
		return nil
	}
	return &ContractError{a.status, "has no " + strconv.Quote(lacks), a.id}
}

// result branches on ok.
func (c *Client) result(tool string, a response) (Answer, error) {
	body := c.redactBytes(a.body)
	var head struct {
		OK *bool `json:"ok"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return Answer{RequestID: a.id}, &ContractError{a.status, "is no JSON object", a.id}
	}
	switch {
	case head.OK == nil:
		return Answer{RequestID: a.id}, &ContractError{a.status, `has no "ok"`, a.id}
	case *head.OK:
		at, _ := http.ParseTime(a.header.Get("Date")) // zero, if it is none
		return Answer{Body: body, RequestID: a.id, At: at}, nil
	}
	refused := &RefusalError{Tool: tool, Boundary: a.header.Get(toolapi.HeaderToolError) == "true", RequestID: a.id}
	if err := json.Unmarshal(body, &refused.Refusal); err != nil || refused.Refusal.Code == "" {
		return Answer{RequestID: a.id}, &ContractError{a.status, "is a refusal without a code", a.id}
	}
	return Answer{Body: body, RequestID: a.id}, refused
}

func (c *Client) redactBytes(body []byte) []byte {
	if c.key == "" {
		return body
	}
	return bytes.ReplaceAll(body, []byte(c.key), []byte(Hint(c.key)))
}

// Run calls a tool of the contract with typed arguments and result.
func Run[A, R any](ctx context.Context, c *Client, t toolapi.Typed[A, R], arguments A) (result R, err error) {
	text, err := json.Marshal(arguments)
	if err != nil {
		return result, err
	}
	a, err := c.Do(ctx, Call{Tool: t.Name, Arguments: text, Whole: true})
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(a.Body, &result); err != nil {
		return result, &ContractError{http.StatusOK, "does not hold what " + t.Name + " answers", a.RequestID}
	}
	return result, nil
}

// ToolInfo is a tool as the service's own description has it.
type ToolInfo struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	TwoCalls    bool            `json:"two_calls"`
	Replays     bool            `json:"idempotency_key"`
	Arguments   json.RawMessage `json:"arguments"`
	Result      json.RawMessage `json:"result"`
}

// Tools reads the service's interface description: every tool, in the order of their
// names.
func (c *Client) Tools(ctx context.Context) ([]ToolInfo, error) {
	a, err := c.send(ctx, request{method: http.MethodGet, path: toolapi.OpenAPIPath, window: newWindow(c), safe: true})
	if err != nil {
		return nil, err
	}
	tools, err := parseTools(a.body)
	if err != nil {
		return nil, &ContractError{a.status, "is no OpenAPI document: " + err.Error(), a.id}
	}
	return tools, nil
}

// takesConfirmation reports whether a schema of arguments takes a confirmation.
func takesConfirmation(schema json.RawMessage) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Properties["confirmation_id"] != nil
}

// toolOf is the name of the tool of a path; false for another path.
func toolOf(path string) (string, bool) {
	name, ok := strings.CutPrefix(path, toolapi.ToolsPath)
	return name, ok && name != "" && !strings.Contains(name, "/")
}
