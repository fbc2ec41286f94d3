// Package localstate opens and locks the local state of a site: .pages/state beside the manifest, or the folder that
// --state-dir names. Its files are listed in migrate/statefolder.
//
// A Locator finds the folder of a site and refuses one that may not be it; a State locks it and opens its databases; the
// Stores of a State are what the bindings of a Worker keep things in. Errors are *failure.Error, which name the folder
// and what to do. A State belongs to one goroutine, but for its locks and Stores, which are safe for concurrent use.
// Nothing here writes outside of the folder, and nothing removes a file that is not the state's.
package localstate

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// State is the local state of a site.
type State struct {
	Dir  string
	dbs  []*sql.DB
	held *flock.Flock // of the state lock
	// Bounds apply to each database and bucket that Workers and visitors write to.
	Bounds Bounds
	opened *openedFiles
	// judged is set after Check has passed; marked is set for a folder that pages has written into before.
	judged, marked bool
}

// WriteError returns the failure of a write to the folder.
func (s *State) WriteError(err error) error {
	if dbfile.FullDisk(s.Dir, err) {
		return s.full(err)
	}
	return failure.Resource("state-unusable", fmt.Sprintf("the state folder %s cannot be written", wording.QuotePath(s.Dir)),
		"make it a folder that you may write to, or give another with --state-dir", err)
}

// Has reports whether a file is in the state folder. A folder that cannot be read is an error, so that it is never
// reported as empty.
func (s *State) Has(name string) (bool, error) {
	_, err := os.Stat(filepath.Join(s.Dir, name))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err == nil, nil
	}
	return false, s.readError(err)
}

func (s *State) readError(err error) error {
	return failure.Resource("state-unreadable", fmt.Sprintf("the state folder %s cannot be read", wording.QuotePath(s.Dir)),
		"make it a folder that you may read, or give another with --state-dir", err)
}

// OpenError returns the failure of opening a database of the folder.
func (s *State) OpenError(name string, err error) error {
	if errors.Is(err, site.ErrNewer) {
		return failure.Resource("state-newer",
			fmt.Sprintf("the state folder %s is not for this version of pages", wording.QuotePath(s.Dir)),
			"run the version that wrote it (pages version tells), or give this one a folder of its own with --state-dir", err)
	}
	if dbfile.FullDisk(s.Dir, err) {
		return s.full(err)
	}
	return failure.Resource("database-unusable",
		fmt.Sprintf("the database %s cannot be opened", wording.QuotePath(filepath.Join(s.Dir, name))),
		"if the file is damaged, move it away: a new one is made, and the migrations run again", err)
}

func (s *State) full(err error) error {
	return failure.FullDisk("the state folder "+wording.QuotePath(s.Dir), err)
}
