package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// This file copies databases in use. It opens the read transactions of all databases while no writer runs, and copies
// afterwards.

// freeze opens consistent views of all databases. The caller closes the views, even after an error. It locks the deepest in
// the folder first: a publish locks the database of its site, and then that of the service.
func (w *writer) freeze(dir string, names []string) (views []*view, err error) {
	depth := func(name string) int { return strings.Count(name, string(filepath.Separator)) }
	slices.SortStableFunc(names, func(a, b string) int { return depth(b) - depth(a) })
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
		// The view begins with the first read.
		_, err := v.seen.ExecContext(w.ctx, "BEGIN")
		if err == nil {
			err = v.seen.QueryRowContext(w.ctx, "SELECT count(*) FROM sqlite_schema").Scan(new(int))
		}
		if err != nil {
			return views, fmt.Errorf("%s: %w", names[i], err)
		}
	}
	for i, v := range views {
		err := errors.Join(v.held.Close(), v.locking.Close()) // which rolls back, and lets writers go on
		if v.held, v.locking = nil, nil; err != nil {
			return views, fmt.Errorf("%s: %w", names[i], err)
		}
	}
	return views, nil
}

func closeAll(views []*view) error {
	var errs []error
	for _, v := range views {
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
	}
	return errors.Join(errs...)
}

// databases writes the views, page by page.
func (w *writer) databases(names []string, views []*view) (err error) {
	scratch, err := os.MkdirTemp(w.beside, ".backup-*.tmp")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	for i, v := range views {
		to := filepath.Join(scratch, "copy.db")
		if err := errors.Join(dbfile.Copy(w.ctx, v.seen, to), check(w.ctx, to)); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		if err := errors.Join(w.file(to, filepath.ToSlash(names[i])), os.Remove(to)); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
	}
	return nil
}

// view is a snapshot of a database.
type view struct {
	locking, reading *sql.DB
	held             *sql.Conn // blocks writers until all views are open
	seen             *sql.Conn // reads
}

// lock blocks the writers of a database.
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
	// A busy service writes nearly all the time, and SQLite's own busy handler tries only ten times a second: too rarely to
	// get a turn between two writes.
	const (
		timeout = time.Minute
		pause   = 2 * time.Millisecond
	)
	waiting, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	for {
		_, err := v.held.ExecContext(ctx, "BEGIN IMMEDIATE")
		if refused, ok := errors.AsType[*sqlite.Error](err); !ok || refused.Code()&0xff != sqlite3.SQLITE_BUSY {
			return v, err
		}
		select {
		case <-waiting.Done():
			if ctx.Err() != nil {
				return v, ctx.Err()
			}
			return v, fmt.Errorf("writes went on for %s: %w", timeout, err)
		case <-time.After(pause):
		}
	}
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
