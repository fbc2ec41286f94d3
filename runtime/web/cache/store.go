// Package cache is caches.default and caches.open of a Worker, by the rules of a cache that many
// share (RFC 9111).
//
// In: the calls of JavaScript, as host functions; a [Store], which several Workers may share. Out:
// cached responses, whose bodies are kept by the request's context. Errors: those of bodies that
// cannot be read; a response that may not be cached is refused with the reason. A [Handler] serves the
// same to a Worker in workerd, in the format that its client speaks.
//
// A Store is safe for concurrent use. It keeps responses in memory, or in a database that its user opens, and never fetches anything
// itself.
package cache

import (
	"container/list"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// The platform's own bounds are not shown.
const (
	// maxCached is the limit of one cached response, in bytes; larger ones are not stored, which the console reports.
	maxCached = 16 << 20
	// maxCaches is the limit of all of them, in bytes; the least recently used ones are removed.
	maxCaches = 64 << 20
	// cachedOverhead is the approximate cost of an entry beside its body, in bytes.
	cachedOverhead = 1 << 10
)

// Options is the place of a Store's entries. The zero value keeps them in memory.
type Options struct {
	// Open opens the database of the caches, at their first use; Close closes it. Default: none,
	// cached responses end with the process.
	Open func(context.Context) (*sql.DB, error)
	// Logger gets the errors of a database that cannot be used; responses are then in memory.
	// Default: discarded.
	Logger *slog.Logger
}

// Store holds the responses that Workers put into caches.default and caches.open. Several Hosts may share it, one after the other or at the
// same time: a response that one Worker cached is available to the next, as at the platform's edge. It is safe for concurrent use. It holds
// 64 MiB at most, and removes the least recently used responses first; after a restart, the oldest.
type Store struct {
	o Options

	// writing is held while the database changes, and opened guards db.
	writing sync.Mutex
	opened  sync.Once
	db      *sql.DB // nil: in memory

	mu     sync.Mutex
	byKey  map[entryKey]*list.Element
	recent list.List // of *cached, the one used last first
	size   int
}

// New returns empty caches, or those of a database.
func New(o Options) *Store {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Store{o: o, byKey: map[entryKey]*list.Element{}}
}

// Close closes the database.
func (s *Store) Close() error {
	s.opened.Do(func() {}) // it is not opened any more
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}

type entryKey struct{ cache, url string }

// cached is a response in a cache. It does not change, except that a body in the database is read on demand.
type cached struct {
	key     entryKey
	status  int
	header  []string // name, value, name, value, …
	body    []byte
	length  int // of body
	stored  time.Time
	age     time.Duration // that it had already
	expires time.Time
	absent  bool // body is only in the database
}

func (e *cached) size() int {
	n := cachedOverhead + e.length
	for _, text := range e.header {
		n += len(text)
	}
	return n
}

// cacheSchema is the database's. Times are milliseconds since 1970.
const cacheSchema = `
CREATE TABLE IF NOT EXISTS cache (
  name    TEXT NOT NULL,
  url     TEXT NOT NULL,
  status  INTEGER NOT NULL,
  header  TEXT NOT NULL, -- a JSON array: name, value, name, value, …
  stored  INTEGER NOT NULL,
  age     INTEGER NOT NULL, -- milliseconds that it had when it was stored
  expires INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (name, url)
) STRICT`

// open reads the database, without bodies, once.
func (s *Store) open(ctx context.Context, now time.Time) {
	s.opened.Do(func() {
		if s.o.Open == nil {
			return
		}
		db, err := s.o.Open(ctx)
		if err == nil {
			if err = s.read(ctx, db, now); err != nil {
				err = errors.Join(err, db.Close())
			}
		}
		if err != nil {
			s.o.Logger.Warn("the caches cannot be kept in the state folder; they are kept in memory", "error", err)
			return
		}
		s.db = db
	})
}

func (s *Store) read(ctx context.Context, db *sql.DB, now time.Time) error {
	if _, err := db.ExecContext(ctx, cacheSchema); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `DELETE FROM cache WHERE expires <= ?`, now.UnixMilli()); err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, `SELECT name, url, status, header, stored, age, expires, length(body) FROM cache ORDER BY stored`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		e := &cached{absent: true}
		var header []byte
		var stored, age, expires int64
		if err := rows.Scan(&e.key.cache, &e.key.url, &e.status, &header, &stored, &age, &expires, &e.length); err != nil {
			return err
		}
		if err := json.Unmarshal(header, &e.header); err != nil {
			return fmt.Errorf("the headers of %s: %w", e.key.url, err)
		}
		e.stored, e.age, e.expires = time.UnixMilli(stored), time.Duration(age)*time.Millisecond, time.UnixMilli(expires)
		s.add(e)
	}
	return rows.Err()
}

func (s *Store) get(ctx context.Context, key entryKey, now time.Time) *cached {
	s.open(context.WithoutCancel(ctx), now)
	e := s.find(key, now)
	if e == nil || !e.absent {
		return e
	}
	// Bodies do not change: if the row was replaced meanwhile, the new body is returned.
	whole := *e
	whole.absent = false
	const read = `SELECT body FROM cache WHERE name = ? AND url = ? AND stored = ?`
	err := s.db.QueryRowContext(ctx, read, key.cache, key.url, e.stored.UnixMilli()).Scan(&whole.body)
	if err != nil {
		if !errors.Is(err, sql.ErrNoRows) {
			s.o.Logger.Warn("a cached response cannot be read", "url", key.url, "error", err)
		}
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.byKey[key]; ok && entryOf(at) == e {
		at.Value = &whole
	}
	return &whole
}

func (s *Store) find(key entryKey, now time.Time) *cached {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.byKey[key]
	if !ok {
		return nil
	}
	e := entryOf(at)
	if !now.Before(e.expires) { // its row goes when the key is put again, or at the next start
		s.dropLocked(at)
		return nil
	}
	s.recent.MoveToFront(at)
	return e
}

func entryOf(at *list.Element) *cached {
	e, _ := at.Value.(*cached)
	return e
}

// put stores a response in place of the one before, and drops others to make room.
func (s *Store) put(ctx context.Context, e *cached) {
	ctx = context.WithoutCancel(ctx) // the caller may leave before it is written
	s.open(ctx, e.stored)
	e.length = len(e.body)
	s.writing.Lock()
	defer s.writing.Unlock()
	gone := s.add(e)
	if s.db == nil {
		return
	}
	if err := s.write(ctx, e, gone); err != nil {
		s.o.Logger.Warn("a cached response was not written to the state folder", "url", e.key.url, "error", err)
	}
}

// add adds a response and returns those that it displaced.
func (s *Store) add(e *cached) (gone []entryKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.byKey[e.key]; ok {
		s.dropLocked(at)
	}
	s.byKey[e.key] = s.recent.PushFront(e)
	s.size += e.size()
	for s.size > maxCaches {
		last := s.recent.Back()
		gone = append(gone, entryOf(last).key)
		s.dropLocked(last)
	}
	return gone
}

func (s *Store) write(ctx context.Context, e *cached, gone []entryKey) error {
	header, err := json.Marshal(e.header)
	if err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after Commit
	for _, key := range gone {
		if _, err := tx.ExecContext(ctx, deleteCached, key.cache, key.url); err != nil {
			return err
		}
	}
	body := e.body
	if body == nil {
		body = []byte{} // NULL otherwise
	}
	const put = `INSERT OR REPLACE INTO cache (name, url, status, header, stored, age, expires, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	if _, err := tx.ExecContext(ctx, put, e.key.cache, e.key.url, e.status, string(header),
		e.stored.UnixMilli(), e.age.Milliseconds(), e.expires.UnixMilli(), body); err != nil {
		return err
	}
	return tx.Commit()
}

const deleteCached = `DELETE FROM cache WHERE name = ? AND url = ?`

func (s *Store) remove(ctx context.Context, key entryKey, now time.Time) bool {
	ctx = context.WithoutCancel(ctx) // as in put
	s.open(ctx, now)
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	at, ok := s.byKey[key]
	live := ok && now.Before(entryOf(at).expires)
	if ok {
		s.dropLocked(at)
	}
	s.mu.Unlock()
	if s.db == nil {
		return live
	}
	if _, err := s.db.ExecContext(ctx, deleteCached, key.cache, key.url); err != nil {
		s.o.Logger.Warn("a cached response was not removed from the state folder", "url", key.url, "error", err)
	}
	return live
}

func (s *Store) dropLocked(at *list.Element) {
	e := entryOf(at)
	s.recent.Remove(at)
	delete(s.byKey, e.key)
	s.size -= e.size()
}
