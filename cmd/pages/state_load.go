package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/migrate/snapshot"
)

func (c *cli) newStateLoad() *cobra.Command {
	return &cobra.Command{
		Use:   "load NAME [DIR]",
		Short: "Put a saved state back in the place of the present one",
		Long: "Put a saved state back in the place of the present one, which is gone then. All\nof the snapshot is checked first. A load that is killed leaves the old state or\n" +
			"the new one. It does not run while pages dev does.\n\n" +
			"Exit codes: 0 loaded, 1 the snapshot is missing, damaged or none of pages', 2\nwrong usage, 9 the state is in use or the disk full; then nothing has changed.",
		Example: "  pages state load before-import",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args[1:]); err != nil {
				return err
			}
			return c.withSnapshots(cmd.Context(), func(s *state, store *snapshot.Store) error {
				unlock, err := s.useAlone()
				if err != nil {
					return err
				}
				defer unlock()
				info, err := store.Load(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				c.printSnapshot(info, "loaded")
				return nil
			})
		},
	}
}
