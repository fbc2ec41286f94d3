package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

func (c *cli) newTools() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List and describe the tools of the service",
		Long: "List and describe the tools of the service, from its own interface description.\n\n" +
			"Exit codes: 0 done, 1 there is no such tool, 2 wrong usage, 8 no answer.",
		Example: "  pages tools list\n  pages tools describe page.publish\n  pages tools describe content.status --json | jq .arguments",
		Args:    cobra.NoArgs,
	}
	list, describe := c.newToolsList(), c.newToolsDescribe()
	cmd.RunE = list.RunE
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, describe)
	return cmd
}

func (c *cli) newToolsList() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tools, with what each does",
		Long:    "List the tools, with what each does: (two calls) marks those that a person confirms,\n(key) those that take an idempotency key.\n\nExit codes: 0 done, 2 wrong usage, 8 no answer.",
		Example: "  pages tools list\n  pages tools list --json | jq -r '.tools[].name'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tools, err := r.tools(cmd.Context())
			if err != nil {
				return err
			}
			if r.json {
				r.printJSON(toolsDoc{true, tools})
				return nil
			}
			for _, t := range tools {
				fmt.Fprintf(r.stdout, "%-30s %s%s\n", printable(t.Name), printable(t.Title), marks(t))
			}
			return nil
		},
	}
	r.flags(cmd)
	return cmd
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

// tools reads the description, for which no key is needed.
func (r *remote) tools(ctx context.Context) ([]client.ToolInfo, error) {
	r.dir, _ = r.find(nil) // without a site there is no link
	if err := r.readLink(); err != nil {
		return nil, err
	}
	base, _, err := r.address(r.credentials())
	if err != nil {
		return nil, err
	}
	r.client, err = client.New(client.Options{BaseURL: base, UserAgent: "pages/" + version})
	if err != nil {
		return nil, remoteError(err)
	}
	tools, err := r.client.Tools(ctx)
	return tools, remoteError(err)
}

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
				return &failure{code: exitRefused, id: "no-such-tool", msg: fmt.Sprintf("the service has no tool %q", args[0]), fix: "pages tools list"}
			}
			if r.json {
				r.printJSON(toolDoc{true, tools[i]})
				return nil
			}
			r.describe(tools[i])
			return nil
		},
	}
	r.flags(cmd)
	return cmd
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

func (r *remote) describe(t client.ToolInfo) {
	fmt.Fprintf(r.stdout, "%s: %s%s\n\n%s\n", printable(t.Name), printable(t.Title), marks(t), printable(t.Description))
	for i, part := range []json.RawMessage{t.Arguments, t.Result} {
		var s objectSchema
		if json.Unmarshal(part, &s) != nil {
			continue
		}
		if len(s.OneOf) > 0 {
			s = s.OneOf[0]
		}
		fmt.Fprintf(r.stdout, "\n%s\n", []string{"Arguments:", "Result:"}[i])
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			fmt.Fprintf(r.stdout, "  %-22s %-10s %s\n", printable(name), kind(p), printable(p.note(slices.Contains(s.Required, name) && i == 0)))
		}
	}
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

// toolsDoc is what `pages tools list --json` prints.
type toolsDoc struct {
	OK    bool              `json:"ok"`
	Tools []client.ToolInfo `json:"tools"`
}

// toolDoc is what `pages tools describe --json` prints.
type toolDoc struct {
	OK bool `json:"ok"`
	client.ToolInfo
}

func toolNames() (names []string) {
	for _, t := range toolapi.NewContract().Tools() {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}
