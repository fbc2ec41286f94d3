package devsession

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/snapshots"
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
	if !t.options.Empty {
		if err := t.copyState(ctx, to); err != nil {
			return err
		}
	}
	if t.options.Seed == nil {
		return nil
	}
	return t.options.Seed(ctx, *t.run.process.Terminal, to)
}

// copyState copies the snapshot that is asked for, or the local state as it is
// now, also beside a dev server that writes to it.
func (t *testSite) copyState(ctx context.Context, to string) error {
	p := t.run.process
	if _, err := os.Stat(p.States.Path(t.run.dir)); err != nil && t.options.Snapshot == "" {
		return nil // a site that never ran
	}
	local, err := p.States.State(t.run.dir)
	if err != nil {
		return err
	}
	return snapshots.With(ctx, local, snapshot.Options{Now: p.Terminal.Now, Tool: p.Tool},
		func(s *localstate.State, store *snapshot.Store) error {
			name := t.options.Snapshot
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
