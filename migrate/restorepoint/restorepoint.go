// Package restorepoint keeps restore points of one SQLite database: its contents at earlier moments, from which rows can be
// restored.
//
// Input: the file of a database that may be in use, and the reason for a point ([Store.Add]), or an older copy ([Store.Adopt]).
// Output: the points ([Store.List]), the database of one as a file ([Store.Extract]), the contents that a replacement would lose
// ([Compare]), and the replacement itself: of all contents ([BeginWhole]) or of some tables ([BeginTables]), which marks the
// database with an id ([Marked]).
//
// A store is one file. It stores each page of the database once, by its SHA-256; a point is a list of pages. A point is
// durable when Add returns, and each page is checked when read: a point with a changed byte gives a [*DamagedError], and is
// never extracted. Points are thinned out as they get older ([Rule]), and bounded in number and bytes ([Store.Limits]).
//
// A [RefusedError] names the tables that cannot be restored. All functions may be called concurrently; those that change a store
// wait for each other. The caller decides when to create points. The package knows nothing of sites.
package restorepoint

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// Reason is the occasion of a point.
type Reason string

// The occasions of points.
const (
	ReasonPublish  Reason = "publish"  // a revision was about to go live
	ReasonRestore  Reason = "restore"  // another point was about to be restored
	ReasonInterval Reason = "interval" // the database was written since the previous point
	ReasonCopy     Reason = "copy"     // an earlier version of this program was about to migrate; such points are last in a list
)

// About describes the reason for a point.
type About struct {
	Reason   Reason
	Before   string // the revision that was about to go live, or the id of the point that was about to be restored
	Revision string // the live revision; "" if unknown
}

// Point is a restore point.
type Point struct {
	About

	ID         string    // "p" and a number, which counts the points of a store from 1
	At         time.Time // when it was made, in UTC, to the millisecond
	Migrations []string  // the names in the ledger of migrations, sorted bytewise
	Tables     []Table   // sorted by name, without those of SQLite and of the platform
	Bytes      int64     // of the database

	number int64
	root   []byte
}

// Table is a table with its number of rows.
type Table struct {
	Name string `json:"name"`
	Rows int64  `json:"rows"`
}

// Limits are the bounds of a store.
type Limits struct {
	Points int   // the most points
	Bytes  int64 // of the store's file, unless the newest point alone needs more
}

// Store is the restore points of one database.
type Store struct {
	File  string // Add creates a missing one
	Now   func() time.Time
	Least int64 // limit of the store, in bytes, for a small database; 0 means 256 MiB
}

// DamagedError means that the bytes of a point, or of the store, have changed since they were written.
type DamagedError struct {
	ID    string // "" for the store as a whole
	cause error
}

func (e *DamagedError) Error() string {
	if e.ID == "" {
		return "the file of the restore points is damaged"
	}
	return "the restore point " + e.ID + " is damaged"
}

// Unwrap returns SQLite's error, if there is one.
func (e *DamagedError) Unwrap() error { return e.cause }

// ErrUnknown means that the store has no such point, or no longer.
var ErrUnknown = errors.New("there is no such restore point")

// RefusedError explains to a person, in one sentence, why a restore is impossible.
type RefusedError struct{ Message string }

func (e *RefusedError) Error() string { return e.Message }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

const (
	format = 1 // the version of the file's format, stored as user_version
	// storePage is the size of the store's own pages: one holds seven pages of 4096 bytes.
	storePage = 32768
	// groupPages is the number of pages in a group: points share groups, and groups share pages.
	groupPages = 256
	hashSize   = sha256.Size
	busyQuery  = "_pragma=busy_timeout(60000)" // for another process, such as a backup
)

// A group is the concatenated hashes of its pages, a point those of its groups. refs counts the groups that have a page,
// or the points that have a group, each as often as they have it.
const schema = `
CREATE TABLE IF NOT EXISTS points (
  number     INTEGER PRIMARY KEY AUTOINCREMENT,
  at         INTEGER NOT NULL,
  reason     TEXT NOT NULL,
  before     TEXT NOT NULL,
  revision   TEXT NOT NULL,
  migrations TEXT NOT NULL,
  tables     TEXT NOT NULL,
  page_size  INTEGER NOT NULL,
  pages      INTEGER NOT NULL,
  root       BLOB NOT NULL,
  groups     BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS page_groups (
  hash  BLOB PRIMARY KEY,
  refs  INTEGER NOT NULL,
  pages BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pages (
  hash BLOB PRIMARY KEY,
  refs INTEGER NOT NULL,
  id   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS contents (
  id    INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT`

// List returns the points, the newest first. A store whose file is missing has none.
func (s Store) List(ctx context.Context) (all []Point, err error) {
	err = s.read(ctx, func(conn *sql.Conn) error {
		all, err = list(ctx, conn)
		return err
	})
	return all, err
}

// read runs do in a read transaction, unless the file is missing.
func (s Store) read(ctx context.Context, do func(*sql.Conn) error) (err error) {
	if _, err := os.Stat(s.File); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	v, err := openView(ctx, s.File)
	if err == nil {
		defer func() { err = errors.Join(err, v.close()) }()
		err = checkFormat(ctx, v.conn)
	}
	if err == nil {
		err = do(v.conn)
	}
	return damage(err)
}

// damage returns SQLite's errors about damaged files as a DamagedError.
func damage(err error) error {
	if _, known := errors.AsType[*DamagedError](err); known {
		return err
	}
	failed, ok := errors.AsType[*sqlite.Error](err)
	if ok && (failed.Code()&0xff == sqlite3.SQLITE_CORRUPT || failed.Code()&0xff == sqlite3.SQLITE_NOTADB) {
		return &DamagedError{cause: err}
	}
	return err
}

func checkFormat(ctx context.Context, conn *sql.Conn) error {
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > format {
		return errors.New("the restore points were written by a newer version of pages")
	}
	return nil
}

// openToWrite opens the file, which it makes when it is missing, with one connection in a transaction that writes.
func (s Store) openToWrite(ctx context.Context) (v *view, err error) {
	if f, err := os.OpenFile(s.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		if err := errors.Join(f.Close(), dbfile.SyncFolder(os.Open, filepath.Dir(s.File))); err != nil {
			return nil, err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	v, err = open(ctx, s.File, busyQuery+"&_pragma=synchronous(FULL)&_pragma=journal_size_limit(16777216)")
	if err != nil {
		return nil, err
	}
	for _, text := range []string{
		"PRAGMA page_size = " + strconv.Itoa(storePage), "PRAGMA auto_vacuum = INCREMENTAL", // of a new file, in this order
		"PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE",
	} {
		if err == nil {
			_, err = v.conn.ExecContext(ctx, text)
		}
	}
	if err == nil {
		err = checkFormat(ctx, v.conn)
	}
	if err == nil {
		_, err = v.conn.ExecContext(ctx, schema+"; PRAGMA user_version = "+strconv.Itoa(format))
	}
	if err != nil {
		return nil, errors.Join(err, v.close())
	}
	return v, nil
}

// view is one connection to a file.
type view struct {
	db   *sql.DB
	conn *sql.Conn
}

func open(ctx context.Context, file, query string) (*view, error) {
	db, err := sql.Open("sqlite", dbfile.URI(file, query))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &view{db, conn}, nil
}

// openView opens a consistent snapshot of a file for reading, while others may write.
func openView(ctx context.Context, file string) (*view, error) {
	v, err := open(ctx, file, "mode=ro&"+busyQuery)
	if err != nil {
		return nil, err
	}
	var n int // a view begins with the first read
	if _, err = v.conn.ExecContext(ctx, "BEGIN"); err == nil {
		err = v.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n)
	}
	if err != nil {
		return nil, errors.Join(err, v.close())
	}
	return v, nil
}

// close ends the connection, which rolls back an open transaction.
func (v *view) close() error { return errors.Join(v.conn.Close(), v.db.Close()) }

const pointColumns = "number, at, reason, before, revision, migrations, tables, page_size * pages, root"

func (p *Point) scan(row interface{ Scan(...any) error }, more ...any) error {
	var at int64
	var migrations, tables []byte
	err := row.Scan(append([]any{
		&p.number, &at, &p.Reason, &p.Before, &p.Revision, &migrations, &tables, &p.Bytes, &p.root,
	}, more...)...)
	if err != nil {
		return err
	}
	p.ID, p.At = "p"+strconv.FormatInt(p.number, 10), time.UnixMilli(at).UTC()
	if json.Unmarshal(migrations, &p.Migrations) != nil || json.Unmarshal(tables, &p.Tables) != nil {
		return &DamagedError{ID: p.ID}
	}
	return nil
}

// list returns the points, the newest first.
func list(ctx context.Context, conn *sql.Conn) (all []Point, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT "+pointColumns+" FROM points ORDER BY reason = 'copy', number DESC")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p Point
		if err := p.scan(rows); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// numberOf returns the number of an id.
func numberOf(id string) (int64, bool) {
	digits, ok := strings.CutPrefix(id, "p")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil && "p"+strconv.FormatInt(n, 10) == id
}
