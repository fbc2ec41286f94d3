package devsession

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/snapshots"
	"github.com/pages-toolchain/pages/migrate/snapshot"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// pristine is the name of the state from which every instance starts.
const pristine = "pristine"

// prepare makes the state from which every instance starts.
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

// copyState copies the requested snapshot, or the current local state, even while a dev server writes to it.
func (t *testSite) copyState(ctx context.Context, to string) error {
	p := t.run.process
	if _, err := os.Stat(p.States.Path(t.run.dir)); err != nil && t.options.Snapshot == "" {
		return nil // the site never ran
	}
	local, err := p.States.State(t.run.dir)
	if err != nil {
		return err
	}
	return snapshots.With(ctx, local, snapshot.Options{Now: p.Terminal.Now, Tool: p.Tool},
		func(s *localstate.State, store *snapshot.Store) error {
			name := t.options.Snapshot
			if name == "" {
				name = filepath.Base(t.folder)
				sweepTestSnapshots(store)
				if err := s.Lock(); err != nil {
					return err
				}
				if _, err := store.Save(ctx, name, false); err != nil {
					return err
				}
				defer func() { _ = store.Remove(name) }() // a copy
			} else if err := snapshot.CheckName(name); err != nil {
				return err
			}
			return loadCopy(ctx, filepath.Join(s.Dir, snapshot.Folder, name), to)
		})
}

// loadCopy makes a state from a copy of a snapshot.
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

// Each run of `pages test` has a temporary folder and holds the lock in it. It sweeps the folders of runs that were
// killed.
const (
	testFolderPrefix = "pages-state-"
	testFolderLock   = "lock"
	// A folder younger than testFolderAge may be new, with its lock not taken yet.
	testFolderAge = time.Minute
)

// testFolder is a temporary folder and its lock.
type testFolder struct {
	path string
	lock *flock.Flock
}

// newTestFolder makes a folder, and removes folders of runs that have ended.
func newTestFolder(now time.Time) (*testFolder, error) {
	sweepTestFolders(os.TempDir(), now)
	path, err := os.MkdirTemp("", testFolderPrefix+"*")
	if err != nil {
		return nil, err
	}
	f := &testFolder{path: path, lock: flock.New(filepath.Join(path, testFolderLock))}
	if held, err := f.lock.TryLock(); err != nil || !held {
		return nil, errors.Join(fmt.Errorf("hold the temporary folder %s", path), err, f.remove())
	}
	return f, nil
}

func (f *testFolder) remove() error { return errors.Join(f.lock.Close(), os.RemoveAll(f.path)) }

// sweepTestFolders removes the folders of killed runs from a folder of temporary files. Those that it cannot remove, such as another
// user's, stay.
func sweepTestFolders(temp string, now time.Time) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(temp, e.Name())
		if testFolderName().MatchString(e.Name()) && e.IsDir() && !testFolderHeld(path, now) && isTestFolder(path) {
			_ = os.RemoveAll(path)
		}
	}
}

var (
	// testFolderName matches names that os.MkdirTemp makes, not other names such as a user's pages-state-backup.
	testFolderName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^" + testFolderPrefix + "[0-9]+$") })
	testInstanceName = regexp.MustCompile("^[0-9]+$")
)

// isTestFolder reports whether a folder holds only the files of a test run: the lock, and states.
func isTestFolder(path string) bool {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if e.Name() == testFolderLock {
			continue
		}
		if !e.IsDir() || e.Name() != pristine && !testInstanceName.MatchString(e.Name()) {
			return false
		}
		found, err := statefolder.Look(filepath.Join(path, e.Name()))
		if err != nil || len(found.Foreign)+len(found.Links) > 0 {
			return false
		}
	}
	return err == nil
}

// testFolderHeld reports whether a run uses a folder, or may use it.
func testFolderHeld(path string, now time.Time) bool {
	folder, err := os.Lstat(path)
	if err != nil || now.Sub(folder.ModTime()) < testFolderAge {
		return true
	}
	name := filepath.Join(path, testFolderLock)
	info, err := os.Lstat(name) // it may be another user's link
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil || !info.Mode().IsRegular() {
		return true
	}
	lock := flock.New(name)
	free, err := lock.TryLock()
	return errors.Join(err, lock.Close()) != nil || !free
}

// sweepTestSnapshots removes the snapshots that killed runs left in a state: each has the name of its run's folder.
func sweepTestSnapshots(store *snapshot.Store) {
	list, err := store.List()
	if err != nil {
		return // the next use of the store reports it
	}
	for _, info := range list {
		if !testFolderName().MatchString(info.Name) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(os.TempDir(), info.Name)); errors.Is(err, fs.ErrNotExist) {
			_ = store.Remove(info.Name)
		}
	}
}
