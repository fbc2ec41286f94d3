package restorepoint

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// The causes of a Loss.
const (
	CauseGone    = "restore"        // present rows that the restore would remove
	CauseChanged = "restore values" // rows that would get their old values
)

// Loss counts the rows or columns that the restore would remove from a table.
type Loss struct {
	Table  string
	Column string // whose values would be lost; "" for whole rows
	Rows   int64
	Cause  string
}

// RowCount is the number of rows of a table, now and then.
type RowCount struct {
	Table         string
	Before, After int64
}

// Difference lists the changes when one database replaces another.
type Difference struct {
	Lost   []Loss     // by table; those of rows before those of columns
	Tables []RowCount // of tables whose number of rows changes
}

// Compare returns the changes if the database in the file then replaces the one in the file now. Rows with the same key are
// the same, or with the same rowid in a table without a key; a row is changed when one of its values differs.
func Compare(ctx context.Context, now, then string) (d Difference, err error) {
	v, err := open(ctx, ":memory:", "")
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	for _, a := range []struct{ name, file string }{{"now", now}, {"past", then}} {
		if err := attach(ctx, v.conn, a.name, a.file); err != nil {
			return d, err
		}
	}
	if _, err := v.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return d, err
	}
	return compare(ctx, v.conn, "now", "past")
}

// attach adds a database to those of a connection, to read it.
func attach(ctx context.Context, conn *sql.Conn, name, file string) error {
	_, err := conn.ExecContext(ctx, "ATTACH ? AS "+name, dbfile.URI(file, "mode=ro"))
	return err
}

// compare compares two schemas of a connection.
func compare(ctx context.Context, conn *sql.Conn, now, past string) (d Difference, err error) {
	before, err := tablesOf(ctx, conn, now)
	if err != nil {
		return d, err
	}
	after, err := tablesOf(ctx, conn, past)
	if err != nil {
		return d, err
	}
	d.Lost, d.Tables = []Loss{}, []RowCount{}
	for _, t := range before {
		pair := tablePair{conn: conn, now: now, past: past, table: t}
		i := slices.IndexFunc(after, func(o tableKind) bool { return dbfile.SameName(o.name, t.name) && o.virtual == t.virtual })
		lost, count, err := pair.compare(ctx, i >= 0)
		switch {
		case err == nil:
			d.Lost = append(d.Lost, lost...)
			if count.Before != count.After {
				d.Tables = append(d.Tables, count)
			}
		case !t.virtual || ctx.Err() != nil: // a virtual table may have no rowid to read
			return d, err
		}
	}
	for _, t := range after {
		if slices.ContainsFunc(before, func(o tableKind) bool { return dbfile.SameName(o.name, t.name) }) {
			continue
		}
		c := RowCount{Table: t.name}
		err := conn.QueryRowContext(ctx, "SELECT count(*) FROM "+past+"."+dbfile.QuoteName(t.name)).Scan(&c.After)
		switch {
		case err == nil && c.After > 0:
			d.Tables = append(d.Tables, c)
		case err != nil && (!t.virtual || ctx.Err() != nil):
			return d, err
		}
	}
	return d, nil
}

// tablePair is a table of one schema, with the one of the same name in another.
type tablePair struct {
	conn      *sql.Conn
	now, past string // schemas
	table     tableKind
}

func (t tablePair) name(schema string) string { return schema + "." + dbfile.QuoteName(t.table.name) }

func (t tablePair) count(ctx context.Context, query string) (n int64, err error) {
	err = t.conn.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

// compare compares the table with the other one, if there is one.
func (t tablePair) compare(ctx context.Context, there bool) (lost []Loss, count RowCount, err error) {
	count.Table = t.table.name
	if count.Before, err = t.count(ctx, "SELECT count(*) FROM "+t.name(t.now)); err != nil {
		return nil, count, err
	}
	if !there {
		if count.Before > 0 {
			lost = []Loss{{Table: t.table.name, Rows: count.Before, Cause: CauseGone}}
		}
		return lost, count, nil
	}
	if count.After, err = t.count(ctx, "SELECT count(*) FROM "+t.name(t.past)); err != nil || count.Before == 0 {
		return nil, count, err
	}
	columns, err := columnsOf(ctx, t.conn, t.now, t.table.name)
	if err != nil {
		return nil, count, err
	}
	others, err := columnsOf(ctx, t.conn, t.past, t.table.name)
	if err != nil {
		return nil, count, err
	}
	if lost, err = t.rows(ctx, columns, others); err != nil {
		return nil, count, err
	}
	for _, c := range columns {
		if t.table.virtual || c.generated || slices.ContainsFunc(others, c.sameName) {
			continue
		}
		n, err := t.count(ctx, "SELECT count("+dbfile.QuoteName(c.name)+") FROM "+t.name(t.now))
		if err != nil {
			return nil, count, err
		}
		if n > 0 {
			lost = append(lost, Loss{t.table.name, c.name, n, CauseGone})
		}
	}
	return lost, count, nil
}

// rows returns the rows that would be removed or get other values.
func (t tablePair) rows(ctx context.Context, columns, others []column) (lost []Loss, err error) {
	key, ok := keyOf(columns, others, t.table)
	if !ok {
		list := strings.Join(namesOf(columns, others), ", ")
		rows := func(schema string) string { // equal rows are numbered
			return "SELECT " + list + ", row_number() OVER (PARTITION BY " + list + ") FROM " + t.name(schema)
		}
		query := "SELECT count(*) FROM (" + rows(t.now) + " EXCEPT " + rows(t.past) + ")"
		if list == "" {
			query = "SELECT count(*) FROM " + t.name(t.now)
		}
		n, err := t.count(ctx, query)
		if err != nil || n == 0 {
			return nil, err
		}
		return []Loss{{Table: t.table.name, Rows: n, Cause: CauseGone}}, nil
	}
	var same, differ []string
	for _, name := range key {
		same = append(same, "n."+name+" IS p."+name)
	}
	if !t.table.virtual {
		for _, name := range namesOf(columns, others) {
			if !slices.Contains(key, name) {
				differ = append(differ, "n."+name+" IS NOT p."+name+" COLLATE BINARY")
			}
		}
	}
	on := strings.Join(same, " AND ")
	gone, err := t.count(ctx, "SELECT count(*) FROM "+t.name(t.now)+" n WHERE NOT EXISTS (SELECT 1 FROM "+t.name(t.past)+" p WHERE "+on+")")
	if err != nil {
		return nil, err
	}
	if gone > 0 {
		lost = append(lost, Loss{Table: t.table.name, Rows: gone, Cause: CauseGone})
	}
	if len(differ) == 0 {
		return lost, nil
	}
	changed, err := t.count(ctx, "SELECT count(*) FROM "+t.name(t.now)+" n JOIN "+t.name(t.past)+" p ON "+on+
		" WHERE "+strings.Join(differ, " OR "))
	if err == nil && changed > 0 {
		lost = append(lost, Loss{Table: t.table.name, Rows: changed, Cause: CauseChanged})
	}
	return lost, err
}

// column is a column of a table.
type column struct {
	name      string
	kind      string // declared
	key       int    // place in the primary key, from 1; 0 for none
	generated bool
}

func (c column) sameName(o column) bool { return dbfile.SameName(c.name, o.name) }

func columnsOf(ctx context.Context, conn *sql.Conn, schema, table string) (all []column, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT name, upper(type), pk, hidden FROM pragma_table_xinfo(?, ?)", table, schema)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		var hidden int
		if err := rows.Scan(&c.name, &c.kind, &c.key, &hidden); err != nil {
			return nil, err
		}
		c.generated = hidden > 1
		if hidden != 1 { // a hidden column of a virtual table, such as its rank
			all = append(all, c)
		}
	}
	return all, rows.Err()
}

// namesOf returns the quoted names of the columns that both have, but generated ones.
func namesOf(columns, others []column) (names []string) {
	for _, c := range columns {
		if !c.generated && slices.ContainsFunc(others, func(o column) bool { return c.sameName(o) && !o.generated }) {
			names = append(names, dbfile.QuoteName(c.name))
		}
	}
	return names
}

// keyOf returns the quoted names of the columns that identify the rows of both tables: the primary key, or a name of the rowid. It returns
// false when they have none in common.
func keyOf(columns, others []column, t tableKind) (key []string, ok bool) {
	mine, theirs := primaryKey(columns), primaryKey(others)
	switch {
	case len(mine) > 0 && slices.EqualFunc(mine, theirs, dbfile.SameName):
		for _, name := range mine {
			key = append(key, dbfile.QuoteName(name))
		}
		return key, true
	case len(mine) > 0 || len(theirs) > 0 || t.withoutRowid:
		return nil, false
	}
	rowid := rowidOf(columns)
	return []string{rowid}, rowid != "" && rowid == rowidOf(others)
}

func primaryKey(columns []column) (names []string) {
	keys := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.key == 0 })
	slices.SortFunc(keys, func(a, b column) int { return a.key - b.key })
	for _, c := range keys {
		names = append(names, c.name)
	}
	return names
}

// rowidOf returns a name of the rowid that no column has; "" for none.
func rowidOf(columns []column) string {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.ContainsFunc(columns, func(c column) bool { return dbfile.SameName(c.name, name) }) {
			return name
		}
	}
	return ""
}
