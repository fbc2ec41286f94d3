package restorepoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// Add creates a point of the database in a file: a consistent snapshot, while others may write. The point is durable when Add
// returns. For ReasonInterval with the contents of the newest point, it adds none and returns the newest and false. It may
// remove older points, by Rule and Limits.
func (s Store) Add(ctx context.Context, file string, about About) (p Point, added bool, err error) {
	return s.addAt(ctx, file, about, s.Now())
}

// Adopt creates a point from a copy of the database that an earlier version of this program made. Call it with the oldest
// copy first. A copy that already has a point, or no table, gets none.
func (s Store) Adopt(ctx context.Context, file string, at time.Time) (added bool, err error) {
	_, added, err = s.addAt(ctx, file, About{Reason: ReasonCopy}, at)
	return added, err
}

func (s Store) addAt(ctx context.Context, file string, about About, at time.Time) (p Point, added bool, err error) {
	from, err := openView(ctx, file)
	if err != nil {
		return p, false, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	to, err := s.openToWrite(ctx)
	if err != nil {
		return p, false, damage(err)
	}
	defer func() { err = damage(errors.Join(err, to.close())) }()
	p, added, err = s.add(ctx, &addition{ctx: ctx, conn: to.conn}, from.conn, Point{About: about, At: at.UTC()})
	if err != nil || !added {
		return p, false, err
	}
	if _, err := to.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return p, false, err
	}
	return p, true, shrink(ctx, to.conn)
}

func (s Store) add(ctx context.Context, a *addition, from *sql.Conn, p Point) (_ Point, added bool, err error) {
	if p.Tables, err = countRows(ctx, from); err != nil {
		return p, false, err
	}
	if p.Migrations, err = ledger(ctx, from); err != nil {
		return p, false, err
	}
	if err := a.copyPages(from); err != nil {
		return p, false, err
	}
	p.root = rootOf(a.pageSize, a.pages, a.groups)
	all, err := list(ctx, a.conn)
	if err != nil {
		return p, false, err
	}
	if p.Reason == ReasonInterval && len(all) > 0 && bytes.Equal(all[0].root, p.root) {
		return all[0], false, nil
	}
	newer := 0 // points
	if p.Reason == ReasonCopy {
		newer = copiesBegin(all)
		known := func(o Point) bool { return o.At.Equal(p.At) && bytes.Equal(o.root, p.root) }
		if a.pages <= 1 && len(p.Tables) == 0 || slices.ContainsFunc(all[newer:], known) {
			return p, false, nil
		}
	}
	migrations, err := json.Marshal(p.Migrations)
	if err != nil {
		return p, false, err
	}
	tables, err := json.Marshal(p.Tables)
	if err != nil {
		return p, false, err
	}
	err = a.conn.QueryRowContext(ctx, "INSERT INTO points (at, reason, before, revision, migrations, tables, page_size, pages, root, "+
		"groups) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
		p.At.UnixMilli(), string(p.Reason), p.Before, p.Revision, string(migrations), string(tables), a.pageSize, a.pages, p.root,
		bytesOf(a.groups)).Scan(&p.number)
	if err != nil {
		return p, false, err
	}
	p.ID, p.Bytes = "p"+strconv.FormatInt(p.number, 10), a.pageSize*a.pages
	for g := a.groups; len(g) > 0; g = g[hashSize:] {
		if _, err := a.conn.ExecContext(ctx, "UPDATE page_groups SET refs = refs + 1 WHERE hash = ?", g[:hashSize]); err != nil {
			return p, false, err
		}
	}
	return p, true, s.thin(ctx, a.conn, slices.Insert(all, newer, p), s.Now())
}

// copiesBegin returns the place of the first adopted copy in a list.
func copiesBegin(all []Point) int {
	if i := slices.IndexFunc(all, func(p Point) bool { return p.Reason == ReasonCopy }); i >= 0 {
		return i
	}
	return len(all)
}

// bytesOf returns an empty value for none, which SQLite would take for NULL.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// rootOf is the hash of a point's contents.
func rootOf(pageSize, pages int64, groups []byte) []byte {
	var head [16]byte
	binary.BigEndian.PutUint64(head[:8], uint64(pageSize)) //nolint:gosec // of a file
	binary.BigEndian.PutUint64(head[8:], uint64(pages))    //nolint:gosec // of a file
	sum := sha256.Sum256(append(head[:], groups...))
	return sum[:]
}

// addition stores the pages of a database.
type addition struct {
	ctx  context.Context // of the running Add
	conn *sql.Conn       // a connection of the store

	pageSize, pages int64
	groups          []byte // hashes

	group     []byte   // hashes of the one that is being read
	contents  [][]byte // its pages
	findGroup *sql.Stmt
	findPage  *sql.Stmt
	addPage   *sql.Stmt
	addBytes  *sql.Stmt
}

// prepare prepares the statements, which close closes: SQLite keeps a connection open that has some.
func (a *addition) prepare() (err error) {
	for _, s := range []struct {
		into **sql.Stmt
		text string
	}{
		{&a.findGroup, "SELECT 1 FROM page_groups WHERE hash = ?"},
		{&a.findPage, "UPDATE pages SET refs = refs + 1 WHERE hash = ?"},
		{&a.addPage, "INSERT INTO pages (hash, refs, id) VALUES (?, 1, ?)"},
		{&a.addBytes, "INSERT INTO contents (bytes) VALUES (?)"},
	} {
		if *s.into, err = a.conn.PrepareContext(a.ctx, s.text); err != nil { //nolint:sqlclosecheck // close does
			return err
		}
	}
	return nil
}

func (a *addition) close() error {
	var errs []error
	for _, s := range []*sql.Stmt{a.findGroup, a.findPage, a.addPage, a.addBytes} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// copyPages reads all pages of a database, and stores the missing ones.
func (a *addition) copyPages(from *sql.Conn) (err error) {
	defer func() { err = errors.Join(err, a.close()) }()
	if err := a.prepare(); err != nil {
		return err
	}
	if err := from.QueryRowContext(a.ctx, "PRAGMA page_size").Scan(&a.pageSize); err != nil {
		return err
	}
	rows, err := from.QueryContext(a.ctx, "SELECT pgno, data FROM sqlite_dbpage ORDER BY pgno")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var number int64
		var page []byte
		if err := rows.Scan(&number, &page); err != nil {
			return err
		}
		if a.pages++; number != a.pages || int64(len(page)) != a.pageSize {
			return fmt.Errorf("page %d of the database has number %d and %d bytes", a.pages, number, len(page))
		}
		sum := sha256.Sum256(page)
		a.group, a.contents = append(a.group, sum[:]...), append(a.contents, page)
		if len(a.contents) == groupPages {
			if err := a.endGroup(); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return a.endGroup()
}

// endGroup stores a group, unless the store has it.
func (a *addition) endGroup() error {
	if len(a.contents) == 0 {
		return nil
	}
	sum := sha256.Sum256(a.group)
	a.groups = append(a.groups, sum[:]...)
	var found int
	err := a.findGroup.QueryRowContext(a.ctx, sum[:]).Scan(&found)
	if errors.Is(err, sql.ErrNoRows) {
		err = a.storeGroup(sum[:])
	}
	a.group, a.contents = a.group[:0], a.contents[:0]
	return err
}

func (a *addition) storeGroup(sum []byte) error {
	for i, page := range a.contents {
		hash := a.group[i*hashSize : (i+1)*hashSize]
		known, err := a.findPage.ExecContext(a.ctx, hash)
		if err != nil {
			return err
		}
		if n, err := known.RowsAffected(); err != nil || n > 0 {
			if err != nil {
				return err
			}
			continue
		}
		stored, err := a.addBytes.ExecContext(a.ctx, page)
		if err != nil {
			return err
		}
		id, err := stored.LastInsertId()
		if err != nil {
			return err
		}
		if _, err := a.addPage.ExecContext(a.ctx, hash, id); err != nil {
			return err
		}
	}
	_, err := a.conn.ExecContext(a.ctx, "INSERT INTO page_groups (hash, refs, pages) VALUES (?, 0, ?)", sum, a.group)
	return err
}

// userTables selects the tables of a schema except SQLite's, the platform's and shadow tables. Its parameter
// is the name of the schema.
const userTables = `SELECT name, type, wr FROM pragma_table_list WHERE schema = ? AND type IN ('table', 'virtual')
	AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE '\_pages\_%' ESCAPE '\' AND name NOT LIKE '\_cf\_%' ESCAPE '\'
	ORDER BY name`

// Count returns the tables of the database in a file with their numbers of rows, like a Point.
func Count(ctx context.Context, file string) (tables []Table, err error) {
	v, err := openView(ctx, file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	return countRows(ctx, v.conn)
}

// countRows returns the tables of a database with their rows. A virtual table that cannot be read is left out.
func countRows(ctx context.Context, conn *sql.Conn) ([]Table, error) {
	all, err := tablesOf(ctx, conn, "main")
	if err != nil {
		return nil, err
	}
	counted := []Table{}
	for _, t := range all {
		var rows int64
		err := conn.QueryRowContext(ctx, "SELECT count(*) FROM "+dbfile.QuoteName(t.name)).Scan(&rows)
		switch {
		case err == nil:
			counted = append(counted, Table{t.name, rows})
		case !t.virtual || ctx.Err() != nil:
			return nil, err
		}
	}
	return counted, nil
}

// tableKind is a table of a schema.
type tableKind struct {
	name         string
	virtual      bool
	withoutRowid bool
}

func tablesOf(ctx context.Context, conn *sql.Conn, schema string) (all []tableKind, err error) {
	rows, err := conn.QueryContext(ctx, userTables, schema)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t tableKind
		var kind string
		if err := rows.Scan(&t.name, &kind, &t.withoutRowid); err != nil {
			return nil, err
		}
		t.virtual = kind == "virtual"
		all = append(all, t)
	}
	return all, rows.Err()
}

// ledger returns the names of the migrations that a database has.
func ledger(ctx context.Context, conn *sql.Conn) ([]string, error) {
	names := []string{}
	var there bool
	err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = '_pages_migrations'").Scan(&there)
	if err != nil || !there {
		return names, err
	}
	rows, err := conn.QueryContext(ctx, "SELECT name FROM _pages_migrations ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
