package localstate

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// sqlitePage is the size of a page in bytes, where nobody sets another.
const sqlitePage = 4096

// OpenDatabase opens a database the way all state is kept: WAL with every commit
// synced, which is what lost nothing that was acknowledged in runs in which power failed.
func OpenDatabase(ctx context.Context, path string, readOnly bool) (*sql.DB, error) {
	return openBounded(ctx, path, readOnly, Bounds{})
}

// How many connections a database has at a time: each is a file or two that are open. Whoever wants one more waits for
// its turn.
const (
	// workerConns are those of a database that Workers query. Each Worker keeps five while it uses them, and those that
	// were replaced go on for a while.
	workerConns = 32
	// StoreConns are those of the database of a bucket, or of key-value pairs. None is kept by anybody.
	StoreConns = 4
	// UsualConns are those of any other.
	UsualConns = 8
	// ConnIdle is how long a connection that nobody uses stays open. SQLite can close the file of one only with the last
	// of the process, so that all of them go.
	ConnIdle = 10 * time.Second
)

// Bounds are what a database may take of the machine. The zero value bounds its connections alone.
type Bounds struct {
	conns     int    // it may have so many connections; 0 means usualConns
	Bytes     int64  // it may grow to so many
	Temporary string // the name of the dbfile.Temporary that its connections use
}

// openBounded is openSQLite with bounds, which SQLite keeps in each connection.
func openBounded(ctx context.Context, path string, readOnly bool, b Bounds) (*sql.DB, error) {
	q := url.Values{"_pragma": {"busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(1)", "journal_size_limit(16777216)"}, "_txlock": {"immediate"}}
	if b.Bytes > 0 {
		q.Add("_pragma", fmt.Sprintf("max_page_count(%d)", max(1, b.Bytes/sqlitePage)))
	}
	if b.Temporary != "" {
		q.Set("vfs", b.Temporary)
	}
	if readOnly {
		q.Set("mode", "ro")
	} else {
		_ = OwnFile(path) // where it cannot be made, SQLite says why
		q.Add("_pragma", "journal_mode(WAL)")
	}
	db, err := sql.Open("sqlite", dbfile.URI(path, q.Encode()))
	if err != nil {
		return nil, err
	}
	conns := cmp.Or(b.conns, UsualConns)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns) // or each that is one too many would be closed after each use
	db.SetConnMaxIdleTime(ConnIdle)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// OwnFile makes the file of a database that is not there yet, for its owner alone to read:
// SQLite would have everyone of the machine read it, and its folder may be one that somebody
// made before. Its log has the mode of the file. One that is there is not even opened, since
// to close it would end the locks that the process has on it.
func OwnFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// OpenUnsynced opens a database for what may be lost when power fails: on its one
// connection commits are in order, and reach the disk with the next that is synced.
func OpenUnsynced(ctx context.Context, path string) (*sql.DB, error) {
	db, err := OpenDatabase(ctx, path, false)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
