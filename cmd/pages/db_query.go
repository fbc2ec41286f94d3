package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
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
			values, err := sqlshell.Parameters(params)
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
			statement, err := sqlshell.OneStatement(name, in)
			if err != nil {
				return err
			}
			db, err := c.openDatabase(ctx, f, d1.ConsoleOptions{ReadOnly: true})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			return db.Query(ctx, statement, values, out)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "`file` with the SQL; - for stdin")
	cmd.Flags().StringVar(&format, "format", "", "`format` of the rows: table, tsv, csv, json or jsonl (default: table on a terminal, else tsv)")
	cmd.Flags().StringArrayVar(&params, "param", nil, "`value` of the next parameter, or :name=value; repeatable")
	return cmd
}

// rowsDoc is what `pages db query --json` prints, row by row.
type rowsDoc struct {
	OK      bool     `json:"ok"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // of null, numbers, texts and {"blob": base64}
}

// newRows returns the writer of rows on stdout: a table at a terminal, else tsv, unless a format is asked for.
func (c *cli) newRows(format string) (*sqlshell.RowWriter, error) {
	isTerminal := terminal.IsTerminal(c.term.Stdout)
	switch {
	case c.term.JSON && format != "" && format != "json":
		return nil, failure.Usage("--json and --format %s ask for two things", format)
	case c.term.JSON:
		format = "json"
	case format == "" && isTerminal:
		format = "table"
	case format == "":
		format = "tsv"
	}
	return sqlshell.NewRowWriter(c.term.Stdout, isTerminal, format)
}
