package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/migration"
)

func (c *cli) newMigratePlan() *cobra.Command {
	var o migration.PlanOptions
	cmd := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "Run what is pending on a copy of the database, and say what it would change",
		Long: "Run what is pending on a private copy of the database, and say what it would\nchange: the schema, the rows, how long it takes, and whether foreign keys hold.\nNothing is written.\n\n" +
			"Exit codes: 0 it would be applied, 1 refused or failed, 2 wrong usage, 9 the\ndatabase cannot be used, 10 with --exit-code when there is something to apply.",
		Example: "  pages migrate plan\n  pages migrate plan --sql\n  pages migrate plan --exit-code --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := c.findMigrations(args)
			if err != nil {
				return err
			}
			return s.Plan(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.SQL, "sql", false, "print the SQL of the files too")
	cmd.Flags().BoolVar(&o.ExitCode, "exit-code", false, "end with 10 when there is something to apply")
	cmd.Flags().BoolVar(&o.AllowOutOfOrder, "allow-out-of-order", false, "run a file that sorts before an applied one")
	return cmd
}
