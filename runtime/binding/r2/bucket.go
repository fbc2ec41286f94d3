// Package r2 is object storage for Workers, with the shape of Cloudflare's R2.
//
// A [Bucket] keeps rows in a SQLite database and bytes in files below a folder, both of which its owner opens and closes.
// [Funcs] is the Go half of R2Bucket in JavaScript; the methods of a Bucket show or fill it from outside.
//
// A refusal is an [Error] with R2's code and sentence; a failure of this machine is R2's internal error with the reason and
// no path. An acknowledged put is on disk. Safe for concurrent use; readers and uploads document theirs. The package does
// not control access.
//
// The limits, codes and sentences are R2's. Two choices are this project's: objects cannot be encrypted with a key from
// the Worker, and unfinished multipart uploads are dropped after seven days.
package r2

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/binding/pin"
)

// Limits of R2.
const (
	maxKeyBytes      = 1024
	maxMetadataBytes = 8192
	maxObjectBytes   = 5<<30 - 5<<20
	minPartBytes     = 5 << 20
	maxPartNumber    = 10000
	maxListed        = 1000
	maxDeleted       = 1000
)

// Bucket is one bucket with the shape of R2: the bytes of objects are files named by their SHA-256 under a folder, everything
// else is rows of a database. An object exists once its row is committed, and its bytes were on disk (file and folder synced)
// before that. Keys are opaque bytes and never become paths. It is safe for concurrent use.
type Bucket struct {
	// Failed, if set before the first use, gets every failure of this machine in a write before its caller does. It may be
	// called from several goroutines.
	Failed func(error)
	// MaxBytes, if set before the first use, bounds the bytes of all files of the bucket.
	MaxBytes int64

	db    *sql.DB
	taken atomic.Int64 // bytes of all files, those that grow too
	blobs blobs
	now   func() time.Time

	// minPart is the smallest size of a part that is not the last.
	minPart int64

	// live is read-locked between reading a row and pinning its blobs, and between storing a blob and writing its row; it
	// is write-locked during the removal of unreferenced blobs.
	live sync.RWMutex
	// turn is the lock of the single writer, since SQLite itself waits for a lock by polling. Lock live first.
	turn sync.Mutex
	pins *pin.Set

	order hostcall.Keys // the order of the calls of all isolates
	files files
}

// Object describes a stored object, without its bytes.
type Object struct {
	Key      string `json:"key"`
	Version  string `json:"version"` // 32 hex digits, new with every put
	Size     int64  `json:"size"`
	ETag     string `json:"etag"`     // unquoted
	Uploaded int64  `json:"uploaded"` // milliseconds since 1970
	// Checksums are lower-case hex by algorithm: md5, sha1, sha256, sha384, sha512.
	Checksums map[string]string `json:"checksums"`
	HTTP      *HTTPMetadata     `json:"httpMetadata,omitempty"`
	// Custom is a JSON object of strings, in its original order.
	Custom json.RawMessage `json:"customMetadata,omitempty"`
	Class  string          `json:"storageClass"`
	Range  *Span           `json:"range,omitempty"`

	id int64
}

// HTTPMetadata are the headers an object was stored with; "" means none.
type HTTPMetadata struct {
	ContentType        string `json:"contentType,omitempty"`
	ContentLanguage    string `json:"contentLanguage,omitempty"`
	ContentDisposition string `json:"contentDisposition,omitempty"`
	ContentEncoding    string `json:"contentEncoding,omitempty"`
	CacheControl       string `json:"cacheControl,omitempty"`
	CacheExpiry        *int64 `json:"cacheExpiry,omitempty"` // milliseconds since 1970
}

const schema = `
CREATE TABLE IF NOT EXISTS storage_objects (
	id        INTEGER PRIMARY KEY,
	key       BLOB NOT NULL UNIQUE,
	version   TEXT NOT NULL,
	size      INTEGER NOT NULL,
	etag      TEXT NOT NULL,
	uploaded  INTEGER NOT NULL,
	checksums TEXT NOT NULL,
	http      TEXT NOT NULL,
	custom    TEXT NOT NULL,
	class     TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS storage_segments (
	object INTEGER NOT NULL REFERENCES storage_objects (id) ON DELETE CASCADE,
	n      INTEGER NOT NULL,
	blob   TEXT NOT NULL,
	size   INTEGER NOT NULL,
	PRIMARY KEY (object, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS storage_segments_blob ON storage_segments (blob);
CREATE TABLE IF NOT EXISTS storage_uploads (
	id      TEXT PRIMARY KEY,
	key     BLOB NOT NULL,
	state   TEXT NOT NULL,
	created INTEGER NOT NULL,
	http    TEXT NOT NULL,
	custom  TEXT NOT NULL,
	class   TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS storage_parts (
	upload TEXT NOT NULL REFERENCES storage_uploads (id) ON DELETE CASCADE,
	n      INTEGER NOT NULL,
	blob   TEXT NOT NULL,
	size   INTEGER NOT NULL,
	etag   TEXT NOT NULL,
	PRIMARY KEY (upload, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS storage_parts_blob ON storage_parts (blob);
`

// New opens the bucket whose rows are in db and whose bytes are under root, makes both if they are new, and removes the unfinished
// uploads of an earlier process. The database must be SQLite with foreign keys on, WAL, synchronous=FULL and immediate transactions; the
// caller closes db and root. now defaults to time.Now.
func New(ctx context.Context, db *sql.DB, root *os.Root, now func() time.Time) (*Bucket, error) {
	if now == nil {
		now = time.Now //nolint:forbidigo // the default of the injected clock
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("prepare the storage tables: %w", err)
	}
	blobs, err := openBlobs(root)
	if err != nil {
		return nil, fmt.Errorf("prepare the storage folder: %w", err)
	}
	s := &Bucket{db: db, blobs: blobs, now: now, minPart: minPartBytes, pins: pin.NewSet(), files: newFiles()}
	if err := s.sweep(ctx); err != nil {
		return nil, fmt.Errorf("clean the storage folder: %w", err)
	}
	return s, nil
}

// OpenReadOnly opens a bucket for reading, while another process may have it open with [New].
func OpenReadOnly(db *sql.DB, root *os.Root) *Bucket {
	return &Bucket{db: db, blobs: blobs{root: root}, pins: pin.NewSet(), files: newFiles()}
}

// Head returns the metadata of the object at key, or nil when there is none.
func (s *Bucket) Head(ctx context.Context, key string) (*Object, error) {
	if err := checkKey(key); err != nil {
		return nil, err.in("head")
	}
	o, err := findObject(ctx, s.db, key)
	if err != nil {
		return nil, internal("head", err)
	}
	if o != nil {
		o.Range = &Span{Length: o.Size}
	}
	return o, nil
}

// GetOptions select the bytes of an object, and the conditions for reading it.
type GetOptions struct {
	OnlyIf *Conditions `json:"onlyIf"`
	Range  *Range      `json:"range"`
}

// Get returns the object at key and a reader of the requested bytes, which the caller closes. Both are nil when there is no
// such object; only the reader is nil when a condition does not hold.
func (s *Bucket) Get(ctx context.Context, key string, o GetOptions) (*Object, *ObjectReader, error) {
	if err := checkKey(key); err != nil {
		return nil, nil, err.in("get")
	}
	if _, err := o.OnlyIf.hold(nil); err != nil {
		return nil, nil, err.in("get")
	}
	s.live.RLock()
	defer s.live.RUnlock()
	object, segments, err := findWithSegments(ctx, s.db, key)
	if err != nil {
		return nil, nil, internal("get", err)
	}
	if object == nil {
		return nil, nil, nil
	}
	object.Range = &Span{Length: object.Size}
	if held, err := o.OnlyIf.hold(object); err != nil {
		return nil, nil, err.in("get")
	} else if !held {
		return object, nil, nil
	}
	span, rangeErr := o.Range.resolve(object.Size)
	if rangeErr != nil {
		return nil, nil, rangeErr.in("get")
	}
	object.Range = &span
	return object, s.open(ctx, segments, span), nil
}

// Delete removes the objects at keys; missing ones are not an error.
func (s *Bucket) Delete(ctx context.Context, keys ...string) error {
	if len(keys) > maxDeleted {
		return (&Error{
			Code: codeInvalidArgument,
			Text: fmt.Sprintf("at most %d keys can be deleted at once, not %d.", maxDeleted, len(keys)),
		}).in("delete")
	}
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return err.in("delete")
		}
	}
	var loose []string
	err := s.write(ctx, func(tx *sql.Tx) error {
		for _, key := range keys {
			blobs, err := removeObject(ctx, tx, key)
			if err != nil {
				return err
			}
			loose = append(loose, blobs...)
		}
		return nil
	})
	if err != nil {
		return s.fail("delete", err)
	}
	s.collect(ctx, loose)
	return nil
}

// write holds live and runs fn in one transaction that holds the database's write lock.
func (s *Bucket) write(ctx context.Context, fn func(*sql.Tx) error) error {
	s.live.RLock()
	defer s.live.RUnlock()
	return s.transact(ctx, fn)
}

// transact is write for a caller who holds live.
func (s *Bucket) transact(ctx context.Context, fn func(*sql.Tx) error) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
