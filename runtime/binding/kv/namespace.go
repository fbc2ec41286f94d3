// Package kv is key-value storage for Workers, with the shape of Workers KV.
//
// A [Namespace] keeps keys, values, metadata and expiry in a SQLite database, which its owner opens and closes. Values over
// 256 KiB are kept in pieces and pass through as streams. [Funcs] is the Go half of KvNamespace in JavaScript.
//
// A refusal is an [Error] with KV's status and sentence. An acknowledged Put or Delete is committed. Safe for concurrent
// use. The package neither controls access nor caches.
package kv

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/binding/pin"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// Limits of Workers KV.
const (
	maxKey       = 512
	maxValue     = 25 << 20
	maxMetadata  = 1024
	maxListed    = 1000
	maxBulkKeys  = 100
	maxBulkBytes = 25 << 20
	minTTL       = 60
	minCacheTTL  = 30
)

// Namespace is a key-value namespace with the shape of Workers KV. A Put or Delete that returned nil is committed, and
// the next Get sees it: unlike production there is no cache in between. Keys are opaque bytes, listed in their order.
// It is safe for concurrent use.
type Namespace struct {
	// Failed, if set before the first use, gets every error of a write before its caller does. It may be called from
	// several goroutines.
	Failed func(error)

	db  *sql.DB
	now func() time.Time
	// write is held by the one writer: SQLite's own wait for a lock is polling.
	write sync.Mutex
	order hostcall.Keys // of the calls of all isolates

	// piecesLock is held for reading while a stream finds and pins its pieces, and for writing while pieces without a key
	// are removed.
	piecesLock sync.RWMutex
	pins       *pin.Set // by the name of the pieces
}

// Entry is one key of a namespace.
type Entry struct {
	Key   string
	Value []byte // not of a List
	// Metadata is the JSON put beside the value; nil when there is none.
	Metadata json.RawMessage
	// Expiration is in seconds since 1970; 0 is never.
	Expiration int64
}

// PutOptions are the options of a Put; of Expiration and TTL the latter wins. Nil sets nothing; both are in seconds.
type PutOptions struct {
	Expiration *int64
	TTL        *int64
	Metadata   json.RawMessage
}

const createTable = `CREATE TABLE IF NOT EXISTS kv (
	key        BLOB PRIMARY KEY NOT NULL,
	value      BLOB NOT NULL,
	metadata   TEXT,
	expiration INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS kv_expiration ON kv(expiration) WHERE expiration IS NOT NULL`

// New returns the namespace that is kept in db, and makes its tables. now is the clock of expiry; nil is time.Now.
func New(db *sql.DB, now func() time.Time) (*Namespace, error) {
	if now == nil {
		now = time.Now
	}
	kv := &Namespace{db: db, now: now, pins: pin.NewSet()}
	if err := kv.prepare(); err != nil {
		return nil, fmt.Errorf("prepare the key-value store: %w", err)
	}
	return kv, nil
}

// prepare makes the tables, or adds the columns that those of an earlier version lack.
//
//nolint:noctx // a few statements at start-up
func (kv *Namespace) prepare() error {
	tx, err := kv.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to roll back
	if _, err := tx.Exec(createTable); err != nil {
		return err
	}
	var known bool
	if err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM pragma_table_info('kv') WHERE name = 'pieces')").Scan(&known); err != nil {
		return err
	}
	if !known {
		if _, err := tx.Exec("ALTER TABLE kv ADD COLUMN pieces INTEGER"); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(createPieces); err != nil {
		return err
	}
	return tx.Commit()
}

// Error is a refusal of key-value storage: "KV PUT failed: 413 …".
type Error struct {
	Method string // GET, PUT, DELETE …
	Status int
	Text   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("KV %s failed: %d %s", e.Method, e.Status, e.Text)
}

// keyError is a key that KV refuses before it sends anything.
type keyError string

func (e keyError) Error() string { return string(e) }

func checkKey(method, key string) error {
	switch {
	case key == "":
		return keyError("Key name cannot be empty.")
	case key == "." || key == "..":
		return keyError(`"` + key + `" is not allowed as a key name.`)
	case len(key) > maxKey:
		return &Error{method, 414, fmt.Sprintf("UTF-8 encoded length of %d exceeds key length limit of %d.", len(key), maxKey)}
	}
	return nil
}

// Get returns the entry of key, nil when there is none or it has expired.
func (kv *Namespace) Get(ctx context.Context, key string) (*Entry, error) {
	if err := checkKey("GET", key); err != nil {
		return nil, err
	}
	entry, pieces, err := kv.find(ctx, key)
	if err != nil || entry == nil {
		return nil, err
	}
	if !pieces.Valid {
		return entry, engine.Reserve(ctx, int64(len(entry.Value)))
	}
	// No transaction is open while this waits.
	size, err := kv.sizeOf(ctx, pieces)
	if err != nil && !errors.Is(err, errPiecesGone) { // a concurrent put or delete removed them
		return nil, err
	}
	if err := engine.ReserveInTurn(ctx, size); err != nil {
		return nil, err
	}
	// Read again and pin the pieces, which may have changed.
	entry, stream, err := kv.open(ctx, key)
	if err != nil || entry == nil {
		return nil, err
	}
	if err := engine.Reserve(ctx, stream.Len()-size); err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	entry.Value, err = stream.readAll()
	return entry, err
}

// find returns the entry of key, and the place of a value in pieces.
func (kv *Namespace) find(ctx context.Context, key string) (*Entry, sql.NullInt64, error) {
	entry := Entry{Key: key}
	var metadata sql.NullString
	var expiration, pieces sql.NullInt64
	err := kv.db.QueryRowContext(ctx,
		"SELECT value, metadata, expiration, pieces FROM kv WHERE key = ? AND (expiration IS NULL OR expiration > ?)",
		[]byte(key), kv.now().Unix(),
	).Scan(&entry.Value, &metadata, &expiration, &pieces)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, pieces, nil
	}
	entry.Metadata, entry.Expiration = rawJSON(metadata), expiration.Int64
	return &entry, pieces, err
}

func rawJSON(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}

// Put sets the value of key, and deletes entries that have expired.
func (kv *Namespace) Put(ctx context.Context, key string, value []byte, o PutOptions) error {
	if len(value) <= maxInline {
		return kv.put(ctx, key, storedValue{value: value}, o)
	}
	if _, err := kv.check(key, o); err != nil {
		return err
	}
	if len(value) > maxValue {
		return valueTooLong(len(value))
	}
	incoming := &incomingValue{kv: kv, size: len(value), rest: value}
	defer incoming.Close() // the next New drops the rest
	return incoming.commit(ctx, key, o)
}

// check refuses a key or options of a put, and returns the second at which the entry ends, NULL for never.
func (kv *Namespace) check(key string, o PutOptions) (expiration sql.NullInt64, err error) {
	if err := checkKey("PUT", key); err != nil {
		return expiration, err
	}
	if len(o.Metadata) > maxMetadata {
		return expiration, &Error{"PUT", 413, fmt.Sprintf("Metadata length of %d exceeds limit of %d.", len(o.Metadata), maxMetadata)}
	}
	refuse := func(name string, v int64, text string) (sql.NullInt64, error) {
		return sql.NullInt64{}, &Error{"PUT", 400, fmt.Sprintf("Invalid %s of %d. %s", name, v, text)}
	}
	now := kv.now().Unix()
	switch {
	case o.TTL != nil && *o.TTL <= 0:
		return refuse("expiration_ttl", *o.TTL, "Please specify integer greater than 0.")
	case o.TTL != nil && *o.TTL < minTTL:
		return refuse("expiration_ttl", *o.TTL, fmt.Sprintf("Expiration TTL must be at least %d.", minTTL))
	case o.TTL != nil:
		return sql.NullInt64{Int64: now + *o.TTL, Valid: true}, nil
	case o.Expiration == nil:
		return sql.NullInt64{}, nil
	case *o.Expiration <= now:
		const text = "Please specify integer greater than the current number of seconds since the UNIX epoch."
		return refuse("expiration", *o.Expiration, text)
	case *o.Expiration < now+minTTL:
		return refuse("expiration", *o.Expiration, fmt.Sprintf("Expiration times must be at least %d seconds in the future.", minTTL))
	}
	return sql.NullInt64{Int64: *o.Expiration, Valid: true}, nil
}

type storedValue struct {
	value  []byte
	pieces sql.NullInt64
	count  int
}

func (kv *Namespace) put(ctx context.Context, key string, row storedValue, o PutOptions) (err error) {
	defer func() { kv.reportFailure(err) }()
	expiration, err := kv.check(key, o)
	if err != nil {
		return err
	}
	if row.value == nil || row.pieces.Valid {
		row.value = []byte{}
	}
	metadata := sql.NullString{String: string(o.Metadata), Valid: o.Metadata != nil}
	return kv.transact(ctx, func(tx *sql.Tx) error {
		if row.pieces.Valid {
			var count int
			if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM kv_pieces WHERE value = ?", row.pieces).Scan(&count); err != nil {
				return err
			}
			if count != row.count {
				return errPiecesGone
			}
		}
		if err := kv.dropPieces(ctx, tx, "key = ?1 OR expiration <= ?2", []byte(key), kv.now().Unix()); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM kv WHERE expiration <= ?", kv.now().Unix()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO kv (key, value, metadata, expiration, pieces) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value, metadata = excluded.metadata, expiration = excluded.expiration,
				pieces = excluded.pieces`,
			[]byte(key), row.value, metadata, expiration, row.pieces)
		return err
	})
}

func (kv *Namespace) reportFailure(err error) {
	if err != nil && kv.Failed != nil {
		kv.Failed(err)
	}
}

func valueTooLong(size int) error {
	return &Error{"PUT", 413, fmt.Sprintf("Value length of %d exceeds limit of %d.", size, maxValue)}
}

// Delete removes key; a missing key is not an error.
func (kv *Namespace) Delete(ctx context.Context, key string) error {
	if err := checkKey("DELETE", key); err != nil {
		return err
	}
	err := kv.transact(ctx, func(tx *sql.Tx) error {
		if err := kv.dropPieces(ctx, tx, "key = ?1", []byte(key)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM kv WHERE key = ?", []byte(key))
		return err
	})
	kv.reportFailure(err)
	return err
}

func (kv *Namespace) transact(ctx context.Context, fn func(tx *sql.Tx) error) error {
	kv.write.Lock()
	defer kv.write.Unlock()
	kv.piecesLock.Lock()
	defer kv.piecesLock.Unlock()
	tx, err := kv.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// ListOptions are the options of a List. A Limit of 0 or less is 1,000.
type ListOptions struct {
	Prefix string
	Limit  int
	// Cursor is that of the page before; "" begins.
	Cursor string
}

// List returns the entries whose keys begin with the prefix, in the bytes' order and without values, and the cursor of the
// next page: "" after the last.
func (kv *Namespace) List(ctx context.Context, o ListOptions) (entries []Entry, cursor string, err error) {
	if o.Limit <= 0 {
		o.Limit = maxListed
	}
	if o.Limit > maxListed {
		const format = "Invalid key_count_limit of %d. Please specify an integer less than %d."
		return nil, "", &Error{"GET", 400, fmt.Sprintf(format, o.Limit, maxListed)}
	}
	if n := len(o.Prefix); n > maxKey {
		return nil, "", &Error{"GET", 414, fmt.Sprintf("UTF-8 encoded length of %d exceeds key length limit of %d.", n, maxKey)}
	}
	after, err := base64.RawURLEncoding.DecodeString(o.Cursor)
	if err != nil {
		return nil, "", &Error{"GET", 400, "Invalid cursor."}
	}
	from, to := []byte(o.Prefix), afterPrefix(o.Prefix)
	if next := append(after, 0); o.Cursor != "" && bytes.Compare(next, from) > 0 {
		from = next
	}
	rows, err := kv.db.QueryContext(ctx, `SELECT key, metadata, expiration FROM kv
		WHERE key >= ? AND key < ? AND (expiration IS NULL OR expiration > ?) ORDER BY key LIMIT ?`,
		from, to, kv.now().Unix(), o.Limit+1)
	if err != nil {
		return nil, "", err
	}
	defer rows.Close()
	for rows.Next() {
		var key []byte
		var metadata sql.NullString
		var expiration sql.NullInt64
		if err := rows.Scan(&key, &metadata, &expiration); err != nil {
			return nil, "", err
		}
		if err := engine.Reserve(ctx, int64(len(key)+len(metadata.String))); err != nil {
			return nil, "", err
		}
		entries = append(entries, Entry{Key: string(key), Metadata: rawJSON(metadata), Expiration: expiration.Int64})
	}
	if len(entries) > o.Limit {
		entries = entries[:o.Limit]
		cursor = base64.RawURLEncoding.EncodeToString([]byte(entries[o.Limit-1].Key))
	}
	return entries, cursor, rows.Err()
}

// afterPrefix is the least key after all keys that begin with prefix.
func afterPrefix(prefix string) []byte {
	key := []byte(prefix)
	for len(key) > 0 {
		if last := len(key) - 1; key[last] < 0xff {
			key[last]++
			return key
		}
		key = key[:len(key)-1]
	}
	return bytes.Repeat([]byte{0xff}, maxKey+1)
}
