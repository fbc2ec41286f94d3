package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
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

// openDatabase finds the site and opens the database that the flags mean. For
// reading only, one that is not there yet is empty, and nothing is written.
func (c *cli) openDatabase(ctx context.Context, f *dbFlags, o d1.ConsoleOptions) (*sqlshell.Database, error) {
	d, name, err := c.findDatabase(f)
	if err != nil {
		return nil, err
	}
	return d, d.Open(ctx, name, o)
}

// findDatabase is the database that the flags mean, which the manifest must
// declare; it is not open yet.
func (c *cli) findDatabase(f *dbFlags) (d *sqlshell.Database, name string, err error) {
	if c.typed["project-state"] && !f.project {
		return nil, "", failure.Usage("--project-state belongs to --project")
	}
	dir, err := c.sites().Find(nil)
	if err != nil {
		return nil, "", err
	}
	m, found := c.sites().Load(dir) // of warnings, validate tells
	if m == nil {
		return nil, "", &failure.RefusedError{Report: found.Report, Source: found.Source}
	}
	d = &sqlshell.Database{Dir: dir}
	if d.State, err = c.states().State(dir); err != nil {
		return nil, "", err
	}
	switch access := m.Bindings.ProjectDatabase; {
	case f.project && (access == "" || access == manifest.ProjectNone):
		return nil, "", &failure.Error{Exit: failure.ExitRefused, Code: "no-database", Message: "the site declares no project database", Fix: `add "bindings": {"projectDatabase": "readwrite"} to ` + manifest.FileName}
	case f.project:
		name = statefolder.ProjectFile
		if f.projectState != "" {
			if d.State, err = c.states().At(dir, c.term.Path(f.projectState), "--project-state"); err != nil {
				return nil, "", err
			}
		}
	case m.Bindings.Database == nil:
		return nil, "", &failure.Error{Exit: failure.ExitRefused, Code: "no-database", Message: "the site declares no database", Fix: `add "bindings": {"database": {"migrations": "migrations"}} to ` + manifest.FileName}
	default:
		name = statefolder.SiteFile
	}
	d.Path = filepath.Join(d.State.Dir, name)
	return d, name, nil
}
