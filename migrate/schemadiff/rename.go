package schemadiff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// rename gives tables and columns their new names, as SQLite does: in indexes, views, triggers and foreign keys too.
func (w *writer) rename(ctx context.Context) error {
	for _, r := range w.o.Renames {
		if r.Column == "" {
			if err := w.renameTable(ctx, r); err != nil {
				return err
			}
		}
	}
	for _, r := range w.o.Renames {
		if r.Column != "" {
			if err := w.renameColumn(ctx, r); err != nil {
				return err
			}
		}
	}
	// Names that differ only in case are the same.
	for _, t := range w.wanted.tables {
		old := w.current.table(t.name)
		if old == nil || old.virtual || t.virtual {
			continue
		}
		for _, c := range t.columns {
			before := old.column(c.name)
			if before == nil || before.name == c.name {
				continue
			}
			if err := w.renameColumnTo(ctx, old, before, c.name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r Rename) refuse(format string, args ...any) error {
	return &Error{
		Code: CodeRename, Msg: fmt.Sprintf("--rename %s: ", r) + fmt.Sprintf(format, args...),
		Fix: "the name before = is the one in the migrations, the name after it the one in the schema file",
	}
}

func (w *writer) renameTable(ctx context.Context, r Rename) error {
	old := w.current.table(r.Table)
	switch {
	case old == nil:
		return r.refuse("the migrations create no table %s", quoted(r.Table))
	case w.wanted.table(r.To) == nil:
		return r.refuse("the schema file has no table %s", quoted(r.To))
	case w.wanted.table(r.Table) != nil:
		return r.refuse("the schema file has a table %s too", quoted(r.Table))
	case w.current.table(r.To) != nil:
		return r.refuse("the migrations create a table %s too", quoted(r.To))
	}
	to := w.wanted.table(r.To).name
	return w.runRename(ctx, r,
		fmt.Sprintf("ALTER TABLE %s RENAME TO %s", quoted(old.name), quoted(to)),
		Change{
			Change: Renamed, Type: KindTable, Name: to, Before: old.sql, After: w.wanted.table(r.To).sql,
			Text: fmt.Sprintf("rename the table %s to %s", quoted(old.name), quoted(to)),
		})
}

func (w *writer) renameColumn(ctx context.Context, r Rename) error {
	name := r.Table
	for _, other := range w.o.Renames { // the rename may use the name of the table before its own rename
		if other.Column == "" && dbfile.SameName(other.Table, name) {
			name = other.To
		}
	}
	old, now := w.current.table(name), w.wanted.table(name)
	switch {
	case old == nil:
		return r.refuse("the migrations create no table %s", quoted(r.Table))
	case now == nil:
		return r.refuse("the schema file has no table %s", quoted(name))
	case old.column(r.Column) == nil:
		return r.refuse("the table %s has no column %s in the migrations", quoted(old.name), quoted(r.Column))
	case now.column(r.To) == nil:
		return r.refuse("the table %s has no column %s in the schema file", quoted(now.name), quoted(r.To))
	case now.column(r.Column) != nil && !dbfile.SameName(r.Column, r.To):
		return r.refuse("the schema file has a column %s too", quoted(r.Column))
	case old.column(r.To) != nil && !dbfile.SameName(r.Column, r.To):
		return r.refuse("the migrations create a column %s too", quoted(r.To))
	}
	return w.renameColumnTo(ctx, old, old.column(r.Column), now.column(r.To).name)
}

func (w *writer) renameColumnTo(ctx context.Context, t *table, c *column, to string) error {
	return w.runRename(ctx, Rename{t.name, c.name, to},
		fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO %s", quoted(t.name), quoted(c.name), quoted(to)),
		Change{
			Change: Renamed, Type: KindColumn, Table: t.name, Name: to, Before: c.text, After: to,
			Text: fmt.Sprintf("rename the column %s to %s", t.nameOf(c), quoted(to)),
		})
}

// runRename runs one rename and reads the new schema.
func (w *writer) runRename(ctx context.Context, r Rename, sql string, change Change) (err error) {
	if err := w.try(ctx, sql); err != nil {
		return r.refuse("SQLite cannot rename it: %s", strings.TrimSpace(err.Error()))
	}
	w.renames = append(w.renames, statement{sql: sql})
	w.changes = append(w.changes, change)
	w.current, err = Read(ctx, w.conn)
	return err
}

// guesses returns likely renames: similar pairs of a removed and an added object.
func (w *writer) guesses() []Rename {
	var list []Rename
	taken := map[string]bool{}
	for _, old := range w.current.tables {
		if !w.removed[dbfile.FoldName(old.name)] || old.virtual {
			continue
		}
		for _, t := range w.wanted.tables {
			if w.current.table(t.name) == nil && !t.virtual && !taken[t.name] && alike(old, t) {
				taken[t.name] = true
				list = append(list, Rename{Table: old.name, To: t.name})
				break
			}
		}
	}
	for _, t := range w.wanted.tables {
		if old := w.current.table(t.name); old != nil && !t.virtual {
			list = append(list, t.guesses(old)...)
		}
	}
	return list
}

// guesses returns likely renames of columns: pairs of a removed and an added column of the same type.
func (t *table) guesses(old *table) (list []Rename) {
	taken := map[string]bool{}
	for _, c := range old.columns {
		if t.column(c.name) != nil || c.generated {
			continue
		}
		at := slices.IndexFunc(t.columns, func(next *column) bool {
			return old.column(next.name) == nil && !next.generated && !taken[next.name] && next.facts[factType] == c.facts[factType]
		})
		if at >= 0 {
			taken[t.columns[at].name] = true
			list = append(list, Rename{t.name, c.name, t.columns[at].name})
		}
	}
	return list
}

// alike reports whether two tables share at least half of their columns.
func alike(a, b *table) bool {
	shared := 0
	for _, c := range a.columns {
		if b.column(c.name) != nil {
			shared++
		}
	}
	return 2*shared >= max(len(a.columns), len(b.columns))
}
