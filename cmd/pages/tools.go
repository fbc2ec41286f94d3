package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
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
			if r.term.JSON {
				r.term.PrintJSON(toolsDoc{true, tools})
				return nil
			}
			for _, t := range tools {
				fmt.Fprintf(r.term.Stdout, "%-30s %s%s\n", wording.Printable(t.Name), wording.Printable(t.Title), marks(t))
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
	base, named, err := r.address(r.credentials())
	if err != nil {
		return nil, err
	}
	if !named {
		return nil, r.notNamed("the tools are asked for", base)
	}
	if err := r.dial(base, ""); err != nil {
		return nil, err
	}
	tools, err := r.client.Tools(ctx)
	return tools, remoteError(err)
}

// toolsDoc is what `pages tools list --json` prints.
type toolsDoc struct {
	OK    bool              `json:"ok"`
	Tools []client.ToolInfo `json:"tools"`
}

func toolNames() (names []string) {
	for _, t := range toolapi.NewContract().Tools() {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}
