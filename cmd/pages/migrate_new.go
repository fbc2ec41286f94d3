package main

import (
	"github.com/spf13/cobra"
)

func (c *cli) newMigrateNew() *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME [DIR]",
		Short: "Create an empty migration that goes on with the folder's numbers",
		Long: "Create an empty migration that goes on with the folder's numbers, in their width,\nor with times where the folder has those, and print its path. pages dev leaves it\nalone until it has a statement.\n\n" +
			"Exit codes: 0 created, 1 no name would sort behind the others, 2 wrong usage, 9\nthe folder cannot be written.",
		Example: "  pages migrate new add_tags\n  $EDITOR \"$(pages migrate new 'add tags')\"",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := c.findMigrations(args[1:])
			if err != nil {
				return err
			}
			return s.Create(args[0])
		},
	}
}
