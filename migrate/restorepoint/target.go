package restorepoint

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// This file prepares a database that replaces another: the newer rows to keep, and the mark that shows the next process whether a
// killed one had finished.

// Kept describes the outcome for the rows of one table that are newer than a point.
type Kept struct {
	Table string
	Rows  int64 // rows that stay
	Lost  int64 // rows without a place: an old row has their key, or the table no longer accepts them
}

// marks has one row in a restored database: the id of the last restore.
const marks = `CREATE TABLE IF NOT EXISTS _pages_restores (
  id    TEXT PRIMARY KEY,
  point TEXT NOT NULL,
  at    TEXT NOT NULL
) STRICT, WITHOUT ROWID`

// Mark writes an id into a database before it replaces another.
func Mark(ctx context.Context, file, id, point string, at time.Time) (err error) {
	v, err := open(ctx, file, "mode=rw&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	return mark(ctx, v.conn, id, point, at)
}

func mark(ctx context.Context, conn *sql.Conn, id, point string, at time.Time) error {
	_, err := conn.ExecContext(ctx, marks)
	if err == nil {
		_, err = conn.ExecContext(ctx, "DELETE FROM _pages_restores")
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, "INSERT INTO _pages_restores VALUES (?, ?, ?)", id, point, at.UTC().Format(time.RFC3339Nano))
	}
	return err
}

// Marked reports whether a database has the mark of an id.
func Marked(ctx context.Context, db *sql.DB, id string) (yes bool, err error) {
	var there bool
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = '_pages_restores'").Scan(&there)
	if err == nil && there {
		err = db.QueryRowContext(ctx, "SELECT count(*) FROM _pages_restores WHERE id = ?", id).Scan(&yes)
	}
	return yes, err
}

// KeepSince copies the newer rows of a table from the file now into the database that replaces it, with the ledger of leads,
// which gives each lead one row. It copies nothing unless both have a table of that name.
func KeepSince(ctx context.Context, target, now, table string) (k Kept, err error) {
	k.Table = table
	v, err := open(ctx, target, "mode=rw&_pragma=synchronous(FULL)&_pragma=foreign_keys(0)")
	if err != nil {
		return k, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	if err := attach(ctx, v.conn, "now", now); err != nil {
		return k, err
	}
	if _, err := v.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return k, err
	}
	if err := copyLedger(ctx, v.conn); err != nil {
		return k, err
	}
	if k, err = keepRows(ctx, v.conn, table); err == nil {
		_, err = v.conn.ExecContext(ctx, "COMMIT")
	}
	return k, err
}

// copyLedger copies the ledger of leads from the schema now to main.
func copyLedger(ctx context.Context, conn *sql.Conn) error {
	var text string
	err := conn.QueryRowContext(ctx, "SELECT sql FROM now.sqlite_schema WHERE name = '_pages_submissions' AND type = 'table'").Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	var there bool
	err = conn.QueryRowContext(ctx, "SELECT count(*) FROM main.sqlite_schema WHERE name = '_pages_submissions'").Scan(&there)
	if err == nil && !there {
		_, err = conn.ExecContext(ctx, text)
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, "INSERT OR IGNORE INTO main._pages_submissions (lead_id, created_at) "+
			"SELECT lead_id, created_at FROM now._pages_submissions")
	}
	return err
}

// keepRows copies the rows that the schema now has and main lacks: by the column lead_id, which names the lead of a row, or
// by their key. A row whose number is taken gets a new one.
func keepRows(ctx context.Context, conn *sql.Conn, table string) (k Kept, err error) {
	k.Table = table
	columns, others, kind, ok, err := bothHave(ctx, conn, table)
	if err != nil || !ok {
		return k, err
	}
	isNew, byKey, ok := sinceCondition(columns, others, kind)
	if !ok {
		return k, nil
	}
	var came int64
	name := dbfile.QuoteName(kind.name)
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM now."+name+" n WHERE "+isNew).Scan(&came); err != nil || came == 0 {
		return k, err
	}
	broken, err := orphans(ctx, conn, kind)
	if err != nil {
		return k, err
	}
	insert := func(names []string) error {
		list := join(names)
		result, err := conn.ExecContext(ctx, "INSERT OR IGNORE INTO main."+name+" ("+list+") SELECT "+list+
			" FROM now."+name+" n WHERE "+isNew)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		k.Rows += n
		return err
	}
	all := namesOf(columns, others)
	withKey := all
	if rowid := rowidOf(columns); byKey == "" && !kind.withoutRowid && rowid != "" && len(primaryKey(columns)) == 0 {
		withKey = append([]string{rowid}, all...)
	}
	if err := insert(withKey); err != nil {
		return k, err
	}
	if number := integerKey(columns); k.Rows < came && byKey == "" && number != "" { // the number is taken
		var rest []string
		for _, c := range all {
			if c != dbfile.QuoteName(number) {
				rest = append(rest, c)
			}
		}
		if len(rest) > 0 {
			if err := insert(rest); err != nil {
				return k, err
			}
		}
	}
	removed, err := removeOrphans(ctx, conn, kind, rowidOf(others), broken)
	if err != nil {
		return k, err
	}
	k.Rows -= removed
	k.Lost = came - k.Rows
	return k, nil
}

// bothHave returns the columns of a table in the schemas now and main; false unless it is an ordinary table in both.
func bothHave(ctx context.Context, conn *sql.Conn, table string) (columns, others []column, kind tableKind, ok bool, err error) {
	if columns, err = columnsOf(ctx, conn, "now", table); err != nil {
		return nil, nil, kind, false, err
	}
	if others, err = columnsOf(ctx, conn, "main", table); err != nil || len(columns) == 0 || len(others) == 0 {
		return nil, nil, kind, false, err
	}
	tables, err := tablesOf(ctx, conn, "now")
	kind, ok = findTable(tables, table)
	return columns, others, kind, ok && !kind.virtual, err
}

// sinceCondition is true for a row n of the schema now that main lacks, by the key byKey, or by the lead's id for "".
func sinceCondition(columns, others []column, kind tableKind) (condition, byKey string, ok bool) {
	lead := func(c column) bool { return c.sameName(column{name: "lead_id"}) }
	if slices.ContainsFunc(columns, lead) && slices.ContainsFunc(others, lead) {
		return "n.lead_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM main." + dbfile.QuoteName(kind.name) +
			" m WHERE m.lead_id = n.lead_id)", "", true
	}
	key, ok := keyOf(columns, others, kind)
	if !ok {
		return "", "", false
	}
	var same []string
	for _, name := range key {
		same = append(same, "m."+name+" IS n."+name)
	}
	return "NOT EXISTS (SELECT 1 FROM main." + dbfile.QuoteName(kind.name) + " m WHERE " +
		strings.Join(same, " AND ") + ")", join(key), true
}

// orphans returns the rowids of a table's rows that refer to missing rows.
func orphans(ctx context.Context, conn *sql.Conn, kind tableKind) (ids map[int64]bool, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT DISTINCT rowid FROM pragma_foreign_key_check(?) WHERE rowid IS NOT NULL", kind.name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ids = map[int64]bool{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids[id] = true
	}
	return ids, rows.Err()
}

// removeOrphans removes the orphans of a table except older ones, and returns their number. rowid is a name of the table's
// rowid; "" removes none.
func removeOrphans(ctx context.Context, conn *sql.Conn, kind tableKind, rowid string, before map[int64]bool) (n int64, err error) {
	if kind.withoutRowid || rowid == "" {
		return 0, nil
	}
	ids, err := orphans(ctx, conn, kind)
	if err != nil {
		return 0, err
	}
	for id := range ids {
		if before[id] {
			continue
		}
		if _, err := conn.ExecContext(ctx, "DELETE FROM main."+dbfile.QuoteName(kind.name)+" WHERE "+rowid+" = ?", id); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Replacing is a prepared change of a database: until its end other writers wait and readers see the old contents.
// Call either Commit or Abort, once.
type Replacing interface {
	Commit() error
	Abort() error
}

// whole replaces all contents.
type whole struct {
	*dbfile.Replacement

	conn *sql.Conn
}

// Commit implements Replacing.
func (w whole) Commit() error { return errors.Join(w.Replacement.Commit(), w.conn.Close()) }

// Abort implements Replacing.
func (w whole) Abort() error { return errors.Join(w.Replacement.Abort(), w.conn.Close()) }

// BeginWhole takes the write lock of a database, calls locked, and copies the database in a file into it. locked sees the
// last write, and may change the file; its error ends the replacement.
func BeginWhole(ctx context.Context, db *sql.DB, file string, locked func() error) (Replacing, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	r, err := dbfile.Replace(ctx, conn, dbfile.URI(file, "mode=rw"))
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	w := whole{r, conn}
	if err = locked(); err == nil {
		err = r.Copy(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}
