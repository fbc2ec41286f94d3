package inspector

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// message is a message of the Chrome DevTools Protocol: a command, a response or an event.
type message struct {
	ID      *int64          `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// fault is an error of the protocol.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *fault) Error() string { return f.Message }

// The codes of faults, as V8 has them.
const (
	codeParse   = -32700
	codeRequest = -32600
	codeServer  = -32000
)

// encode returns the JSON of a value that consists of strings, numbers and JSON.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // this cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// readCommand parses a command of a front end. If it fails, the message still has its id, if there is one.
func readCommand(text []byte) (message, *fault) {
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return message{}, &fault{codeParse, "JSON: " + err.Error()}
	}
	switch {
	case m.ID == nil:
		return m, &fault{codeRequest, "Message must have integer 'id' property"}
	case m.Method == "":
		return m, &fault{codeRequest, "Message must have string 'method' property"}
	case len(text) > mostCommand:
		return m, &fault{codeServer, "The message is larger than 1 MiB"}
	}
	return m, nil
}

// object is a JSON object of which only some members matter.
type object map[string]json.RawMessage

var errNoObject = errors.New("not an object")

func readObject(text json.RawMessage) (object, error) {
	o := object{}
	if len(text) == 0 {
		return o, nil
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	if o == nil { // null
		return nil, errNoObject
	}
	return o, nil
}

// text is a member that is a string; "" for any other.
func (o object) text(name string) string {
	var s string
	_ = json.Unmarshal(o[name], &s)
	return s
}

// number is a member that is an integer; 0 for any other.
func (o object) number(name string) int {
	var n int
	if json.Unmarshal(o[name], &n) != nil {
		return 0
	}
	return n
}

// domain is the part of a method before its dot.
func domain(method string) string {
	name, _, _ := strings.Cut(method, ".")
	return name
}
