package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// arguments are the body of a call: of --json, of a file, or of KEY=VALUE.
func (r *remote) arguments(ctx context.Context, body string, args []string, info client.ToolInfo) (json.RawMessage, error) {
	if body == "" && len(args) == 1 && (args[0] == "-" || strings.HasPrefix(args[0], "{") || strings.HasPrefix(args[0], "[") || strings.HasPrefix(args[0], "@")) {
		body, args = args[0], nil
	}
	switch {
	case body != "" && len(args) > 0:
		return nil, usageError("a JSON body and KEY=VALUE are two ways of giving arguments; use one")
	case body == "-":
		text, err := io.ReadAll(io.LimitReader(newInterruptible(ctx, r.stdin), toolapi.MaxBody+1))
		return text, err
	case strings.HasPrefix(body, "@"):
		text, err := readGiven(ctx, r.path(body[1:]), toolapi.MaxBody+1)
		if err != nil {
			return nil, &failure{code: exitRefused, id: "unreadable", msg: fmt.Sprintf("%s cannot be read: %s", quotedPath(body[1:]), reason(err)), err: err}
		}
		return text, nil
	case body != "":
		return json.RawMessage(body), nil
	}
	return keyValues(args, info)
}

// keyValues makes a body of KEY=VALUE and KEY:=JSON. What a value is follows the tool's
// own schema; where that does not say, it is text.
func keyValues(args []string, info client.ToolInfo) (json.RawMessage, error) {
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if len(info.Arguments) > 0 {
		if err := json.Unmarshal(info.Arguments, &schema); err != nil {
			return nil, err
		}
	}
	fields := map[string]any{}
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		if !ok || name == "" || name == ":" {
			return nil, usageError("%q is no argument; they are KEY=VALUE, or KEY:=JSON", arg)
		}
		kind, _ := schema.Properties[name].Type.(string)
		var value any = text
		if raw, isJSON := strings.CutSuffix(name, ":"); isJSON {
			name, kind = raw, ""
			if !json.Valid([]byte(text)) {
				return nil, usageError("what %s is given is no JSON: %s", name, text)
			}
			value = json.RawMessage(text)
		}
		switch {
		case kind == "array":
			list, _ := fields[name].([]any)
			fields[name] = append(list, value)
			continue
		case kind != "string" && kind != "" && json.Valid([]byte(text)):
			value = json.RawMessage(text)
		}
		if _, twice := fields[name]; twice {
			return nil, usageError("%s is given twice", name)
		}
		fields[name] = value
	}
	return json.Marshal(fields)
}

// withWorkspace names the workspace that is chosen, unless the arguments do.
func (r *remote) withWorkspace(arguments json.RawMessage) (json.RawMessage, error) {
	if r.workspace == "" || hasField(arguments, "workspace") {
		return arguments, nil
	}
	return setField(arguments, "workspace", r.workspace)
}

func hasField(object json.RawMessage, name string) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return false
	}
	_, ok := fields[name]
	return ok
}

func setField(object json.RawMessage, name string, value any) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return object, nil //nolint:nilerr // what is no object is the service's to refuse
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	fields[name] = text
	return json.Marshal(fields)
}
