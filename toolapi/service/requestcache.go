package service

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
)

// This file keeps what every request asks the database for: who a key acts for, and
// which upload a blob is of. Before it is used SQLite is asked whether anything was
// committed since, by this process or another (PRAGMA data_version); then it is read
// again. So a key that was revoked is refused by the next request, and ten thousand
// blobs do not ask ten thousand times, which was a third of the service's processor time.

// requestCache is what was read since the last commit, by a key for each.
type requestCache struct {
	db *sql.DB

	mu      sync.Mutex
	conn    *sql.Conn // never writes: only what others commit counts
	ask     *sql.Stmt
	version int64 // of the database when what is known was read
	known   map[string]any
}

// knownMost is how many things are kept.
const knownMost = 1000

func newLately(dsn string) (*requestCache, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &requestCache{db: db, known: map[string]any{}}, nil
}

// readCached returns what read returns: as it was, if nothing was committed since. version is
// what look returned: what is returned is as old as that at most. Errors are not kept.
func readCached[T any](l *requestCache, version int64, key string, read func() (T, error)) (T, error) {
	if fact, ok := l.get(key).(T); ok {
		return fact, nil
	}
	fact, err := read() // sees what was committed before look, or more
	if err == nil {
		l.put(version, key, fact)
	}
	return fact, err
}

// currentVersion returns the version of the database, and forgets what is older.
func (l *requestCache) currentVersion(ctx context.Context) (version int64, err error) {
	ctx = context.WithoutCancel(ctx) // it takes microseconds, watching for the end would double them
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ask == nil {
		if err := l.open(ctx); err != nil {
			return 0, err
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

// get is what is known under a key; nil for nothing.
func (l *requestCache) get(key string) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[key]
}

// open opens the connection. Versions of another one say nothing.
func (l *requestCache) open(ctx context.Context) (err error) {
	clear(l.known)
	if l.conn, err = l.db.Conn(ctx); err != nil {
		return err
	}
	if l.ask, err = l.conn.PrepareContext(ctx, "PRAGMA data_version"); err != nil {
		return errors.Join(err, l.discard())
	}
	return nil
}

// discard gives up a connection that failed.
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

func (l *requestCache) put(version int64, key string, fact any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if version != l.version {
		return
	}
	if len(l.known) >= knownMost {
		clear(l.known)
	}
	l.known[key] = fact
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
