// Package formrow writes the post of a form as a row of one of the site's tables, as a careful author would write it.
//
// Input: a transaction on the site's database, the name of a table, and a [Post]. Output: one row. An answer fills the column of its name;
// the case does not matter. Errors are SQLite's own, or name a missing table; the caller rolls back. The functions are safe for concurrent
// use on different transactions. The package does not decide which answers may fill a column or when a row is retried, and keeps no state.
//
// The rules, all of which the front door of "pages build --target cloudflare" has too (bundler/cloudflare/front/rows.js):
//
//   - SQLite's affinity turns text into numbers. In a column of numbers "on" and "true" are 1, "off" and "false" are 0.
//   - Browsers send an empty text for an input that was left alone. It leaves a column with a default as it is. It is NULL in a
//     column that is not text, refers to another table, or is unique; and where a rule of the table refuses it.
//   - A time is written in the form of the column's own default: seconds, milliseconds, ISO 8601, CURRENT_TIMESTAMP.
//   - No answer fills the rowid or a generated column, and the rest of a key only where the form's own page asks for it. A key
//     of text that nothing fills is the lead's id.
package formrow

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Post is the post of a form with its metadata.
type Post struct {
	Lead    string // its id
	Form    string // the form's name
	At      time.Time
	Answers []Answer
	All     string   // the answers as one JSON object
	Unasked []string // names of answers that no form of the site has as a field
	// Unseen means that no page shows which fields the form has.
	Unseen bool
}

// Answer is one answer, as a JSON value.
type Answer struct {
	Name  string
	Value json.RawMessage
}

// Write inserts the row of a post. Answers among the Unasked fill no column.
func Write(ctx context.Context, tx *sql.Tx, table string, p Post) error {
	t, err := describe(ctx, tx, table)
	if err != nil {
		return err
	}
	return t.insert(ctx, tx, t.row(ctx, tx, p))
}

// cell is a value for a column.
type cell struct {
	column *column
	value  any
	empty  bool // an empty answer, which the table may refuse
}

// row matches a post with the columns of the table. The platform's own values come last, so that no answer replaces them.
func (t *table) row(ctx context.Context, tx *sql.Tx, p Post) (row []cell) {
	cells := map[string]cell{}
	unasked := map[string]bool{}
	for _, name := range p.Unasked {
		unasked[strings.ToLower(name)] = true
	}
	for _, a := range p.Answers {
		key := strings.ToLower(a.Name)
		c, ok := t.columns[key]
		if !ok || unasked[key] || c.rowid || c.key && p.Unseen {
			continue
		}
		if made, filled := t.answer(c, a.Value); filled {
			cells[key] = made
		}
	}
	_, asked := cells["data"]
	put := func(key string, value any) {
		if c, ok := t.columns[key]; ok && !c.rowid {
			cells[key] = cell{column: c, value: t.stored(c, value)}
		}
	}
	put("form", p.Form)
	put("lead_id", p.Lead)
	put("fields", p.All)
	if !asked { // a form may have a field "data"
		put("data", p.All)
	}
	if c, ok := t.columns["created_at"]; ok {
		delete(cells, "created_at")
		if value, filled := c.time(ctx, tx, p.At); filled {
			put("created_at", value)
		}
	}
	if c := t.soleKey; c != nil && !c.rowid && c.standard == "" && c.affinity != affinityInteger && c.affinity != affinityReal {
		if _, filled := cells[strings.ToLower(c.name)]; !filled {
			put(strings.ToLower(c.name), p.Lead)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(cells)) {
		row = append(row, cells[key])
	}
	return row
}

// insert inserts the row. If the table refuses it, it replaces empty texts by NULL, as few as possible.
func (t *table) insert(ctx context.Context, tx *sql.Tx, row []cell) error {
	var empty []int
	for i, c := range row {
		if c.empty {
			empty = append(empty, i)
		}
	}
	if len(empty) == 0 {
		return t.try(ctx, tx, row)
	}
	first := t.tryBack(ctx, tx, row)
	last := first
	for _, i := range empty {
		if !refused(last) {
			return last
		}
		row[i].value = nil
		switch err := t.tryBack(ctx, tx, row); {
		case err == nil:
			return nil
		case err.Error() == last.Error(): // another column is at fault
			row[i].value = ""
		default:
			last = err
		}
	}
	if !refused(last) {
		return last
	}
	for _, i := range empty {
		row[i].value = nil
	}
	if len(empty) > 1 && t.tryBack(ctx, tx, row) == nil {
		return nil
	}
	return first
}

// tryBack inserts the row, or leaves the transaction unchanged. A trigger may have ended the transaction: the error then has the trigger's
// message, and no other row is tried.
func (t *table) tryBack(ctx context.Context, tx *sql.Tx, row []cell) error {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT pages_row"); err != nil {
		return err
	}
	err := t.try(ctx, tx, row)
	if err == nil {
		_, err = tx.ExecContext(ctx, "RELEASE pages_row")
		return err
	}
	if _, gone := tx.ExecContext(ctx, "ROLLBACK TO pages_row"); gone != nil {
		return endedError{err}
	}
	if _, gone := tx.ExecContext(ctx, "RELEASE pages_row"); gone != nil {
		return endedError{err}
	}
	return err
}

// endedError is the error after the transaction has ended.
type endedError struct{ error }

// refused reports whether the table refused a row that would pass with another value.
func refused(err error) bool {
	const sqliteConstraint = 19
	var coded interface {
		error
		Code() int // the method of the driver's error, which identifies it without importing the driver
	}
	return errors.As(err, &coded) && coded.Code()&0xff == sqliteConstraint
}

// try inserts the row. A table without a matching column still gets one.
func (t *table) try(ctx context.Context, tx *sql.Tx, row []cell) error {
	statement := "INSERT INTO " + quote(t.name) + " DEFAULT VALUES"
	values := make([]any, len(row))
	if len(row) > 0 {
		names := make([]string, len(row))
		for i, c := range row {
			names[i], values[i] = quote(c.column.name), c.value
		}
		statement = fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)",
			quote(t.name), strings.Join(names, ", "), strings.Repeat(", ?", len(row)-1))
	}
	_, err := tx.ExecContext(ctx, statement, values...)
	return err
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// table is one of the site's tables.
type table struct {
	name    string
	strict  bool
	columns map[string]*column // by lower-case name, without generated columns
	soleKey *column            // the single column of the primary key, nil for none or several
}

// column is a column that an answer may fill.
type column struct {
	name     string
	kind     string // declared type, in upper case
	affinity affinity
	standard string // its default, as SQL; "" for none
	key      bool   // part of the primary key
	rowid    bool   // the row's own number, which SQLite gives
	bare     bool   // an empty text has no meaning: the column refers to another table, or its values are unique
}

func describe(ctx context.Context, tx *sql.Tx, name string) (*table, error) {
	t := &table{name: name, columns: map[string]*column{}}
	keys := 0
	const columns = `SELECT name, upper(type), coalesce(dflt_value, ''), pk, hidden FROM pragma_table_xinfo(?)`
	found := false
	err := each(ctx, tx, columns, name, func(row *sql.Rows) error {
		var c column
		var pk, hidden int
		if err := row.Scan(&c.name, &c.kind, &c.standard, &pk, &hidden); err != nil {
			return err
		}
		found = true
		if pk > 0 {
			keys++
		}
		if hidden != 0 {
			return nil
		}
		c.key, c.rowid, c.affinity = pk > 0, pk > 0 && c.kind == "INTEGER", affinityOf(c.kind)
		if strings.EqualFold(c.standard, "NULL") {
			c.standard = ""
		}
		t.columns[strings.ToLower(c.name)] = &c
		if pk > 0 {
			t.soleKey = &c
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("no such table: %q", name)
	}
	if keys > 1 {
		t.soleKey = nil
	}
	const strict = `SELECT strict FROM pragma_table_list WHERE schema = 'main' AND lower(name) = lower(?)`
	err = each(ctx, tx, strict, name, func(row *sql.Rows) error { return row.Scan(&t.strict) })
	bare := func(row *sql.Rows) error {
		var column sql.NullString
		err := row.Scan(&column)
		if c, ok := t.columns[strings.ToLower(column.String)]; ok {
			c.bare = true
		}
		return err
	}
	const references = `SELECT "from" FROM pragma_foreign_key_list(?)`
	const unique = `SELECT i.name FROM pragma_index_list(?) l, pragma_index_info(l.name) i WHERE l."unique"`
	return t, cmp.Or(err, each(ctx, tx, references, name, bare), each(ctx, tx, unique, name, bare))
}

// each calls fn with every row of a query.
func each(ctx context.Context, tx *sql.Tx, query, argument string, fn func(*sql.Rows) error) (err error) {
	rows, err := tx.QueryContext(ctx, query, argument)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
