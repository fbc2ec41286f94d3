package migration

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

	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// Squash makes one migration of all up to the file upTo.
func (s *Site) Squash(ctx context.Context, upTo string) error {
	return s.Write(ctx, migrate.Options{}, func(m *migrate.Migrator) error {
		made, err := m.Squash(ctx, upTo, dumpMigrated)
		if err == nil {
			err = s.writeSquash(made)
		}
		if err != nil {
			return err
		}
		result, err := m.Apply(ctx)
		if err != nil {
			return s.printRun(result, err)
		}
		s.printSquash(made)
		return nil
	})
}

// dumpMigrated writes what migrations made of a database.
func dumpMigrated(ctx context.Context, db *sql.DB, w io.Writer) (err error) {
	console, err := d1.NewConsole(ctx, db, d1.ConsoleOptions{Unbounded: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, console.Close()) }()
	var o transfer.DumpOptions
	const ownTables = `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
		AND name NOT LIKE '\_pages\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')`
	_, err = console.Run(ctx, ownTables, nil, nil, func(v []any) error {
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
func (s *Site) writeSquash(made migrate.Squash) error {
	folder := filepath.Join(s.Dir, filepath.FromSlash(s.Manifest.Bindings.Database.Migrations))
	file := filepath.Join(folder, made.File.Name)
	err := userfile.ReplaceText(file, 0o644, made.File.SQL)
	for _, name := range made.Replaces {
		if err == nil {
			err = os.Remove(filepath.Join(folder, name))
		}
	}
	if err != nil {
		return s.unwritable(s.Manifest.Bindings.Database.Migrations, err)
	}
	return nil
}

func (s *Site) printSquash(made migrate.Squash) {
	if s.term.JSON {
		s.term.PrintJSON(FileReport{true, made.File.Path, made.Replaces})
		return
	}
	fmt.Fprintln(s.term.Stdout, s.term.Shown(filepath.Join(s.Dir, filepath.FromSlash(made.File.Path))))
	last := made.Replaces[len(made.Replaces)-1]
	s.term.Progress("it stands for %s: %s to %s", wording.Count(len(made.Replaces), "file"), made.Replaces[0], last)
}
