package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

func (c *cli) newMigrateSquash() *cobra.Command {
	var upTo string
	cmd := &cobra.Command{
		Use:   "squash --up-to FILE [DIR]",
		Short: "Make one migration of all up to a file",
		Long: "Make one migration of all up to a file: what those leave of an empty database,\ntables and rows. It is tried before anything is written, and the files it stands\nfor are removed then. A database that has applied all of those takes it as\n" +
			"applied, one that has none of them runs it.\n\nRows are written as they came out here: what the files took from the clock or at\nrandom is fixed from then on.\n\n" +
			"Exit codes: 0 squashed, 1 refused, 2 wrong usage, 9 the folder cannot be\nwritten.",
		Example: "  pages migrate squash --up-to 0042_orders.sql",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if upTo == "" {
				return failure.Usage("--up-to names no migration")
			}
			s, err := c.findMigrations(args)
			if err != nil {
				return err
			}
			return s.Squash(cmd.Context(), upTo)
		},
	}
	cmd.Flags().StringVar(&upTo, "up-to", "", "the last `FILE` that the new one stands for")
	return cmd
}
