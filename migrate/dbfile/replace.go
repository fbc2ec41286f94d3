package dbfile

import (
	"context"
	"database/sql"
	"errors"

	"modernc.org/sqlite"
)

// Replacement replaces the contents of a database by those of another, as Restore does, in three steps: nobody else writes
// between Replace and the end, and others read the old contents until Commit. One of Commit and Abort is called, once, and
// conn is used for nothing else before.
type Replacement struct {
	conn   *sql.Conn
	backup *sqlite.Backup
}

// Replace takes the write lock of conn's database, for which it waits as long as the connection's busy timeout. The database
// at uri may still be changed until Copy.
func Replace(conn *sql.Conn, uri string) (*Replacement, error) {
	r := &Replacement{conn: conn}
	err := with(conn, func(c copier) (err error) {
		if r.backup, err = c.NewRestore(uri); err != nil {
			return err
		}
		if _, err = r.backup.Step(0); err != nil {
			err = errors.Join(err, r.backup.Finish())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Copy writes all that may need room on the disk. What is written counts only with Commit.
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
