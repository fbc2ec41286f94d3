package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/snapshots"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

func (c *cli) newStateReset() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset [DIR]",
		Short: "Empty the state; snapshots stay",
		Long: "Empty the state; snapshots stay. The next pages dev or migrate begins with new\ndatabases and applies all migrations. It does not run while pages dev does.\n\n" +
			"Exit codes: 0 emptied, 1 not confirmed, 2 wrong usage, 4 there is no terminal to\nask on and no --yes, 9 the state is in use or cannot be written.",
		Example: "  pages state reset\n  pages state reset --yes\n  pages state seed",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args); err != nil {
				return err
			}
			return c.withSnapshots(cmd.Context(), func(s *localstate.State, store *snapshot.Store) error {
				unlock, err := s.LockAlone()
				if err != nil {
					return err
				}
				defer unlock()
				if !yes {
					if err := c.term.Confirm(cmd.Context(), fmt.Sprintf("Remove all local data in %s?", c.realPath(s.Dir))); err != nil {
						return err
					}
				}
				gone, err := store.Reset()
				if err != nil {
					return err
				}
				if c.term.JSON {
					c.term.PrintJSON(snapshots.Emptied{OK: true, Removed: append([]string{}, gone...)})
					return nil
				}
				c.term.Progress("removed %s", strings.Join(append(gone, "nothing")[:max(len(gone), 1)], ", "))
				return nil
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}
