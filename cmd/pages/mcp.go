package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bridge"
	"github.com/pages-toolchain/pages/toolapi/client"
)

func (c *cli) newMCP() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let a desktop agent call the tools, over MCP on stdin and stdout",
		Long: "Let a desktop agent call the tools, over MCP on stdin and stdout. Agents start the\ncommand themselves: each message goes to the service's MCP endpoint, and its answer\ncomes back as a line. The key is that of PAGES_API_KEY, or of pages login.\n\n" +
			"What needs a person's go-ahead is only proposed: the agent shows the summary, and\nrepeats the call after the person agreed.\n\n" +
			"Exit codes: 0 the agent ended it, 1 stdin or stdout failed, 2 wrong usage, 5 there\nis no key. What the service refuses is answered to the agent.",
		Example: "  PAGES_API_KEY=pgk_… pages mcp --base-url https://workspace.example\n  claude mcp add workspace -- pages mcp --base-url http://127.0.0.1:8790",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.given.KeyFile == "-" {
				return failure.Usage("--api-key-file is -; stdin is the agent's")
			}
			ctx := cmd.Context()
			s, err := r.open(ctx)
			if err != nil {
				return err
			}
			defer s.Client.Close()
			err = bridge.Run(ctx, c.term.Stdin, c.term.Stdout, bridge.Options{
				Endpoint: s.Client.BaseURL() + toolapi.MCPPath, Key: s.Key(), UserAgent: "pages/" + version, Transport: client.NewTransport(), Warn: s.Note,
			})
			if errors.Is(err, io.ErrClosedPipe) {
				return nil // the agent is gone
			}
			return err
		},
	}
	cmd.Flags().StringVar(&r.given.BaseURL, "base-url", "", "`URL` of the service (default: that of the link, or of pages login)")
	cmd.Flags().StringVar(&r.given.KeyFile, "api-key-file", "", "`file` that holds the API key (default: PAGES_API_KEY, or pages login)")
	return cmd
}
