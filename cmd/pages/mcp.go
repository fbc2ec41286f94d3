package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/devagent"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bridge"
	"github.com/pages-toolchain/pages/toolapi/client"
)

func (c *cli) newMCP() *cobra.Command {
	r := c.newRemote()
	var dev, allowWrite bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let an agent call tools, over MCP on stdin and stdout",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case dev && (r.given.BaseURL != "" || r.given.KeyFile != ""):
				return failure.Usage("--dev is about pages dev on this machine: leave out --base-url and --api-key-file")
			case dev:
				return c.serveDevTools(cmd.Context(), allowWrite)
			case allowWrite:
				return failure.Usage("--allow-write needs --dev: the service decides by the key")
			}
			return c.bridgeTools(cmd.Context(), r)
		},
	}
	cmd.Flags().BoolVar(&dev, "dev", false, "give a coding agent the tools of pages dev, instead of those of the service")
	cmd.Flags().BoolVar(&allowWrite, "allow-write", false, "with --dev: let the agent change data of the local site, too")
	cmd.Flags().StringVar(&r.given.BaseURL, "base-url", "", "`URL` of the service (default: that of the link, or of pages login)")
	cmd.Flags().StringVar(&r.given.KeyFile, "api-key-file", "", "`file` that holds the API key (default: PAGES_API_KEY, or pages login)")
	return cmd
}

// bridgeTools connects an agent to the service.
func (c *cli) bridgeTools(ctx context.Context, r *remoteFlags) error {
	if r.given.KeyFile == "-" {
		return failure.Usage("--api-key-file cannot be -: the agent uses stdin")
	}
	s, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer s.Client.Close()
	err = bridge.Run(ctx, c.term.Stdin, c.term.Stdout, bridge.Options{
		Endpoint: s.Client.BaseURL() + toolapi.MCPPath, Key: s.Key(), UserAgent: "pages/" + version,
		Transport: client.NewTransport(), Warn: s.Note,
	})
	if errors.Is(err, io.ErrClosedPipe) {
		return nil // the agent has closed the connection
	}
	return err
}

// serveDevTools gives an agent the tools of pages dev. The dev server may start, end and start again meanwhile.
func (c *cli) serveDevTools(ctx context.Context, allowWrite bool) error {
	dir, err := c.sites().Find(nil)
	if err != nil {
		return err
	}
	s, err := c.states().State(dir)
	if err != nil {
		return err
	}
	return devagent.Serve(ctx, c.term.Stdin, c.term.Stdout, devagent.Options{
		Version:  version,
		Commands: devagent.Commands{Terminal: &c.term, Dir: dir, StateDir: s.Dir, Run: run},
		Server:   s.DevServer, Star: c.starrer(dir), AllowWrite: allowWrite, Grant: "pages mcp --dev --allow-write",
	})
}

// starrer returns a function that replaces the secrets of the site in dir by stars. While the manifest is broken, those of the last good
// one count.
func (c *cli) starrer(dir string) func(ctx context.Context, text string) string {
	var mu sync.Mutex
	var last *manifest.Manifest
	return func(ctx context.Context, text string) string {
		mu.Lock()
		defer mu.Unlock()
		if src, err := userfile.ReadSource(filepath.Join(dir, manifest.FileName)); err == nil {
			if m, _ := manifest.Parse(manifest.FileName, src); m != nil {
				last = m
			}
		}
		if last == nil {
			return text
		}
		secrets, err := c.sites().LocalSecrets(dir).ScanSet(ctx, last)
		if err != nil {
			return "the secrets of the site cannot be read, so that nothing is shown: " + err.Error()
		}
		return secrets.Star(text)
	}
}
