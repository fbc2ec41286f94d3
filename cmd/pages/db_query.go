package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

func (c *cli) newDBQuery(f *dbFlags) *cobra.Command {
	var file, format string
	var params []string
	cmd := &cobra.Command{
		Use:   "query [SQL | - [DIR]]",
		Short: "Show what one SQL statement gives; it cannot write",
		Long: "Show what one SQL statement gives; it cannot write.\n\n" +
			"Formats: table, for people; tsv, which escapes tabs, line ends and backslashes\nand writes NULL as \\N; csv, where NULL is an empty field and an empty text \"\";\n" +
			"json, one document with columns and rows; jsonl, an object a row. A blob is\nX'00ff' in text, and {\"blob\": \"AP8=\"} in JSON.\n\n" +
			"Exit codes: 0 done, 1 the statement was refused or failed, 2 wrong usage, 9 the\ndatabase cannot be used.",
		Example: "  pages db query 'SELECT * FROM crews'\n  pages db query --param heron 'SELECT id FROM crews WHERE name LIKE ?'\n  pages db query --format csv 'SELECT * FROM enquiries' > enquiries.csv\n  pages db query --json \"SELECT count(*) AS n FROM seats\"",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx := cmd.Context()
			values, err := sqlArguments(params)
			if err != nil {
				return err
			}
			out, err := c.newRows(format)
			if err != nil {
				return err
			}
			name, in, err := c.sqlInput(ctx, args, file)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, in.Close()) }()
			statement, err := oneStatement(name, in)
			if err != nil {
				return sqlshell.Failure(err, "nothing was run")
			}
			db, err := c.openDatabase(ctx, f, d1.ConsoleOptions{ReadOnly: true})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			_, err = db.Run(ctx, statement.Text, values, out.Begin, out.Row)
			if err != nil {
				left := "nothing was changed"
				if e, ok := errors.AsType[*d1.SQLError](err); ok && e.OnlyReading() {
					left = "pages db exec runs statements that write; " + left
				}
				return sqlshell.Failure(errors.Join(out.Abort(), transfer.Blame(statement, err)), db.Advice(ctx, err, left))
			}
			return out.End()
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "`file` with the SQL; - for stdin")
	cmd.Flags().StringVar(&format, "format", "", "`format` of the rows: table, tsv, csv, json or jsonl (default: table on a terminal, else tsv)")
	cmd.Flags().StringArrayVar(&params, "param", nil, "`value` of the next parameter, or :name=value; repeatable")
	return cmd
}

// oneStatement reads the one statement of a text.
func oneStatement(name string, r io.Reader) (migrate.Statement, error) {
	in := migrate.NewStatements(name, r)
	first, err := in.Next()
	if errors.Is(err, io.EOF) {
		return first, &transfer.Error{Code: transfer.CodeStatement, Msg: "there is no SQL statement in " + name, Fix: `give one as an argument, as in pages db query "SELECT 1", with --file or on stdin`}
	}
	if err != nil {
		return first, transfer.BlameText(err)
	}
	second, err := in.Next()
	if errors.Is(err, io.EOF) {
		return first, nil
	}
	if err != nil {
		return first, transfer.BlameText(err)
	}
	e := &transfer.Error{Code: transfer.CodeStatement, Msg: "a second statement begins here, and a query is one", Fix: "use pages db exec for several statements, or pages db shell"}
	e.Pos, e.Source, e.SourceColumn = second.At(0)
	return first, e
}

// rowsDoc is what `pages db query --json` prints, row by row.
type rowsDoc struct {
	OK      bool     `json:"ok"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // of null, numbers, texts and {"blob": base64}
}

// newRows returns the writer of rows on stdout: a table at a terminal, else tsv, unless a format is asked for.
func (c *cli) newRows(format string) (*sqlshell.RowWriter, error) {
	interactive := terminal.IsTerminal(c.term.Stdout)
	switch {
	case c.term.JSON && format != "" && format != "json":
		return nil, failure.Usage("--json and --format %s ask for two things", format)
	case c.term.JSON:
		format = "json"
	case format == "" && interactive:
		format = "table"
	case format == "":
		format = "tsv"
	}
	return sqlshell.NewRowWriter(c.term.Stdout, interactive, format)
}
