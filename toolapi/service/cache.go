package service

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
)

// requestCache keeps the rows that every request needs: the holder of a key, and the upload of a blob. A commit by any
// process empties it: each use checks PRAGMA data_version. So a revoked key is refused at the next request, and ten
// thousand blobs do not need ten thousand queries, which took a third of the service's processor time.
type requestCache struct {
	db *sql.DB

	mu      sync.Mutex
	conn    *sql.Conn // never writes: only commits of others count
	ask     *sql.Stmt
	version int64 // of the database when the values were read
	known   map[string]any
}

const maxCached = 1000 // values of a requestCache

func newRequestCache(dsn string) (*requestCache, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &requestCache{db: db, known: map[string]any{}}, nil
}

// readCached returns the result of read, or the one cached since the last commit. version comes from currentVersion: the
// value is at least that recent. Errors are not cached.
func readCached[T any](l *requestCache, version int64, key string, read func() (T, error)) (T, error) {
	l.mu.Lock()
	value, ok := l.known[key].(T)
	l.mu.Unlock()
	if ok {
		return value, nil
	}
	value, err := read() // sees the commits up to currentVersion, or more
	if err != nil {
		return value, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if version == l.version {
		if len(l.known) >= maxCached {
			clear(l.known)
		}
		l.known[key] = value
	}
	return value, nil
}

// currentVersion returns the version of the database, and drops older values.
func (l *requestCache) currentVersion(ctx context.Context) (version int64, err error) {
	ctx = context.WithoutCancel(ctx) // it takes microseconds, which watching ctx would double
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ask == nil {
		clear(l.known) // versions of different connections are not comparable
		if l.conn, err = l.db.Conn(ctx); err != nil {
			return 0, err
		}
		if l.ask, err = l.conn.PrepareContext(ctx, "PRAGMA data_version"); err != nil {
			return 0, errors.Join(err, l.discard())
		}
	}
	if err := l.ask.QueryRowContext(ctx).Scan(&version); err != nil {
		return 0, errors.Join(err, l.discard())
	}
	if version != l.version {
		clear(l.known)
		l.version = version
	}
	return version, nil
}

// discard closes a failed connection.
func (l *requestCache) discard() error {
	clear(l.known)
	var errs []error
	if l.ask != nil {
		errs = append(errs, l.ask.Close())
	}
	if err := l.conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(err, driver.ErrBadConn) {
		errs = append(errs, err)
	}
	l.conn, l.ask = nil, nil
	return errors.Join(errs...)
}

func (l *requestCache) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	if l.ask != nil {
		errs = append(errs, l.ask.Close(), l.conn.Close())
		l.conn, l.ask = nil, nil
	}
	return errors.Join(append(errs, l.db.Close())...)
}

// recentCache keeps the most recent values.
type recentCache[K comparable, V any] struct {
	most int // values

	mu   sync.Mutex
	keys []K // newest last
	made map[K]V
}

func (n *recentCache[K, V]) get(key K) (V, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	made, ok := n.made[key]
	return made, ok
}

func (n *recentCache[K, V]) put(key K, made V) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.made == nil {
		n.made = map[K]V{}
	}
	if _, ok := n.made[key]; ok {
		return
	}
	if len(n.keys) == n.most {
		delete(n.made, n.keys[0])
		n.keys = n.keys[1:]
	}
	n.keys, n.made[key] = append(n.keys, key), made
}
