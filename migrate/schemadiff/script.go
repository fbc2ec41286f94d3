package schemadiff

import (
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// This file puts the statements of a script in order.

// script returns the text of the migration.
func (w *writer) script() string {
	copies, swaps := w.copies(), w.swaps()
	var remade []statement
	for _, t := range w.wanted.tables {
		if w.virtual[dbfile.FoldName(t.name)] {
			remade = append(remade, w.remake(t)...)
		}
	}
	var alters []statement
	for _, t := range w.wanted.tables {
		alters = append(alters, w.alters[dbfile.FoldName(t.name)]...)
	}
	groups := [][]statement{
		w.first, w.renames, w.objectDrops(len(alters) > 0), w.creates, alters, copies, swaps, remade, w.objectCreates(), w.ends,
	}
	var out strings.Builder
	for line := range strings.Lines(w.o.Title) {
		out.WriteString(comment(line))
	}
	out.WriteString("--\n")
	for _, c := range w.changes {
		out.WriteString(comment("* " + c.Text))
	}
	deferred := len(swaps) > 0 && (w.current.hasKeys() || w.wanted.hasKeys())
	if deferred {
		out.WriteString("\nPRAGMA defer_foreign_keys = ON;\n")
	}
	for _, group := range groups {
		if len(group) > 0 {
			out.WriteByte('\n')
		}
		for _, s := range group {
			out.WriteString(w.written(s))
		}
	}
	if deferred {
		out.WriteString("\nPRAGMA defer_foreign_keys = OFF;\n")
	}
	return out.String()
}

// comment returns any text as one comment line.
func comment(text string) string {
	return "-- " + strings.TrimSpace(strings.NewReplacer("\n", " ", "\r", " ", "\x00", " ").Replace(text)) + "\n"
}

// written returns a statement with its comments.
func (w *writer) written(s statement) string {
	out := ""
	if s.why != "" {
		out += comment(s.why)
	}
	if s.loses != "" && slices.ContainsFunc(w.o.AllowLoss, func(name string) bool { return dbfile.SameName(name, s.loses) }) {
		out += comment(strings.TrimPrefix(migrate.LossComment(s.loses), "-- "))
	}
	return out + migrate.Ended(s.sql)
}

// copies returns the statements that create and fill the copies of rebuilt tables.
func (w *writer) copies() (list []statement) {
	var order []*table // parents first, or SQLite would search the children of each copied row
	childrenFirst(w.wanted, func(name string) bool { return w.rebuilt[dbfile.FoldName(name)] }, func(t *table) {
		order = append(order, t)
	})
	slices.Reverse(order)
	why := "All rows are copied before an old table is dropped: ON DELETE then only changes old tables."
	if !slices.ContainsFunc(w.changes, func(c Change) bool { return c.Change == Rebuilt }) {
		why = ""
	}
	for _, t := range order {
		list = append(list, statement{sql: w.createAs(t, w.temp[dbfile.FoldName(t.name)]), why: why})
		why = ""
	}
	var helpers []statement
	for i, t := range order {
		for _, k := range t.keys {
			at := slices.IndexFunc(order, func(o *table) bool { return dbfile.SameName(o.name, k.parent) })
			if at < i { // copied before, or not at all
				continue
			}
			create, drop := w.helper(w.temp[dbfile.FoldName(t.name)], k.columns)
			if len(helpers) == 0 {
				create.why = "Rows may come before the rows that they refer to: SQLite then searches for them."
			}
			list, helpers = append(list, create), append(helpers, drop)
		}
	}
	for _, t := range order {
		list = append(list, w.copyOf(t)...)
	}
	return append(list, helpers...)
}

// helper returns the statements that make an index and drop it.
func (w *writer) helper(table string, columns []string) (create, drop statement) {
	name := w.freeName(table + "_" + strings.Join(columns, "_"))
	return statement{sql: "CREATE INDEX " + quoted(name) + " ON " + quoted(table) + " (" + quotedList(columns) + ")"},
		statement{sql: "DROP INDEX " + quoted(name)}
}

// dropHelpers returns temporary indexes for existing tables that refer to a dropped table without an index: else SQLite would
// read the whole table for each deleted row. They go with their tables, or by drops.
func (w *writer) dropHelpers(order []*table) (creates, drops []statement) {
	done := map[string]bool{}
	for i, t := range order {
		for _, child := range w.current.tables {
			if child != t && slices.Contains(order[:i], child) {
				continue
			}
			for _, k := range w.keysThen(child) {
				key := child.name + " " + quotedList(k.columns)
				if !dbfile.SameName(k.parent, t.name) || done[key] || w.hasIndex(child, k.columns) {
					continue
				}
				done[key] = true
				create, drop := w.helper(child.name, k.columns)
				if len(creates) == 0 {
					create.why = "For each row that it drops, SQLite searches for rows that refer to it."
				}
				creates = append(creates, create)
				if !w.isDropped(child.name) {
					drops = append(drops, drop)
				}
			}
		}
	}
	return creates, drops
}

// keysThen returns the foreign keys of a table at the time of the drops, after its own changes.
func (w *writer) keysThen(t *table) []foreignKey {
	if w.isDropped(t.name) {
		return t.keys
	}
	return w.wanted.table(t.name).keys
}

// hasIndex reports whether an existing index begins with columns, in any order.
func (w *writer) hasIndex(t *table, columns []string) bool {
	begins := func(index []string) bool {
		return len(index) >= len(columns) && !slices.ContainsFunc(columns, func(name string) bool {
			return !slices.ContainsFunc(index[:len(columns)], func(other string) bool { return dbfile.SameName(name, other) })
		})
	}
	return slices.ContainsFunc(t.indexed, begins) || slices.ContainsFunc(w.current.objects, func(o *object) bool {
		return o.kind == KindIndex && dbfile.SameName(o.table, t.name) && (!w.gone[o.key()] || w.isDropped(t.name)) && begins(o.columns)
	})
}

func (s *Schema) hasKeys() bool {
	return slices.ContainsFunc(s.tables, func(t *table) bool { return len(t.keys) > 0 })
}

// objectDrops returns the statements that drop objects that are unwanted or block a statement: triggers before views.
// It skips objects that go with their table or view, except a trigger that would block an earlier ALTER TABLE.
func (w *writer) objectDrops(altering bool) []statement {
	var list []statement
	oneByOne := w.hasCycle()
	for _, kind := range []string{KindTrigger, KindView, KindIndex} {
		for _, o := range w.current.objects {
			if _, done := w.forced[o.key()]; o.kind != kind || !w.gone[o.key()] || done {
				continue
			}
			goes := w.isDropped(o.table)
			if kind == KindTrigger {
				owner := w.current.table(o.table)
				goes = owner == nil && w.gone[KindView+" "+dbfile.FoldName(o.table)] ||
					goes && !altering && owner.cascading() == "" && !oneByOne
			}
			if kind == KindView || !goes {
				list = append(list, statement{sql: "DROP " + strings.ToUpper(kind) + " " + quoted(o.name)})
			}
		}
	}
	return list
}

// objectCreates returns the statements that create new and dropped indexes, views and triggers.
func (w *writer) objectCreates() []statement {
	var list []statement
	for _, kind := range []string{KindIndex, KindView, KindTrigger} {
		for _, o := range w.wanted.objects {
			isThere := w.current.object(o.key()) != nil && !w.gone[o.key()]
			if o.kind == kind && !isThere {
				list = append(list, statement{sql: o.sql})
			}
		}
	}
	return list
}
