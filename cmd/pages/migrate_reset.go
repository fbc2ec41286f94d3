package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (c *cli) newMigrateReset() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset [DIR]",
		Short: "Make the site's database anew: empty, with all migrations applied",
		Long: "Make the site's database anew: empty, with all migrations applied, also while\npages dev runs. The new one takes the old one's place in one transaction, once\nall files ran; the old one is kept for pages migrate undo.\n\n" +
			"Exit codes: 0 made anew, 1 a file failed, and the database is as it was, or not\nconfirmed, 2 wrong usage, 4 there is no terminal to ask on and no --yes, 9 the\ndatabase or the state folder cannot be used.",
		Example: "  pages migrate reset\n  pages migrate reset --yes\n  pages state seed",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := c.findMigrations(args)
			if err != nil {
				return err
			}
			if err := s.State.Check(); err != nil {
				return err
			}
			if !yes {
				if err := c.term.Confirm(cmd.Context(), fmt.Sprintf("Remove all data in %s and apply all migrations anew?", c.realPath(s.Path))); err != nil {
					return err
				}
			}
			return s.Reset(cmd.Context())
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}
