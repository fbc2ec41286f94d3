// Package localstate opens and locks the local state of a site: .pages/state beside the manifest, or the folder that
// --state-dir names. Its files are listed in migrate/statefolder.
//
// A Locator finds the folder of a site and refuses a doubtful one; a State locks it and opens its databases; the Stores of a State hold the
// data of a Worker's bindings. Errors are *failure.Error, which name the folder and the fix. A State belongs to one goroutine, except for
// its locks and Stores, which are safe for concurrent use. The package writes only in the folder, and removes no file that is not the
// state's.
package localstate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// State is the local state of a site.
type State struct {
	Dir  string
	dbs  []*sql.DB
	held *flock.Flock // of the state lock
	// Bounds apply to each database and bucket that Workers and visitors write to.
	Bounds Bounds
	opened *openedFiles
	// judged is set after Check has passed; marked is set for a folder into which pages has written before.
	judged, marked bool
}

// WriteError returns the failure of a write to the folder.
func (s *State) WriteError(err error) error {
	if dbfile.FullDisk(s.Dir, err) {
		return s.full(err)
	}
	return failure.Resource("state-unusable", "the state folder "+wording.QuotePath(s.Dir)+" cannot be written",
		"make it writable, or pass another with --state-dir", err)
}

// Has reports whether a file is in the state folder. An unreadable folder is an error, so that it never counts as empty.
func (s *State) Has(name string) (bool, error) {
	_, err := os.Stat(filepath.Join(s.Dir, name))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err == nil, nil
	}
	return false, s.readError(err)
}

func (s *State) readError(err error) error {
	return failure.Resource("state-unreadable", "the state folder "+wording.QuotePath(s.Dir)+" cannot be read",
		"make it readable, or pass another with --state-dir", err)
}

// maxDatabasePath is the longest path, in bytes, with which SQLite opens a database on Unix: 512, with the name of its journal.
const maxDatabasePath = 504

// OpenError returns the failure of opening a database of the folder.
func (s *State) OpenError(name string, err error) error {
	if errors.Is(err, site.ErrNewer) {
		return failure.Resource("state-newer",
			"the state folder "+wording.QuotePath(s.Dir)+" is from another version of pages",
			"run the version that wrote it, or pass another folder with --state-dir", err)
	}
	if dbfile.FullDisk(s.Dir, err) {
		return s.full(err)
	}
	file := filepath.Join(s.Dir, name)
	if n := len(file); n > maxDatabasePath && runtime.GOOS != "windows" {
		return failure.Resource("database-unusable",
			fmt.Sprintf("the database %s cannot be opened: its path has %d bytes, and SQLite takes %d",
				wording.QuotePath(file), n, maxDatabasePath),
			"move the site to a shorter path, or pass a folder with a shorter path with --state-dir", err)
	}
	return failure.Resource("database-unusable",
		"the database "+wording.QuotePath(file)+" cannot be opened",
		"if the file is damaged, move it away: a new one is made, and the migrations run again", err)
}

func (s *State) full(err error) error {
	return failure.FullDisk("the state folder "+wording.QuotePath(s.Dir), err)
}

// Open makes the state folder of the site in dir if it is missing.
func (l Locator) Open(dir string) (*State, error) {
	s, err := l.State(dir)
	if err != nil {
		return nil, err
	}
	return OpenFolder(s.Dir)
}

// OpenFolder opens a state folder.
func OpenFolder(folder string) (*State, error) {
	s := &State{Dir: folder, opened: &openedFiles{}}
	if err := s.Create(); err != nil {
		return nil, err
	}
	for _, name := range []string{statefolder.StorageFolder, statefolder.ToldFolder} {
		if err := os.MkdirAll(filepath.Join(s.Dir, name), 0o700); err != nil {
			return nil, s.WriteError(err)
		}
	}
	if err := s.Lock(); err != nil {
		return nil, err
	}
	if err := userfile.CheckFolder(s.Dir); err != nil {
		return nil, errors.Join(s.WriteError(err), s.Close())
	}
	return s, nil
}

// Create makes the folder if it is missing, with a .gitignore, because sessions and leads are private. It refuses a folder with foreign
// files before it writes anything.
func (s *State) Create() error {
	if err := s.Check(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return s.WriteError(err)
	}
	name := filepath.Join(s.Dir, statefolder.IgnoreFile)
	if userfile.IsFile(name) {
		return nil
	}
	if err := os.WriteFile(name, []byte(statefolder.IgnoreText), 0o600); err != nil {
		return s.WriteError(err)
	}
	return nil
}

// Open opens a database of the state folder and keeps it for Close.
func (s *State) Open(ctx context.Context, name string) (*sql.DB, error) {
	var bounds Bounds
	if name != statefolder.PlatformFile {
		bounds = s.Bounds
	}
	switch filepath.Base(name) {
	case statefolder.SiteFile, statefolder.ProjectFile:
		bounds.conns = workerConns
	case statefolder.KVFile, statefolder.IndexFile:
		bounds.conns = StoreConns
	}
	db, err := openBounded(ctx, filepath.Join(s.Dir, name), false, bounds)
	if err != nil {
		return nil, s.OpenError(name, err)
	}
	s.dbs = append(s.dbs, db)
	if err := s.opened.note(filepath.Join(s.Dir, name)); err != nil {
		return nil, s.OpenError(name, err)
	}
	return db, nil
}

// OpenUnsynced is Open for data that may be lost when power fails.
func (s *State) OpenUnsynced(ctx context.Context, name string) (*sql.DB, error) {
	db, err := OpenUnsynced(ctx, filepath.Join(s.Dir, name))
	if err != nil {
		return nil, s.OpenError(name, err)
	}
	s.dbs = append(s.dbs, db)
	return db, nil
}

// OpenToRead opens a database for reading; the caller closes it. A missing database reads as an empty one.
func (s *State) OpenToRead(ctx context.Context, name string) (*sql.DB, error) {
	if err := s.LockToRead(); err != nil {
		return nil, err
	}
	exists, err := s.Has(name)
	if err != nil {
		return nil, err
	}
	if !exists {
		return sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)") // its copies check foreign keys as those of other databases do
	}
	db, err := OpenDatabase(ctx, filepath.Join(s.Dir, name), true)
	if err != nil {
		return nil, s.OpenError(name, err)
	}
	if name == statefolder.PlatformFile {
		if err := site.CheckVersion(ctx, db); err != nil {
			return nil, errors.Join(s.OpenError(name, err), db.Close())
		}
	}
	return db, nil
}

// Close closes the databases.
func (s *State) Close() error {
	var errs []error
	for _, db := range s.dbs {
		errs = append(errs, db.Close())
	}
	return errors.Join(append(errs, s.Unlock())...)
}
