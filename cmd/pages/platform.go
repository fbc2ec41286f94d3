package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// platformPort is where `pages platform` listens when the port is free.
const platformPort = 8790

// maxRate keeps the memory of a rate window small.
const maxRate = 1_000_000

// platformFlags are the flags of `pages platform`.
type platformFlags struct {
	data      string
	port      int
	seed      string
	rateLimit int
}

func (c *cli) newPlatform() *cobra.Command {
	f := &platformFlags{}
	cmd := &cobra.Command{
		Use:   "platform",
		Short: "Run the Workspace tool API on this machine",
		Long: "Run the Workspace tool API on this machine: the same tools, answers and refusals,\non a SQLite file of its own.\n\n" +
			"The first line on stdout is \"ready URL\". With --json it is one JSON document with\nthe address, the workspaces and, with --seed demo, keys and ids to call with.\nRequests are logged on stderr, without keys and bodies.\n\n" +
			"The seed plants two workspaces in a folder that has none. Its keys are the same on\nevery machine: they are for trying, not for keeping.\n\n" +
			"Exit codes: 0 stopped by Ctrl-C, 1 the service failed, 2 wrong usage, 9 the port,\nthe data folder or its lock cannot be had, or the disk failed.",
		Annotations: map[string]string{printsLines: "yes"},
		Example:     "  pages platform --seed demo\n  pages platform --port 0 --data /srv/pages --json\n  pages platform keys create ana@acme.test --data /srv/pages",
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return untilInterrupt(cmd.Context(), c.platform(cmd.Context(), f))
		},
	}
	cmd.PersistentFlags().StringVar(&f.data, "data", "", "`folder` of the service's data (default: .pages/platform)")
	flags := cmd.Flags()
	flags.IntVar(&f.port, "port", platformPort, "`port` to listen on; without the flag the next free one if it is taken; 0 for any")
	flags.StringVar(&f.seed, "seed", "", "`seed` to plant in an empty service: demo")
	flags.IntVar(&f.rateLimit, "rate-limit", 60, "at most `n` calls a minute of keys without a cap of their own")
	cmd.AddCommand(c.newPlatformKeys(f), c.newPlatformWorkspaces(f), c.newPlatformMembers(f), c.newPlatformOpenAPI(), c.newPlatformBackup(f), c.newPlatformRestore(f), c.newPlatformMail(f))
	return cmd
}

func (f *platformFlags) check() error {
	switch {
	case f.port < 0 || f.port > 65535:
		return failure.Usage("--port is %d; ports go from 0 to 65535", f.port)
	case f.seed != "" && f.seed != "demo":
		return failure.Usage("--seed is %q; the only seed is demo", f.seed)
	case f.rateLimit < 1 || f.rateLimit > maxRate:
		return failure.Usage("--rate-limit is %d; it must be from 1 to %d", f.rateLimit, maxRate)
	}
	return nil
}

// readyLine is the first line on stdout with --json.
type readyLine struct {
	URL        string            `json:"url"`
	MCPPath    string            `json:"mcp_path"`
	Keys       map[string]string `json:"keys"`
	Workspaces []string          `json:"workspaces"`
	Demo       map[string]string `json:"demo"`
}

// plant plants the seed that was asked for, and says what there is.
func (c *cli) plant(ctx context.Context, s *service.Service, seed string) (readyLine, error) {
	ready := readyLine{Keys: map[string]string{}, Workspaces: []string{}, Demo: map[string]string{}}
	if seed != "" {
		demo, err := s.Seed(ctx)
		if _, other := errors.AsType[service.NotEmptyError](err); other {
			return ready, &failure.Error{Exit: failure.ExitRefused, Code: "not-empty", Message: "the data folder holds other data than the demo's", Fix: "give another folder with --data, or run without --seed"}
		}
		if err != nil {
			return ready, err
		}
		ready.Keys, ready.Demo = demo.Keys, demo.IDs
	}
	workspaces, err := s.Workspaces(ctx)
	for _, w := range workspaces {
		ready.Workspaces = append(ready.Workspaces, w.Slug)
	}
	return ready, err
}

// printReady says where the service is.
func (c *cli) printReady(ready readyLine) {
	if c.term.JSON {
		c.term.PrintJSONLine(ready)
		return
	}
	fmt.Fprintf(c.term.Stdout, "ready %s\n", ready.URL)
	if key := ready.Keys["member"]; key != "" {
		c.term.Progress("a key of acme's owner, to try it with: %s", key)
	}
	if len(ready.Workspaces) == 0 {
		c.term.Progress("there is no workspace yet: run pages platform workspaces create, or start with --seed demo")
	}
}
