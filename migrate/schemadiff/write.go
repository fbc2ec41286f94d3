package schemadiff

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// Options are the author's facts that a comparison of schemas cannot find. The zero value renames nothing and fills nothing.
type Options struct {
	// Renames are tables and columns with another name in the wanted schema. They keep their rows and values.
	Renames []Rename
	// Values fill columns of existing rows.
	Values []Value
	// AllowLoss names tables that may lose rows or values: their statements get the comment that allows it.
	AllowLoss []string
	// Title is the first line of the script, a comment.
	Title string
}

// Rename is a table or column under a new name.
type Rename struct {
	Table  string // its name in either schema
	Column string // "" for the table itself
	To     string
}

// String returns the rename in the form of the flag --rename, with quotes around names that contain a point or "=".
func (r Rename) String() string {
	name := func(name string) string {
		if name == "" || strings.ContainsAny(name, ".=") || strings.Contains("\"'`[", name[:1]) {
			return dbfile.QuoteName(name)
		}
		return name
	}
	if r.Column == "" {
		return name(r.Table) + "=" + name(r.To)
	}
	return name(r.Table) + "." + name(r.Column) + "=" + name(r.To)
}

// ParseRename reads the form that String writes; a table may precede the new name of a column. It returns false for other
// text.
func ParseRename(text string) (r Rename, ok bool) {
	from, to, ok := sqltext.CutNames(text, '=')
	table, column, isColumn := sqltext.CutNames(from, '.')
	if again, name, qualified := sqltext.CutNames(to, '.'); qualified && sqltext.Unquoted(again) == sqltext.Unquoted(table) {
		to = name
	}
	r = Rename{sqltext.Unquoted(table), sqltext.Unquoted(column), sqltext.Unquoted(to)}
	return r, ok && r.Table != "" && r.To != "" && isColumn == (r.Column != "")
}

// ParseValue reads the value for a column, as in people.email=”. It returns false for other text.
func ParseValue(text string) (v Value, ok bool) {
	name, sql, ok := sqltext.CutNames(text, '=')
	table, column, isColumn := sqltext.CutNames(name, '.')
	v = Value{sqltext.Unquoted(table), sqltext.Unquoted(column), sql}
	return v, ok && isColumn && v.Table != "" && v.Column != "" && strings.TrimSpace(sql) != ""
}

// Value is an SQL expression for the rows of a column without a value.
type Value struct{ Table, Column, SQL string }

// Script is the SQL that changes one schema into another, for one migration.
type Script struct {
	SQL     string   // "" when the schemas are the same
	Changes []Change // in the order of the schemas
	// Guesses are likely renames: a removed table or column and an added one.
	Guesses []Rename
	// Losing names the tables that lose rows or values, if they have any.
	Losing []string
}

// The codes of [Error].
const (
	CodeRename   = "rename-impossible" // a rename that does not fit the schemas
	CodeValue    = "value-needed"      // a new column needs a value for existing rows
	CodeParent   = "parent-missing"    // a foreign key to a missing table
	CodeBroken   = "object-broken"     // a view or trigger that cannot be used
	CodeNotAsked = "value-unused"      // a value for a column that needs none
)

// Error is the reason why no script can be written.
type Error struct {
	Code, Msg, Fix string
	Kind, Name     string // the faulty object of the wanted schema; "" for none
	Column         string // with CodeValue, the column of the table Name
}

func (e *Error) Error() string { return e.Msg }

// statement is one statement of a script.
type statement struct {
	sql   string // without semicolon
	why   string // a comment above it; "" for none
	loses string // the table that may lose rows or values; "" for none
}

// writer writes one script.
type writer struct {
	conn            *sql.Conn
	current, wanted *Schema
	o               Options

	changes []Change
	losing  []string
	forced  map[string]string // the forms of objects that block a statement, by their keys
	gone    map[string]bool   // keys of objects that are dropped
	removed map[string]bool   // tables, by their folded names
	virtual map[string]bool   // virtual tables to rebuild
	rebuilt map[string]bool
	temp    map[string]string // the name of a rebuilt table until the old one is dropped

	first, renames, creates, ends []statement
	alters                        map[string][]statement
}

// Write returns the script from the schema of db, a database without rows, to the wanted one. It tries statements
// on db in a transaction that it rolls back. With an error of [CodeValue] the Script lacks only the SQL.
func Write(ctx context.Context, db *sql.DB, wanted *Schema, o Options) (s Script, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return Script{}, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return Script{}, err
	}
	defer func() {
		_, rolled := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		err = errors.Join(err, rolled)
	}()
	w := &writer{
		conn: conn, wanted: wanted, o: o, forced: map[string]string{}, gone: map[string]bool{}, removed: map[string]bool{},
		virtual: map[string]bool{}, rebuilt: map[string]bool{}, temp: map[string]string{}, alters: map[string][]statement{},
	}
	return w.write(ctx)
}

func (w *writer) write(ctx context.Context) (Script, error) {
	var err error
	if w.current, err = Read(ctx, w.conn); err != nil {
		return Script{}, err
	}
	if err := w.checkParents(); err != nil {
		return Script{}, err
	}
	if err := w.rename(ctx); err != nil {
		return Script{}, err
	}
	differences := slices.DeleteFunc(Compare(w.current, w.wanted), w.isAsBefore)
	if w.changes = append(w.changes, differences...); len(w.changes) == 0 {
		return Script{}, nil
	}
	for _, t := range w.current.tables {
		if w.wanted.table(t.name) == nil {
			w.removed[dbfile.FoldName(t.name)] = true
			w.loses(t.name)
		}
	}
	if err := w.dropChanged(ctx); err != nil {
		return Script{}, err
	}
	if err := w.tables(ctx); err != nil {
		return Script{}, err
	}
	w.rebuildChildren()
	if err := w.checkValues(); err != nil {
		return Script{Changes: w.changes, Guesses: w.guesses()}, err
	}
	w.dropAffected()
	return Script{SQL: w.script(), Changes: w.changes, Guesses: w.guesses(), Losing: w.losing}, nil
}

func (w *writer) loses(table string) string {
	if !slices.Contains(w.losing, table) {
		w.losing = append(w.losing, table)
	}
	return table
}

// checkParents refuses new foreign keys to missing tables.
func (w *writer) checkParents() error {
	for _, t := range w.wanted.tables {
		for _, k := range t.keys {
			if w.wanted.table(k.parent) != nil {
				continue
			}
			old := w.current.table(t.name)
			if old != nil && w.current.table(k.parent) == nil &&
				slices.ContainsFunc(old.keys, func(o foreignKey) bool { return dbfile.SameName(o.parent, k.parent) }) {
				continue
			}
			return &Error{
				Code: CodeParent, Kind: KindTable, Name: t.name,
				Msg: fmt.Sprintf("%s refers to the table %s, which the schema does not have", quoted(t.name), quoted(k.parent)),
				Fix: "add the table, or remove REFERENCES " + quoted(k.parent),
			}
		}
	}
	return nil
}

// obstacle matches SQLite's message about an object that an ALTER TABLE cannot read.
var obstacle = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`error in (view|trigger) (.+?)(?: after [a-z ]+)?: `) })

// try runs a statement on the empty database. It first drops a view or trigger that blocks the statement; the end of
// the script creates it again.
func (w *writer) try(ctx context.Context, sql string) error {
	for {
		_, err := w.conn.ExecContext(ctx, sql)
		if err == nil {
			return nil
		}
		found := obstacle().FindStringSubmatch(err.Error())
		if found == nil {
			return err
		}
		o := w.current.object(found[1] + " " + dbfile.FoldName(found[2]))
		if o == nil || w.gone[o.key()] {
			return err
		}
		w.forced[o.key()], w.gone[o.key()] = o.form, true
		drop := statement{sql: "DROP " + strings.ToUpper(o.kind) + " " + quoted(o.name)}
		w.first = append(w.first, drop)
		if _, err := w.conn.ExecContext(ctx, drop.sql); err != nil {
			return err
		}
	}
}

// isAsBefore reports whether a change concerns an object that was only dropped to be created again.
func (w *writer) isAsBefore(c Change) bool {
	key := c.Type + " " + dbfile.FoldName(c.Name)
	form, is := w.forced[key]
	o := w.wanted.object(key)
	return is && c.Change == Added && o != nil && o.form == form
}

// dropChanged drops the indexes, views and triggers that differ in the wanted schema.
func (w *writer) dropChanged(ctx context.Context) error {
	for _, kind := range []string{KindTrigger, KindView, KindIndex} {
		for _, o := range w.current.objects {
			after := w.wanted.object(o.key())
			if o.kind != kind || w.gone[o.key()] || after != nil && after.form == o.form {
				continue
			}
			w.gone[o.key()] = true
			// A trigger goes with its view.
			if _, err := w.conn.ExecContext(ctx, "DROP "+strings.ToUpper(kind)+" IF EXISTS "+quoted(o.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tables decides for each table that differs: ALTER TABLE, or a rebuild.
func (w *writer) tables(ctx context.Context) error {
	for _, t := range w.wanted.tables {
		old := w.current.table(t.name)
		switch {
		case old == nil:
			w.creates = append(w.creates, statement{sql: t.sql})
			if content, _ := t.content(); content != "" && w.exists(content) {
				w.ends = append(w.ends, t.refill())
			}
		case len(t.changes(old)) == 0:
		case t.virtual != old.virtual:
			return &Error{
				Code: CodeBroken, Kind: KindTable, Name: t.name, Fix: "give the new table another name",
				Msg: fmt.Sprintf("the table %s cannot become a virtual table, or the reverse", quoted(t.name)),
			}
		case t.virtual:
			w.virtual[dbfile.FoldName(t.name)] = true
		default:
			done, err := w.alter(ctx, old, t)
			if err != nil {
				return err
			}
			w.rebuilt[dbfile.FoldName(t.name)] = !done
			if done {
				continue
			}
			delete(w.alters, dbfile.FoldName(t.name))
		}
	}
	for name, is := range w.rebuilt {
		if !is {
			delete(w.rebuilt, name)
		}
	}
	return nil
}

// exists reports whether the current schema has a table or view.
func (w *writer) exists(name string) bool {
	return w.current.table(name) != nil || w.current.object(KindView+" "+dbfile.FoldName(name)) != nil
}

// alter changes a table with DROP COLUMN and ADD COLUMN, if SQLite accepts that and the result is the wanted form.
func (w *writer) alter(ctx context.Context, old, t *table) (bool, error) {
	list := t.alterations(old)
	if len(list) == 0 {
		return false, nil
	}
	if _, err := w.conn.ExecContext(ctx, "SAVEPOINT alter_try"); err != nil {
		return false, err
	}
	equal, err := w.leadTo(ctx, list, t)
	if err != nil {
		return false, err
	}
	end := "RELEASE alter_try"
	if !equal {
		end = "ROLLBACK TO alter_try; RELEASE alter_try"
	}
	if _, err := w.conn.ExecContext(ctx, end); err != nil || !equal {
		return false, err
	}
	for _, s := range list {
		if s.loses != "" {
			w.loses(s.loses)
		}
	}
	w.alters[dbfile.FoldName(t.name)] = list
	return true, nil
}

// alterations returns the statements that drop and add columns; nil when anything else differs, or a column cannot be added.
func (t *table) alterations(old *table) (list []statement) {
	alter := "ALTER TABLE " + quoted(t.name)
	for _, c := range old.columns {
		if t.column(c.name) == nil {
			s := statement{sql: alter + " DROP COLUMN " + quoted(c.name)}
			if !c.generated {
				s.loses = t.name
			}
			list = append(list, s)
		}
	}
	for _, c := range t.columns {
		before := old.column(c.name)
		if before != nil && before.facts != c.facts || before == nil && !t.addable(c) {
			return nil
		}
		if before == nil {
			list = append(list, statement{sql: alter + " ADD COLUMN " + t.addition(c)})
		}
	}
	return list
}

// leadTo runs statements on the empty database, and reports whether a table then has its wanted form.
func (w *writer) leadTo(ctx context.Context, list []statement, t *table) (bool, error) {
	for _, s := range list {
		if err := w.try(ctx, s.sql); err != nil {
			return false, ctx.Err() // otherwise SQLite refuses the statement
		}
	}
	now, err := Read(ctx, w.conn)
	if err != nil {
		return false, err
	}
	made := now.table(t.name)
	return made != nil && len(t.changes(made)) == 0, nil
}

// addable reports whether ADD COLUMN accepts a column for a table with rows
// (https://www.sqlite.org/lang_altertable.html#altertabaddcol).
func (t *table) addable(c *column) bool {
	value := ""
	if c.hasDefault {
		value = c.defaultValue
	}
	isNull := !c.hasDefault || dbfile.SameName(value, "NULL")
	refers := slices.ContainsFunc(t.keys, func(k foreignKey) bool {
		return slices.ContainsFunc(k.columns, func(name string) bool { return dbfile.SameName(name, c.name) })
	})
	switch {
	case c.primary > 0 || c.notNull && isNull && !c.generated:
		return false
	case refers && !isNull, strings.HasSuffix(c.facts[factGenerated], " stored"):
		return false
	}
	return isNull || isConstant(value)
}

// number matches a number without its sign.
var number = regexp.MustCompile(`^[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?$`)

// isConstant reports whether the default of a column is a literal.
func isConstant(value string) bool {
	tokens := sqltext.Tokens(value)
	if len(tokens) > 0 && (tokens[0].Text == "-" || tokens[0].Text == "+") {
		tokens = tokens[1:]
	}
	switch {
	case len(tokens) == 1:
		return !tokens[0].Is("CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP")
	case len(tokens) == 2 && tokens[0].Is("x"):
		return tokens[1].IsQuoted()
	}
	return len(tokens) > 1 && number.MatchString(strings.TrimLeft(value, "+- "))
}

// addition returns the definition of a column for ADD COLUMN, with the foreign key of this column alone.
func (t *table) addition(c *column) string {
	out := c.text
	has := func(tok sqltext.Token) bool { return tok.Is("REFERENCES") }
	if slices.ContainsFunc(sqltext.Tokens(out), has) {
		return out
	}
	for _, k := range t.keys {
		if len(k.columns) == 1 && dbfile.SameName(k.columns[0], c.name) {
			return out + " " + k.text
		}
	}
	return out
}
