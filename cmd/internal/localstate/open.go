package localstate

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

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

// Create makes the folder if it is missing, with a .gitignore, because sessions and leads are private. A folder that holds
// foreign files is refused before anything is written.
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
	bounds.conns = connsOf(name)
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

// connsOf is how many connections a database of the state folder has at a time.
func connsOf(name string) int {
	switch filepath.Base(name) {
	case statefolder.SiteFile, statefolder.ProjectFile:
		return workerConns
	case statefolder.KVFile, statefolder.IndexFile:
		return StoreConns
	}
	return UsualConns
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
	there, err := s.Has(name)
	if err != nil {
		return nil, err
	}
	if !there {
		return sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)") // which the copies of it keep to, as those of others
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
