package binding

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

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Limits of key-value storage, as Workers KV states them.
const (
	maxKVKey      = 512
	maxKVValue    = 25 << 20
	maxKVMetadata = 1024
	maxKVListed   = 1000
	maxKVBulk     = 100
	maxKVBulkSize = 25 << 20
	minKVTTL      = 60
	minKVCacheTTL = 30
)

// KV is a key-value namespace with the shape of Workers KV. A Put or Delete
// that returned nil is committed, and the next Get sees it: unlike production
// there is no cache in between. Keys are opaque bytes, listed in their order.
// It is safe for concurrent use.
type KV struct {
	// Failed, if set before the first use, is told of every error of a write before its
	// caller is, and may be called from several goroutines.
	Failed func(error)

	db  *sql.DB
	now func() time.Time
	// write is held by the one writer, so that writers of this process do not
	// wait for each other by polling.
	write sync.Mutex

	// joined is held for reading while a stream finds its pieces and keeps them, and for
	// writing while pieces that no key has any more are removed.
	joined sync.RWMutex
	pins   *pins // by the name of the pieces
}

// KVEntry is one key of a namespace.
type KVEntry struct {
	Key   string
	Value []byte // not of a List
	// Metadata is the JSON put beside the value; nil when there is none.
	Metadata json.RawMessage
	// Expiration is in seconds since 1970; 0 is never.
	Expiration int64
}

// KVPutOptions are the options of a Put; of Expiration and TTL the latter
// wins. Nil sets nothing; both are in seconds.
type KVPutOptions struct {
	Expiration *int64
	TTL        *int64
	Metadata   json.RawMessage
}

const createKV = `CREATE TABLE IF NOT EXISTS kv (
	key        BLOB PRIMARY KEY NOT NULL,
	value      BLOB NOT NULL,
	metadata   TEXT,
	expiration INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS kv_expiration ON kv(expiration) WHERE expiration IS NOT NULL`

// NewKV makes the namespace that is kept in db, and its table if it is new.
// now is the clock of expiry; nil is time.Now.
func NewKV(db *sql.DB, now func() time.Time) (*KV, error) {
	if now == nil {
		now = time.Now
	}
	kv := &KV{db: db, now: now, pins: newPins()}
	if err := kv.prepare(); err != nil {
		return nil, fmt.Errorf("prepare the key-value store: %w", err)
	}
	return kv, nil
}

// prepare makes the tables, or adds to them what an earlier version did not have.
//
//nolint:noctx // a few statements at start-up
func (kv *KV) prepare() error {
	tx, err := kv.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to roll back
	if _, err := tx.Exec(createKV); err != nil {
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
	if _, err := tx.Exec(createKVPieces); err != nil {
		return err
	}
	return tx.Commit()
}

// KVError is a refusal of key-value storage: "KV PUT failed: 413 …".
type KVError struct {
	Method string // GET, PUT, DELETE …
	Status int
	Text   string
}

func (e *KVError) Error() string {
	return fmt.Sprintf("KV %s failed: %d %s", e.Method, e.Status, e.Text)
}

// kvKeyError is a key that KV refuses before it sends anything.
type kvKeyError string

func (e kvKeyError) Error() string { return string(e) }

func checkKVKey(method, key string) error {
	switch {
	case key == "":
		return kvKeyError("Key name cannot be empty.")
	case key == "." || key == "..":
		return kvKeyError(`"` + key + `" is not allowed as a key name.`)
	case len(key) > maxKVKey:
		return &KVError{method, 414, fmt.Sprintf("UTF-8 encoded length of %d exceeds key length limit of %d.", len(key), maxKVKey)}
	}
	return nil
}

// Get gives the entry of key, nil when there is none or it has expired.
func (kv *KV) Get(ctx context.Context, key string) (*KVEntry, error) {
	if err := checkKVKey("GET", key); err != nil {
		return nil, err
	}
	entry, pieces, err := kv.find(ctx, kv.db, key)
	if err != nil || entry == nil {
		return nil, err
	}
	if !pieces.Valid {
		return entry, engine.Hold(ctx, int64(len(entry.Value)))
	}
	// No transaction is open while this waits.
	size, err := kv.sizeOf(ctx, kv.db, pieces)
	if err != nil && !errors.Is(err, errPiecesGone) { // which a put or a delete did meanwhile
		return nil, err
	}
	if err := engine.HoldInTurn(ctx, size); err != nil {
		return nil, err
	}
	// Again, so that the pieces stay. They may be others by now.
	entry, stream, err := kv.open(ctx, key)
	if err != nil || entry == nil {
		return nil, err
	}
	if err := engine.Hold(ctx, stream.Len()-size); err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	entry.Value, err = stream.whole()
	return entry, err
}

// rowQuerier is a database or a transaction of it.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// find gives the entry of key, and where its value is if that is in pieces.
func (kv *KV) find(ctx context.Context, q rowQuerier, key string) (*KVEntry, sql.NullInt64, error) {
	entry := KVEntry{Key: key}
	var metadata sql.NullString
	var expiration, pieces sql.NullInt64
	err := q.QueryRowContext(ctx,
		"SELECT value, metadata, expiration, pieces FROM kv WHERE key = ? AND (expiration IS NULL OR expiration > ?)", []byte(key), kv.now().Unix(),
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

// Put sets the value of key, and forgets entries that have expired.
func (kv *KV) Put(ctx context.Context, key string, value []byte, o KVPutOptions) error {
	if len(value) <= wholeBytes {
		return kv.put(ctx, key, kvRow{value: value}, o)
	}
	if _, err := kv.check(key, o); err != nil {
		return err
	}
	if len(value) > maxKVValue {
		return valueTooLong(len(value))
	}
	incoming := &kvIncoming{kv: kv, size: len(value), rest: value}
	defer incoming.Close() // the next NewKV drops what stays
	return incoming.commit(ctx, key, o)
}

// check refuses what no value can be put with, and gives the second of its end.
func (kv *KV) check(key string, o KVPutOptions) (expiration sql.NullInt64, err error) {
	if err := checkKVKey("PUT", key); err != nil {
		return expiration, err
	}
	if len(o.Metadata) > maxKVMetadata {
		return expiration, &KVError{"PUT", 413, fmt.Sprintf("Metadata length of %d exceeds limit of %d.", len(o.Metadata), maxKVMetadata)}
	}
	return o.expires(kv.now().Unix())
}

// kvRow is a value as it is kept: beside its key, or in so many pieces.
type kvRow struct {
	value  []byte
	pieces sql.NullInt64
	count  int
}

// put writes the row of key.
func (kv *KV) put(ctx context.Context, key string, row kvRow, o KVPutOptions) (err error) {
	defer func() { kv.tell(err) }()
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
			ON CONFLICT (key) DO UPDATE SET value = excluded.value, metadata = excluded.metadata, expiration = excluded.expiration, pieces = excluded.pieces`,
			[]byte(key), row.value, metadata, expiration, row.pieces)
		return err
	})
}

// tell passes the error of a write on.
func (kv *KV) tell(err error) {
	if err != nil && kv.Failed != nil {
		kv.Failed(err)
	}
}

func valueTooLong(size int) error {
	return &KVError{"PUT", 413, fmt.Sprintf("Value length of %d exceeds limit of %d.", size, maxKVValue)}
}

// expires gives the second at which the entry ends, NULL for never.
func (o KVPutOptions) expires(now int64) (sql.NullInt64, error) {
	refuse := func(name string, v int64, text string) (sql.NullInt64, error) {
		return sql.NullInt64{}, &KVError{"PUT", 400, fmt.Sprintf("Invalid %s of %d. %s", name, v, text)}
	}
	switch {
	case o.TTL != nil && *o.TTL <= 0:
		return refuse("expiration_ttl", *o.TTL, "Please specify integer greater than 0.")
	case o.TTL != nil && *o.TTL < minKVTTL:
		return refuse("expiration_ttl", *o.TTL, fmt.Sprintf("Expiration TTL must be at least %d.", minKVTTL))
	case o.TTL != nil:
		return sql.NullInt64{Int64: now + *o.TTL, Valid: true}, nil
	case o.Expiration == nil:
		return sql.NullInt64{}, nil
	case *o.Expiration <= now:
		return refuse("expiration", *o.Expiration, "Please specify integer greater than the current number of seconds since the UNIX epoch.")
	case *o.Expiration < now+minKVTTL:
		return refuse("expiration", *o.Expiration, fmt.Sprintf("Expiration times must be at least %d seconds in the future.", minKVTTL))
	}
	return sql.NullInt64{Int64: *o.Expiration, Valid: true}, nil
}

// Delete removes key; a key that is not there is no error.
func (kv *KV) Delete(ctx context.Context, key string) error {
	if err := checkKVKey("DELETE", key); err != nil {
		return err
	}
	err := kv.transact(ctx, func(tx *sql.Tx) error {
		if err := kv.dropPieces(ctx, tx, "key = ?1", []byte(key)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM kv WHERE key = ?", []byte(key))
		return err
	})
	kv.tell(err)
	return err
}

// transact runs fn in one transaction that holds the database's write lock.
func (kv *KV) transact(ctx context.Context, fn func(tx *sql.Tx) error) error {
	kv.write.Lock()
	defer kv.write.Unlock()
	kv.joined.Lock()
	defer kv.joined.Unlock()
	tx, err := kv.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// KVListOptions are the options of a List. A Limit of 0 or less is 1,000.
type KVListOptions struct {
	Prefix string
	Limit  int
	// Cursor is that of the page before; "" begins.
	Cursor string
}

// List gives the entries whose keys begin with the prefix, in the bytes'
// order and without values, and the cursor of the next page: "" after the
// last.
func (kv *KV) List(ctx context.Context, o KVListOptions) (entries []KVEntry, cursor string, err error) {
	if o.Limit <= 0 {
		o.Limit = maxKVListed
	}
	if o.Limit > maxKVListed {
		return nil, "", &KVError{"GET", 400, fmt.Sprintf("Invalid key_count_limit of %d. Please specify an integer less than %d.", o.Limit, maxKVListed)}
	}
	if len(o.Prefix) > maxKVKey {
		return nil, "", &KVError{"GET", 414, fmt.Sprintf("UTF-8 encoded length of %d exceeds key length limit of %d.", len(o.Prefix), maxKVKey)}
	}
	after, err := base64.RawURLEncoding.DecodeString(o.Cursor)
	if err != nil {
		return nil, "", &KVError{"GET", 400, "Invalid cursor."}
	}
	from, to := []byte(o.Prefix), beyond(o.Prefix)
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
		if err := engine.Hold(ctx, int64(len(key)+len(metadata.String))); err != nil {
			return nil, "", err
		}
		entries = append(entries, KVEntry{Key: string(key), Metadata: rawJSON(metadata), Expiration: expiration.Int64})
	}
	if len(entries) > o.Limit {
		entries = entries[:o.Limit]
		cursor = base64.RawURLEncoding.EncodeToString([]byte(entries[o.Limit-1].Key))
	}
	return entries, cursor, rows.Err()
}

// beyond is a key behind all that begin with prefix.
func beyond(prefix string) []byte {
	key := []byte(prefix)
	for len(key) > 0 {
		if last := len(key) - 1; key[last] < 0xff {
			key[last]++
			return key
		}
		key = key[:len(key)-1]
	}
	return bytes.Repeat([]byte{0xff}, maxKVKey+1)
}
