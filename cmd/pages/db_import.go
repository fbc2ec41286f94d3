package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

func (c *cli) newDBImport(f *dbFlags) *cobra.Command {
	var table, format string
	var yes bool
	cmd := &cobra.Command{
		Use:   "import FILE | - [DIR]",
		Short: "Read a .sql, .csv or .db file into the database, all or nothing",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args[1:]); err != nil {
				return err
			}
			kind, err := importKind(args[0], format)
			if err != nil {
				return err
			}
			if kind != "csv" && table != "" {
				return failure.Usage("--table is for CSV")
			}
			if kind == "db" {
				return c.importDatabase(cmd.Context(), f, args[0], yes)
			}
			if kind == "csv" && table == "" {
				if args[0] == "-" {
					return failure.Usage("CSV from stdin needs --table")
				}
				table = strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0]))
			}
			return c.importText(cmd.Context(), f, args[0], kind, table)
		},
	}
	cmd.Flags().StringVar(&table, "table", "", "the table a CSV file goes to, by `name`")
	cmd.Flags().StringVar(&format, "format", "", "`format` of the file: sql, csv or db (default: by the file's name)")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
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
			return "", failure.Usage("a database cannot be read from stdin: name the file")
		}
		return "db", nil
	}
	return "", failure.Usage("the name of %s does not show its format; pass --format sql, csv or db", wording.QuotePath(file))
}

// importText reads SQL or CSV.
func (c *cli) importText(ctx context.Context, f *dbFlags, file, kind, table string) error {
	name := "stdin"
	var in io.Reader
	if file == "-" {
		in = userfile.Interruptible(ctx, c.term.Stdin)
	} else {
		opened, err := sqlshell.OpenInput(ctx, userfile.WorkDir(c.term.Dir), file)
		if err != nil {
			return err
		}
		defer opened.Close()
		if sqlshell.IsDatabase(opened) {
			return &failure.Error{
				Exit: failure.ExitRefused, Code: "not-text", Message: fmt.Sprintf("%s is a database", wording.QuotePath(file)),
				Fix: "read it with --format db",
			}
		}
		in, name = opened, file
	}
	return c.withDatabase(ctx, f, d1.ConsoleOptions{Unbounded: true, KeysLater: kind == "sql"}, func(db *sqlshell.Database) (err error) {
		var ran transfer.Ran
		if kind == "csv" {
			ran.Changes, err = transfer.CSV(ctx, db, name, table, in)
		} else {
			ran, err = transfer.Script(ctx, db, name, in, transfer.ScriptOptions{Dump: true, CheckKeys: true})
		}
		if err != nil {
			return sqlshell.Failure(err, db.Advice(ctx, err, sqlshell.NothingChanged))
		}
		return c.printRan(db, ran)
	})
}

// importDatabase makes a file the database.
func (c *cli) importDatabase(ctx context.Context, f *dbFlags, file string, yes bool) error {
	work := userfile.WorkDir(c.term.Dir)
	if err := sqlshell.CheckFile(ctx, work, file); err != nil {
		return err
	}
	return c.withDatabase(ctx, f, d1.ConsoleOptions{}, func(db *sqlshell.Database) error {
		if !yes && len(db.Tables(ctx).Names) > 0 {
			question := fmt.Sprintf("Replace everything in %s with %s?", c.realPath(db.Path), wording.QuotePath(file))
			if err := c.term.Confirm(ctx, question); err != nil {
				return err
			}
		}
		if err := db.Replace(ctx, work, file); err != nil {
			return err
		}
		return c.report(ranDoc{OK: true, Database: db.Path}, "%s now holds %s", c.term.Shown(db.Path), file)
	})
}
