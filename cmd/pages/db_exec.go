package main

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

func (c *cli) newDBExec(f *dbFlags) *cobra.Command {
	var file string
	var params []string
	cmd := &cobra.Command{
		Use:   "exec [SQL | - [DIR]]",
		Short: "Run SQL statements in one transaction",
		Long: "Run SQL statements in one transaction: an argument, a file or stdin. Either all\nof them stand, or none. Rows they give are not shown; see pages db query.\n\n" +
			"Exit codes: 0 done, 1 a statement was refused or failed, 2 wrong usage, 9 the\ndatabase is locked or cannot be used.",
		Example: "  pages db exec \"UPDATE crews SET name = 'Heron' WHERE id = 3\"\n  pages db exec --param Heron --param 3 'UPDATE crews SET name = ? WHERE id = ?'\n  pages db exec --file fix.sql\n  generate | pages db exec --project -",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx := cmd.Context()
			values, err := sqlshell.Parameters(params)
			if err != nil {
				return err
			}
			name, in, err := c.sqlInput(ctx, args, file)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, in.Close()) }()
			db, err := c.openDatabase(ctx, f, d1.ConsoleOptions{})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			ran, err := transfer.Script(ctx, db, name, in, transfer.ScriptOptions{Args: values})
			if err != nil {
				return sqlshell.Failure(err, db.Advice(ctx, err, sqlshell.NothingChanged))
			}
			c.printRan(db, ran)
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "`file` with the SQL; - for stdin")
	cmd.Flags().StringArrayVar(&params, "param", nil, "`value` of the next parameter, or :name=value; repeatable")
	return cmd
}

// ranDoc is what `pages db exec --json` and `import --json` print.
type ranDoc struct {
	OK       bool   `json:"ok"`
	Database string `json:"database"`
	transfer.Ran
}

// printRan prints what was run on a database, and tells pages dev of it.
func (c *cli) printRan(db *sqlshell.Database, ran transfer.Ran) {
	db.Wrote()
	if c.term.JSON {
		c.term.PrintJSON(ranDoc{true, db.Path, ran})
		return
	}
	c.term.Progress("ran %s, wrote %s in %s", wording.Count(ran.Statements, "statement"), wording.Count(int(ran.Changes), "row"), c.term.Shown(filepath.Clean(db.Path)))
}
