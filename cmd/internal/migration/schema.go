package migration

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/schemadiff"
)

const schemaHead = "-- Written by pages migrate schema.\n\n"

// SchemaOptions are the options of `pages migrate schema`.
type SchemaOptions struct {
	File   string // "" for schema.sql beside the manifest
	Stdout bool   // print the schema, and write no file
	Check  bool   // write nothing, and fail if the file is not up to date
}

// SchemaReport is the output of `pages migrate schema --check --json`.
type SchemaReport struct {
	OK     bool         `json:"ok"`
	File   string       `json:"file"`
	Behind string       `json:"behind"`       // "file", "database" or "migrations": the side that lacks changes of another; "" if none does
	As     string       `json:"as,omitempty"` // the last migration that an outdated file includes
	Schema []DiffChange `json:"schema"`       // from the database to the file
}

// DiffChange is one difference of two schemas.
type DiffChange struct {
	Change string `json:"change"` // "added", "removed", "changed", "renamed", or "rebuilt" because of another table
	Type   string `json:"type"`   // "table", "column", "constraint", "index", "view" or "trigger"
	Table  string `json:"table,omitempty"`
	Name   string `json:"name"`
	Text   string `json:"text"` // the change in a sentence
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

func diffChanges(changes []schemadiff.Change) []DiffChange {
	list := []DiffChange{}
	for _, c := range changes {
		list = append(list, DiffChange{c.Change, c.Type, c.Table, c.Name, c.Text, c.Before, c.After})
	}
	return list
}

// Schema writes the schema of the database to a file, or prints it.
func (s *Site) Schema(ctx context.Context, o SchemaOptions) error {
	return s.Read(ctx, migrate.Options{}, func(m *migrate.Migrator) error {
		file := cmp.Or(o.File, filepath.Join(s.Dir, "schema.sql"))
		text, err := m.Schema(ctx)
		if pending, ok := errors.AsType[*migrate.Error](err); ok && pending.Code == migrate.CodePending && o.Check {
			return s.checkPending(ctx, m, file, pending)
		}
		if err != nil {
			return err
		}
		text = schemaHead + text
		if o.Stdout {
			fmt.Fprint(s.term.Stdout, text)
			return nil
		}
		if o.Check {
			return s.checkSchema(ctx, m, file, text)
		}
		return s.writeSchema(ctx, m, file, text)
	})
}

// writeSchema writes the file, unless it is up to date. It refuses to replace a file that it did not write, or that a person has edited
// since.
func (s *Site) writeSchema(ctx context.Context, m *migrate.Migrator, file, text string) error {
	shown := s.term.Shown(file)
	there, err := readSchemaFile(file)
	switch {
	case err == nil && there == text: // it is up to date
	case err == nil && !strings.HasPrefix(there, schemaHead):
		return failure.Refused("schema-not-ours", shown+" was not written by pages migrate schema",
			"move it away, or write another file with --output")
	case err == nil:
		compared, err := s.compareSchema(ctx, m, file, there, text)
		if err != nil {
			return err
		}
		if compared.behind == behindDatabase {
			return failure.Refused("schema-edited",
				shown+" was edited since it was written: "+wording.Count(len(compared.changes), "difference"),
				"pages migrate diff NAME writes a migration of the edit; to discard it, move the file away first")
		}
		return s.replaceSchema(file, text)
	case errors.Is(err, fs.ErrNotExist):
		return s.replaceSchema(file, text)
	}
	if err != nil {
		return s.schemaUnwritable(file, err)
	}
	return s.printSchemaFile(file)
}

func (s *Site) replaceSchema(file, text string) error {
	if err := userfile.ReplaceText(file, 0o644, []byte(text)); err != nil {
		return s.schemaUnwritable(file, err)
	}
	return s.printSchemaFile(file)
}

func (s *Site) schemaUnwritable(file string, err error) error {
	return failure.Resource("output-unusable", fmt.Sprintf("%s cannot be written", wording.QuotePath(s.term.Shown(file))),
		"name a writable file with --output", err)
}

func (s *Site) printSchemaFile(file string) error {
	if s.term.JSON {
		s.term.PrintJSON(FileReport{OK: true, File: file})
	} else {
		fmt.Fprintln(s.term.Stdout, s.term.Shown(file))
	}
	return nil
}

// readSchemaFile returns the text of a file with line feeds.
func readSchemaFile(file string) (string, error) {
	text, err := userfile.ReadRegular(file)
	return string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), err
}

// The values of [SchemaReport.Behind].
const (
	behindFile       = "file"
	behindDatabase   = "database"
	behindMigrations = "migrations"
)

// schemaComparison has the differences of a schema file from the database.
type schemaComparison struct {
	changes []schemadiff.Change // from the database to the file
	behind  string
	as      string
}

// compareSchema compares the text of a schema file with that of the database's schema by structure. The file is behind if its schema equals
// the one after an earlier migration.
func (s *Site) compareSchema(ctx context.Context, m *migrate.Migrator, file, text, live string) (c schemaComparison, err error) {
	wanted, err := s.readSchemaText(ctx, file, text)
	if err != nil {
		return c, err
	}
	database, err := s.readSchemaText(ctx, file, live)
	if err != nil {
		return c, err
	}
	if c.changes = schemadiff.Compare(database, wanted); len(c.changes) == 0 {
		return c, nil
	}
	c.behind = behindDatabase
	if len(schemadiff.Compare(&schemadiff.Schema{}, wanted)) == 0 {
		c.behind = behindFile
		return c, nil
	}
	err = m.EachState(ctx, func(ctx context.Context, name string, db *sql.DB) (bool, error) {
		equal, err := wanted.IsIn(ctx, db)
		if equal {
			c.behind, c.as = behindFile, name
		}
		return true, err
	})
	if err != nil || c.behind != behindFile {
		return c, err
	}
	// The file matches the migrations, so the database was changed without them.
	return c, m.OnScratch(ctx, func(ctx context.Context, db *sql.DB) error {
		latest, err := wanted.IsIn(ctx, db)
		if latest {
			c.behind, c.as = behindMigrations, ""
		}
		return err
	})
}

// readSchemaText returns the schema of a file's text on an empty database, under the rules of migrations.
func (s *Site) readSchemaText(ctx context.Context, file, text string) (schema *schemadiff.Schema, err error) {
	err = s.onSchemaText(file, text).OnScratch(ctx, func(ctx context.Context, db *sql.DB) error {
		schema, err = schemadiff.Read(ctx, db)
		return err
	})
	return schema, err
}

// onSchemaText returns the migrator of a schema file alone.
func (s *Site) onSchemaText(file, text string) *migrate.Migrator {
	f := migrate.File{Name: filepath.Base(file), SQL: []byte(text)}
	if rel, err := filepath.Rel(s.Dir, file); err == nil {
		f.Path = filepath.ToSlash(rel)
	}
	return migrate.New(nil, nil, migrate.Options{More: []migrate.File{f}})
}

// checkSchema compares the file with the database, and names the side that is behind.
func (s *Site) checkSchema(ctx context.Context, m *migrate.Migrator, file, text string) error {
	shown := s.term.Shown(file)
	there, err := readSchemaFile(file)
	if err != nil {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "schema-outdated", Message: shown + " cannot be read: " + failure.Reason(err),
			Fix: "pages migrate schema writes it", Err: err,
		}
	}
	var compared schemaComparison
	if there != text {
		if compared, err = s.compareSchema(ctx, m, file, there, text); err != nil {
			return err
		}
	}
	doc := SchemaReport{
		OK: compared.behind == "", File: file, Behind: compared.behind, As: compared.as, Schema: diffChanges(compared.changes),
	}
	if doc.OK {
		if s.term.JSON {
			s.term.PrintJSON(doc)
			return nil
		}
		fmt.Fprintln(s.term.Stdout, shown)
		return nil
	}
	err = compared.failure(shown)
	if s.term.JSON {
		return s.printFailed(err, doc)
	}
	s.printDifferences(doc.Schema)
	return err
}

// checkPending returns the error for migrations that are not applied yet. If no migration makes the schema of the file, it also says that
// the file was edited.
func (s *Site) checkPending(ctx context.Context, m *migrate.Migrator, file string, pending *migrate.Error) error {
	there, err := readSchemaFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return pending
	}
	var wanted *schemadiff.Schema
	if err == nil {
		wanted, err = s.readSchemaText(ctx, file, there)
	}
	if err != nil {
		return errors.Join(pending, err)
	}
	made := len(schemadiff.Compare(&schemadiff.Schema{}, wanted)) == 0
	var changes []schemadiff.Change // from the last state
	err = m.EachState(ctx, func(ctx context.Context, _ string, db *sql.DB) (bool, error) {
		state, err := schemadiff.Read(ctx, db)
		if err != nil {
			return false, err
		}
		changes = schemadiff.Compare(state, wanted)
		made = made || len(changes) == 0
		return !made, nil
	})
	if err != nil || made {
		return cmp.Or[error](err, pending)
	}
	both := *pending
	both.Msg += fmt.Sprintf("; and %s was edited, with %s from the schema of the migrations",
		s.term.Shown(file), wording.Count(len(changes), "difference"))
	both.Fix = "run pages migrate first; then pages migrate diff NAME writes a migration of the edit"
	return &both
}

// failure names the side that is behind in a sentence. It never advises to lose an edit.
func (c schemaComparison) failure(shown string) error {
	n := wording.Count(len(c.changes), "difference")
	switch c.behind {
	case behindFile:
		as := "the one before the first migration"
		if c.as != "" {
			as = "the one after " + c.as
		}
		return failure.Refused("schema-outdated", fmt.Sprintf("%s is older than the database, with %s: its schema is %s", shown, n, as),
			"pages migrate schema writes it; if the database is to go back to it, pages migrate diff NAME writes the migration")
	case behindMigrations:
		return failure.Refused("schema-outdated",
			fmt.Sprintf("the database has %s from %s, which is the schema of its migrations", n, shown),
			"pages migrate rehearse shows the changes by hand or by the Worker; write a migration for them")
	}
	return failure.Refused("schema-outdated", fmt.Sprintf("%s was edited, and the database is older, with %s", shown, n),
		"pages migrate diff NAME writes a migration of the edit; if the database is right, move the file away and run pages migrate schema")
}

// printDifferences prints changes with the definitions before and after.
func (s *Site) printDifferences(changes []DiffChange) {
	for _, c := range changes {
		fmt.Fprintln(s.term.Stdout, wording.Printable(c.Text))
		if c.Type == schemadiff.KindRule {
			continue // the sentence has it
		}
		before, after := changedLines(c.Before, c.After)
		for _, part := range []struct{ mark, text string }{{"  - ", before}, {"  + ", after}} {
			for line := range strings.Lines(part.text) {
				fmt.Fprintln(s.term.Stdout, part.mark+wording.PrintableCode(strings.TrimRight(line, "\r\n")))
			}
		}
	}
}

// changedLines returns the lines that differ between two definitions of one object.
func changedLines(before, after string) (string, string) {
	a, b := slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(after))
	for len(a) > 0 && len(b) > 0 && strings.TrimSpace(a[0]) == strings.TrimSpace(b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && strings.TrimSpace(a[len(a)-1]) == strings.TrimSpace(b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return strings.Join(a, ""), strings.Join(b, "")
}
