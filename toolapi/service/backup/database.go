package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// This file copies databases that are in use. All are looked at in one moment, in
// which no writer is between two of them; the copying comes after.

// freeze looks at databases in one moment. The views are to be closed, also after an error.
func (w *writer) freeze(dir string, names []string) (views []*view, err error) {
	for _, name := range names {
		v, err := lock(w.ctx, filepath.Join(dir, name))
		if v != nil {
			views = append(views, v)
		}
		if err != nil {
			return views, fmt.Errorf("%s: %w", name, err)
		}
	}
	for i, v := range views {
		if err := v.look(w.ctx); err != nil {
			return views, fmt.Errorf("%s: %w", names[i], err)
		}
	}
	for i, v := range views {
		if err := v.thaw(); err != nil {
			return views, fmt.Errorf("%s: %w", names[i], err)
		}
	}
	return views, nil
}

func closeAll(views []*view) error {
	var errs []error
	for _, v := range views {
		errs = append(errs, v.close())
	}
	return errors.Join(errs...)
}

// databases writes what was frozen.
func (w *writer) databases(names []string, views []*view) (err error) {
	scratch, err := os.MkdirTemp(w.beside, ".backup-*.tmp")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	for i, v := range views {
		to := filepath.Join(scratch, "copy.db")
		if err := errors.Join(v.copyTo(w.ctx, to), check(w.ctx, to)); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		if err := errors.Join(w.file(to, filepath.ToSlash(names[i])), os.Remove(to)); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
	}
	return nil
}

// view is a database as it was at one moment: a connection that kept writers away
// until thaw, and one that reads.
type view struct {
	locking, reading *sql.DB
	held, seen       *sql.Conn
}

// lock keeps writers away from a database.
func lock(ctx context.Context, path string) (*view, error) {
	v := &view{}
	var err error
	if v.locking, err = sql.Open("sqlite", dbfile.URI(path, "mode=rw")); err != nil {
		return nil, err
	}
	if v.reading, err = sql.Open("sqlite", dbfile.URI(path, "mode=rw&_pragma=busy_timeout(10000)")); err != nil {
		return v, err
	}
	if v.held, err = v.locking.Conn(ctx); err != nil {
		return v, err
	}
	if v.seen, err = v.reading.Conn(ctx); err != nil {
		return v, err
	}
	return v, v.keepOut(ctx)
}

// A busy service writes nearly all the time, and SQLite asks ten times a second
// whether it does: too seldom to come in between two writes.
const (
	patience = time.Minute
	pause    = 2 * time.Millisecond
)

// keepOut waits for a moment between two writes.
func (v *view) keepOut(ctx context.Context) error {
	waiting, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		_, err := v.held.ExecContext(ctx, "BEGIN IMMEDIATE")
		if refused, ok := errors.AsType[*sqlite.Error](err); !ok || refused.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-waiting.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("something was written for as long as %s: %w", patience, err)
		case <-time.After(pause):
		}
	}
}

// look takes the view; it begins with the first read.
func (v *view) look(ctx context.Context) error {
	if _, err := v.seen.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	var n int
	return v.seen.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n)
}

// thaw lets writers go on.
func (v *view) thaw() error {
	err := v.held.Close()
	v.held = nil
	err = errors.Join(err, v.locking.Close()) // which rolls back
	v.locking = nil
	return err
}

// copyTo writes the view to a new file, page by page.
func (v *view) copyTo(ctx context.Context, file string) error {
	return dbfile.Copy(ctx, v.seen, file)
}

func (v *view) close() error {
	var errs []error
	for _, c := range []*sql.Conn{v.held, v.seen} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	for _, db := range []*sql.DB{v.locking, v.reading} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// check reads a whole database for damage.
func check(ctx context.Context, file string) (err error) {
	db, err := sql.Open("sqlite", dbfile.URI(file, "mode=ro&immutable=1"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return errors.New(verdict)
	}
	return nil
}
