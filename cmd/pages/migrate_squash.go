package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

func (c *cli) newMigrateSquash() *cobra.Command {
	var upTo string
	cmd := &cobra.Command{
		Use:   "squash --up-to FILE [DIR]",
		Short: "Make one migration of all up to a file",
		Long: "Make one migration of all up to a file: what those leave of an empty database,\ntables and rows. It is tried before anything is written, and the files it stands\nfor are removed then. A database that has applied all of those takes it as\n" +
			"applied, one that has none of them runs it.\n\nRows are written as they came out here: what the files took from the clock or at\nrandom is fixed from then on.\n\n" +
			"Exit codes: 0 squashed, 1 refused, 2 wrong usage, 9 the folder cannot be\nwritten.",
		Example: "  pages migrate squash --up-to 0042_orders.sql",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if upTo == "" {
				return failure.Usage("--up-to names no migration")
			}
			return c.withMigrations(cmd.Context(), args, migrate.Options{}, func(s *migrations) error {
				made, err := s.Squash(cmd.Context(), upTo, dumpMigrated)
				if err == nil {
					err = s.writeSquash(made)
				}
				if err != nil {
					return err
				}
				result, err := s.Apply(cmd.Context())
				if err != nil {
					return s.printApplied(result, err)
				}
				s.printSquash(made)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&upTo, "up-to", "", "the last `FILE` that the new one stands for")
	return cmd
}

// dumpMigrated writes what migrations made of a database.
func dumpMigrated(ctx context.Context, db *sql.DB, w io.Writer) (err error) {
	console, err := d1.NewConsole(ctx, db, d1.ConsoleOptions{Unbounded: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, console.Close()) }()
	var o transfer.DumpOptions
	_, err = console.Run(ctx, `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE '\_pages\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')`, nil, nil, func(v []any) error {
		name, _ := v[0].(string)
		o.Tables = append(o.Tables, name)
		return nil
	})
	if err != nil || o.Tables == nil {
		return err
	}
	var out bytes.Buffer
	if err := transfer.Dump(ctx, console, &out, o); err != nil {
		return err
	}
	text := strings.TrimPrefix(out.String(), "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
	_, err = io.WriteString(w, strings.TrimSuffix(text, "COMMIT;\n"))
	return err
}

// writeSquash puts the new file in the place of the old ones. It comes first: the folder means the same at every
// moment, since what a squash stands for is passed over.
func (s *migrations) writeSquash(made migrate.Squash) error {
	folder := filepath.Join(s.dir, filepath.FromSlash(s.m.Bindings.Database.Migrations))
	file := filepath.Join(folder, made.File.Name)
	err := userfile.ReplaceText(file, 0o644, made.File.SQL)
	for _, name := range made.Replaces {
		if err == nil {
			err = os.Remove(filepath.Join(folder, name))
		}
	}
	if err != nil {
		return s.unwritable(s.m.Bindings.Database.Migrations, err)
	}
	return nil
}

func (s *migrations) printSquash(made migrate.Squash) {
	if s.term.JSON {
		s.term.PrintJSON(migrationFileDoc{true, made.File.Path, made.Replaces})
		return
	}
	fmt.Fprintln(s.term.Stdout, s.term.Shown(filepath.Join(s.dir, filepath.FromSlash(made.File.Path))))
	s.term.Progress("it stands for %s: %s to %s", wording.Count(len(made.Replaces), "file"), made.Replaces[0], made.Replaces[len(made.Replaces)-1])
}
