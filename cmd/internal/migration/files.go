package migration

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// Create writes an empty migration under the next name of the folder, and prints its path.
func (s *Site) Create(what string) error {
	if s.Manifest.Bindings.Database.Migrations == "" {
		return noMigrations()
	}
	file, err := s.createFile(what)
	if err != nil {
		return s.fail(err)
	}
	if s.term.JSON {
		s.term.PrintJSON(FileReport{OK: true, File: file})
		return nil
	}
	fmt.Fprintln(s.term.Stdout, s.term.Shown(filepath.Join(s.Dir, filepath.FromSlash(file))))
	return nil
}

// createFile writes an empty migration. It takes the next name if another process creates the same file.
func (s *Site) createFile(what string) (string, error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	folder := path.Clean(s.Manifest.Bindings.Database.Migrations)
	for {
		name, err := migrate.NextName(root.FS(), folder, what, s.term.Now())
		if err != nil {
			return "", err
		}
		if err := root.MkdirAll(folder, 0o755); err != nil {
			return "", s.unwritable(folder, err)
		}
		file := path.Join(folder, name)
		f, err := root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", s.unwritable(folder, err)
		}
		_, err = fmt.Fprintf(f, "-- %s, %s\n\n", strings.TrimSuffix(name, ".sql"), s.term.Now().UTC().Format("2006-01-02"))
		if err = errors.Join(err, f.Close()); err != nil {
			return "", errors.Join(s.unwritable(folder, err), root.Remove(file))
		}
		return file, nil
	}
}

func (s *Site) unwritable(folder string, err error) error {
	path := s.term.Shown(filepath.Join(s.Dir, filepath.FromSlash(folder)))
	return failure.Resource("folder-unwritable", fmt.Sprintf("the folder %s cannot be written", wording.QuotePath(path)),
		"make it writable", err)
}

// FileReport is the output of `pages migrate new`, `schema` and `squash` with --json.
type FileReport struct {
	OK       bool     `json:"ok"`
	File     string   `json:"file"`               // relative to the site's folder, with slashes
	Replaces []string `json:"replaces,omitempty"` // the files that a squash replaces
}

// Squash makes one migration from all files up to upTo.
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
		if s.term.JSON {
			s.term.PrintJSON(FileReport{true, made.File.Path, made.Replaces})
			return nil
		}
		fmt.Fprintln(s.term.Stdout, s.term.Shown(filepath.Join(s.Dir, filepath.FromSlash(made.File.Path))))
		last := made.Replaces[len(made.Replaces)-1]
		s.term.Progress("it replaces %s: %s to %s", wording.Count(len(made.Replaces), "file"), made.Replaces[0], last)
		return nil
	})
}

// dumpMigrated writes the objects and rows that the migrations made in a database.
func dumpMigrated(ctx context.Context, db *sql.DB, w io.Writer) (err error) {
	console, err := d1.NewConsole(ctx, db, d1.ConsoleOptions{Unbounded: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, console.Close()) }()
	o := transfer.DumpOptions{ByRows: true}
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

// writeSquash replaces the old files by the new one. It writes the new file first: the folder has the same meaning at every moment, since
// migrate skips files that a squash replaces.
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
