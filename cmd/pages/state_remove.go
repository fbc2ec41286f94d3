package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/snapshots"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

func (c *cli) newStateRemove() *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME [DIR]",
		Short:   "Remove a snapshot",
		Long:    "Remove a snapshot. The state itself stays as it is.\n\nExit codes: 0 removed, 1 there is none of this name, 2 wrong usage, 9 the state\nfolder cannot be used.",
		Example: "  pages state remove before-import",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args[1:]); err != nil {
				return err
			}
			return c.withSnapshots(cmd.Context(), func(_ *localstate.State, store *snapshot.Store) error {
				if err := store.Remove(args[0]); err != nil {
					return err
				}
				if c.term.JSON {
					c.term.PrintJSON(snapshots.Removed{OK: true, Removed: args[0]})
					return nil
				}
				c.term.Progress("removed the snapshot %s", args[0])
				return nil
			})
		},
	}
}
