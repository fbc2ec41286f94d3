package toolapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// MCPPath answers the tools over MCP (platform document, section 1.3).
const MCPPath = "/mcp"

// MaxBatch is how many messages a body may hold as an array.
const MaxBatch = 50

// Messages reads the body of an MCP request: one message, or an array of them, as
// batch says. The elements of an array may be anything. A body that is not I-JSON,
// that nests deeper than MaxDepth or that is empty is an *Error with
// CodeMalformedBody; an array of more than MaxBatch is one with CodeBatchTooLarge.
func Messages(body []byte) (messages []json.RawMessage, batch bool, err error) {
	if err := checkDepth(body); err != nil {
		return nil, false, malformed(err)
	}
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if d.PeekKind() != '[' {
		one, err := d.ReadValue()
		if err != nil {
			return nil, false, malformed(err)
		}
		if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
			return nil, false, NewError(CodeMalformedBody, "The request body must be one JSON value.")
		}
		return []json.RawMessage{bytes.Clone(one)}, false, nil
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, true, malformed(err)
	}
	for d.PeekKind() != ']' {
		one, err := d.ReadValue()
		if err != nil {
			return nil, true, malformed(err)
		}
		if len(messages) == MaxBatch {
			return nil, true, NewError(CodeBatchTooLarge, "The array has too many messages: send at most 50 at once.")
		}
		messages = append(messages, bytes.Clone(one))
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, true, malformed(err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, true, NewError(CodeMalformedBody, "The request body must be one JSON value.")
	}
	return messages, true, nil
}
