// Package migration runs the migrations of a site on its local database, and prints reports for people and programs.
//
// Input: the site's folder, the place of its state and a terminal. Output: the documents that --json prints, and a *failure.Error or
// *failure.RefusedError: a refused file is shown with its line, an unusable database ends the command with another code. Write holds the
// lock of migrations while it runs; Read writes nothing, not even a state folder. A Site is for one goroutine.
//
// Package migrate, not this one, limits the statements of a migration. Questions go through the functions of [DiffOptions].
package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Options are shared by all commands about migrations.
type Options struct {
	Term   *terminal.Terminal
	States localstate.Locator
	Tool   string // name of this program in the ledger
}

// Site is a site that declares a database.
type Site struct {
	Dir      string // the site's folder
	Path     string // of the database
	Manifest *manifest.Manifest
	State    *localstate.State

	term *terminal.Terminal
	tool string
}

// Find reads the manifest in dir, which must declare a database.
func Find(dir string, o Options) (*Site, error) {
	// Load the manifest alone: other faults of the site do not matter here, and validate reports them.
	path := filepath.Join(dir, manifest.FileName)
	src, err := userfile.ReadSource(path)
	if err != nil {
		return nil, &failure.Error{
			Exit: failure.ExitRefused, Code: "unreadable",
			Message: fmt.Sprintf("%s cannot be read: %s", wording.QuotePath(o.Term.Shown(path)), failure.Reason(err)), Err: err,
		}
	}
	m, diags := manifest.Parse(o.Term.Shown(path), src)
	if m == nil || diags.HasErrors() {
		return nil, &failure.RefusedError{Report: diagnostic.NewReport(o.Term.Shown(path), diags), Source: src}
	}
	if m.Bindings.Database == nil {
		return nil, failure.Refused("no-database", "the site declares no database",
			`add "bindings": {"database": {"migrations": "migrations"}} to `+manifest.FileName)
	}
	s, err := o.States.State(dir)
	if err != nil {
		return nil, err
	}
	return &Site{Dir: dir, Path: filepath.Join(s.Dir, statefolder.SiteFile), Manifest: m, State: s, term: o.Term, tool: o.Tool}, nil
}

// Write runs fn on the site's database, and lets no other process migrate it meanwhile.
func (s *Site) Write(ctx context.Context, o migrate.Options, fn func(*migrate.Migrator) error) (err error) {
	state, err := localstate.OpenFolder(s.State.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	unlock, err := state.LockMigrations(ctx)
	if err != nil {
		return err
	}
	defer func() {
		unlock()
		if err == nil {
			state.NotifyWritten()
		}
	}()
	db, err := state.Open(ctx, statefolder.SiteFile)
	if err != nil {
		return err
	}
	o.Now, o.Tool = s.term.Now, s.tool
	return s.fail(fn(state.Migrator(db, s.Dir, s.Manifest, o)))
}

// Read runs fn on the site's database for reading only: it makes not even a state folder.
func (s *Site) Read(ctx context.Context, o migrate.Options, fn func(*migrate.Migrator) error) (err error) {
	defer func() { err = errors.Join(err, s.State.Close()) }()
	db, err := s.State.OpenToRead(ctx, statefolder.SiteFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	o.Now, o.Tool = s.term.Now, s.tool
	return s.fail(fn(s.State.Migrator(db, s.Dir, s.Manifest, o)))
}

// fail turns an error of package migrate into one that ends a command.
func (s *Site) fail(err error) error { return Error(userfile.WorkDir(s.term.Dir), s.Dir, err) }

// printFailed prints one JSON document with the fields of doc and those of an error.
func (s *Site) printFailed(err error, doc any) error {
	err = s.fail(err)
	var report any
	code := failure.ExitRefused
	if file, ok := errors.AsType[*failure.RefusedError](err); ok {
		report = file.Report
	} else if f, ok := errors.AsType[*failure.Error](err); ok && !errors.Is(err, context.Canceled) {
		report, code = map[string]any{"ok": false, "code": f.Code, "message": f.Message, "fix": f.Fix}, f.Exit
	} else {
		return err
	}
	fields := map[string]any{}
	for _, part := range []any{doc, report} {
		text, err := json.Marshal(part)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &fields); err != nil {
			return err
		}
	}
	s.term.PrintJSON(fields)
	return &failure.Error{Exit: code, Err: failure.ErrShown}
}
