package main

import (
	"github.com/spf13/cobra"
)

func (c *cli) newMigrateRehearse() *cobra.Command {
	return &cobra.Command{
		Use:   "rehearse [DIR]",
		Short: "Run all migrations on an empty database, and compare its schema with the site's",
		Long: "Run all migrations, from the first on, on a private empty database, as a new\nmachine or the platform would; then compare its schema with the one of the\nsite's database, with what is pending applied to a copy. Nothing is written.\n\n" +
			"Exit codes: 0 all ran and the schemas are the same, 1 a file failed or they\ndiffer, 2 wrong usage, 9 the database cannot be used.",
		Example: "  pages migrate rehearse\n  pages migrate rehearse --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := c.findMigrations(args)
			if err != nil {
				return err
			}
			return s.Rehearse(cmd.Context())
		},
	}
}
