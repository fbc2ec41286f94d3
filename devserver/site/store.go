package site

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// StoreOptions are what a store needs besides its database.
type StoreOptions struct {
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// Store keeps the leads and events of one site. It works without a [Site], also
// beside one in another process.
type Store struct {
	db   *sql.DB
	now  func() time.Time
	most int64 // bytes of the database, from which on no lead is stored

	// writing puts the writers of this process in a queue: SQLite takes one at
	// a time, and lets the others ask again and again until some give up.
	writing sync.Mutex
}

// schemaVersion counts the changes of schema. A database of a later version is refused, and with it the state folder
// that it lies in: a change of what bindings keep beside it (runtime/binding) that an older program could not bear
// counts here too.
const schemaVersion = 1

// ErrNewer says that a newer program has written the database.
var ErrNewer = errors.New("a newer version of pages has written it")

// schema makes what is missing. A lead and its events are written in one
// transaction, so an event is there if and only if its lead is. Deliveries are the
// outbox of the webhook: an event that was raised while there was one is in it
// from that transaction on.
const schema = `
CREATE TABLE IF NOT EXISTS site_meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leads (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT,
  id                TEXT NOT NULL UNIQUE,
  form              TEXT NOT NULL,
  fields            TEXT NOT NULL,
  created_at        INTEGER NOT NULL, -- milliseconds since 1970
  preview           INTEGER NOT NULL,
  token             TEXT,             -- the visitor's idempotency key
  digest            BLOB NOT NULL,    -- of the fields, to tell a repeated post from a reused key
  submission_table  TEXT NOT NULL,
  submission_status TEXT NOT NULL,
  submission_error  TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS leads_token ON leads (form, token) WHERE token IS NOT NULL;
CREATE INDEX IF NOT EXISTS leads_form ON leads (form);
CREATE INDEX IF NOT EXISTS leads_pending ON leads (seq) WHERE submission_status = 'pending';
CREATE TABLE IF NOT EXISTS events (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  name       TEXT NOT NULL,
  lead_id    TEXT NOT NULL REFERENCES leads (id),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS events_lead ON events (lead_id);
CREATE TABLE IF NOT EXISTS deliveries (
  seq      INTEGER PRIMARY KEY REFERENCES events (seq),
  form     TEXT NOT NULL,
  status   TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0, -- since it was last put in the queue
  at       INTEGER NOT NULL DEFAULT 0, -- of the last attempt
  next_at  INTEGER NOT NULL,
  error    TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX IF NOT EXISTS deliveries_pending ON deliveries (form, seq) WHERE status = 'pending';
CREATE TABLE IF NOT EXISTS lead_files (
  lead_id      TEXT NOT NULL REFERENCES leads (id),
  n            INTEGER NOT NULL,
  field        TEXT NOT NULL,
  filename     TEXT NOT NULL,
  size         INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  sha256       TEXT NOT NULL,
  key          TEXT NOT NULL, -- of the object
  PRIMARY KEY (lead_id, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unfinished_files (
  key TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sessions (
  hash       BLOB PRIMARY KEY, -- SHA-256 of the token, which is nowhere
  workspace  TEXT NOT NULL,
  id         TEXT NOT NULL,
  email      TEXT NOT NULL,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`

// OpenStore prepares the platform database and returns the store on it. The
// caller keeps the database and closes it. The error is the database's, or ErrNewer.
func OpenStore(ctx context.Context, db *sql.DB, options StoreOptions) (*Store, error) {
	if db == nil {
		return nil, errNoDatabase
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	s := &Store{db: db, now: options.Now, most: maxStoredBytes}
	if err := transact(ctx, db, prepare); err != nil {
		return nil, fmt.Errorf("open the store of leads: %w", err)
	}
	return s, nil
}

func prepare(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	const put = `INSERT INTO site_meta (key, value) VALUES ('schema', ?) ON CONFLICT DO NOTHING`
	if _, err := tx.ExecContext(ctx, put, strconv.Itoa(schemaVersion)); err != nil {
		return err
	}
	return checkVersion(ctx, tx.QueryRowContext)
}

// CheckVersion returns ErrNewer for a platform database that a newer program has written. It only reads; a database
// that nobody has prepared yet is in order.
func CheckVersion(ctx context.Context, db *sql.DB) error {
	var prepared bool
	const find = `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'site_meta')`
	if err := db.QueryRowContext(ctx, find).Scan(&prepared); err != nil || !prepared {
		return err
	}
	return checkVersion(ctx, db.QueryRowContext)
}

// checkVersion refuses a prepared database of a version that this program does not know.
func checkVersion(ctx context.Context, queryRow func(context.Context, string, ...any) *sql.Row) error {
	var version int
	if err := queryRow(ctx, `SELECT CAST(value AS INTEGER) FROM site_meta WHERE key = 'schema'`).Scan(&version); err != nil {
		return err
	}
	if version > schemaVersion {
		return fmt.Errorf("%w (form %d, this one knows %d)", ErrNewer, version, schemaVersion)
	}
	return nil
}

// transact runs work in one transaction: all of it happens, or nothing.
func transact(ctx context.Context, db *sql.DB, work func(context.Context, *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(ctx, tx); err != nil {
		// The first error says what went wrong; a trigger may have rolled back already.
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// SQLite result codes, of which the low byte is the kind.
const (
	sqliteBusy   = 5
	sqliteLocked = 6
	sqliteIO     = 10
	sqliteFull   = 13
)

// sqliteKind returns the kind of a SQLite error, 0 for any other. The driver's
// error type is known by its method alone, so that no driver is imported.
func sqliteKind(err error) int {
	var coded interface {
		error
		Code() int
	}
	if !errors.As(err, &coded) {
		return 0
	}
	return coded.Code() & 0xff
}
