package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// This file opens the state folder, .pages/state beside the manifest. What is in it is listed in statefolder; which
// folder may be one is in state_folder.go.

// Files of the state folder.
const (
	siteFile     = statefolder.SiteFile
	projectFile  = statefolder.ProjectFile
	platformFile = statefolder.PlatformFile
	kvFile       = statefolder.KVFile
	storageDir   = statefolder.StorageFolder
	uploadsDir   = statefolder.UploadsFolder
	indexFile    = statefolder.IndexFile
	devLock      = statefolder.DevLock
	devFile      = statefolder.DevFile
	historyFile  = statefolder.HistoryFile
	toldDir      = statefolder.ToldFolder // what commands tell a dev server: state_lock.go
)

// state is a site's local state: .pages/state beside the manifest, or the
// folder of --state-dir.
type state struct {
	dir  string
	dbs  []*sql.DB
	held *flock.Flock // of the state lock
	// bounds are those of what Workers and visitors keep, each database and bucket its own.
	bounds databaseBounds
	opened *openedFiles
	// judged is a folder that was looked through, and marked one that pages has written into before.
	judged, marked bool
}

// openState makes the state folder of the site in dir if it is missing.
func (c *cli) openState(dir string) (*state, error) {
	s, err := c.stateOf(dir)
	if err != nil {
		return nil, err
	}
	return openStateIn(s.dir)
}

// openStateIn opens a state folder.
func openStateIn(folder string) (*state, error) {
	s := &state{dir: folder, opened: &openedFiles{}}
	if err := s.begin(); err != nil {
		return nil, err
	}
	for _, name := range []string{storageDir, toldDir} {
		if err := os.MkdirAll(filepath.Join(s.dir, name), 0o700); err != nil {
			return nil, s.unusable(err)
		}
	}
	if err := s.use(); err != nil {
		return nil, err
	}
	if err := writable(s.dir); err != nil {
		return nil, errors.Join(s.unusable(err), s.Close())
	}
	return s, nil
}

// begin makes the folder if it is missing, out of version control: sessions and leads are nobody else's business. One
// that is somebody's own is refused before anything is written.
func (s *state) begin() error {
	if err := s.judge(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return s.unusable(err)
	}
	name := filepath.Join(s.dir, statefolder.IgnoreFile)
	if isFile(name) {
		return nil
	}
	if err := os.WriteFile(name, []byte(statefolder.IgnoreText), 0o600); err != nil {
		return s.unusable(err)
	}
	return nil
}

func (s *state) unusable(err error) error {
	if dbfile.FullDisk(s.dir, err) {
		return s.full(err)
	}
	return resourceError("state-unusable", fmt.Sprintf("the state folder %s cannot be written", quotedPath(s.dir)),
		"make it a folder that you may write to, or give another with --state-dir", err)
}

// open opens a database of the state folder and keeps it for Close.
func (s *state) open(ctx context.Context, name string) (*sql.DB, error) {
	var bounds databaseBounds
	if name != platformFile {
		bounds = s.bounds
	}
	bounds.conns = connsOf(name)
	db, err := openBounded(ctx, filepath.Join(s.dir, name), false, bounds)
	if err != nil {
		return nil, s.unopened(name, err)
	}
	s.dbs = append(s.dbs, db)
	if err := s.opened.note(filepath.Join(s.dir, name)); err != nil {
		return nil, s.unopened(name, err)
	}
	return db, nil
}

// connsOf is how many connections a database of the state folder has at a time.
func connsOf(name string) int {
	switch filepath.Base(name) {
	case siteFile, projectFile:
		return workerConns
	case kvFile, indexFile:
		return storeConns
	}
	return usualConns
}

// openUnsynced is open for what may be lost when power fails.
func (s *state) openUnsynced(ctx context.Context, name string) (*sql.DB, error) {
	db, err := openUnsynced(ctx, filepath.Join(s.dir, name))
	if err != nil {
		return nil, s.unopened(name, err)
	}
	s.dbs = append(s.dbs, db)
	return db, nil
}

// has reports whether a file is in the state folder. Of a folder that cannot be looked
// into it is not known: nothing may be said to be empty that is not.
func (s *state) has(name string) (bool, error) {
	_, err := os.Stat(filepath.Join(s.dir, name))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err == nil, nil
	}
	return false, s.unreadable(err)
}

func (s *state) unreadable(err error) error {
	return resourceError("state-unreadable", fmt.Sprintf("the state folder %s cannot be read", quotedPath(s.dir)),
		"make it a folder that you may read, or give another with --state-dir", err)
}

// openToRead opens a database that is only read, which the caller closes; one
// that is not there is empty.
func (s *state) openToRead(ctx context.Context, name string) (*sql.DB, error) {
	if err := s.useToRead(); err != nil {
		return nil, err
	}
	there, err := s.has(name)
	if err != nil {
		return nil, err
	}
	if !there {
		return sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)") // which the copies of it keep to, as those of others
	}
	db, err := openSQLite(ctx, filepath.Join(s.dir, name), true)
	if err != nil {
		return nil, s.unopened(name, err)
	}
	if name == platformFile {
		if err := site.CheckVersion(ctx, db); err != nil {
			return nil, errors.Join(s.unopened(name, err), db.Close())
		}
	}
	return db, nil
}

func (s *state) unopened(name string, err error) error {
	if errors.Is(err, site.ErrNewer) {
		return resourceError("state-newer", fmt.Sprintf("the state folder %s is not for this version of pages", quotedPath(s.dir)),
			"run the version that wrote it (pages version tells), or give this one a folder of its own with --state-dir", err)
	}
	if dbfile.FullDisk(s.dir, err) {
		return s.full(err)
	}
	return resourceError("database-unusable", fmt.Sprintf("the database %s cannot be opened", quotedPath(filepath.Join(s.dir, name))),
		"if the file is damaged, move it away: a new one is made, and the migrations run again", err)
}

func (s *state) full(err error) error { return fullDisk("the state folder "+quotedPath(s.dir), err) }

// Close closes the databases.
func (s *state) Close() error {
	var errs []error
	for _, db := range s.dbs {
		errs = append(errs, db.Close())
	}
	return errors.Join(append(errs, s.release())...)
}

// writable makes a folder if need be, and tries whether a file can be made in it.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
