package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/migrate/snapshot"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// This file keeps those who use the state apart from those who replace it. Every
// command that opens a database holds the state lock shared; `pages state load`
// and `reset` hold it alone, and dev.lock besides. A replacement that was killed
// is finished, or forgotten, by whoever comes next, before a database is opened.

const (
	stateLock     = statefolder.StateLock
	snapshotsLock = statefolder.SnapshotsLock
	migrateLock   = statefolder.MigrateLock

	lockPoll     = 20 * time.Millisecond
	lockPatience = 5 * time.Second
)

// use holds the state for this process until Close. The folder must exist.
func (s *state) use() error {
	if s.held != nil {
		return nil
	}
	if err := s.judge(); err != nil {
		return err
	}
	for {
		lock := flock.New(filepath.Join(s.dir, stateLock))
		if err := s.wait(lock.TryRLock); err != nil {
			return errors.Join(err, lock.Close())
		}
		if !snapshot.Unsettled(os.DirFS(s.dir)) {
			s.held = lock
			return nil
		}
		// Only one may settle; the others wait, and then see that it is done.
		if err := errors.Join(lock.Unlock(), s.wait(lock.TryLock)); err != nil {
			return errors.Join(err, lock.Close())
		}
		if err := errors.Join(s.settle(), lock.Unlock()); err != nil {
			return err
		}
	}
}

// useToRead is use for a command that must not write: where there is no lock to
// be had, as on a disk that is read-only, nobody replaces the state either.
func (s *state) useToRead() error {
	if s.held != nil {
		return nil
	}
	if err := s.judge(); err != nil {
		return err
	}
	if !isFile(filepath.Join(s.dir, stateLock)) {
		if snapshot.Unsettled(os.DirFS(s.dir)) {
			return s.use()
		}
		return nil
	}
	err := s.use()
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnlyDisk) {
		return nil
	}
	return err
}

// useAlone holds the state so that it can be replaced: nobody else has it open.
func (s *state) useAlone() (unlock func(), err error) {
	if err := s.replaceable(); err != nil {
		return nil, err
	}
	undev, err := s.lockDev()
	if err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(s.dir, stateLock))
	if err := s.wait(lock.TryLock); err != nil {
		undev()
		return nil, err
	}
	return func() {
		_ = lock.Unlock() // ends with the process in any case
		undev()
	}, nil
}

// lockSnapshots keeps processes that save and load apart.
func (s *state) lockSnapshots(ctx context.Context) (unlock func(), err error) {
	return s.lock(ctx, snapshotsLock)
}

// lockMigrations keeps processes that migrate one database apart.
func (s *state) lockMigrations(ctx context.Context) (unlock func(), err error) {
	return s.lock(ctx, migrateLock)
}

// writtenTold is the file that changes when a command migrated the database or wrote to it: a dev
// server that a migration stopped tries again. No database lies in its folder: macOS and the BSDs watch a file by
// opening all that lies beside it, and to close a file again ends every lock that the process has on
// it (fcntl(2)), those of its databases' connections too. Another process would then take itself for
// the last one, and remove the log that this one goes on writing to.
func (s *state) writtenTold() string { return filepath.Join(s.dir, toldDir, "migrated") }

// tellWritten changes that file, which nobody holds. Where it cannot, the next save has the same effect.
func (s *state) tellWritten() { _ = os.WriteFile(s.writtenTold(), []byte("migrated\n"), 0o600) }

// lock waits until nobody else holds a lock of the folder, or ctx ends.
func (s *state) lock(ctx context.Context, name string) (unlock func(), err error) {
	lock := flock.New(filepath.Join(s.dir, name))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, s.unusable(err)
	}
	return func() { _ = lock.Unlock() }, nil // ends with the process in any case
}

// wait tries for a lock that others hold for a moment only.
func (s *state) wait(try func() (bool, error)) error {
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for left := lockPatience; left > 0; left -= lockPoll {
		ok, err := try()
		if err != nil {
			return s.unusable(err)
		}
		if ok {
			return nil
		}
		<-ticker.C
	}
	return resourceError("state-in-use", fmt.Sprintf("another command uses the state folder %s", quotedPath(s.dir)), "run this again when it is done", nil)
}

func (s *state) settle() (err error) {
	store, err := snapshot.Open(s.dir, snapshot.Options{})
	if err != nil {
		return s.unusable(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Settle(); err != nil {
		return resourceError("state-unusable", fmt.Sprintf("the state folder %s cannot be brought to an end of what was cut short", quotedPath(s.dir)), "free some disk, or make it writable, and run this again", err)
	}
	return nil
}

func (s *state) release() error {
	if s.held == nil {
		return nil
	}
	lock := s.held
	s.held = nil
	return lock.Unlock()
}

// lockHeld reports whether a process holds a lock. It holds it itself for a moment.
func lockHeld(path string) bool {
	if !isFile(path) {
		return false
	}
	lock := flock.New(path)
	got, err := lock.TryRLock() // others may look at the same time
	if !got || err != nil {
		return true
	}
	_ = lock.Unlock() // ends with the process in any case
	return false
}
