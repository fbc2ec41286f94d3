// Package schemadiff compares two schemas of SQLite by structure, and writes the SQL that changes one into the other.
//
// Input: databases without rows, one for each schema ([Read], [Write]). A [Schema] is read from SQLite's own catalogue and pragmas; other
// parts (CHECK, COLLATE of a column, expressions, conflict clauses) are read from the tokens of the definition, without space, comments,
// quotes of plain names and the case of words. Output: [Change]s in words and a [Script], whose statements lose only the rows that its
// changes name. The order of columns, the names of constraints other than CHECK, and the order of objects do not matter.
//
// An impossible change gives an [*Error] with the object and the fix. The package opens nothing, and does not know the rules of
// migrations: the caller runs the script under those of package migrate. Functions may be called concurrently on different databases.
package schemadiff

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// DB is a *sql.DB or *sql.Conn.
type DB interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// The kinds of objects.
const (
	KindTable   = "table" // also a virtual one
	KindIndex   = "index"
	KindView    = "view"
	KindTrigger = "trigger"
	KindColumn  = "column"     // of a change
	KindRule    = "constraint" // of a change: a key, CHECK, UNIQUE, STRICT
)

// Schema is the tables, indexes, views and triggers of a database, without those of SQLite and the platform, and without
// shadow tables.
type Schema struct {
	tables  []*table  // in order of creation, like objects
	objects []*object // indexes, views, triggers
}

// object is an index, view or trigger.
type object struct {
	kind, name, table, sql string
	form                   string   // equal for objects that are the same
	columns                []string // the first columns of an index over all rows
}

func (o *object) key() string { return o.kind + " " + dbfile.FoldName(o.name) }

// table is a table, or a virtual one.
type table struct {
	name, sql     string
	virtual       bool
	strict, noRow bool // noRow: WITHOUT ROWID
	autoincrement bool
	columns       []*column
	rules         []rule // keys, CHECK, UNIQUE
	keys          []foreignKey
	rowID         string     // the column that is the rowid; "" for none
	indexed       [][]string // the columns of the primary key and of UNIQUE
	form          string     // of a virtual table
}

// column is a column of a table.
type column struct {
	name, kind   string // kind is the type as written
	notNull      bool
	hasDefault   bool
	defaultValue string // from SQLite, which omits the parentheses of an expression
	generated    bool
	hidden       bool   // of a virtual table
	primary      int    // its place in the primary key, from 1; 0 for none
	text         string // its definition
	facts        [6]string
}

// The facts of a column: equal texts are the same.
const (
	factType = iota
	factNull
	factDefault
	factCollate
	factGenerated
	factConflict
)

// rule is a constraint of a table: equal forms are the same.
type rule struct{ form, text string }

// foreignKey is a foreign key as SQLite sees it.
type foreignKey struct {
	columns, to      []string // to is empty for the primary key of the parent
	parent, onDelete string
	text             string // the REFERENCES clause as written
}

func (s *Schema) table(name string) *table {
	at := slices.IndexFunc(s.tables, func(t *table) bool { return dbfile.SameName(t.name, name) })
	if at < 0 {
		return nil
	}
	return s.tables[at]
}

func (s *Schema) object(key string) *object {
	at := slices.IndexFunc(s.objects, func(o *object) bool { return o.key() == key })
	if at < 0 {
		return nil
	}
	return s.objects[at]
}

func (t *table) column(name string) *column {
	at := slices.IndexFunc(t.columns, func(c *column) bool { return dbfile.SameName(c.name, name) })
	if at < 0 {
		return nil
	}
	return t.columns[at]
}

// ofAuthor selects the objects of a schema.
const ofAuthor = ` FROM sqlite_schema
	WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND tbl_name NOT LIKE '\_pages\_%' ESCAPE '\'
	AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')`

// IsIn reports whether a database has the schema. It reads the database's schema only if the numbers of objects are equal.
func (s *Schema) IsIn(ctx context.Context, db DB) (bool, error) {
	var n int64
	err := query(ctx, db, "SELECT count(*)"+ofAuthor, nil, func(v []any) { n, _ = v[0].(int64) })
	if err != nil || n != int64(len(s.tables)+len(s.objects)) {
		return false, err
	}
	other, err := Read(ctx, db)
	return err == nil && len(Compare(other, s)) == 0, err
}

// Read reads the schema of a database.
func Read(ctx context.Context, db DB) (*Schema, error) {
	s := &Schema{}
	kinds := map[string]*table{}
	err := query(ctx, db, "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main'", nil, func(v []any) {
		kinds[text(v[0])] = &table{virtual: text(v[1]) == "virtual", noRow: v[2] == int64(1), strict: v[3] == int64(1)}
	})
	if err != nil {
		return nil, err
	}
	err = query(ctx, db, "SELECT type, name, tbl_name, sql"+ofAuthor+" ORDER BY rowid", nil, func(v []any) {
		o := &object{kind: text(v[0]), name: text(v[1]), table: text(v[2]), sql: text(v[3])}
		t, known := kinds[o.name]
		if o.kind != KindTable || !known {
			s.objects = append(s.objects, o)
			return
		}
		t.name, t.sql = o.name, o.sql
		s.tables = append(s.tables, t)
	})
	if err != nil {
		return nil, err
	}
	for _, t := range s.tables {
		if err := t.read(ctx, db); err != nil {
			return nil, fmt.Errorf("read the table %q: %w", t.name, err)
		}
	}
	for _, t := range s.tables {
		t.resolveKeys(s)
	}
	for _, o := range s.objects {
		if err := o.read(ctx, db); err != nil {
			return nil, fmt.Errorf("read the %s %q: %w", o.kind, o.name, err)
		}
	}
	return s, nil
}

// query calls row with the values of each row.
func query(ctx context.Context, db DB, text string, args []any, row func(values []any)) error {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		row(values)
	}
	return rows.Err()
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}
