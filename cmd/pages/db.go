package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding"
)

// dbFlags say which database is meant.
type dbFlags struct {
	project      bool
	projectState string
}

func (c *cli) newDB() *cobra.Command {
	f := &dbFlags{}
	cmd := &cobra.Command{
		Use:   "db",
		Short: "Read and change the site's local databases by hand",
		Long: "Read and change the site's local databases by hand, also while pages dev runs.\n\n" +
			"What you run has the sandbox of the site's Worker: the same functions, pragmas\nand limits, no other files, no temporary tables. import and dump alone have no\nlimits, and see the platform's own tables, so that a dump can be read back.",
		Args: cobra.NoArgs, RunE: help,
	}
	flags := cmd.PersistentFlags()
	flags.BoolVar(&f.project, "project", false, "the project database, not the site's own")
	flags.StringVar(&f.projectState, "project-state", "", "`folder` of the project database (default: the state folder)")
	cmd.AddCommand(c.newDBExec(f), c.newDBQuery(f), c.newDBDump(f), c.newDBImport(f), c.newDBShell(f))
	return cmd
}

// database is one database of the site, opened for a command.
type database struct {
	*binding.Console
	state *state
	pool  *sql.DB
	dir   string // the site's
	path  string // of the file
}

// openDatabase finds the site and opens the database that the flags mean. For
// reading only, one that is not there yet is empty, and nothing is written.
func (c *cli) openDatabase(ctx context.Context, f *dbFlags, o binding.ConsoleOptions) (*database, error) {
	d, name, err := c.findDatabase(f)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		d.pool, err = d.state.openToRead(ctx, name)
	} else {
		if d.state, err = openStateIn(d.state.dir); err != nil {
			return nil, err
		}
		d.pool, err = d.state.open(ctx, name)
	}
	if err == nil {
		d.Console, err = binding.NewConsole(ctx, d.pool, o)
		if err != nil {
			err = errors.Join(d.state.unopened(name, err), d.pool.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.state.Close())
	}
	return d, nil
}

// findDatabase is the database that the flags mean, which the manifest must
// declare; it is not open yet.
func (c *cli) findDatabase(f *dbFlags) (d *database, name string, err error) {
	if c.typed["project-state"] && !f.project {
		return nil, "", usageError("--project-state belongs to --project")
	}
	dir, err := c.find(nil)
	if err != nil {
		return nil, "", err
	}
	m, found := c.load(dir) // of warnings, validate tells
	if m == nil {
		return nil, "", &refused{report: found.report, src: found.src}
	}
	d = &database{dir: dir}
	if d.state, err = c.stateOf(dir); err != nil {
		return nil, "", err
	}
	switch access := m.Bindings.ProjectDatabase; {
	case f.project && (access == "" || access == manifest.ProjectNone):
		return nil, "", &failure{code: exitRefused, id: "no-database", msg: "the site declares no project database", fix: `add "bindings": {"projectDatabase": "readwrite"} to ` + manifest.FileName}
	case f.project:
		name = projectFile
		if f.projectState != "" {
			if d.state, err = c.stateAt(dir, c.path(f.projectState), "--project-state"); err != nil {
				return nil, "", err
			}
		}
	case m.Bindings.Database == nil:
		return nil, "", &failure{code: exitRefused, id: "no-database", msg: "the site declares no database", fix: `add "bindings": {"database": {"migrations": "migrations"}} to ` + manifest.FileName}
	default:
		name = siteFile
	}
	d.path = filepath.Join(d.state.dir, name)
	return d, name, nil
}

// wrote tells pages dev of what a person wrote: a migration that rows stopped may go on without them.
func (d *database) wrote() {
	if filepath.Base(d.path) == siteFile {
		d.state.tellWritten()
	}
}

// Close closes the connection, the database and the state.
func (d *database) Close() error {
	return errors.Join(d.Console.Close(), d.pool.Close(), d.state.Close())
}

var (
	noTable  = regexp.MustCompile(`^no such table: (?:main\.)?(.+)$`)
	noColumn = regexp.MustCompile(`^(?:no such column: (?:.+\.)?|table .+ has no column named )(.+)$`)
)

// named is what to do about a failure: of a table or a column that is not there, which is near, before what is left.
func (d *database) named(ctx context.Context, err error, left string) string {
	e, ok := errors.AsType[*binding.SQLError](err)
	if !ok {
		return left
	}
	table, column := noTable.FindStringSubmatch(e.Msg), noColumn.FindStringSubmatch(e.Msg)
	if table == nil && column == nil {
		return left
	}
	there, near := d.Tables(ctx), ""
	switch {
	case column != nil:
		near = nearest(column[1], there.Columns)
	case len(there.Names) == 0:
		return "the database has no table yet: pages migrate makes those of the migrations; " + left
	default:
		near = nearest(table[1], there.Names)
	}
	if near == "" {
		return ".tables and .schema in pages db shell show what is there; " + left
	}
	return fmt.Sprintf("did you mean %q? %s", near, left)
}

// stands is what remains of a command that failed.
const stands = "nothing was changed: all of it is one transaction"

// sqlError turns a failure of SQL into what the user is told: a place in a text
// becomes a diagnostic, a lock or a full disk the machine's fault.
func (c *cli) sqlError(err error, left string) error {
	if e, ok := errors.AsType[*binding.SQLError](err); ok {
		switch {
		case e.Busy():
			return resourceError("database-locked", "another process writes to the database", "run this again when it is done; "+left, err)
		case e.Full():
			return resourceError("disk-full", "the disk is full", "free some; "+left, err)
		case e.Damaged():
			return resourceError("database-damaged", "the database is damaged", "load a snapshot, import a dump into a new one, or reset the state", err)
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
		return &failure{code: exitRefused, id: e.Code, msg: e.Msg, fix: fix, err: err}
	}
	return &refused{report: manifest.NewReport(e.Pos.Filename, manifest.Diagnostics{{
		Severity: manifest.Error, Code: e.Code, File: e.Pos.Filename,
		Line: e.Pos.Line, Column: e.Pos.Column, EndLine: e.Pos.Line, EndColumn: e.Pos.Column + 1,
		Message: e.Msg, Fix: fix, Source: e.Source, SourceColumn: e.SourceColumn,
	}})}
}
