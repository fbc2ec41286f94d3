package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/seed"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

func (c *cli) newStateSeed() *cobra.Command {
	var file string
	var force bool
	cmd := &cobra.Command{
		Use:   "seed [DIR]",
		Short: "Run seed.sql on the site's database, once",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args); err != nil {
				return err
			}
			return c.seed(cmd.Context(), file, force)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "`file` with the SQL (default: seed.sql beside the manifest)")
	cmd.Flags().BoolVar(&force, "force", false, "run it again")
	return cmd
}

// seed runs a file on the site's database, once; "" is seed.sql beside the manifest.
func (c *cli) seed(ctx context.Context, file string, force bool) error {
	dir, err := c.sites().Find(nil)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, seed.FileName)
	if file != "" {
		path = c.term.Path(file)
	}
	m, _ := c.sites().Load(dir) // openDatabase refuses an invalid one
	report, err := seed.Run(ctx, seed.Options{
		WorkDir: userfile.WorkDir(c.term.Dir), File: path, Force: force, Tool: tool(), Now: c.term.Now, Manifest: m,
		Open: func(ctx context.Context) (*sqlshell.Database, error) {
			return c.openDatabase(ctx, &dbFlags{}, d1.ConsoleOptions{Unbounded: true})
		},
		Applied: func(name string) {
			if !c.term.JSON {
				c.term.Progress("applied %s", name)
			}
		},
	})
	if err != nil {
		return err
	}
	switch name := filepath.Base(path); {
	case c.term.JSON:
		c.term.PrintJSON(report)
	case report.Seeded:
		statements, rows := wording.Count(report.Statements, "statement"), wording.Count(int(report.Changes), "row")
		c.term.Progress("ran %s: %s, %s written", name, statements, rows)
	default:
		c.term.Progress("%s was run before; --force runs it again", name)
	}
	return nil
}
