package toolcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// Line describes a tool in one line.
func Line(t client.ToolInfo) string {
	return fmt.Sprintf("%-30s %s%s", wording.Printable(t.Name), wording.Printable(t.Title), marks(t))
}

func marks(t client.ToolInfo) string {
	var all string
	if t.TwoCalls {
		all += " (two calls)"
	}
	if t.Replays {
		all += " (key)"
	}
	return all
}

// Describe writes the description, the arguments and the result of a tool, for people.
func Describe(w io.Writer, t client.ToolInfo) {
	fmt.Fprintf(w, "%s: %s%s\n\n%s\n", wording.Printable(t.Name), wording.Printable(t.Title), marks(t), wording.Printable(t.Description))
	for i, part := range []json.RawMessage{t.Arguments, t.Result} {
		var s objectSchema
		if json.Unmarshal(part, &s) != nil {
			continue
		}
		if len(s.OneOf) > 0 {
			s = s.OneOf[0]
		}
		fmt.Fprintf(w, "\n%s\n", []string{"Arguments:", "Result:"}[i])
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			kind := ""
			switch v := p.Type.(type) {
			case string:
				kind = v
			case []any:
				kind = strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", "|")
			}
			var notes []string
			if slices.Contains(s.Required, name) && i == 0 {
				notes = append(notes, "required")
			}
			if p.Description != "" {
				notes = append(notes, p.Description)
			}
			if len(p.Enum) > 0 {
				notes = append(notes, "one of "+strings.Trim(fmt.Sprint(p.Enum), "[]"))
			}
			fmt.Fprintf(w, "  %-22s %-10s %s\n",
				wording.Printable(name), wording.Printable(kind), wording.Printable(strings.Join(notes, "; ")))
		}
	}
}

// property is the part of an argument's or result's schema that Describe shows.
type property struct {
	Type        any    `json:"type"`
	Description string `json:"description"`
	Enum        []any  `json:"enum"`
}

type objectSchema struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
	OneOf      []objectSchema      `json:"oneOf"`
}

// PrintResponse prints a response as JSON, indented.
func PrintResponse(t *terminal.Terminal, body json.RawMessage) {
	var out bytes.Buffer
	if json.Indent(&out, bytes.TrimSpace(body), "", "  ") != nil {
		out.Reset()
		out.Write(body)
	}
	out.WriteByte('\n')
	_, _ = t.Stdout.Write(wording.EscapeJSON(out.Bytes())) // fails only if stdout has no reader
}
