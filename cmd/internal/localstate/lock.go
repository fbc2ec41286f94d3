package localstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/snapshot"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Every command that opens a database holds the state lock shared; `pages state load` and `reset`, which replace the state, hold it alone,
// and dev.lock, too. After a killed replacement, the next command finishes or drops it before it opens a database.

const (
	// LockPoll is the time between two tries for a lock.
	LockPoll     = 20 * time.Millisecond
	lockPatience = 5 * time.Second
)

// Lock holds the state for this process until Close. The folder must exist.
func (s *State) Lock() error {
	if s.held != nil {
		return nil
	}
	if err := s.Check(); err != nil {
		return err
	}
	for {
		lock := flock.New(filepath.Join(s.Dir, statefolder.StateLock))
		if err := s.wait(lock.TryRLock); err != nil {
			return errors.Join(err, lock.Close())
		}
		if !snapshot.Unsettled(os.DirFS(s.Dir)) {
			s.held = lock
			return nil
		}
		// One process finishes the replacement; the others wait for it.
		if err := errors.Join(lock.Unlock(), s.wait(lock.TryLock)); err != nil {
			return errors.Join(err, lock.Close())
		}
		if err := errors.Join(s.finishReplacement(), lock.Unlock()); err != nil {
			return err
		}
	}
}

// LockToRead is Lock for a command that must not write. If no lock can be made, as on a read-only disk, no process can replace the state
// either.
func (s *State) LockToRead() error {
	if s.held != nil {
		return nil
	}
	if err := s.Check(); err != nil {
		return err
	}
	if !userfile.IsFile(filepath.Join(s.Dir, statefolder.StateLock)) {
		if snapshot.Unsettled(os.DirFS(s.Dir)) {
			return s.Lock()
		}
		return nil
	}
	err := s.Lock()
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnlyDisk) {
		return nil
	}
	return err
}

// LockSnapshots excludes other processes that save and load.
func (s *State) LockSnapshots(ctx context.Context) (unlock func(), err error) {
	return s.lock(ctx, statefolder.SnapshotsLock)
}

// LockMigrations excludes other processes that migrate the database.
func (s *State) LockMigrations(ctx context.Context) (unlock func(), err error) {
	return s.lock(ctx, statefolder.MigrateLock)
}

// WrittenFile is the file that changes after a command migrated the database or wrote to it: a dev server watches it after a failed
// migration, and tries again. No database lies in its folder: macOS and the BSDs watch a file by opening all files beside it, and closing a
// file ends every lock that the process has on it (fcntl(2)), those of database connections too. Another process would then consider itself
// the last one, and remove the log of this process.
func (s *State) WrittenFile() string { return filepath.Join(s.Dir, statefolder.ToldFolder, "migrated") }

// NotifyWritten changes that file. It ignores a failure: the next save of a source has the same effect.
func (s *State) NotifyWritten() { _ = os.WriteFile(s.WrittenFile(), []byte("migrated\n"), 0o600) }

// lock waits until no other process holds a lock of the folder, or ctx ends.
func (s *State) lock(ctx context.Context, name string) (unlock func(), err error) {
	lock := flock.New(filepath.Join(s.Dir, name))
	if _, err := lock.TryLockContext(ctx, LockPoll); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, s.WriteError(err)
	}
	return func() { _ = lock.Unlock() }, nil // ends with the process in any case
}

// wait tries for a lock that others hold only for a moment.
func (s *State) wait(try func() (bool, error)) error {
	ticker := time.NewTicker(LockPoll)
	defer ticker.Stop()
	for left := lockPatience; left > 0; left -= LockPoll {
		ok, err := try()
		if err != nil {
			return s.WriteError(err)
		}
		if ok {
			return nil
		}
		<-ticker.C
	}
	return failure.Resource("state-in-use", "another command uses the state folder "+wording.QuotePath(s.Dir),
		"run this again afterwards", nil)
}

// finishReplacement completes an interrupted load or reset.
func (s *State) finishReplacement() (err error) {
	store, err := snapshot.Open(s.Dir, snapshot.Options{})
	if err != nil {
		return s.WriteError(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Settle(); err != nil {
		return failure.Resource(
			"state-unusable",
			fmt.Sprintf("the state folder %s has an interrupted change that cannot be completed", wording.QuotePath(s.Dir)),
			"free some disk space, or make it writable, then run this again", err,
		)
	}
	return nil
}

// Unlock releases the locks of Lock and LockToRead.
func (s *State) Unlock() error {
	if s.held == nil {
		return nil
	}
	lock := s.held
	s.held = nil
	return lock.Unlock()
}

// lockHeld reports whether a process holds a lock. It takes the lock for a moment to find out.
func lockHeld(path string) bool {
	if !userfile.IsFile(path) {
		return false
	}
	lock := flock.New(path)
	got, err := lock.TryRLock() // other processes may check at the same time
	if !got || err != nil {
		return true
	}
	_ = lock.Unlock() // ends with the process in any case
	return false
}

// LockAlone locks the state exclusively, so that it can be replaced.
func (s *State) LockAlone() (unlock func(), err error) {
	if !s.marked { // the names of its files equal those of a state by chance
		return nil, failure.Resource("state-foreign",
			wording.QuotePath(statefolder.Real(s.Dir))+" may not be a state folder: its files have the names of a state, but "+
				"pages has never run on it",
			"pass the state folder with --state-dir; if this is one, run pages dev on it once", nil)
	}
	unlockDev, err := s.LockDev()
	if err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(s.Dir, statefolder.StateLock))
	if err := s.wait(lock.TryLock); err != nil {
		unlockDev()
		return nil, err
	}
	return func() {
		_ = lock.Unlock() // ends with the process in any case
		unlockDev()
	}, nil
}
