package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/publish"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/toolcall"
	"github.com/pages-toolchain/pages/toolapi/client"
)

func (c *cli) newTools() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List and describe the tools of the service",
		Args:  cobra.NoArgs,
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
		Use:   "list",
		Short: "List the tools and their purposes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tools, err := r.readTools(cmd.Context())
			return printList(c, err, toolsDoc{true, tools}, tools, toolcall.Line)
		},
	}
	r.add(cmd)
	return cmd
}

// readTools reads the description. This needs no key.
func (r *remoteFlags) readTools(ctx context.Context) ([]client.ToolInfo, error) {
	s, err := remote.New(r.options(""))
	if err != nil {
		return nil, err
	}
	return s.Tools(ctx)
}

// toolsDoc is the output of `pages tools list --json`.
type toolsDoc struct {
	OK    bool              `json:"ok"`
	Tools []client.ToolInfo `json:"tools"`
}

func (c *cli) newToolsDescribe() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "describe TOOL",
		Short: "Describe a tool: its purpose, its arguments and its result",
		Args:  cobra.ExactArgs(1),
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

// toolDoc is the output of `pages tools describe --json`.
type toolDoc struct {
	OK bool `json:"ok"`
	client.ToolInfo
}

// callFlags are the flags of `pages call`.
type callFlags struct {
	body        string // of --json BODY
	idempotency string
	proposeOnly bool
}

func (c *cli) newCall() *cobra.Command {
	r, f := c.newRemote(), &callFlags{}
	cmd := &cobra.Command{
		Use:   "call TOOL [--json BODY | KEY=VALUE…]",
		Short: "Call a tool of the service",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			return r.proposer(s, f.proposeOnly).Call(cmd.Context(), publish.CallOptions{
				Tool: args[0], Words: args[1:], Body: f.body, IdempotencyKey: f.idempotency,
			})
		},
	}
	r.add(cmd)
	cmd.Flags().Var(&jsonOrBody{c, f}, "json", "print refusals as JSON, too; with a `BODY`, send it as the arguments")
	cmd.Flags().Lookup("json").NoOptDefVal = "true"
	const keyUsage = "idempotency `key`: a repeated call with it gets the first result (default: a new one)"
	cmd.Flags().StringVar(&f.idempotency, "idempotency-key", "", keyUsage)
	addProposeOnly(cmd, &f.proposeOnly)
	return cmd
}

// jsonOrBody is the flag --json of `pages call`. Without a value it has the meaning that it has for all commands.
type jsonOrBody struct {
	c *cli
	f *callFlags
}

var _ pflag.Value = (*jsonOrBody)(nil)

// String implements pflag.Value.
func (j *jsonOrBody) String() string { return "" }

// Type implements pflag.Value.
func (j *jsonOrBody) Type() string { return "BODY" }

// Set implements pflag.Value.
func (j *jsonOrBody) Set(text string) error {
	switch text {
	case "true", "1":
		j.c.term.JSON = true
	case "false", "0":
		j.c.term.JSON = false
	default:
		j.c.term.JSON, j.f.body = true, text
	}
	return nil
}
