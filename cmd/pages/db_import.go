package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding"
)

func (c *cli) newDBImport(f *dbFlags) *cobra.Command {
	var table, format string
	cmd := &cobra.Command{
		Use:   "import FILE | -",
		Short: "Read a .sql, .csv or .db file into the database, all or nothing",
		Long: "Read a .sql, .csv or .db file into the database, all or nothing.\n\n" +
			"  .sql  runs it, a dump for example, as one transaction; its own BEGIN, COMMIT\n        and PRAGMA foreign_keys are passed over\n" +
			"  .csv  adds its records to a table (--table, default: the file's name); the\n        first line names the columns, an empty field is NULL, \"\" an empty text\n" +
			"  .db   becomes the database: whatever it held is gone\n\n" +
			"Exit codes: 0 read, 1 the file was refused, 2 wrong usage, 9 the database is\nlocked or the disk full.",
		Example: "  pages db import site.sql\n  pages db import people.csv --table crews\n  pages db import backup.db --yes\n  pages db dump --project | pages db import --format sql -",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, err := importKind(args[0], format)
			if err != nil {
				return err
			}
			if kind != "csv" && table != "" {
				return usageError("--table is for CSV")
			}
			if kind == "db" {
				return c.importDatabase(cmd.Context(), f, args[0])
			}
			if kind == "csv" && table == "" {
				if args[0] == "-" {
					return usageError("CSV from stdin needs --table")
				}
				table = strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0]))
			}
			return c.importText(cmd.Context(), f, args[0], kind, table)
		},
	}
	cmd.Flags().StringVar(&table, "table", "", "the table a CSV file goes to, by `name`")
	cmd.Flags().StringVar(&format, "format", "", "sql, csv or db (default: what the file's name ends in)")
	return cmd
}

func importKind(file, format string) (string, error) {
	if format == "" {
		format = strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
	}
	switch format {
	case "sql", "csv":
		return format, nil
	case "db", "sqlite", "sqlite3":
		if file == "-" {
			return "", usageError("a database cannot be read from stdin: name the file")
		}
		return "db", nil
	}
	return "", usageError("what %q holds cannot be told by its name; say --format sql, csv or db", file)
}

// importText reads SQL or CSV.
func (c *cli) importText(ctx context.Context, f *dbFlags, file, kind, table string) (err error) {
	var in io.Reader = newInterruptible(ctx, c.stdin)
	name := "stdin"
	if file != "-" {
		opened, err := c.openInput(file)
		if err != nil {
			return err
		}
		defer opened.Close()
		if isDatabase(opened) {
			return &failure{code: exitRefused, id: "not-text", msg: fmt.Sprintf("%q is a database", file), fix: "read it with --format db"}
		}
		in, name = opened, file
	}
	db, err := c.openDatabase(ctx, f, binding.ConsoleOptions{Unbounded: true, KeysLater: kind == "sql"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var ran transfer.Ran
	if kind == "csv" {
		ran.Changes, err = transfer.CSV(ctx, db, name, table, in)
	} else {
		ran, err = transfer.Script(ctx, db, name, in, transfer.ScriptOptions{Dump: true, CheckKeys: true})
	}
	if err != nil {
		return c.sqlError(err, stands)
	}
	c.printRan(db, ran)
	return nil
}

// importDatabase makes a file the database. SQLite writes it as one transaction: a server that runs sees the old
// content or the new.
func (c *cli) importDatabase(ctx context.Context, f *dbFlags, file string) (err error) {
	from, err := c.openInput(file)
	if err != nil {
		return err
	}
	sound := isDatabase(from)
	if err := from.Close(); err != nil {
		return err
	}
	if !sound {
		return &failure{code: exitRefused, id: "not-a-database", msg: fmt.Sprintf("%q is no SQLite database", file), fix: "SQL is read with --format sql, CSV with --format csv"}
	}
	if err := c.checkDatabase(ctx, file); err != nil {
		return err
	}
	db, err := c.openDatabase(ctx, f, binding.ConsoleOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.pool.Conn(ctx)
	if err != nil {
		return db.state.unopened(filepath.Base(db.path), err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := restore(ctx, conn, c.path(file)); err != nil {
		return resourceError("database-unusable", fmt.Sprintf("%q cannot be read into the database", file), "end what writes to the database, or free some disk; "+stands, err)
	}
	if c.json {
		c.printJSON(ranDoc{OK: true, Database: db.path})
		return nil
	}
	c.progress("%s is now what %s was", c.shown(db.path), file)
	return nil
}

// checkDatabase refuses a file that is damaged or that a site's database cannot hold.
func (c *cli) checkDatabase(ctx context.Context, file string) (err error) {
	refuse := func(why, fix string) error {
		return &failure{code: exitRefused, id: "database-refused", msg: fmt.Sprintf("%q cannot become the database: %s", file, why), fix: fix}
	}
	db, err := sql.Open("sqlite", fileURI(c.path(file), "mode=ro"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var encoding, verdict string
	var size int
	err = errors.Join(
		db.QueryRowContext(ctx, "PRAGMA encoding").Scan(&encoding),
		db.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size),
		db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict),
	)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return refuse("it is damaged: "+firstLine(err.Error()), "write what can be saved of it with sqlite3's .recover, and import that")
	case verdict != "ok":
		return refuse("it is damaged: "+firstLine(verdict), "write what can be saved of it with sqlite3's .recover, and import that")
	case encoding != "UTF-8":
		return refuse("its text is "+encoding, "write it with sqlite3's .dump, and import that")
	case size != pageSize:
		return refuse(fmt.Sprintf("its pages have %d bytes, not %d", size, pageSize), fmt.Sprintf("run PRAGMA page_size=%d; VACUUM; on a copy of it, or import its dump", pageSize))
	}
	return nil
}

// pageSize is that of every database of the state; SQLite cannot change it while the log is in use.
const pageSize = 4096

// restore copies a file over the database of conn.
func restore(ctx context.Context, conn *sql.Conn, file string) error {
	return conn.Raw(func(driver any) error {
		target, ok := driver.(interface {
			NewRestore(uri string) (*sqlite.Backup, error)
		})
		if !ok {
			return errors.ErrUnsupported
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		copying, err := target.NewRestore(fileURI(file, "mode=ro"))
		if err != nil {
			return err
		}
		_, err = copying.Step(-1) // at once: others see all of it or nothing
		return errors.Join(err, copying.Finish())
	})
}

// fileURI is a path as SQLite takes it.
func fileURI(path, query string) string {
	slashed := filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: slashed, RawQuery: query}).String()
}
