package toolcall

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// Arguments makes the body of a call from body, a file, or KEY=VALUE words.
func Arguments(ctx context.Context, t *terminal.Terminal, body string, words []string, info client.ToolInfo) (json.RawMessage, error) {
	isBody := func(word string) bool { return word == "-" || word != "" && strings.ContainsRune("{[@", rune(word[0])) }
	if i := slices.IndexFunc(words, isBody); body == "" && i >= 0 {
		body, words = words[i], slices.Concat(words[:i], words[i+1:])
	}
	switch {
	case body != "" && len(words) > 0:
		return nil, givenTwice(body, words, info)
	case body == "-":
		text, err := io.ReadAll(io.LimitReader(userfile.Interruptible(ctx, t.Stdin), toolapi.MaxBody+1))
		return text, err
	case strings.HasPrefix(body, "@"):
		text, err := userfile.Read(ctx, t.Path(body[1:]), toolapi.MaxBody+1)
		if err != nil {
			return nil, &failure.Error{
				Exit: failure.ExitRefused, Code: "unreadable",
				Message: fmt.Sprintf("%s cannot be read: %s", wording.QuotePath(body[1:]), failure.Reason(err)), Err: err,
			}
		}
		return text, nil
	case body != "":
		return json.RawMessage(body), nil
	}
	return keyValues(words, info)
}

// givenTwice is the error of a body together with KEY=VALUE. If their keys differ, its fix is to give both in one form.
func givenTwice(body string, args []string, info client.ToolInfo) error {
	f := failure.Usage("the arguments are given twice: as JSON, %s, and as KEY=VALUE, %s", body, strings.Join(args, " "))
	f.Fix = "leave one of them out"
	var all, more map[string]json.RawMessage
	text, err := keyValues(args, info)
	if err != nil || json.Unmarshal([]byte(body), &all) != nil || all == nil || json.Unmarshal(text, &more) != nil {
		return f
	}
	for name, value := range more {
		if _, twice := all[name]; twice {
			return f
		}
		all[name] = value
	}
	if text, err = json.Marshal(all); err == nil {
		f.Fix += ", or give the same in one: " + wording.ShellArguments(text)
	}
	return f
}

// keyValues makes a body from KEY=VALUE and KEY:=JSON. The tool's schema gives the type of a value; without a schema it is text.
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
			return nil, failure.Usage("%q is not an argument: write KEY=VALUE, or KEY:=JSON", arg)
		}
		kind, _ := schema.Properties[name].Type.(string)
		var value any = text
		if raw, isJSON := strings.CutSuffix(name, ":"); isJSON {
			name, kind = raw, ""
			if !json.Valid([]byte(text)) {
				return nil, failure.Usage("the value of %s is not JSON: %s", name, text)
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
			return nil, failure.Usage("%s is given twice", name)
		}
		fields[name] = value
	}
	return json.Marshal(fields)
}

// WithWorkspace adds the chosen workspace, unless the arguments have one.
func WithWorkspace(arguments json.RawMessage, workspace string) (json.RawMessage, error) {
	if workspace == "" || HasField(arguments, "workspace") {
		return arguments, nil
	}
	return SetField(arguments, "workspace", workspace)
}

// HasField reports whether a JSON object has a field.
func HasField(object json.RawMessage, name string) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return false
	}
	_, ok := fields[name]
	return ok
}

// SetField sets a field of a JSON object. The rest of the JSON stays unchanged.
func SetField(object json.RawMessage, name string, value any) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return object, nil //nolint:nilerr // the service refuses other JSON
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
