package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

// pristine is the name of the state that every life begins with.
const pristine = "pristine"

// prepare makes the state that every life begins with.
func (t *testSite) prepare(ctx context.Context) error {
	to := filepath.Join(t.folder, pristine)
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	if !t.flags.empty {
		if err := t.copyState(ctx, to); err != nil {
			return err
		}
	}
	if !t.flags.seed {
		return nil
	}
	own := *t.run.cli
	own.siteDir, own.stateDir, own.typed = t.run.dir, to, nil
	return own.seed(ctx, "", false)
}

// copyState copies the snapshot that is asked for, or the local state as it is
// now, also beside a dev server that writes to it.
func (t *testSite) copyState(ctx context.Context, to string) error {
	c := *t.run.cli
	c.siteDir = t.run.dir
	local := c.states().Path(t.run.dir)
	if _, err := os.Stat(local); err != nil && t.flags.snapshot == "" {
		return nil // a site that never ran
	}
	return c.withSnapshots(ctx, func(s *localstate.State, store *snapshot.Store) error {
		name := t.flags.snapshot
		if name != "" {
			if err := snapshot.CheckName(name); err != nil {
				return err
			}
		}
		if name == "" {
			name = filepath.Base(t.folder)
			sweepTestSnapshots(store)
			if err := s.Lock(); err != nil {
				return err
			}
			if _, err := store.Save(ctx, name, false); err != nil {
				return err
			}
			defer func() { _ = store.Remove(name) }() // it is a copy of what is there
		}
		return loadCopy(ctx, filepath.Join(s.Dir, snapshot.Folder, name), to)
	})
}

// loadCopy makes a state of a copy of a snapshot.
func loadCopy(ctx context.Context, from, to string) (err error) {
	name := filepath.Base(from)
	if _, err := os.Stat(from); err != nil {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "no-such-snapshot", Message: fmt.Sprintf("there is no snapshot %q", name),
			Fix: "list them: pages state list",
		}
	}
	if err := os.CopyFS(filepath.Join(to, snapshot.Folder, name), os.DirFS(from)); err != nil {
		return err
	}
	store, err := snapshot.Open(to, snapshot.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(), os.RemoveAll(filepath.Join(to, snapshot.Folder))) }()
	_, err = store.Load(ctx, name, nil)
	return err
}
