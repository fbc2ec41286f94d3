package toolapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The endpoint of the tools over MCP (platform document, section 1.3).
const (
	MCPPath  = "/mcp"
	MaxBatch = 50 // messages in one body
)

// Messages reads the body of an MCP request: one message, or an array of them, as batch says. The
// elements of an array may have any type. A body that is empty, not I-JSON, or nested deeper than
// MaxDepth is an *Error with CodeMalformedBody; an array of more than MaxBatch is one with
// CodeBatchTooLarge.
func Messages(body []byte) (messages []json.RawMessage, batch bool, err error) {
	if err := checkDepth(body); err != nil {
		return nil, false, malformedBody(err)
	}
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if d.PeekKind() != '[' {
		one, err := d.ReadValue()
		if err != nil {
			return nil, false, malformedBody(err)
		}
		one = bytes.Clone(one) // the next token overwrites it
		if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
			return nil, false, NewError(CodeMalformedBody, "The request body must be one JSON value.")
		}
		return []json.RawMessage{json.RawMessage(one)}, false, nil
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, true, malformedBody(err)
	}
	for d.PeekKind() != ']' {
		one, err := d.ReadValue()
		if err != nil {
			return nil, true, malformedBody(err)
		}
		if len(messages) == MaxBatch {
			return nil, true, NewError(
				CodeBatchTooLarge, fmt.Sprintf("The array has too many messages: send at most %d at once.", MaxBatch),
			)
		}
		messages = append(messages, bytes.Clone(one))
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, true, malformedBody(err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, true, NewError(CodeMalformedBody, "The request body must be one JSON value.")
	}
	return messages, true, nil
}

// Message is one JSON-RPC 2.0 message of MCP.
type Message struct {
	Raw       json.RawMessage // as it was sent
	ID        json.RawMessage // of a request; nil for a notification, a response, or an id that no response could repeat
	Method    string          // "" for a response
	Tool      string          // of a tools/call
	Arguments json.RawMessage // of a tools/call
	Protocol  string          // the protocol revision in the message itself, in stateless revisions
	Valid     bool            // false for other JSON
}

// ParseMessage reads an element of Messages.
func ParseMessage(raw json.RawMessage) Message {
	m := Message{Raw: raw}
	var wire struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Method  *string        `json:"method"`
		Params  jsontext.Value `json:"params"`
		Result  jsontext.Value `json:"result"`
		Error   jsontext.Value `json:"error"`
	}
	if jsonv2.Unmarshal(raw, &wire) != nil || wire.Version != "2.0" {
		return m
	}
	// JSON readers round larger integers: the response would carry the id of another request.
	n, notInteger := strconv.ParseInt(string(wire.ID), 10, 64)
	named := wire.ID != nil && (wire.ID.Kind() == '"' || notInteger == nil && -maxInteger <= n && n <= maxInteger)
	if wire.Method == nil {
		m.Valid = named && (wire.Result == nil) != (wire.Error == nil)
		return m
	}
	m.Method = *wire.Method
	if named {
		m.ID = json.RawMessage(wire.ID)
	}
	m.Valid = m.Method != "" && (named || wire.ID == nil)
	var params struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
		Meta      struct {
			Protocol string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
	if wire.Params.Kind() != '{' || jsonv2.Unmarshal(wire.Params, &params) != nil {
		return m
	}
	m.Protocol = params.Meta.Protocol
	if m.Method == "tools/call" {
		m.Tool, m.Arguments = params.Name, json.RawMessage(params.Arguments)
	}
	return m
}
