package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/manifest"
)

func (c *cli) newTest() *cobra.Command {
	var o devsession.TestOptions
	o.LiveReload = string(devserver.Off)
	f := &devFlags{Options: &o.Options}
	var seed bool
	cmd := &cobra.Command{
		Use:   "test [DIR] [flags] -- COMMAND [ARG]...",
		Short: "Run a command against the site, on its own port and state",
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n == 1 && c.isSite(args[0]) {
				if err := c.siteArgument(args[:1]); err != nil {
					return err
				}
				args = args[1:]
			}
			if len(args) == 0 {
				return failure.Usage("which command? pages test -- COMMAND")
			}
			if o.Empty && o.Snapshot != "" {
				return failure.Usage("--empty and --snapshot exclude each other")
			}
			if err := f.check(); err != nil {
				return err
			}
			c.edgeRules = f.edgeRules
			dir, m, err := c.sites().LoadSite(nil)
			if err != nil {
				return err
			}
			if err := f.chooseEngine(cmd.Context(), c, dir); err != nil {
				return err
			}
			if seed {
				o.Seed = c.seeder(dir)
			}
			return devsession.Test(cmd.Context(), c.process(), dir, m, args, o)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Port, "port", 0, "`port` to listen on (default: any free one)")
	flags.BoolVar(&o.Empty, "empty", false, "begin with an empty state")
	flags.StringVar(&o.Snapshot, "snapshot", "", "begin with the snapshot of this `name`, see pages state save")
	flags.BoolVar(&seed, "seed", false, "run seed.sql after the migrations")
	f.addRules(flags)
	return cmd
}

// isSite reports whether an argument names a site, not a program.
func (c *cli) isSite(arg string) bool {
	info, err := os.Stat(c.term.Path(arg))
	return err == nil && (info.IsDir() || filepath.Base(arg) == manifest.FileName)
}

// seeder returns a function that runs seed.sql on a state of the site in dir.
func (c *cli) seeder(dir string) func(context.Context, terminal.Terminal, string) error {
	return func(ctx context.Context, t terminal.Terminal, state string) error {
		own := *c
		own.term, own.siteDir, own.stateDir, own.typed = t, dir, state, nil
		return own.seed(ctx, "", false)
	}
}
