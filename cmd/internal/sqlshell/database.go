package sqlshell

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// Database is a database of the site that a command has opened.
type Database struct {
	*d1.Console
	State *localstate.State
	Pool  *sql.DB
	Dir   string // the state of the site
	Path  string // of the file
}

// Open opens the named database of the state folder. With o.ReadOnly a missing database reads as an empty one, and nothing is
// written.
func (d *Database) Open(ctx context.Context, name string, o d1.ConsoleOptions) (err error) {
	if o.ReadOnly {
		d.Pool, err = d.State.OpenToRead(ctx, name)
	} else {
		if d.State, err = localstate.OpenFolder(d.State.Dir); err != nil {
			return err
		}
		d.Pool, err = d.State.Open(ctx, name)
	}
	if err == nil {
		d.Console, err = d1.NewConsole(ctx, d.Pool, o)
		if err != nil {
			err = errors.Join(d.State.OpenError(name, err), d.Pool.Close())
		}
	}
	if err != nil {
		return errors.Join(err, d.State.Close())
	}
	return nil
}

// Wrote notifies pages dev of a change by a person: a migration that failed because of some rows may succeed now.
func (d *Database) Wrote() {
	if filepath.Base(d.Path) == statefolder.SiteFile {
		d.State.NotifyWritten()
	}
}

// Close closes the connection, the database and the state.
func (d *Database) Close() error {
	return errors.Join(d.Console.Close(), d.Pool.Close(), d.State.Close())
}

// Advice returns the fix for a failure: the nearest name for a missing table or column, and then left, which describes the changes of the
// command.
func (d *Database) Advice(ctx context.Context, err error, left string) string {
	e, ok := errors.AsType[*d1.SQLError](err)
	if !ok {
		return left
	}
	table, column := noTable().FindStringSubmatch(e.Msg), noColumn().FindStringSubmatch(e.Msg)
	if table == nil && column == nil {
		return left
	}
	there, near := d.Tables(ctx), ""
	switch {
	case column != nil:
		near = wording.Nearest(column[1], there.Columns)
	case len(there.Names) == 0:
		return "the database has no table yet: pages migrate creates those of the migrations; " + left
	default:
		near = wording.Nearest(table[1], there.Names)
	}
	if near == "" {
		return ".tables and .schema in pages db shell show the tables; " + left
	}
	return fmt.Sprintf("did you mean %q? %s", near, left)
}

var (
	noTable  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^no such table: (?:main\.)?(.+)$`) })
	noColumn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:no such column: (?:.+\.)?|table .+ has no column named )(.+)$`)
	})
)

// NothingChanged says that a failed command had no effect.
const NothingChanged = "nothing was changed: all of it is one transaction"

// Failure turns an SQL error into one for the user: a place in the text makes it a diagnostic; a lock or a full disk makes it a resource
// failure.
func Failure(err error, left string) error {
	if e, ok := errors.AsType[*d1.SQLError](err); ok {
		switch {
		case e.Busy():
			return failure.Resource("database-locked", "another process writes to the database",
				"run this again afterwards; "+left, err)
		case e.Full():
			return failure.Resource("disk-full", "the disk is full", "free some; "+left, err)
		case e.Damaged():
			return failure.Resource("database-damaged", "the database is damaged",
				"load a snapshot, import a dump into a new one, or reset the state", err)
		}
	}
	e, ok := errors.AsType[*transfer.Error](err)
	if !ok {
		return err
	}
	fix := left
	if e.Fix != "" {
		fix = e.Fix + "; " + left
	}
	if !e.Pos.IsValid() {
		return &failure.Error{Exit: failure.ExitRefused, Code: e.Code, Message: e.Msg, Fix: fix, Err: err}
	}
	return &failure.RefusedError{Report: diagnostic.NewReport(e.Pos.Filename, diagnostic.List{{
		Severity: diagnostic.Error, Code: e.Code, File: e.Pos.Filename,
		Line: e.Pos.Line, Column: e.Pos.Column, EndLine: e.Pos.Line, EndColumn: e.Pos.Column + 1,
		Message: e.Msg, Fix: fix, Source: e.Source, SourceColumn: e.SourceColumn,
	}})}
}
