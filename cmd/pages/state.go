package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/snapshots"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

func (c *cli) newState() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Save, load, empty and seed the site's local state",
		Args:  cobra.NoArgs, RunE: help,
	}
	cmd.AddCommand(c.newStateSave(), c.newStateLoad(), c.newStateList(), c.newStateRemove(), c.newStateReset(), c.newStateSeed())
	return cmd
}

// withSnapshots runs do on the state and the snapshots of the site, whose folder args may name, and excludes other processes that work on
// the snapshots. It does not lock the state itself.
func (c *cli) withSnapshots(ctx context.Context, args []string, do func(*localstate.State, *snapshot.Store) error) error {
	if err := c.siteArgument(args); err != nil {
		return err
	}
	dir, err := c.sites().Find(nil)
	if err != nil {
		return err
	}
	s, err := c.states().State(dir)
	if err != nil {
		return err
	}
	return snapshots.With(ctx, s, snapshot.Options{Now: c.term.Now, Tool: tool()}, do)
}

func (c *cli) printSnapshot(i snapshot.Info, verb string) error {
	return c.report(
		snapshots.Saved{OK: true, Snapshot: snapshots.Describe(i)},
		"%s %s: %s, %s", verb, i.Name, wording.Count(len(i.Files), "file"), wording.Size(i.Bytes()),
	)
}

func (c *cli) newStateSave() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "save NAME [DIR]",
		Short: "Save the state under a name, even while pages dev runs",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args[1:]); err != nil {
				return err
			}
			if err := snapshot.CheckName(args[0]); err != nil {
				return snapshots.Error(err)
			}
			return c.withSnapshots(cmd.Context(), nil, func(s *localstate.State, store *snapshot.Store) error {
				if err := s.Lock(); err != nil {
					return err
				}
				info, err := store.Save(cmd.Context(), args[0], force)
				if err != nil {
					return err
				}
				return c.printSnapshot(info, "saved")
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a snapshot of that name")
	return cmd
}

func (c *cli) newStateLoad() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "load NAME [DIR]",
		Short: "Replace the present state by a snapshot",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSnapshots(cmd.Context(), args[1:], func(s *localstate.State, store *snapshot.Store) error {
				unlock, err := s.LockAlone()
				if err != nil {
					return err
				}
				defer unlock()
				var agree func() error
				if why := c.term.Unattended(); !yes && (why == "" || why == terminal.Unseen) { // scripts load without a prompt
					question := fmt.Sprintf("Replace all local data in %s with the snapshot %s?", c.realPath(s.Dir), args[0])
					agree = func() error { return c.term.Confirm(cmd.Context(), question) }
				}
				info, err := store.Load(cmd.Context(), args[0], agree)
				if err != nil {
					return err
				}
				return c.printSnapshot(info, "loaded")
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (c *cli) newStateList() *cobra.Command {
	return &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the snapshots",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSnapshots(cmd.Context(), args, func(_ *localstate.State, store *snapshot.Store) error {
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

func (c *cli) newStateRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME [DIR]",
		Short: "Remove a snapshot",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSnapshots(cmd.Context(), args[1:], func(_ *localstate.State, store *snapshot.Store) error {
				if err := store.Remove(args[0]); err != nil {
					return err
				}
				return c.report(snapshots.Removed{OK: true, Removed: args[0]}, "removed the snapshot %s", args[0])
			})
		},
	}
}

func (c *cli) newStateReset() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset [DIR]",
		Short: "Empty the state; snapshots stay",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSnapshots(cmd.Context(), args, func(s *localstate.State, store *snapshot.Store) error {
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
				removed := cmp.Or(strings.Join(gone, ", "), "nothing")
				return c.report(snapshots.Emptied{OK: true, Removed: append([]string{}, gone...)}, "removed %s", removed)
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}
