package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/snapshots"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

func (c *cli) newStateList() *cobra.Command {
	return &cobra.Command{
		Use:     "list [DIR]",
		Short:   "List the snapshots",
		Long:    "List the snapshots by name, with when they were saved and how large they are.\n\nExit codes: 0 listed, 1 there is no site, 2 wrong usage, 9 the state folder cannot\nbe used.",
		Example: "  pages state list\n  pages state list --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args); err != nil {
				return err
			}
			return c.withSnapshots(cmd.Context(), func(_ *localstate.State, store *snapshot.Store) error {
				list, err := store.List()
				if err != nil {
					return err
				}
				if c.term.JSON {
					c.term.PrintJSON(snapshots.DescribeAll(list))
					return nil
				}
				c.term.PrintNone(len(list), "snapshots")
				return snapshots.WriteTable(c.term.Stdout, list)
			})
		},
	}
}
