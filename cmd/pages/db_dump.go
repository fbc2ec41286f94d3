package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

func (c *cli) newDBDump(f *dbFlags) *cobra.Command {
	var out string
	var o transfer.DumpOptions
	cmd := &cobra.Command{
		Use:   "dump [DIR]",
		Short: "Write the database as SQL, for sqlite3 and pages db import",
		Long: "Write the database as SQL, for sqlite3 and pages db import: the schema, every\nvalue and rowid, the full-text indexes and where AUTOINCREMENT stands, all as\n" +
			"they were at one moment.\n\n" +
			"REALs are written with the fewest digits that mean them; releases of sqlite3\nbefore 3.47 may read the last one differently, as they do of their own dumps.\n\n" +
			"Exit codes: 0 written, 1 failed, 2 wrong usage, 9 the database or the file\ncannot be used.",
		Example: "  pages db dump > site.sql\n  pages db dump --no-data\n  pages db dump --table crews --table seats -o crews.sql",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if c.term.JSON {
				return failure.Usage("a dump is SQL: --json has no meaning here")
			}
			if err := c.siteArgument(args); err != nil {
				return err
			}
			db, err := c.openDatabase(cmd.Context(), f, d1.ConsoleOptions{ReadOnly: true, Unbounded: true})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			write := func(w io.Writer) error { return transfer.Dump(cmd.Context(), db, w, o) }
			if out == "" || out == "-" {
				return sqlshell.Failure(c.term.WriteRaw(write), "the dump is not complete")
			}
			return sqlshell.Failure(c.writeWhole(cmd.Context(), c.term.Path(out), write), "no dump was written")
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "`file` to write to (default: stdout)")
	cmd.Flags().BoolVar(&o.NoData, "no-data", false, "only the schema")
	cmd.Flags().StringArrayVar(&o.Tables, "table", nil, "only the table or view of this `name`, with its indexes and triggers; repeatable")
	return cmd
}

// writeWhole is replaceFile for what a command was asked to write, which nobody else may read.
func (c *cli) writeWhole(ctx context.Context, path string, write func(io.Writer) error) error {
	err := userfile.Replace(path, 0o600, func(w io.Writer) error {
		if err := write(w); err != nil {
			return err
		}
		return ctx.Err()
	})
	if errors.As(err, new(*os.PathError)) || errors.As(err, new(*os.LinkError)) {
		return failure.Resource("output-unusable", fmt.Sprintf("%s cannot be written", wording.QuotePath(c.term.Shown(path))), "name a file that you may write to, on a disk with room", err)
	}
	return err
}
