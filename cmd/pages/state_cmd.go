package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

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

func (c *cli) newStateSave() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "save NAME",
		Short: "Save the state under a name, also while pages dev runs",
		Long: "Save the state under a name, also while pages dev runs: all databases as they are\nat one moment, and the stored files that belong to them.\n\n" +
			"Exit codes: 0 saved, 1 there is a snapshot of that name, 2 wrong usage, 9 the\nstate is busy or the disk full; then there is no snapshot.",
		Example: "  pages state save before-import\n  pages state save demo --force --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := snapshot.CheckName(args[0]); err != nil {
				return stateError(err)
			}
			return c.withSnapshots(cmd.Context(), func(s *state, store *snapshot.Store) error {
				if err := s.use(); err != nil {
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

func (c *cli) newStateLoad() *cobra.Command {
	return &cobra.Command{
		Use:   "load NAME",
		Short: "Put a saved state back in the place of the present one",
		Long: "Put a saved state back in the place of the present one, which is gone then. All\nof the snapshot is checked first. A load that is killed leaves the old state or\n" +
			"the new one. It does not run while pages dev does.\n\n" +
			"Exit codes: 0 loaded, 1 the snapshot is missing, damaged or none of pages', 2\nwrong usage, 9 the state is in use or the disk full; then nothing has changed.",
		Example: "  pages state load before-import",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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

func (c *cli) newStateList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the snapshots",
		Long:    "List the snapshots by name, with when they were saved and how large they are.\n\nExit codes: 0 listed, 1 there is no site, 2 wrong usage, 9 the state folder cannot\nbe used.",
		Example: "  pages state list\n  pages state list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withSnapshots(cmd.Context(), func(_ *state, store *snapshot.Store) error {
				list, err := store.List()
				if err != nil {
					return err
				}
				return c.printSnapshots(list)
			})
		},
	}
}

func (c *cli) newStateRemove() *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "Remove a snapshot",
		Long:    "Remove a snapshot. The state itself stays as it is.\n\nExit codes: 0 removed, 1 there is none of this name, 2 wrong usage, 9 the state\nfolder cannot be used.",
		Example: "  pages state remove before-import",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSnapshots(cmd.Context(), func(_ *state, store *snapshot.Store) error {
				if err := store.Remove(args[0]); err != nil {
					return err
				}
				if c.json {
					c.printJSON(removedDoc{true, args[0]})
					return nil
				}
				c.progress("removed the snapshot %s", args[0])
				return nil
			})
		},
	}
}

// withSnapshots runs fn on the snapshots of the site, while no other process does. The state itself is not held.
func (c *cli) withSnapshots(ctx context.Context, fn func(*state, *snapshot.Store) error) (err error) {
	dir, err := c.find(nil)
	if err != nil {
		return err
	}
	s := &state{dir: c.statePath(dir)}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return s.unusable(err)
	}
	if err := s.ignore(); err != nil {
		return s.unusable(err)
	}
	unlock, err := s.lockSnapshots(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	defer func() { err = errors.Join(err, s.Close()) }()
	store, err := snapshot.Open(s.dir, snapshot.Options{Keep: keptFiles(), Omit: []string{storageDir + "/incoming", uploadsDir + "/incoming"}, Now: c.now, Tool: "pages " + version})
	if err != nil {
		return s.unusable(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return stateError(fn(s, store))
}

// stateError turns a refusal of the snapshots into what ends a command.
func stateError(err error) error {
	e, ok := errors.AsType[*snapshot.Error](err)
	if ok {
		code := exitRefused
		if e.Code == snapshot.CodeBusy || e.Code == snapshot.CodeUnusable {
			code = exitResource
		}
		return &failure{code: code, id: e.Code, msg: e.Msg, fix: e.Fix, err: err}
	}
	if _, known := errors.AsType[*failure](err); known || err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return resourceError("state-unusable", "the state could not be read or written", "free some disk, or make the state folder one that you may write to", err)
}

// savedDoc is what `pages state save` and `load` print with --json, snapshotsDoc what
// `list` does, and removedDoc what `remove` does.
type (
	savedDoc struct {
		OK       bool        `json:"ok"`
		Snapshot snapshotDoc `json:"snapshot"`
	}
	snapshotsDoc struct {
		OK        bool          `json:"ok"`
		Snapshots []snapshotDoc `json:"snapshots"`
	}
	removedDoc struct {
		OK      bool   `json:"ok"`
		Removed string `json:"removed"`
	}
)

// snapshotDoc is one snapshot in JSON.
type snapshotDoc struct {
	Name      string     `json:"name"`
	CreatedAt *time.Time `json:"created_at,omitempty"`
	Tool      string     `json:"tool,omitempty"`
	Files     int        `json:"files"`
	Bytes     int64      `json:"bytes"`
	Damage    string     `json:"damage,omitempty"`
}

func docOf(i snapshot.Info) snapshotDoc {
	d := snapshotDoc{Name: i.Name, Tool: i.Tool, Files: len(i.Files), Bytes: i.Bytes(), Damage: i.Damage}
	if i.Damage == "" {
		d.CreatedAt = &i.CreatedAt
	}
	return d
}

func (c *cli) printSnapshot(i snapshot.Info, verb string) {
	if c.json {
		c.printJSON(savedDoc{true, docOf(i)})
		return
	}
	c.progress("%s %s: %s, %s", verb, i.Name, count(len(i.Files), "file"), size(i.Bytes()))
}

func (c *cli) printSnapshots(list []snapshot.Info) error {
	if c.json {
		docs := []snapshotDoc{}
		for _, i := range list {
			docs = append(docs, docOf(i))
		}
		c.printJSON(snapshotsDoc{true, docs})
		return nil
	}
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, i := range list {
		if i.Damage != "" {
			fmt.Fprintf(table, "%s\t%s\n", i.Name, i.Damage)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", i.Name, i.CreatedAt.Local().Format("2006-01-02 15:04:05"), count(len(i.Files), "file"), size(i.Bytes()))
	}
	c.none(len(list), "snapshots")
	return table.Flush()
}
