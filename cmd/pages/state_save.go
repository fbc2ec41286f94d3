package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/snapshots"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

func (c *cli) newStateSave() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "save NAME [DIR]",
		Short: "Save the state under a name, also while pages dev runs",
		Long: "Save the state under a name, also while pages dev runs: all databases as they are\nat one moment, and the stored files that belong to them.\n\n" +
			"Exit codes: 0 saved, 1 there is a snapshot of that name, 2 wrong usage, 9 the\nstate is busy or the disk full; then there is no snapshot.",
		Example: "  pages state save before-import\n  pages state save demo --force --json",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args[1:]); err != nil {
				return err
			}
			if err := snapshot.CheckName(args[0]); err != nil {
				return snapshots.Error(err)
			}
			return c.withSnapshots(cmd.Context(), func(s *localstate.State, store *snapshot.Store) error {
				if err := s.Lock(); err != nil {
					return err
				}
				info, err := store.Save(cmd.Context(), args[0], force)
				if err != nil {
					return err
				}
				c.printSnapshot(info, "saved")
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a snapshot of that name")
	return cmd
}
