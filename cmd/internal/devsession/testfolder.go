package devsession

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/migrate/snapshot"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// This file keeps the folder of a run of `pages test`, and sweeps those of runs that
// were killed. A run holds the lock in its folder for as long as it lives.

const (
	testFolderPrefix = "pages-state-"
	testFolderLock   = "lock"
	// A folder changed so short a time ago may be in the making: its lock is not
	// there yet, or there and not yet held.
	testFolderAge = time.Minute
)

// testFolder is a temporary folder that is held.
type testFolder struct {
	path string
	lock *flock.Flock
}

// newTestFolder makes a folder, and removes those that nobody holds any more.
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

// remove gives the folder up.
func (f *testFolder) remove() error { return errors.Join(f.lock.Close(), os.RemoveAll(f.path)) }

// sweepTestFolders removes what killed runs have left in a folder of temporary files.
// What cannot be removed, as another user's, stays.
func sweepTestFolders(temp string, now time.Time) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(temp, e.Name())
		if testFolderName.MatchString(e.Name()) && e.IsDir() && !testFolderHeld(path, now) && isTestFolder(path) {
			_ = os.RemoveAll(path)
		}
	}
}

var (
	// testFolderName is what the system makes of the prefix: somebody's pages-state-backup is not ours.
	testFolderName = regexp.MustCompile("^" + testFolderPrefix + "[0-9]+$")
	testLifeName   = regexp.MustCompile("^[0-9]+$")
)

// isTestFolder reports whether all that a folder holds is what a run makes in it: the lock, and states.
func isTestFolder(path string) bool {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if e.Name() == testFolderLock {
			continue
		}
		if !e.IsDir() || e.Name() != pristine && !testLifeName.MatchString(e.Name()) {
			return false
		}
		found, err := statefolder.Look(filepath.Join(path, e.Name()))
		if err != nil || len(found.Foreign)+len(found.Links) > 0 {
			return false
		}
	}
	return err == nil
}

// testFolderHeld reports whether a run lives in a folder, as far as can be told.
func testFolderHeld(path string, now time.Time) bool {
	folder, err := os.Lstat(path)
	if err != nil || now.Sub(folder.ModTime()) < testFolderAge {
		return true
	}
	name := filepath.Join(path, testFolderLock)
	info, err := os.Lstat(name) // no link of a stranger's is followed
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

// sweepTestSnapshots removes the snapshots that killed runs have left in a state:
// each is called like the folder of its run.
func sweepTestSnapshots(store *snapshot.Store) {
	list, err := store.List()
	if err != nil {
		return // whoever needs the list will tell
	}
	for _, info := range list {
		if !testFolderName.MatchString(info.Name) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(os.TempDir(), info.Name)); errors.Is(err, fs.ErrNotExist) {
			_ = store.Remove(info.Name)
		}
	}
}
