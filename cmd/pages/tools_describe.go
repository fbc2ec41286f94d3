package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/client"
)

func (c *cli) newToolsDescribe() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:     "describe TOOL",
		Short:   "Describe a tool: what it does, its arguments and its result",
		Long:    "Describe a tool: what it does, its arguments and its result; with --json with both\nJSON Schemas.\n\nExit codes: 0 done, 1 there is no such tool, 2 wrong usage, 8 no answer.",
		Example: "  pages tools describe page.publish\n  pages tools describe page.publish --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tools, err := r.tools(cmd.Context())
			if err != nil {
				return err
			}
			i := slices.IndexFunc(tools, func(t client.ToolInfo) bool { return t.Name == args[0] })
			if i < 0 {
				return noTool(args[0], tools)
			}
			if r.term.JSON {
				r.term.PrintJSON(toolDoc{true, tools[i]})
				return nil
			}
			r.describe(tools[i])
			return nil
		},
	}
	r.flags(cmd)
	return cmd
}

// toolDoc is what `pages tools describe --json` prints.
type toolDoc struct {
	OK bool `json:"ok"`
	client.ToolInfo
}

func (r *remote) describe(t client.ToolInfo) {
	fmt.Fprintf(r.term.Stdout, "%s: %s%s\n\n%s\n", wording.Printable(t.Name), wording.Printable(t.Title), marks(t), wording.Printable(t.Description))
	for i, part := range []json.RawMessage{t.Arguments, t.Result} {
		var s objectSchema
		if json.Unmarshal(part, &s) != nil {
			continue
		}
		if len(s.OneOf) > 0 {
			s = s.OneOf[0]
		}
		fmt.Fprintf(r.term.Stdout, "\n%s\n", []string{"Arguments:", "Result:"}[i])
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			fmt.Fprintf(r.term.Stdout, "  %-22s %-10s %s\n", wording.Printable(name), wording.Printable(kind(p)), wording.Printable(p.note(slices.Contains(s.Required, name) && i == 0)))
		}
	}
}

// property is what is shown of an argument or a field of a result.
type property struct {
	Type        any    `json:"type"`
	Description string `json:"description"`
	Deprecated  bool   `json:"deprecated"`
	Enum        []any  `json:"enum"`
}

type objectSchema struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
	OneOf      []objectSchema      `json:"oneOf"`
}

func kind(p property) string {
	switch v := p.Type.(type) {
	case string:
		return v
	case []any:
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", "|")
	}
	return ""
}

func (p property) note(required bool) string {
	var words []string
	if required {
		words = append(words, "required")
	}
	if p.Description != "" {
		words = append(words, p.Description)
	}
	if len(p.Enum) > 0 {
		words = append(words, "one of "+strings.Trim(fmt.Sprint(p.Enum), "[]"))
	}
	return strings.Join(words, "; ")
}
