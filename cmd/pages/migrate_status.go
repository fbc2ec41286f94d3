package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/migration"
)

func (c *cli) newMigrateStatus() *cobra.Command {
	var o migration.StatusOptions
	cmd := &cobra.Command{
		Use:   "status [DIR]",
		Short: "Say which migrations are applied, pending, edited, missing or out of order",
		Long: "Say which migrations are applied, pending, edited, missing or out of order, and\nwrite nothing.\n\n" +
			"Exit codes: 0 told, 1 the manifest was refused, 2 wrong usage, 9 the database cannot\nbe used; with --exit-code also 10 when migrations are pending and 1 when pages\nmigrate would refuse them.",
		Example: "  pages migrate status\n  pages migrate status --exit-code --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := c.findMigrations(args)
			if err != nil {
				return err
			}
			return s.Status(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.ExitCode, "exit-code", false, "end with 10 when migrations are pending")
	cmd.Flags().BoolVar(&o.AllowOutOfOrder, "allow-out-of-order", false, "count a file that sorts before an applied one as pending")
	return cmd
}
