package schemadiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// This file rebuilds tables. DROP TABLE first deletes the rows of the table, and ON DELETE acts on the rows that refer to them, regardless
// of PRAGMA defer_foreign_keys. PRAGMA foreign_keys has no effect in a transaction, and references follow a renamed table. So tables that
// would lose rows in this way are rebuilt too: all are copied before the first old one is dropped, and the copies refer to copies. ON
// DELETE then acts only on tables that are dropped themselves. RENAME turns the references to the copies into references to the tables.

// rebuildChildren adds the tables whose rows the drop of another would delete or change.
func (w *writer) rebuildChildren() {
	for again := true; again; {
		again = false
		for _, t := range w.current.tables {
			if w.isDropped(t.name) {
				continue
			}
			for _, k := range t.keys {
				if k.onDelete == "NO ACTION" || k.onDelete == "RESTRICT" || !w.isDropped(k.parent) {
					continue
				}
				w.rebuilt[dbfile.FoldName(t.name)] = true
				delete(w.alters, dbfile.FoldName(t.name))
				w.changes = append(w.changes, Change{
					Change: Rebuilt, Type: KindTable, Name: t.name, Before: t.sql, After: w.wanted.table(t.name).sql,
					Text: fmt.Sprintf("rebuild the table %s: without that, dropping the old %s would change its rows (ON DELETE %s)",
						quoted(t.name), quoted(k.parent), k.onDelete),
				})
				again = true
				break
			}
		}
	}
	for _, t := range w.wanted.tables {
		if w.rebuilt[dbfile.FoldName(t.name)] {
			w.temp[dbfile.FoldName(t.name)] = w.freeName(t.name + "_new")
		}
		if w.virtual[dbfile.FoldName(t.name)] {
			w.temp[dbfile.FoldName(t.name)] = w.freeName("new_" + t.name) // shadow tables begin with the name of their table
		}
	}
}

// isDropped reports whether a table of the current schema is dropped by the script.
func (w *writer) isDropped(name string) bool {
	return w.removed[dbfile.FoldName(name)] || w.rebuilt[dbfile.FoldName(name)]
}

// freeName returns a name that is not taken by a table, index or view, nor reserved for a shadow
// table.
func (w *writer) freeName(name string) string {
	isTaken := func(name string) bool {
		for _, s := range []*Schema{w.current, w.wanted} {
			for _, t := range s.tables {
				if dbfile.SameName(t.name, name) || strings.HasPrefix(dbfile.FoldName(t.name), dbfile.FoldName(name)+"_") {
					return true
				}
			}
			for _, o := range s.objects {
				if dbfile.SameName(o.name, name) {
					return true
				}
			}
		}
		return false
	}
	free := name
	for n := 2; isTaken(free); n++ {
		free = fmt.Sprintf("%s%d", name, n)
	}
	return free
}

// checkValues refuses new columns that need a value in existing rows and have none, and values for other columns.
func (w *writer) checkValues() error {
	for _, v := range w.o.Values {
		t := w.wanted.table(v.Table)
		if t == nil || t.column(v.Column) == nil || !w.rebuilt[dbfile.FoldName(v.Table)] {
			return &Error{
				Code: CodeNotAsked,
				Msg:  fmt.Sprintf("--value %s.%s: the column needs no value for existing rows", v.Table, v.Column),
				Fix:  "remove it; only a column that is new or becomes NOT NULL takes a value",
			}
		}
	}
	for _, t := range w.wanted.tables {
		if !w.rebuilt[dbfile.FoldName(t.name)] {
			continue
		}
		for _, c := range t.columns {
			if t.needsValue(w.current.table(t.name), c) && w.value(t, c) == "" {
				return w.valueNeeded(t, c)
			}
		}
	}
	return nil
}

// needsValue reports whether a new column has no value for existing rows.
func (t *table) needsValue(old *table, c *column) bool {
	isRowID := c.name == t.rowID && !old.noRow
	hasValue := c.hasDefault && !dbfile.SameName(c.defaultValue, "NULL")
	return old.column(c.name) == nil && c.facts[factNull] != "" && !hasValue && !c.generated && !isRowID
}

func (w *writer) valueNeeded(t *table, c *column) error {
	e := &Error{
		Code: CodeValue, Kind: KindTable, Name: t.name, Column: c.name,
		Msg: fmt.Sprintf("the new column %s is NOT NULL, and has no value for existing rows", t.nameOf(c)),
		Fix: fmt.Sprintf("give it a DEFAULT, or pass a value for those rows: --value %s", t.nameOf(c)+"=SQL"),
	}
	for _, g := range w.guesses() {
		if g.Table == t.name && g.Column != "" && g.To == c.name {
			e.Fix += fmt.Sprintf("; if it is %s under a new name: --rename %s", quoted(g.Column), g)
		}
	}
	return e
}

func (w *writer) value(t *table, c *column) string {
	for _, v := range w.o.Values {
		if dbfile.SameName(v.Table, t.name) && dbfile.SameName(v.Column, c.name) {
			return v.SQL
		}
	}
	return ""
}

// dropAffected adds the views and triggers that mention a dropped table or view: SQLite refuses to rename a table while one
// of them is unreadable.
func (w *writer) dropAffected() {
	affected := map[string]bool{}
	for _, group := range []map[string]bool{w.rebuilt, w.removed, w.virtual} {
		for name := range group {
			affected[name] = true
		}
	}
	if len(affected) == 0 {
		return
	}
	for again := true; again; {
		again = false
		for _, o := range w.current.objects {
			if o.kind == KindIndex {
				w.gone[o.key()] = w.gone[o.key()] || w.isDropped(o.table)
				continue
			}
			if o.kind == KindView && w.gone[o.key()] && !affected[dbfile.FoldName(o.name)] {
				affected[dbfile.FoldName(o.name)], again = true, true
			}
			if w.gone[o.key()] {
				continue
			}
			if o.names(affected) {
				w.gone[o.key()], again = true, true
			}
		}
	}
}

// names reports whether the object mentions one of several names.
func (o *object) names(of map[string]bool) bool {
	for name := range names(o.sql) {
		if of[name] {
			return true
		}
	}
	return false
}

// copyOf returns the statements that fill the copy of a table.
func (w *writer) copyOf(t *table) (list []statement) {
	old, name := w.current.table(t.name), w.temp[dbfile.FoldName(t.name)]
	var into, from []string
	if target, source := rowIDs(old, t); target != "" {
		into, from = append(into, target), append(from, source)
	}
	for _, c := range t.columns {
		if c.generated || slices.Contains(into, quoted(c.name)) {
			continue
		}
		before, value := old.column(c.name), w.value(t, c)
		switch {
		case before == nil && value == "":
			continue
		case before == nil:
			from = append(from, value)
		case value != "":
			from = append(from, fmt.Sprintf("coalesce(%s, %s)", quoted(before.name), value))
		case c.facts[factNull] != "" && before.facts[factNull] == "" && c.hasDefault && !dbfile.SameName(c.defaultValue, "NULL"):
			from = append(from, fmt.Sprintf("coalesce(%s, %s)", quoted(before.name), defaultExpression(c.defaultValue)))
		default:
			from = append(from, quoted(before.name))
		}
		into = append(into, quoted(c.name))
	}
	if len(into) > 0 {
		list = append(list, statement{
			sql: fmt.Sprintf("INSERT INTO %s (%s)\n  SELECT %s\n  FROM %s", quoted(name), strings.Join(into, ", "),
				strings.Join(from, ", "), quoted(old.name)),
		})
	}
	if old.autoincrement && t.autoincrement {
		list = append(
			list,
			statement{sql: "DELETE FROM sqlite_sequence WHERE name = " + literal(name)},
			statement{sql: fmt.Sprintf("INSERT INTO sqlite_sequence (name, seq)\n  SELECT %s, seq FROM sqlite_sequence WHERE name = %s",
				literal(name), literal(old.name))},
		)
	}
	return list
}

// defaultExpression returns a default as an expression: an unknown word means a string.
func defaultExpression(value string) string {
	tokens := sqltext.Tokens(value)
	if len(tokens) != 1 {
		return "(" + value + ")"
	}
	t := tokens[0]
	isWord := !t.IsQuoted() && (t.Text[0] < '0' || t.Text[0] > '9') &&
		!t.Is("NULL", "TRUE", "FALSE", "CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP")
	if isWord || t.IsQuoted() && t.Text[0] != '\'' {
		return literal(dbfile.UnquoteName(t.Text))
	}
	return value
}

// rowIDs returns the names of the rowid in the copy and in the old table; "" when the copy assigns its own. If the
// rowid of the copy is a column of the old table, the copy takes that.
func rowIDs(old, t *table) (target, source string) {
	if old.noRow || t.noRow {
		return "", ""
	}
	hidden := func(t *table) string {
		for _, name := range []string{"rowid", "_rowid_", "oid"} {
			if t.column(name) == nil {
				return name
			}
		}
		return ""
	}
	switch {
	case t.rowID == "":
		target = hidden(t)
	case old.column(t.rowID) != nil:
		return "", ""
	default:
		target = quoted(t.rowID)
	}
	if source = hidden(old); source == "" && old.rowID != "" {
		source = quoted(old.rowID)
	}
	if source == "" {
		return "", ""
	}
	return target, source
}

// createAs returns the statement of a table under another name, with references to the copies of rebuilt tables.
func (w *writer) createAs(t *table, name string) string {
	tokens := sqltext.Tokens(t.sql)
	var out strings.Builder
	end := 0
	for i, tok := range tokens {
		word := tok.Text
		own := dbfile.SameName(dbfile.UnquoteName(word), t.name) && (!tok.IsQuoted() || word[0] != '\'')
		switch {
		case i == tableName(t):
			word = quoted(name)
		case i > 0 && tokens[i-1].Is("REFERENCES") && w.rebuilt[dbfile.FoldName(dbfile.UnquoteName(word))]:
			word = quoted(w.temp[dbfile.FoldName(dbfile.UnquoteName(word))])
		case own && i > 0 && i+1 < len(tokens) && tokens[i+1].Text == "." && tokens[i-1].Text != ".":
			word = quoted(name) // a column with its table
		}
		out.WriteString(t.sql[end:tok.Start])
		out.WriteString(word)
		end = tok.End
	}
	out.WriteString(t.sql[end:])
	return out.String()
}

// tableName returns the index of the token that names the table in its statement.
func tableName(t *table) int {
	if t.virtual {
		return 3 // CREATE VIRTUAL TABLE
	}
	return 2
}

// childrenFirst calls visit for tables of a schema, each after the tables that refer to it, except in cycles.
func childrenFirst(s *Schema, in func(name string) bool, visit func(t *table)) {
	done := map[string]bool{}
	var follow func(t *table)
	follow = func(t *table) {
		if done[dbfile.FoldName(t.name)] {
			return
		}
		done[dbfile.FoldName(t.name)] = true
		for _, child := range s.tables {
			refers := slices.ContainsFunc(child.keys, func(k foreignKey) bool { return dbfile.SameName(k.parent, t.name) })
			if refers && in(child.name) {
				follow(child)
			}
		}
		visit(t)
	}
	for _, t := range s.tables {
		if in(t.name) {
			follow(t)
		}
	}
}

// swaps returns the statements that drop the old tables, children first, and then rename the copies. Tables that refer to
// each other are swapped one by one: SQLite compiles the ON DELETE actions of all tables that a drop may reach, and needs
// their parents.
func (w *writer) swaps() []statement {
	oneByOne := w.hasCycle()
	var order []*table
	for _, removed := range []bool{false, true} {
		childrenFirst(w.current, w.isDropped, func(t *table) {
			if !oneByOne && !removed || oneByOne && w.removed[dbfile.FoldName(t.name)] == removed {
				order = append(order, t)
			}
		})
	}
	list, ends := w.dropHelpers(order)
	var renames []statement
	for _, t := range order {
		list = append(list, w.dropOld(t)...)
		if !w.rebuilt[dbfile.FoldName(t.name)] {
			continue
		}
		name := w.wanted.table(t.name).name
		rename := statement{sql: fmt.Sprintf("ALTER TABLE %s RENAME TO %s", quoted(w.temp[dbfile.FoldName(t.name)]), quoted(name))}
		if oneByOne {
			list = append(list, rename)
		} else {
			renames = append(renames, rename)
		}
	}
	return slices.Concat(list, renames, ends)
}

// hasCycle reports whether dropped tables refer to each other.
func (w *writer) hasCycle() bool {
	return slices.ContainsFunc(w.current.tables, func(t *table) bool { return w.isDropped(t.name) && w.isCyclic(t) })
}

// isCyclic reports whether a dropped table refers to itself through other dropped ones.
func (w *writer) isCyclic(t *table) bool {
	seen := map[string]bool{}
	var reaches func(from *table) bool
	reaches = func(from *table) bool {
		for _, k := range from.keys {
			parent := w.current.table(k.parent)
			if parent == nil || parent == from || !w.isDropped(parent.name) || seen[dbfile.FoldName(parent.name)] {
				continue
			}
			if parent == t {
				return true
			}
			seen[dbfile.FoldName(parent.name)] = true
			if reaches(parent) {
				return true
			}
		}
		return false
	}
	return reaches(t)
}

func (w *writer) dropOld(t *table) []statement {
	s := statement{sql: "DROP TABLE " + quoted(t.name)}
	now := w.wanted.table(t.name)
	switch {
	case w.removed[dbfile.FoldName(t.name)]:
		s.loses = t.name
	case slices.ContainsFunc(t.columns, func(c *column) bool { return isLost(c, now) }):
		s.loses = w.loses(t.name)
	}
	if parent := t.cascading(); parent != "" {
		return []statement{{
			sql: fmt.Sprintf("UPDATE %s SET %s = NULL WHERE %s IS NOT NULL", quoted(t.name), parent, parent),
			why: "Otherwise each dropped row would first delete its children, to any depth.",
		}, s}
	}
	return []statement{s}
}

// isLost reports whether the new form of a table lacks the values of a column.
func isLost(c *column, now *table) bool {
	next := now.column(c.name)
	return !c.generated && (next == nil || next.generated)
}

// cascading returns the nullable column whose foreign key deletes rows of the same table; "" for none.
func (t *table) cascading() string {
	for _, k := range t.keys {
		if dbfile.SameName(k.parent, t.name) && k.onDelete == "CASCADE" && len(k.columns) == 1 {
			if c := t.column(k.columns[0]); c != nil && !c.notNull && c.primary == 0 && !c.generated {
				return quoted(c.name)
			}
		}
	}
	return ""
}

// content returns the table or view that a full-text table indexes; "" for none. contentless is true for a table with
// only an index.
func (t *table) content() (name string, contentless bool) {
	if !t.virtual || t.module() != "fts5" {
		return "", false
	}
	tokens := sqltext.Tokens(t.sql)
	open := slices.IndexFunc(tokens, func(tok sqltext.Token) bool { return !tok.IsQuoted() && tok.Text == "(" })
	if open < 0 {
		return "", false
	}
	for _, option := range splitList(tokens[open+1 : max(groupEnd(tokens, open)-1, open+1)]) {
		if len(option) >= 3 && option[0].Is("content") && option[1].Text == "=" {
			name = dbfile.UnquoteName(option[2].Text)
			return name, name == ""
		}
	}
	return "", false
}

// module returns the module of a virtual table, in lower case.
func (t *table) module() string {
	tokens := sqltext.Tokens(t.sql)
	for i, tok := range tokens {
		if tok.Is("USING") && i+1 < len(tokens) {
			return dbfile.FoldName(dbfile.UnquoteName(tokens[i+1].Text))
		}
	}
	return ""
}

// refill returns the statement that rebuilds the index of a full-text table from its content.
func (t *table) refill() statement {
	return statement{sql: fmt.Sprintf("INSERT INTO %s (%s) VALUES ('rebuild')", quoted(t.name), quoted(t.name))}
}

// remake returns the statements that rebuild a virtual table.
func (w *writer) remake(t *table) []statement {
	old, name := w.current.table(t.name), w.temp[dbfile.FoldName(t.name)]
	drop := statement{sql: "DROP TABLE " + quoted(old.name)}
	content, contentless := t.content()
	oldContent, oldContentless := old.content()
	keepsRows := t.module() == old.module() && strings.HasPrefix(t.module(), "rtree") ||
		t.module() == "fts5" && old.module() == "fts5" && content == "" && !contentless && oldContent == "" && !oldContentless
	if !keepsRows {
		if content != "" {
			w.ends = append(w.ends, t.refill())
		} else if old.module() != "fts5vocab" {
			drop.loses = w.loses(t.name)
		}
		return []statement{drop, {sql: t.sql}}
	}
	var shared []string
	if t.module() == "fts5" {
		shared = append(shared, "rowid")
	}
	for _, c := range t.columns {
		if before := old.column(c.name); before != nil && !c.hidden && !before.hidden {
			shared = append(shared, quoted(c.name))
		}
	}
	for _, c := range old.columns {
		if now := t.column(c.name); !c.hidden && (now == nil || now.hidden) {
			drop.loses = w.loses(t.name)
		}
	}
	list := strings.Join(shared, ", ")
	return []statement{
		{sql: w.createAs(t, name)},
		{sql: fmt.Sprintf("INSERT INTO %s (%s)\n  SELECT %s\n  FROM %s", quoted(name), list, list, quoted(old.name))},
		drop,
		{sql: fmt.Sprintf("ALTER TABLE %s RENAME TO %s", quoted(name), quoted(t.name))},
	}
}
