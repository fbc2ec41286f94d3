package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/migration"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// devServer returns the dev server that runs on the site's state.
func (d *examination) devServer() (r localstate.DevServer, ok bool) {
	s, err := d.state()
	if err != nil {
		return r, false
	}
	return s.DevServer()
}

// state is the site's state folder; it fails if the site has none.
func (d *examination) state() (*localstate.State, error) {
	if d.options.Dir == "" {
		return nil, errors.New("there is no site")
	}
	s, err := d.options.States.State(d.options.Dir)
	if err != nil {
		return nil, err
	}
	return s, s.Check()
}

// hasState reports whether there is a state folder. checkState reports anything else in its place.
func (d *examination) hasState() bool {
	s, err := d.state()
	if err != nil {
		return false
	}
	_, err = os.Stat(s.Dir)
	return err == nil
}

// checkState examines the state folder: the process that uses it, and the remains of a killed one.
func (d *examination) checkState(ctx context.Context) []Finding {
	folder := d.options.States.Path(d.options.Dir)
	if _, err := d.state(); err != nil {
		if f, ok := errors.AsType[*failure.Error](err); ok {
			return breaks("state", f.Fix, "%s", f.Message)
		}
		return notLooked("state", err.Error())
	}
	if !d.hasState() {
		return notLooked("state", "there is none yet: pages dev creates it")
	}
	if err := userfile.CheckFolder(folder); err != nil {
		return breaks("state", "make it writable, or pass another with --state-dir",
			"%s cannot be written: %s", wording.QuotePath(d.options.Term.Shown(folder)), failure.Reason(err))
	}
	if f, ok := errors.AsType[*failure.Error](d.newerState(ctx)); ok {
		return breaks("state", f.Fix, "%s", f.Message)
	}
	left := filepath.Join(folder, statefolder.DevFile)
	r, serves := d.devServer()
	switch {
	case serves:
		return well("state", "%s, used by pages dev: process %d at %s", d.options.Term.Shown(folder), r.PID, r.URL)
	case userfile.IsFile(left):
		return []Finding{{
			Check: "state", Status: warned, Message: fmt.Sprintf("a pages dev that was killed left %s behind", d.options.Term.Shown(left)),
			mend: func(context.Context) error { return os.Remove(left) },
		}}
	}
	return well("state", "%s", d.options.Term.Shown(folder))
}

// newerState returns the error of a state folder that a newer pages has written; nil for any other.
func (d *examination) newerState(ctx context.Context) error {
	s := &localstate.State{Dir: d.options.States.Path(d.options.Dir)}
	db, err := s.OpenToRead(ctx, statefolder.PlatformFile)
	if err == nil {
		err = db.Close()
	}
	_ = s.Unlock() // ends with the process in any case
	if !errors.Is(err, site.ErrNewer) {
		return nil // checkDatabases reports any other fault
	}
	return err
}

// checkDatabases runs SQLite's check of every page on every database.
func (d *examination) checkDatabases(ctx context.Context) (found []Finding) {
	if !d.hasState() {
		return nil
	}
	s := &localstate.State{Dir: d.options.States.Path(d.options.Dir)}
	if err := s.LockToRead(); err != nil {
		return breaks("databases", "run this again when the other command is done", "%s", err)
	}
	defer func() { _ = s.Unlock() }() // ends with the process in any case
	for _, name := range []string{
		statefolder.SiteFile, statefolder.ProjectFile, statefolder.PlatformFile, statefolder.KVFile,
		statefolder.CacheFile, filepath.Join(statefolder.StorageFolder, statefolder.IndexFile),
		filepath.Join(statefolder.UploadsFolder, statefolder.IndexFile),
	} {
		path := filepath.Join(s.Dir, name)
		if !userfile.IsFile(path) {
			continue
		}
		if faults, err := integrity(ctx, path); err != nil || len(faults) > 0 {
			if err != nil {
				faults = []string{failure.Reason(err)}
			}
			found = append(found, breaks("databases",
				"stop pages dev, keep a copy of the file, and load a snapshot with pages state load, or save what can be read with "+
					"pages db dump", "%s is damaged: %s", d.options.Term.Shown(path), strings.Join(faults, "; "))...)
		}
	}
	if len(found) == 0 {
		return well("databases", "every page of every database is in order")
	}
	return found
}

// integrity returns the faults that PRAGMA integrity_check finds; empty for a sound database.
func integrity(ctx context.Context, path string) (faults []string, err error) {
	db, err := localstate.OpenDatabase(ctx, path, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, "PRAGMA integrity_check(3)") // at most three faults
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		if text != "ok" {
			faults = append(faults, strings.Join(strings.Fields(text), " "))
		}
	}
	return faults, rows.Err()
}

// checkMigrations compares the ledger with the folder.
func (d *examination) checkMigrations(ctx context.Context) (found []Finding) {
	if d.manifest == nil || d.manifest.Bindings.Database == nil || d.manifest.Bindings.Database.Migrations == "" {
		return nil
	}
	if _, err := d.state(); err != nil {
		return nil // checkState reports it
	}
	site, err := migration.Find(d.options.Dir, migration.Options{Term: d.options.Term, States: d.options.States, Tool: d.options.Tool})
	if err != nil {
		return breaks("migrations", "see pages migrate status", "%s", err)
	}
	err = site.Read(ctx, migrate.Options{}, func(m *migrate.Migrator) error {
		status, err := m.Status(ctx)
		if err != nil {
			return err
		}
		switch refusal := status.Refusal(); {
		case refusal != nil:
			found = breaks("migrations", "pages migrate status shows each, and what to do",
				"the folder and the database's ledger differ: %s", refusal)
		case len(status.Pending) > 0:
			found = well("migrations", "%d applied, %d pending: pages dev applies them", len(status.Applied), len(status.Pending))
		default:
			found = well("migrations", "%d applied", len(status.Applied))
		}
		return nil
	})
	if err != nil {
		return breaks("migrations", "see pages migrate status", "%s", err)
	}
	return found
}
