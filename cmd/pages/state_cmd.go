package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
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

// withSnapshots runs fn on the snapshots of the site, while no other process does. The state itself is not held.
func (c *cli) withSnapshots(ctx context.Context, fn func(*localstate.State, *snapshot.Store) error) (err error) {
	dir, err := c.find(nil)
	if err != nil {
		return err
	}
	s, err := c.states().State(dir)
	if err != nil {
		return err
	}
	if err := s.Create(); err != nil {
		return err
	}
	unlock, err := s.LockSnapshots(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	defer func() { err = errors.Join(err, s.Close()) }()
	store, err := snapshot.Open(s.Dir, snapshot.Options{Now: c.term.Now, Tool: "pages " + version})
	if err != nil {
		return s.WriteError(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return stateError(fn(s, store))
}

// stateError turns a refusal of the snapshots into what ends a command.
func stateError(err error) error {
	e, ok := errors.AsType[*snapshot.Error](err)
	if ok {
		code := failure.ExitRefused
		if e.Code == snapshot.CodeBusy || e.Code == snapshot.CodeUnusable {
			code = failure.ExitResource
		}
		return &failure.Error{Exit: code, Code: e.Code, Message: e.Msg, Fix: e.Fix, Err: err}
	}
	if _, known := errors.AsType[*failure.Error](err); known || err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return failure.Resource("state-unusable", "the state could not be read or written", "free some disk, or make the state folder one that you may write to", err)
}

// savedDoc is what `pages state save --json` and `pages state load --json` print.
type savedDoc struct {
	OK       bool        `json:"ok"`
	Snapshot snapshotDoc `json:"snapshot"`
}

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
	if c.term.JSON {
		c.term.PrintJSON(savedDoc{true, docOf(i)})
		return
	}
	c.term.Progress("%s %s: %s, %s", verb, i.Name, wording.Count(len(i.Files), "file"), wording.Size(i.Bytes()))
}
