package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/migrate"
)

func (c *cli) newMigrateRepair() *cobra.Command {
	var stated migrate.Repair
	cmd := &cobra.Command{
		Use:   "repair [DIR]",
		Short: "Record in the ledger what you state about the database, and nothing else",
		Long: "Record in the ledger what you state about the database, and nothing else: no\nmigration runs, no table changes, and nothing is guessed. All of it is recorded,\nor, when a statement does not fit what is there, nothing.\n\n" +
			"Exit codes: 0 recorded, 1 a statement does not fit, 2 nothing was stated, 9 the\ndatabase or the state folder cannot be used.",
		Example: "  pages migrate repair --accept 0002_signups.sql\n  pages migrate repair --forget 2_old.sql --record 0002_new.sql",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(stated.Accept)+len(stated.Forget)+len(stated.Record) == 0 {
				return failure.Usage("nothing is stated: give --accept, --forget or --record; pages migrate status says what is wrong")
			}
			s, err := c.findMigrations(args)
			if err != nil {
				return err
			}
			return s.Repair(cmd.Context(), stated)
		},
	}
	cmd.Flags().StringArrayVar(&stated.Accept, "accept", nil, "the database is as the edited `FILE` now says")
	cmd.Flags().StringArrayVar(&stated.Forget, "forget", nil, "what the applied `FILE` did is gone, or another file stands for it")
	cmd.Flags().StringArrayVar(&stated.Record, "record", nil, "what the new `FILE` does is there already")
	return cmd
}
