package restorepoint

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// This file restores single tables. The schema stays unchanged. Only rows that differ are written, and the site's triggers run
// for these writes as for any other, so that an index in a trigger stays current.

// TableChange describes the tables that BeginTables restores.
type TableChange struct {
	ID, Point string   // for the mark
	Tables    []string // named as in the current database, in any case
	Keep      string   // the table whose newer rows stay; "" for none
	Now       string   // the file of the present database, for Compare; "" without a call of it
	At        time.Time
}

// BeginTables restores the rows of tables from the database of a point in a file, in a transaction that the caller commits.
// It calls locked first, under the write lock. A table that does not fit, or a row that another needs, gives a
// *RefusedError.
//
// dsn opens the present database, in a connection of its own with foreign keys off.
func BeginTables(ctx context.Context, dsn, file string, c TableChange, locked func() error) (*TablesReplacing, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	t := &TablesReplacing{view: &view{db, conn}, ctx: context.WithoutCancel(ctx)}
	err = attach(ctx, conn, "past", file)
	if err == nil && c.Now != "" {
		err = attach(ctx, conn, "old", c.Now)
	}
	if err == nil {
		err = dbfile.WaitForWriters(ctx, conn, func() error {
			_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE")
			return err
		})
	}
	if err == nil {
		err = locked()
	}
	if err == nil {
		err = putTables(ctx, conn, c)
	}
	if err == nil {
		err = mark(ctx, conn, c.ID, c.Point, c.At)
	}
	if err != nil {
		return nil, errors.Join(err, t.Abort())
	}
	return t, nil
}

// TablesReplacing replaces some tables.
type TablesReplacing struct {
	*view

	ctx context.Context // the context of the change, without its cancellation
}

// Compare returns the effect of the change on all tables, also by the site's triggers. TableChange.Now names the compared database,
// whose journal is a write-ahead log: the transaction reads it until it ends.
func (t *TablesReplacing) Compare(ctx context.Context) (Difference, error) {
	return compare(ctx, t.conn, "old", "main")
}

// Commit implements Replacing.
func (t *TablesReplacing) Commit() error {
	_, err := t.conn.ExecContext(t.ctx, "COMMIT")
	return errors.Join(err, t.close())
}

// Abort implements Replacing.
func (t *TablesReplacing) Abort() error {
	_, err := t.conn.ExecContext(t.ctx, "ROLLBACK")
	if err != nil && strings.Contains(err.Error(), "no transaction") {
		err = nil
	}
	return errors.Join(err, t.close())
}

// CheckTables refuses tables that cannot be restored: each needs the same columns in the file then and in the file now. It
// returns their names as in the file now.
func CheckTables(ctx context.Context, now, then string, tables []string) (names []string, err error) {
	v, err := open(ctx, now, "mode=ro")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	if err := attach(ctx, v.conn, "past", then); err != nil {
		return nil, err
	}
	for _, name := range tables {
		kind, _, err := fit(ctx, v.conn, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, kind.name) {
			names = append(names, kind.name)
		}
	}
	return names, nil
}

// fit returns a table and its columns, if they are the same in main and past.
func fit(ctx context.Context, conn *sql.Conn, table string) (kind tableKind, columns []column, err error) {
	mine, err := tablesOf(ctx, conn, "main")
	if err != nil {
		return kind, nil, err
	}
	theirs, err := tablesOf(ctx, conn, "past")
	if err != nil {
		return kind, nil, err
	}
	kind, ok := findTable(mine, table)
	other, then := findTable(theirs, table)
	switch {
	case !ok && !then:
		return kind, nil, refuse("Neither the site's database nor the restore point has a table %q.", table)
	case !ok:
		return kind, nil, refuse(
			"The site's database has no table %q any more, only the restore point does: restore everything, without tables.", table)
	case !then:
		return kind, nil, refuse("The restore point has no table %q yet.", kind.name)
	case kind.virtual || other.virtual:
		return kind, nil, refuse("%q is a virtual table, whose rows are in other tables: restore everything, without tables.", kind.name)
	}
	columns, err = columnsOf(ctx, conn, "main", kind.name)
	if err != nil {
		return kind, nil, err
	}
	others, err := columnsOf(ctx, conn, "past", kind.name)
	if err != nil {
		return kind, nil, err
	}
	if a, b := storedNames(columns), storedNames(others); !slices.EqualFunc(a, b, dbfile.SameName) {
		return kind, nil, refuse("The table %q has the columns %s now, and had %s then: restore everything, without tables.",
			kind.name, strings.Join(a, ", "), strings.Join(b, ", "))
	}
	return kind, columns, nil
}

// storedNames returns the names of columns except generated ones, sorted.
func storedNames(columns []column) (names []string) {
	for _, c := range columns {
		if !c.generated {
			names = append(names, c.name)
		}
	}
	slices.Sort(names)
	return names
}

func putTables(ctx context.Context, conn *sql.Conn, c TableChange) error {
	broken, err := violations(ctx, conn)
	if err != nil {
		return err
	}
	type put struct {
		kind    tableKind
		columns []column
	}
	var all []put
	for _, name := range c.Tables {
		kind, columns, err := fit(ctx, conn, name)
		if err != nil {
			return err
		}
		all = append(all, put{kind, columns})
	}
	for _, p := range all {
		keep := c.Keep != "" && dbfile.SameName(c.Keep, p.kind.name)
		if err := putTable(ctx, conn, p.kind, p.columns, keep); err != nil {
			return err
		}
	}
	for _, p := range all { // after all tables: a trigger of one may write another
		if err := checkPut(ctx, conn, p.kind, p.columns); err != nil {
			return err
		}
	}
	now, err := violations(ctx, conn)
	if err != nil {
		return err
	}
	for key, n := range now {
		if n > broken[key] {
			return refuse(
				"%s of the table %q would refer to rows of %q that do not exist: restore both tables, or restore everything, without "+
					"tables.",
				rowsText(n-broken[key]), key.table, key.parent)
		}
	}
	return nil
}

func rowsText(n int64) string {
	if n == 1 {
		return "One row"
	}
	return fmt.Sprintf("%d rows", n)
}

// putTable restores the rows of a table: only those that differ, or all when rows have no identity or new values collide.
func putTable(ctx context.Context, conn *sql.Conn, kind tableKind, columns []column, keep bool) error {
	p := tablePut{
		conn: conn, table: kind, name: dbfile.QuoteName(kind.name), columns: rowNames(kind, columns),
	}
	p.key, _ = keyOf(columns, columns, kind)
	if keep {
		condition, _, ok := sinceCondition(columns, columns, kind)
		if !ok {
			return refuse("The newer rows of %q cannot be identified: restore with leads \"drop\".", kind.name)
		}
		p.since = strings.ReplaceAll(condition, " FROM main.", " FROM past.")
	}
	if len(p.key) == 0 {
		return p.all(ctx)
	}
	if _, err := conn.ExecContext(ctx, "SAVEPOINT put"); err != nil {
		return err
	}
	if err := p.differing(ctx); err != nil {
		if _, undone := conn.ExecContext(ctx, "ROLLBACK TO put"); undone != nil {
			return unfit(err, kind.name) // a trigger ended the transaction
		}
		if err := p.all(ctx); err != nil {
			return err
		}
	}
	_, err := conn.ExecContext(ctx, "RELEASE put")
	return err
}

// tablePut is one table to restore.
type tablePut struct {
	conn    *sql.Conn
	table   tableKind
	name    string   // quoted
	columns []string // quoted, that are written
	key     []string // quoted, that identify rows; none when rows have no identity
	since   string   // the condition for a newer row n that stays; "" for none
}

// differing deletes the rows that the point lacks, except those that stay, updates changed rows, and inserts missing ones.
func (p *tablePut) differing(ctx context.Context) error {
	var same, differ, set []string
	for _, name := range p.key {
		same = append(same, "n."+name+" IS o."+name)
	}
	on := strings.Join(same, " AND ")
	var values []string
	for _, name := range p.columns {
		differ = append(differ, "typeof(n."+name+") <> typeof(o."+name+") OR n."+name+" IS NOT o."+name+" COLLATE BINARY")
		if !slices.Contains(p.key, name) {
			set, values = append(set, name), append(values, "o."+name)
		}
	}
	then := "past." + p.name + " AS o WHERE " + on
	gone := "NOT EXISTS (SELECT 1 FROM " + then + ")"
	if p.since != "" {
		gone += " AND NOT (" + p.since + ")"
	}
	statements := []string{"DELETE FROM main." + p.name + " AS n WHERE " + gone}
	if len(set) > 0 {
		statements = append(statements, "UPDATE main."+p.name+" AS n SET ("+join(set)+") = (SELECT "+join(values)+" FROM "+then+
			") WHERE EXISTS (SELECT 1 FROM "+then+" AND ("+strings.Join(differ, " OR ")+"))")
	}
	statements = append(statements, "INSERT INTO main."+p.name+" ("+join(p.columns)+") SELECT "+join(p.columns)+" FROM past."+p.name+
		" AS o WHERE NOT EXISTS (SELECT 1 FROM main."+p.name+" AS n WHERE "+on+")")
	for _, s := range statements {
		if _, err := p.conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// all replaces all rows.
func (p *tablePut) all(ctx context.Context) error {
	list := join(p.columns)
	if p.since != "" {
		_, err := p.conn.ExecContext(ctx, "CREATE TEMP TABLE _pages_kept AS SELECT "+list+" FROM main."+p.name+" n WHERE "+p.since)
		if err != nil {
			return err
		}
	}
	if _, err := p.conn.ExecContext(ctx, "DELETE FROM main."+p.name+" WHERE true"); err != nil { // so that triggers run
		return err
	}
	if _, err := p.conn.ExecContext(ctx, "INSERT INTO main."+p.name+" ("+list+") SELECT "+list+" FROM past."+p.name); err != nil {
		return unfit(err, p.table.name)
	}
	if p.since == "" {
		return nil
	}
	_, err := p.conn.ExecContext(ctx, "INSERT OR IGNORE INTO main."+p.name+" ("+list+") SELECT "+list+" FROM temp._pages_kept")
	if err != nil {
		return err
	}
	_, err = p.conn.ExecContext(ctx, "DROP TABLE temp._pages_kept")
	return err
}

// unfit turns a refusal of old rows by SQLite or a trigger into a RefusedError; it returns other failures unchanged.
func unfit(err error, table string) error {
	failed, ok := errors.AsType[*sqlite.Error](err)
	if !ok || !slices.Contains([]int{sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_ERROR}, failed.Code()&0xff) {
		return err
	}
	return refuse("The old rows do not fit into the table %q, %s: restore everything, without tables.", table, failed.Error())
}

// checkPut refuses a table whose restored rows a trigger has changed.
func checkPut(ctx context.Context, conn *sql.Conn, kind tableKind, columns []column) error {
	list := join(rowNames(kind, columns))
	var missing int64
	err := conn.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT "+list+" FROM past."+dbfile.QuoteName(kind.name)+" EXCEPT SELECT "+list+
		" FROM main."+dbfile.QuoteName(kind.name)+")").Scan(&missing)
	if err == nil && missing > 0 {
		err = refuse("A trigger changes %s of the table %q while they are restored: restore everything, without tables.",
			strings.ToLower(rowsText(missing)), kind.name)
	}
	return err
}

// rowNames returns the quoted names of writable columns, and the rowid if no column has it.
func rowNames(kind tableKind, columns []column) []string {
	names := namesOf(columns, columns)
	if rowid := rowidOf(columns); !kind.withoutRowid && rowid != "" && integerKey(columns) == "" {
		names = append([]string{rowid}, names...)
	}
	return names
}

// violationKey is a table and one of its parents.
type violationKey struct{ table, parent string }

func violations(ctx context.Context, conn *sql.Conn) (found map[violationKey]int64, err error) {
	rows, err := conn.QueryContext(ctx, `SELECT "table", parent, count(*) FROM main.pragma_foreign_key_check GROUP BY 1, 2`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found = map[violationKey]int64{}
	for rows.Next() {
		var key violationKey
		var n int64
		if err := rows.Scan(&key.table, &key.parent, &n); err != nil {
			return nil, err
		}
		found[key] = n
	}
	return found, rows.Err()
}

func findTable(all []tableKind, name string) (tableKind, bool) {
	i := slices.IndexFunc(all, func(t tableKind) bool { return dbfile.SameName(t.name, name) })
	if i < 0 {
		return tableKind{}, false
	}
	return all[i], true
}

// integerKey returns the column that aliases the rowid; "" for none.
func integerKey(columns []column) string {
	if keys := primaryKey(columns); len(keys) == 1 {
		for _, c := range columns {
			if c.key == 1 && c.kind == "INTEGER" {
				return c.name
			}
		}
	}
	return ""
}

func join(names []string) string { return strings.Join(names, ", ") }
