package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

func (c *cli) newMigrateUndo() *cobra.Command {
	var list, redo bool
	cmd := &cobra.Command{
		Use:   "undo [DIR]",
		Short: "Put the database back as it was before the newest run",
		Long: "Put the site's database back as it was before the newest pages migrate, pages\nmigrate reset or run of pages dev that applied something; the last ten are kept.\nRows that were written since go too: --redo brings back what an undo replaced.\nIt is one transaction, also while pages dev runs.\n\n" +
			"Exit codes: 0 put back, 1 there is nothing to undo, 2 wrong usage, 9 the\ndatabase or the state folder cannot be used.",
		Example: "  pages migrate undo\n  pages migrate undo --redo\n  pages migrate undo --list",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if list && redo {
				return failure.Usage("--list and --redo ask for two things")
			}
			s, err := c.findMigrations(args)
			if err != nil {
				return err
			}
			if list {
				return s.ListCopies(cmd.Context())
			}
			return s.Undo(cmd.Context(), redo)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the copies there are, the newest first")
	cmd.Flags().BoolVar(&redo, "redo", false, "bring back what the last undo replaced")
	return cmd
}
