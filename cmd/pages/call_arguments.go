package main

import (
	"encoding/json"
	"strings"

	"github.com/pages-toolchain/pages/toolapi/client"
)

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
