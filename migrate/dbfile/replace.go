package dbfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Replacement is Restore in three steps: other writers wait from Replace to the end, and readers see the old contents
// until Commit. Call either Commit or Abort, once, and use conn for nothing else until then.
type Replacement struct {
	conn   *sql.Conn
	backup *sqlite.Backup
}

// Replace takes the write lock of conn's database, and waits for it for up to 30 seconds. The database at uri may still
// change until Copy.
func Replace(ctx context.Context, conn *sql.Conn, uri string) (*Replacement, error) {
	r := &Replacement{conn: conn}
	err := with(conn, func(c copier) (err error) {
		r.backup, err = c.NewRestore(uri)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = WaitForWriters(ctx, conn, func() error {
		return with(conn, func(copier) error {
			_, err := r.backup.Step(0)
			return err
		})
	})
	if err != nil {
		return nil, errors.Join(err, r.Abort())
	}
	return r, nil
}

// WaitForWriters calls lock, which takes the write lock of conn's database, repeatedly while another writer holds it, for up
// to 30 seconds. With many writers, SQLite's own busy handler tries too rarely to get a turn.
func WaitForWriters(ctx context.Context, conn *sql.Conn, lock func() error) (err error) {
	const (
		timeout = 30 * time.Second
		pause   = time.Millisecond
	)
	var usual int
	err = conn.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&usual)
	if err == nil {
		_, err = conn.ExecContext(ctx, "PRAGMA busy_timeout = 0")
	}
	if err != nil {
		return err
	}
	waiting, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	defer func() { // another call of this connection comes only after the end
		_, reset := conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("PRAGMA busy_timeout = %d", usual))
		err = errors.Join(err, reset)
	}()
	for {
		err = lock()
		if failed, ok := errors.AsType[*sqlite.Error](err); !ok || failed.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-waiting.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// Copy writes everything that needs disk space. Only Commit makes it take effect.
func (r *Replacement) Copy(ctx context.Context) error {
	const pages = 4096
	return with(r.conn, func(copier) error {
		_, err := r.backup.Step(0) // which counts the pages
		for left := r.backup.Remaining(); err == nil && left > 1; left = r.backup.Remaining() {
			if err := ctx.Err(); err != nil {
				return err
			}
			_, err = r.backup.Step(int32(min(pages, left-1))) //nolint:gosec // 4096 at most
		}
		return err
	})
}

// Commit ends the replacement. It is one transaction: a crash leaves the old contents or the new ones.
func (r *Replacement) Commit() error {
	return with(r.conn, func(copier) error {
		_, err := r.backup.Step(-1)
		return errors.Join(err, r.backup.Finish())
	})
}

// Abort leaves the old contents.
func (r *Replacement) Abort() error {
	return with(r.conn, func(copier) error { return r.backup.Finish() })
}
