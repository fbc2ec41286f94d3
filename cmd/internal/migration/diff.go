package migration

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/schemadiff"
)

// DiffOptions are the options of `pages migrate diff`.
type DiffOptions struct {
	Name      string   // of the migration, in words
	From      string   // the schema file; "" for schema.sql beside the manifest
	Renames   []string // "table.column=name" or "table=name"
	Values    []string // "table.column=SQL"
	AllowLoss []string // tables
	Stdout    bool     // print the SQL, and write no file
	Check     bool     // write no file, and fail if there is a difference

	// Agree asks a person for a yes or no; nil for no person.
	Agree func(ctx context.Context, question string) (bool, error)
	// Ask asks a person for a line; nil for no person.
	Ask func(ctx context.Context, question string) (string, error)
}

// Diff writes the next migration, from the schema of the migrations to that of the schema file.
func (s *Site) Diff(ctx context.Context, o DiffOptions) error {
	if s.Manifest.Bindings.Database.Migrations == "" {
		return noMigrations()
	}
	d := &differ{Site: s, o: o, file: cmp.Or(o.From, filepath.Join(s.Dir, "schema.sql"))}
	var err error
	if d.write.Renames, err = d.renames(); err != nil {
		return err
	}
	if d.write.Values, err = d.values(); err != nil {
		return err
	}
	d.write.AllowLoss = o.AllowLoss
	return s.fail(d.run(ctx))
}

func noMigrations() error {
	return failure.Refused("no-migrations", "the manifest names no folder of migrations",
		`add "migrations": "migrations" to "bindings.database" in `+manifest.FileName)
}

// differ is one run of `pages migrate diff`.
type differ struct {
	*Site
	o         DiffOptions
	file      string // the schema file
	text      string
	write     schemadiff.Options
	answered  map[string]bool // guesses on which a person has decided
	reordered []string
}

func (d *differ) run(ctx context.Context) error {
	var err error
	if d.text, err = readSchemaFile(d.file); err != nil {
		shown := wording.QuotePath(d.term.Shown(d.file))
		if errors.Is(err, fs.ErrNotExist) {
			return failure.Refused("schema-missing", shown+" does not exist",
				"pages migrate schema writes it; then edit it, and run this again")
		}
		return failure.Refused("unreadable", shown+" cannot be read: "+failure.Reason(err), "name a file of SQL with --from")
	}
	if len(d.text) > migrate.MaxFileSize {
		return failure.Refused("unreadable",
			fmt.Sprintf("%s is larger than %d bytes", wording.QuotePath(d.term.Shown(d.file)), migrate.MaxFileSize),
			"leave the rows out of it: a schema file has tables, indexes, views and triggers")
	}
	made, err := d.script(ctx)
	if err != nil {
		return err
	}
	if len(made.Changes) == 0 || d.o.Check {
		return d.printUnwritten(made)
	}
	file, err := d.migration(made)
	if err != nil {
		return err
	}
	if err := d.prove(ctx, file); err != nil {
		return err
	}
	doc, err := d.plan(ctx, &file, made)
	if err != nil {
		return err
	}
	if !d.o.Stdout {
		if err := d.create(file); err != nil {
			return err
		}
		doc.File = file.Path
	}
	d.print(doc)
	return nil
}

// migrator returns the migrator of the site's folder, with the files of after added. It has no database.
func (d *differ) migrator(more ...migrate.File) *migrate.Migrator {
	return d.State.Migrator(nil, d.Dir, d.Manifest, migrate.Options{More: more, Now: d.term.Now, Tool: d.tool})
}

// script writes the SQL, and asks a person about ambiguous changes.
func (d *differ) script(ctx context.Context) (made schemadiff.Script, err error) {
	d.answered = map[string]bool{}
	for {
		made, err = d.scriptOnce(ctx)
		e, refused := errors.AsType[*schemadiff.Error](err)
		if err != nil && !refused {
			return made, err
		}
		if again, err := d.askRenames(ctx, made); err != nil {
			return made, err
		} else if again {
			continue
		}
		if refused {
			if e.Code == schemadiff.CodeValue && d.o.Check {
				return made, nil // there is a difference
			}
			if e.Code == schemadiff.CodeValue && d.o.Ask != nil {
				value, asked := d.o.Ask(ctx, e.Msg+"\nthe value, as SQL: ")
				if asked != nil {
					return made, asked
				}
				if value != "" {
					d.write.Values = append(d.write.Values, schemadiff.Value{Table: e.Name, Column: e.Column, SQL: value})
					continue
				}
			}
			return made, d.refuse(e)
		}
		return made, nil
	}
}

// askRenames asks whether a removed name became a new one; true if one did.
func (d *differ) askRenames(ctx context.Context, made schemadiff.Script) (again bool, err error) {
	if d.o.Agree == nil || d.o.Check {
		return false, nil
	}
	for _, g := range made.Guesses {
		if d.answered[g.String()] {
			continue
		}
		d.answered[g.String()] = true
		yes, err := d.o.Agree(ctx, renameQuestion(g))
		if err != nil {
			return false, err
		}
		if yes {
			d.write.Renames = append(d.write.Renames, g)
			return true, nil // other pairs may be ambiguous now
		}
	}
	return false, nil
}

func renameQuestion(g schemadiff.Rename) string {
	if g.Column == "" {
		return fmt.Sprintf("The table %s is removed and %s is new. Is it the same table under a new name?", g.Table, g.To)
	}
	return fmt.Sprintf("The column %s.%s is removed and %s is new. Is it the same column under a new name?", g.Table, g.Column, g.To)
}

// scriptOnce compares the schema of the migrations with that of the file.
func (d *differ) scriptOnce(ctx context.Context) (made schemadiff.Script, err error) {
	err = d.onSchemaText(d.file, d.text).OnScratch(ctx, func(ctx context.Context, db *sql.DB) error {
		wanted, err := schemadiff.Read(ctx, db)
		if err != nil {
			return err
		}
		broken, err := schemadiff.Check(ctx, db, wanted)
		if err != nil {
			return err
		}
		return d.migrator().OnScratch(ctx, func(ctx context.Context, db *sql.DB) error {
			current, err := schemadiff.Read(ctx, db)
			if err != nil {
				return err
			}
			before, err := schemadiff.Check(ctx, db, current)
			if err != nil {
				return err
			}
			for _, e := range broken {
				if !slices.ContainsFunc(before, func(o *schemadiff.Error) bool { return o.Msg == e.Msg }) {
					return e
				}
			}
			d.reordered = schemadiff.Reordered(current, wanted)
			d.write.Title = "Written by pages migrate diff: from the migrations before it to the schema in " + filepath.Base(d.file) + "."
			made, err = schemadiff.Write(ctx, db, wanted, d.write)
			return err
		})
	})
	return made, err
}

// refuse turns an error of package schemadiff into one at the place of its object in the schema file.
func (d *differ) refuse(e *schemadiff.Error) error {
	if e.Name == "" {
		return failure.Refused(e.Code, e.Msg, e.Fix)
	}
	diag := diagnostic.Diagnostic{Severity: diagnostic.Error, Code: e.Code, Message: e.Msg, Fix: e.Fix, Line: 1, Column: 1}
	diag.File = filepath.ToSlash(d.file)
	if rel, err := filepath.Rel(d.Dir, d.file); err == nil {
		diag.File = filepath.ToSlash(rel)
	}
	in := migrate.NewStatements(diag.File, strings.NewReader(d.text))
	for {
		statement, err := in.Next()
		if err != nil {
			break
		}
		if schemadiff.Makes(statement.Text, e.Kind, e.Name) {
			at := 0
			if e.Column != "" {
				at = statement.Culprit("no such column: " + e.Column)
			}
			pos, _, _ := statement.At(at)
			diag.Line, diag.Column, diag.Source = pos.Line, pos.Column, lineOf(d.text, pos.Line)
			break
		}
	}
	diag.EndLine, diag.EndColumn = diag.Line, diag.Column+1
	return failure.Refuse(userfile.WorkDir(d.term.Dir), d.Dir, diagnostic.List{diag})
}

// migration returns the next file of the folder.
func (d *differ) migration(made schemadiff.Script) (migrate.File, error) {
	root, err := os.OpenRoot(d.Dir)
	if err != nil {
		return migrate.File{}, err
	}
	defer root.Close()
	folder := path.Clean(d.Manifest.Bindings.Database.Migrations)
	name, err := migrate.NextName(root.FS(), folder, cmp.Or(d.o.Name, "diff"), d.term.Now())
	if err != nil {
		return migrate.File{}, err
	}
	return migrate.File{Name: name, Path: path.Join(folder, name), SQL: []byte(made.SQL)}, nil
}

// prove applies the migrations with the new file to an empty database, and compares the schema with that of the file.
func (d *differ) prove(ctx context.Context, file migrate.File) error {
	wanted, err := d.readSchemaText(ctx, d.file, d.text)
	if err != nil {
		return err
	}
	var left []schemadiff.Change
	err = d.migrator(file).OnScratch(ctx, func(ctx context.Context, db *sql.DB) error {
		got, err := schemadiff.Read(ctx, db)
		if err == nil {
			left = schemadiff.Compare(got, wanted)
		}
		return err
	})
	what := ""
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		what = err.Error()
	case len(left) > 0:
		what = "these differences remain: " + left[0].Text
	default:
		return nil
	}
	return failure.Refused("diff-unproven", "pages found no statements for this schema: "+what,
		"make the change in smaller steps, or write the migration by hand: pages migrate new NAME; --value takes SQL of one value")
}

// create writes the new file, which must not exist.
func (d *differ) create(file migrate.File) error {
	root, err := os.OpenRoot(d.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	folder := path.Dir(file.Path)
	if err := root.MkdirAll(folder, 0o755); err != nil {
		return d.unwritable(folder, err)
	}
	f, err := root.OpenFile(file.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return d.unwritable(folder, err)
	}
	_, err = f.Write(file.SQL)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(d.unwritable(folder, err), root.Remove(file.Path))
	}
	return nil
}

// renames parses the flags --rename.
func (d *differ) renames() (list []schemadiff.Rename, err error) {
	for _, text := range d.o.Renames {
		r, ok := schemadiff.ParseRename(text)
		if !ok {
			return nil, failure.Usage("--rename %s: write people.mail=email for a column, people=persons for a table",
				wording.ShellWord(text))
		}
		list = append(list, r)
	}
	return list, nil
}

// values parses the flags --value.
func (d *differ) values() (list []schemadiff.Value, err error) {
	for _, text := range d.o.Values {
		v, ok := schemadiff.ParseValue(text)
		if !ok {
			return nil, failure.Usage("--value %s: write people.email=\"''\", with a value as SQL", wording.ShellWord(text))
		}
		list = append(list, v)
	}
	return list, nil
}

// lineOf returns a line of a text, counted from 1.
func lineOf(text string, number int) string {
	n := 0
	for line := range strings.Lines(text) {
		if n++; n == number {
			return strings.TrimRight(line, "\r\n")
		}
	}
	return ""
}
