package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding"
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
			if c.json {
				return usageError("a dump is SQL: --json has no meaning here")
			}
			if err := c.siteArgument(args); err != nil {
				return err
			}
			db, err := c.openDatabase(cmd.Context(), f, binding.ConsoleOptions{ReadOnly: true, Unbounded: true})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			write := func(w io.Writer) error { return transfer.Dump(cmd.Context(), db, w, o) }
			if out == "" || out == "-" {
				return c.sqlError(write(c.stdout), "the dump is not complete")
			}
			return c.sqlError(c.writeWhole(cmd.Context(), c.path(out), write), "no dump was written")
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "`file` to write to (default: stdout)")
	cmd.Flags().BoolVar(&o.NoData, "no-data", false, "only the schema")
	cmd.Flags().StringArrayVar(&o.Tables, "table", nil, "only the table or view of this `name`, with its indexes and triggers; repeatable")
	return cmd
}

// writeWhole writes a file that is there as a whole or not at all; nobody else may read it.
func (c *cli) writeWhole(ctx context.Context, path string, write func(io.Writer) error) error {
	grown := path + ".part"
	file, err := os.OpenFile(grown, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		err = write(file)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = file.Sync()
		}
		err = errors.Join(err, file.Close())
		if err == nil {
			err = os.Rename(grown, path)
		}
		if err != nil {
			err = errors.Join(err, os.Remove(grown))
		}
	}
	if disk, ok := errors.AsType[*os.PathError](err); ok {
		return resourceError("output-unusable", fmt.Sprintf("%q cannot be written", c.shown(path)), "name a file that you may write to, on a disk with room", disk)
	}
	return err
}
