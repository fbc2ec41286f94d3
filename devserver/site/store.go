package site

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/devserver/spam"
)

// StoreOptions configure a store. The zero value works.
type StoreOptions struct {
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// Store holds the leads and events of one site. It works without a [Site], and beside one in another process.
type Store struct {
	db   *sql.DB
	now  func() time.Time
	most int64 // size of the database in bytes from which on no lead is stored

	// writing queues the writers of this process: SQLite takes one at a time, and the others would poll until some time out.
	writing sync.Mutex
}

// schemaVersion counts the changes of schema. A program refuses a database of a later version, and its state folder. So count a change,
// too, of the bindings' files there (runtime/binding) that an older program cannot read.
const schemaVersion = 1

// ErrNewer means that a newer program has written the database.
var ErrNewer = errors.New("a newer version of pages has written it")

// schema creates missing tables. A lead and its events are written in one transaction, so an event exists if and only
// if its lead does. Deliveries are the outbox of the webhook: an event of a site with a webhook is in it from that
// transaction on.
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
CREATE TABLE IF NOT EXISTS unasked_answers (
  lead_id TEXT PRIMARY KEY REFERENCES leads (id),
  names   TEXT NOT NULL,   -- a JSON list of the answers that no form of the site asks for
  unseen  INTEGER NOT NULL -- no page shows which answers the form asks for
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unfinished_files (
  key TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spam (
  lead_id   TEXT PRIMARY KEY REFERENCES leads (id),
  marked_at INTEGER NOT NULL,
  score     INTEGER NOT NULL,
  reasons   TEXT NOT NULL,    -- JSON
  withheld  TEXT NOT NULL,    -- JSON: the names of the events that it did not raise
  deliver   INTEGER NOT NULL  -- to the webhook, once the lead is ham
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

// OpenStore prepares the platform database and returns the store on it. The caller keeps the database and closes it.
// The error is the database's, or ErrNewer.
func OpenStore(ctx context.Context, db *sql.DB, options StoreOptions) (*Store, error) {
	if db == nil {
		return nil, errNoDatabase
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	s := &Store{db: db, now: options.Now, most: maxStoredBytes}
	err := transact(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		const put = `INSERT INTO site_meta (key, value) VALUES ('schema', ?) ON CONFLICT DO NOTHING`
		if _, err := tx.ExecContext(ctx, put, strconv.Itoa(schemaVersion)); err != nil {
			return err
		}
		return checkVersion(ctx, tx.QueryRowContext)
	})
	if err != nil {
		return nil, fmt.Errorf("open the store of leads: %w", err)
	}
	return s, nil
}

// CheckVersion returns ErrNewer for a platform database from a newer program. It only reads; a database without tables is in order.
func CheckVersion(ctx context.Context, db *sql.DB) error {
	var prepared bool
	const find = `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'site_meta')`
	if err := db.QueryRowContext(ctx, find).Scan(&prepared); err != nil || !prepared {
		return err
	}
	return checkVersion(ctx, db.QueryRowContext)
}

// checkVersion refuses a prepared database of an unknown version.
func checkVersion(ctx context.Context, queryRow func(context.Context, string, ...any) *sql.Row) error {
	var version int
	if err := queryRow(ctx, `SELECT CAST(value AS INTEGER) FROM site_meta WHERE key = 'schema'`).Scan(&version); err != nil {
		return err
	}
	if version > schemaVersion {
		return fmt.Errorf("%w (its version is %d, this program knows %d)", ErrNewer, version, schemaVersion)
	}
	return nil
}

// transact runs work in one transaction.
func transact(ctx context.Context, db *sql.DB, work func(context.Context, *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(ctx, tx); err != nil {
		// The first error has the reason; a trigger may have rolled back already.
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// SQLite result codes; the low byte is the kind.
const (
	sqliteBusy   = 5
	sqliteLocked = 6
	sqliteIO     = 10
	sqliteFull   = 13
)

// sqliteKind returns the kind of a SQLite error, 0 for any other. It knows the driver's error type by its method, so
// that this package imports no driver.
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

// post is a form post that passed all checks.
type post struct {
	form    string
	fields  Fields
	token   string // the client's idempotency key, "" for none
	preview bool
	events  []string // to raise, in order
	deliver bool     // of the site's webhook
	table   string   // of the submissions, "" for none
	unasked []string // answers that fill no column of that table
	unseen  bool     // no page shows the fields of the form
	uploads []*upload
	verdict spam.Verdict
}

// errTokenReused means that another post has used the idempotency key.
var errTokenReused = errors.New("idempotency key reused")

// errLeadsFull means that the database of leads has reached its bound.
var errLeadsFull = errors.New("the database of leads has reached its limit: it takes no more forms")

// capture stores a lead, its files and its events in one transaction. When it returns, all are durable. For a post with the key of an
// earlier one it returns the earlier lead and no events: nothing happens twice.
func (s *Store) capture(ctx context.Context, p post) (lead Lead, events []Event, again bool, err error) {
	fields, err := marshal(p.fields)
	if err != nil {
		return lead, nil, false, err
	}
	lead = Lead{
		ID: newID("lead_"), Form: p.form, Fields: p.fields, CreatedAt: Stamp{s.now().UTC().Truncate(time.Millisecond)},
		Preview: p.preview, Submission: Submission{Table: p.table, Status: SubmissionPending}, Events: p.events,
		Unasked: p.unasked, unseen: p.unseen,
	}
	if p.verdict.IsSpam() {
		lead.Events, lead.Submission.Status = []string{}, SubmissionWithheld
		lead.Spam = &Spam{Score: p.verdict.Score, Reasons: p.verdict.Reasons, At: lead.CreatedAt}
	}
	if p.table == "" {
		lead.Submission.Status = SubmissionNone
	}
	digest := sha256.Sum256(fields)
	s.writing.Lock()
	defer s.writing.Unlock()
	err = transact(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		earlier, err := earlierLead(ctx, tx, p, digest[:])
		if err != nil {
			return err
		}
		if again = earlier != ""; again {
			lead.ID = earlier
			return nil
		}
		const used = `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`
		var usedBytes int64
		if err := tx.QueryRowContext(ctx, used).Scan(&usedBytes); err != nil {
			return err
		}
		if usedBytes >= s.most {
			return errLeadsFull
		}
		const put = `INSERT INTO leads (id, form, fields, created_at, preview, token, digest, submission_table, submission_status)
VALUES (?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?)`
		_, err = tx.ExecContext(ctx, put, lead.ID, lead.Form, string(fields), lead.CreatedAt.UnixMilli(), lead.Preview, p.token,
			digest[:], lead.Submission.Table, string(lead.Submission.Status))
		if err != nil {
			return err
		}
		if err := insertFiles(ctx, tx, lead.ID, p.uploads); err != nil {
			return err
		}
		if err := insertUnasked(ctx, tx, lead); err != nil {
			return err
		}
		if lead.Spam != nil {
			return insertSpam(ctx, tx, lead, p.events, p.deliver)
		}
		events, err = insertEvents(ctx, tx, lead, lead.CreatedAt, p.deliver)
		return err
	})
	if err == nil && again {
		lead, err = s.lead(ctx, lead.ID)
	}
	return lead, events, again, err
}

// insertUnasked stores which answers fill no column: another program may write the row, and later.
func insertUnasked(ctx context.Context, tx *sql.Tx, l Lead) error {
	if len(l.Unasked) == 0 && !l.unseen {
		return nil
	}
	names, err := marshal(append([]string{}, l.Unasked...))
	if err != nil {
		return err
	}
	const put = `INSERT INTO unasked_answers (lead_id, names, unseen) VALUES (?, ?, ?)`
	_, err = tx.ExecContext(ctx, put, l.ID, string(names), l.unseen)
	return err
}

// earlierLead returns the id of the lead of an earlier post with the same key, "" for none.
func earlierLead(ctx context.Context, tx *sql.Tx, p post, digest []byte) (string, error) {
	if p.token == "" {
		return "", nil
	}
	var id string
	var before []byte
	err := tx.QueryRowContext(ctx, `SELECT id, digest FROM leads WHERE form = ? AND token = ?`, p.form, p.token).Scan(&id, &before)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", err
	case !bytes.Equal(before, digest):
		return "", errTokenReused
	}
	return id, nil
}

func insertEvents(ctx context.Context, tx *sql.Tx, l Lead, at Stamp, deliver bool) ([]Event, error) {
	var events []Event
	for _, name := range l.Events {
		e := Event{ID: newID("evt_"), Name: name, LeadID: l.ID, Form: l.Form, Fields: l.Fields, CreatedAt: at}
		const put = `INSERT INTO events (id, name, lead_id, created_at) VALUES (?, ?, ?, ?)`
		result, err := tx.ExecContext(ctx, put, e.ID, e.Name, e.LeadID, e.CreatedAt.UnixMilli())
		if err != nil {
			return nil, err
		}
		if e.Sequence, err = result.LastInsertId(); err != nil {
			return nil, err
		}
		if deliver {
			const queue = `INSERT INTO deliveries (seq, form, status, next_at) VALUES (?, ?, ?, ?)`
			if _, err := tx.ExecContext(ctx, queue, e.Sequence, e.Form, string(DeliveryPending), e.CreatedAt.UnixMilli()); err != nil {
				return nil, err
			}
			due := e.CreatedAt
			e.Delivery = &Delivery{Status: DeliveryPending, Next: &due}
		}
		events = append(events, e)
	}
	return events, nil
}

// newID returns an id of 130 random bits.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }
