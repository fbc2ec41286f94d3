package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/snapshots"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

func (c *cli) newState() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Save, load, empty and seed the site's local state",
		Long: "Save, load, empty and seed the site's local state: the databases, KV, storage,\nleads, events, sessions and logs, all that is in .pages/state. Snapshots lie in\nits folder \"snapshots\". " +
			"A project database that --project-state puts elsewhere\nbelongs to several sites, and no snapshot holds it.",
		Args: cobra.NoArgs, RunE: help,
	}
	cmd.AddCommand(c.newStateSave(), c.newStateLoad(), c.newStateList(), c.newStateRemove(), c.newStateReset(), c.newStateSeed())
	return cmd
}

// withSnapshots runs fn on the snapshots of the site, while no other process does. The state itself is not locked.
func (c *cli) withSnapshots(ctx context.Context, fn func(*localstate.State, *snapshot.Store) error) error {
	dir, err := c.sites().Find(nil)
	if err != nil {
		return err
	}
	s, err := c.states().State(dir)
	if err != nil {
		return err
	}
	return snapshots.With(ctx, s, snapshot.Options{Now: c.term.Now, Tool: tool()}, fn)
}

func (c *cli) printSnapshot(i snapshot.Info, verb string) {
	if c.term.JSON {
		c.term.PrintJSON(snapshots.Saved{OK: true, Snapshot: snapshots.Describe(i)})
		return
	}
	c.term.Progress("%s %s: %s, %s", verb, i.Name, wording.Count(len(i.Files), "file"), wording.Size(i.Bytes()))
}
