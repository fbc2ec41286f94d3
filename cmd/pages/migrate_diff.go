package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/migration"
)

func (c *cli) newMigrateDiff() *cobra.Command {
	var o migration.DiffOptions
	cmd := &cobra.Command{
		Use:   "diff NAME [DIR]",
		Short: "Write the migration that leads to the schema in schema.sql",
		Args:  cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			unnamed := o.Check || o.Stdout
			if len(args) == 2 || len(args) == 1 && (!unnamed || !c.isFolder(args[0])) {
				o.Name, args = args[0], args[1:]
			}
			if o.Name == "" && !unnamed {
				err := failure.Usage("the migration has no name")
				err.Fix = "name it in a word or two, such as: pages migrate diff add_email"
				return err
			}
			if o.From != "" {
				o.From = c.term.Path(o.From)
			}
			if c.term.Interactive() {
				o.Agree = c.term.Agree
				o.Ask = func(ctx context.Context, question string) (string, error) {
					fmt.Fprint(c.term.Stderr, question)
					return c.term.ReadLine(ctx)
				}
			}
			return c.withMigrations(args, func(s *migration.Site) error { return s.Diff(cmd.Context(), o) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.From, "from", "", "the `file` with the wanted schema (default: schema.sql beside the manifest)")
	flags.StringArrayVar(&o.Renames, "rename", nil, "a column or table that has a new `name`: people.mail=email, people=persons")
	flags.StringArrayVar(&o.Values, "value", nil, "value of a column in existing rows, as `SQL`: people.email=\"''\"")
	flags.StringArrayVar(&o.AllowLoss, "allow-data-loss", nil, "a `TABLE` that may lose rows or values: its statements get the comment")
	flags.BoolVar(&o.Stdout, "stdout", false, "print the SQL, and write no file")
	flags.BoolVar(&o.Check, "check", false, "write nothing, and end with 1 when there is something to write")
	return cmd
}

func (c *cli) isFolder(path string) bool {
	info, err := os.Stat(c.term.Path(path))
	return err == nil && info.IsDir()
}
