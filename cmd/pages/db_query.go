package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// sqlFlags are the flags of the commands that run the user's SQL.
type sqlFlags struct {
	file   string
	params []string
}

func (f *sqlFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "file", "", "`file` with the SQL; - for stdin")
	cmd.Flags().StringArrayVar(&f.params, "param", nil, "`value` of the next parameter, or :name=value; repeatable")
}

func (c *cli) newDBExec(f *dbFlags) *cobra.Command {
	var given sqlFlags
	cmd := &cobra.Command{
		Use:   "exec [SQL | - [DIR]]",
		Short: "Run SQL statements in one transaction",
		Args:  cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx := cmd.Context()
			values, err := sqlshell.Parameters(given.params)
			if err != nil {
				return err
			}
			name, in, err := c.sqlInput(ctx, args, given.file)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, in.Close()) }()
			return c.withDatabase(ctx, f, d1.ConsoleOptions{}, func(db *sqlshell.Database) error {
				ran, err := transfer.Script(ctx, db, name, in, transfer.ScriptOptions{Args: values})
				if err != nil {
					return sqlshell.Failure(err, db.Advice(ctx, err, sqlshell.NothingChanged))
				}
				return c.printRan(db, ran)
			})
		},
	}
	given.add(cmd)
	return cmd
}

// ranDoc is the output of `pages db exec --json` and `import --json`.
type ranDoc struct {
	OK       bool   `json:"ok"`
	Database string `json:"database"`
	transfer.Ran
}

// printRan prints a summary of the statements that ran on a database, and notifies pages dev.
func (c *cli) printRan(db *sqlshell.Database, ran transfer.Ran) error {
	db.Wrote()
	statements, rows := wording.Count(ran.Statements, "statement"), wording.Count(int(ran.Changes), "row")
	return c.report(ranDoc{true, db.Path, ran}, "ran %s, wrote %s in %s", statements, rows, c.term.Shown(filepath.Clean(db.Path)))
}

func (c *cli) newDBQuery(f *dbFlags) *cobra.Command {
	var given sqlFlags
	var format string
	cmd := &cobra.Command{
		Use:   "query [SQL | - [DIR]]",
		Short: "Show the rows of one SQL statement; it cannot write",
		Args:  cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx := cmd.Context()
			values, err := sqlshell.Parameters(given.params)
			if err != nil {
				return err
			}
			out, err := c.newRows(format)
			if err != nil {
				return err
			}
			name, in, err := c.sqlInput(ctx, args, given.file)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, in.Close()) }()
			statement, err := sqlshell.OneStatement("db query", name, in)
			if err != nil {
				return err
			}
			return c.withDatabase(ctx, f, d1.ConsoleOptions{ReadOnly: true}, func(db *sqlshell.Database) error {
				return db.Query(ctx, statement, values, out)
			})
		},
	}
	given.add(cmd)
	addRowFormat(cmd, &format)
	return cmd
}

// addRowFormat adds the flag of newRows.
func addRowFormat(cmd *cobra.Command, format *string) {
	const usage = "`format` of the rows: table, tsv, csv, json or jsonl (default: table on a terminal, else tsv)"
	cmd.Flags().StringVar(format, "format", "", usage)
}

// sqlInput returns the text a command runs: its first argument, a file or stdin. The second argument is the site's folder.
func (c *cli) sqlInput(ctx context.Context, args []string, file string) (name string, r io.ReadCloser, err error) {
	_, dir := first(args)
	if err := c.siteArgument(dir); err != nil {
		return "", nil, err
	}
	switch {
	case len(args) > 0 && file != "":
		return "", nil, failure.Usage("an argument and --file both give SQL; pass one of them")
	case len(args) > 0 && args[0] != "-":
		return "SQL", io.NopCloser(strings.NewReader(args[0])), nil
	case file != "" && file != "-":
		f, err := sqlshell.OpenInput(ctx, userfile.WorkDir(c.term.Dir), file)
		return file, f, err
	case len(args) == 0 && file == "" && terminal.IsTerminalReader(c.term.Stdin):
		return "", nil, failure.Usage("there is no SQL: give it as an argument, with --file or on stdin")
	}
	return "stdin", io.NopCloser(userfile.Interruptible(ctx, c.term.Stdin)), nil
}

// rowsDoc is the output of `pages db query --json`, row by row.
type rowsDoc struct {
	OK      bool     `json:"ok"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // of null, numbers, texts and {"blob": base64}
}

// newRows returns the writer of rows on stdout: a table at a terminal, else tsv, unless a format is given.
func (c *cli) newRows(format string) (*sqlshell.RowWriter, error) {
	isTerminal := terminal.IsTerminal(c.term.Stdout)
	switch {
	case c.term.JSON && format != "" && format != "json":
		return nil, failure.Usage("--json and --format %s exclude each other", format)
	case c.term.JSON:
		format = "json"
	case format == "" && isTerminal:
		format = "table"
	case format == "":
		format = "tsv"
	}
	return sqlshell.NewRowWriter(c.term.Stdout, isTerminal, format)
}
