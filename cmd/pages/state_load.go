package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

func (c *cli) newStateLoad() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "load NAME [DIR]",
		Short: "Put a saved state back in the place of the present one",
		Long: "Put a saved state back in the place of the present one, which is gone then: at a\nterminal, load asks first where there is one. All of the snapshot is checked before\nanything changes. A load that is killed leaves the old state or the new one. It does\nnot run while pages dev does.\n\n" +
			"Exit codes: 0 loaded, 1 the snapshot is missing, damaged or none of pages', or it was\nnot confirmed; 2 wrong usage, 4 the question would not be seen, 9 the state is in use\nor the disk full. Unless it is 0, nothing has changed.",
		Example: "  pages state load before-import\n  pages state load demo --yes",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args[1:]); err != nil {
				return err
			}
			return c.withSnapshots(cmd.Context(), func(s *localstate.State, store *snapshot.Store) error {
				unlock, err := s.LockAlone()
				if err != nil {
					return err
				}
				defer unlock()
				var agree func() error
				if why := c.term.Unattended(); !yes && (why == "" || why == terminal.Unseen) { // scripts load what they saved
					agree = func() error {
						return c.term.Confirm(cmd.Context(), fmt.Sprintf("Replace all local data in %s by the snapshot %s?", c.realPath(s.Dir), args[0]))
					}
				}
				info, err := store.Load(cmd.Context(), args[0], agree)
				if err != nil {
					return err
				}
				c.printSnapshot(info, "loaded")
				return nil
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}
