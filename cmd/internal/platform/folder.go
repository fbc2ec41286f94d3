package platform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// DatabaseFile is the service's database in its data folder.
const DatabaseFile = "service.db"

// Other files of the data folder.
const (
	serverFile  = "server.lock" // held while the service runs
	pidFile     = "server.pid"  // the process that holds it: on Windows no other process can read a locked file
	openingFile = "open.lock"   // held while the database is opened and updated
)

// Folder is the data folder of a service.
type Folder struct{ Dir string }

// Location is the path of a data folder: the one of the user, or for "" the one in .pages of the working directory.
type Location struct {
	WorkDir userfile.WorkDir
	Given   string
}

// Dir returns the path of the data folder.
func (l Location) Dir() string {
	if l.Given == "" {
		return l.WorkDir.Abs(filepath.Join(localstate.PagesFolder, "platform"))
	}
	return l.WorkDir.Abs(l.Given)
}

// make creates a missing data folder: readable by its owner alone, and ignored by version control.
func (l Location) make() (Folder, error) {
	f := Folder{Dir: l.Dir()}
	if l.Given == "" {
		if _, err := localstate.InPagesFolder(string(l.WorkDir), "platform"); err != nil {
			return f, err
		}
	}
	if err := f.check(); err != nil {
		return f, err
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return f, f.unusable(err)
	}
	ignore := filepath.Join(f.Dir, statefolder.IgnoreFile)
	if userfile.IsFile(ignore) {
		return f, nil
	}
	if err := os.WriteFile(ignore, []byte("*\n"), 0o600); err != nil {
		return f, f.unusable(err)
	}
	return f, nil
}

// check refuses a folder with a user's own files: a service would mix its data with them, and version control would ignore them because of
// its .gitignore.
func (f Folder) check() error {
	if userfile.IsFile(filepath.Join(f.Dir, DatabaseFile)) {
		return nil
	}
	entries, err := os.ReadDir(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.unusable(err)
	}
	for _, e := range entries {
		name := e.Name()
		// An interrupted start left them.
		own := slices.Contains([]string{statefolder.IgnoreFile, serverFile, pidFile, openingFile}, name)
		if !own && statefolder.Of(name, e.IsDir()) != statefolder.Litter {
			return failure.Resource("data-foreign",
				fmt.Sprintf("%s is not a data folder of a service: it holds %q", wording.QuotePath(statefolder.Real(f.Dir)), name),
				"pass an empty folder, or one that pages platform created, with --data", nil)
		}
	}
	return nil
}

func (f Folder) unusable(err error) error {
	if damaged, ok := errors.AsType[*service.DamagedError](err); ok {
		return failure.Resource("database-damaged", fmt.Sprintf("the service's database %s is damaged", wording.QuotePath(damaged.Path)),
			"restore a backup to another folder, and use that: pages platform restore BACKUP --data FOLDER", damaged.Reason)
	}
	if dbfile.FullDisk(f.Dir, err) {
		return failure.FullDisk("the data folder "+wording.QuotePath(f.Dir), err)
	}
	return failure.Resource("data-unusable", fmt.Sprintf("the data folder %s cannot be used", wording.QuotePath(f.Dir)),
		"make it writable, or pass another with --data", err)
}

// lockServer makes sure that only one service runs on the data.
func (f Folder) lockServer() (unlock func(), err error) {
	lock := flock.New(filepath.Join(f.Dir, serverFile))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, f.unusable(err)
	}
	holder := filepath.Join(f.Dir, pidFile)
	if !ok {
		process := ""
		text, err := os.ReadFile(holder)
		if pid, bad := strconv.Atoi(string(text)); err == nil && bad == nil {
			process = fmt.Sprintf(" (process %d)", pid)
		}
		return nil, failure.Resource("already-running",
			fmt.Sprintf("another pages platform%s uses the data folder %s", process, wording.QuotePath(f.Dir)),
			"use that one, stop it, or pass another --data", nil)
	}
	// For the message above; a full disk is no reason not to start.
	_ = os.WriteFile(holder, []byte(strconv.Itoa(os.Getpid())), 0o600)
	// The lock ends with the process in any case, and the file means nothing without it.
	return func() {
		_ = os.Remove(holder)
		_ = lock.Unlock()
	}, nil
}

// Open opens the service, one process after another: two processes must not create one database at the same time.
func (f Folder) Open(ctx context.Context, o service.Options) (s *service.Service, err error) {
	lock := flock.New(filepath.Join(f.Dir, openingFile))
	if _, err := lock.TryLockContext(ctx, localstate.LockPoll); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, f.unusable(err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	name := filepath.Join(f.Dir, DatabaseFile)
	_ = localstate.OwnFile(name) // SQLite reports a folder that cannot be made
	if s, err = service.Open(ctx, name, o); err != nil {
		return nil, f.unusable(err)
	}
	return s, nil
}
