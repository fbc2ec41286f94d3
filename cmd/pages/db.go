package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/ending"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// dbFlags choose the database.
type dbFlags struct {
	project      bool
	projectState string
}

func (c *cli) newDB() *cobra.Command {
	f := &dbFlags{}
	cmd := &cobra.Command{
		Use:   "db",
		Short: "Read and change the site's local databases by hand",
		Args:  cobra.NoArgs, RunE: help,
	}
	flags := cmd.PersistentFlags()
	flags.BoolVar(&f.project, "project", false, "the project database, not the site's own")
	flags.StringVar(&f.projectState, "project-state", "", "`folder` of the project database (default: the state folder)")
	cmd.AddCommand(c.newDBExec(f), c.newDBQuery(f), c.newDBDump(f), c.newDBImport(f), c.newDBShell(f))
	return cmd
}

// openDatabase finds the site and opens the chosen database, which the manifest must declare. For reading only, a missing database is
// empty, and no file is written.
func (c *cli) openDatabase(ctx context.Context, f *dbFlags, o d1.ConsoleOptions) (*sqlshell.Database, error) {
	if c.typed["project-state"] && !f.project {
		return nil, failure.Usage("--project-state needs --project")
	}
	dir, m, err := c.sites().LoadValid(nil)
	if err != nil {
		return nil, err
	}
	d, name := &sqlshell.Database{Dir: dir}, statefolder.SiteFile
	if d.State, err = c.states().State(dir); err != nil {
		return nil, err
	}
	switch access := m.Bindings.ProjectDatabase; {
	case f.project && (access == "" || access == manifest.ProjectNone):
		return nil, &failure.Error{
			Exit: failure.ExitRefused, Code: "no-database", Message: "the site declares no project database",
			Fix: `add "bindings": {"projectDatabase": "readwrite"} to ` + manifest.FileName,
		}
	case f.project:
		name = statefolder.ProjectFile
		if f.projectState != "" {
			if d.State, err = c.states().At(dir, c.term.Path(f.projectState), "--project-state"); err != nil {
				return nil, err
			}
		}
	case m.Bindings.Database == nil:
		return nil, &failure.Error{
			Exit: failure.ExitRefused, Code: "no-database", Message: "the site declares no database",
			Fix: `add "bindings": {"database": {"migrations": "migrations"}} to ` + manifest.FileName,
		}
	}
	d.Path = filepath.Join(d.State.Dir, name)
	return d, d.Open(ctx, name, o)
}

// withDatabase runs do on the chosen database.
func (c *cli) withDatabase(ctx context.Context, f *dbFlags, o d1.ConsoleOptions, do func(*sqlshell.Database) error) (err error) {
	db, err := c.openDatabase(ctx, f, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return do(db)
}

func (c *cli) newDBDump(f *dbFlags) *cobra.Command {
	var out string
	var o transfer.DumpOptions
	cmd := &cobra.Command{
		Use:   "dump [DIR]",
		Short: "Write the database as SQL, for sqlite3 and pages db import",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.term.JSON {
				return failure.Usage("a dump is SQL: --json has no meaning here")
			}
			if err := c.siteArgument(args); err != nil {
				return err
			}
			ctx := cmd.Context()
			return c.withDatabase(ctx, f, d1.ConsoleOptions{ReadOnly: true, Unbounded: true}, func(db *sqlshell.Database) error {
				write := func(w io.Writer) error { return transfer.Dump(ctx, db, w, o) }
				if out == "" || out == "-" {
					return sqlshell.Failure(c.term.WriteRaw(write), "the dump is not complete")
				}
				return sqlshell.Failure(c.writeDump(ctx, c.term.Path(out), write), "no dump was written")
			})
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "`file` to write to (default: stdout)")
	cmd.Flags().BoolVar(&o.NoData, "no-data", false, "only the schema")
	const tableUsage = "only the table or view of this `name`, with its indexes and triggers; repeatable"
	cmd.Flags().StringArrayVar(&o.Tables, "table", nil, tableUsage)
	return cmd
}

// writeDump writes a file that only its owner can read, whole or not at all.
func (c *cli) writeDump(ctx context.Context, path string, write func(io.Writer) error) error {
	err := userfile.Replace(path, 0o600, func(w io.Writer) error {
		if err := write(w); err != nil {
			return err
		}
		return ctx.Err()
	})
	if errors.As(err, new(*os.PathError)) || errors.As(err, new(*os.LinkError)) {
		message := fmt.Sprintf("%s cannot be written", wording.QuotePath(c.term.Shown(path)))
		return failure.Resource("output-unusable", message, "name a writable file, on a disk with free space", err)
	}
	return err
}

func (c *cli) newDBShell(f *dbFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "shell [DIR]",
		Short: "Type SQL and see its result",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args); err != nil {
				return err
			}
			return c.withDatabase(cmd.Context(), f, d1.ConsoleOptions{}, func(db *sqlshell.Database) error {
				toTerminal, piped := terminal.IsTerminal(c.term.Stdout), !terminal.IsTerminalReader(c.term.Stdin)
				s := sqlshell.New(db, sqlshell.Options{
					Stdin: c.term.Stdin, Stdout: c.term.Stdout, Stderr: c.term.Stderr, Terminal: toTerminal,
					Progress: c.term.Progress, Warn: c.term.ProgressWarning, Failed: func(err error) { ending.Print(&c.term, err) },
				})
				switch {
				case c.term.JSON:
					s.Mode = "json"
				case piped && !toTerminal:
					s.Mode = "tsv"
				}
				if piped {
					return s.Pipe(cmd.Context())
				}
				c.term.Progress("%s; .help lists the commands", c.term.Shown(db.Path))
				return s.Interact(cmd.Context())
			})
		},
	}
}
