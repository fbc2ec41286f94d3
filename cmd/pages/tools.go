package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/toolcall"
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
			tools, err := r.readTools(cmd.Context())
			return printList(c, err, toolsDoc{true, tools}, tools, toolcall.Line)
		},
	}
	r.add(cmd)
	return cmd
}

// readTools reads the description, for which no key is needed.
func (r *remoteFlags) readTools(ctx context.Context) ([]client.ToolInfo, error) {
	s, err := remote.New(r.options(""))
	if err != nil {
		return nil, err
	}
	return s.Tools(ctx)
}

// toolsDoc is what `pages tools list --json` prints.
type toolsDoc struct {
	OK    bool              `json:"ok"`
	Tools []client.ToolInfo `json:"tools"`
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
			tools, err := r.readTools(cmd.Context())
			if err != nil {
				return err
			}
			tool, err := toolcall.Pick(tools, args[0])
			if err != nil {
				return err
			}
			if c.term.JSON {
				c.term.PrintJSON(toolDoc{true, tool})
				return nil
			}
			toolcall.Describe(c.term.Stdout, tool)
			return nil
		},
	}
	r.add(cmd)
	return cmd
}

// toolDoc is what `pages tools describe --json` prints.
type toolDoc struct {
	OK bool `json:"ok"`
	client.ToolInfo
}
