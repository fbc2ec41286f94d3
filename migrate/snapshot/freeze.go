package snapshot

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// frozen is a consistent snapshot of all databases of a state. Each has two connections: one holds the write
// lock until [frozen.thaw], the other a view of that moment until close.
type frozen struct {
	names []string
	locks []*sql.DB
	views map[string]*view
}

type view struct {
	db   *sql.DB
	conn *sql.Conn
}

// freeze stops every writer of the databases, in the order of their names, and opens a view of each. Writers of other
// processes wait for their busy timeout.
func (s *Store) freeze(ctx context.Context, names []string) (*frozen, error) {
	f := &frozen{names: names, views: map[string]*view{}}
	for _, name := range names {
		if err := f.lock(ctx, s.file(name)); err != nil {
			return nil, errors.Join(unreadableError(name, err), f.close())
		}
	}
	for _, name := range names {
		if err := f.view(ctx, name, s.file(name)); err != nil {
			return nil, errors.Join(unreadableError(name, err), f.close())
		}
	}
	return f, nil
}

// file returns the path of a file of the state, for SQLite.
func (s *Store) file(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func open(file, pragmas string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dbfile.URI(file, pragmas))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func (f *frozen) lock(ctx context.Context, file string) error {
	db, err := open(file, "mode=rw&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	f.locks = append(f.locks, db)
	_, err = db.ExecContext(ctx, "BEGIN IMMEDIATE")
	return err
}

func (f *frozen) view(ctx context.Context, name, file string) error {
	db, err := open(file, "mode=rw&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	f.views[name] = &view{db, conn}
	if _, err = conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	var tables int // a view begins with the first read
	return conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
}

// thaw releases the write locks; the views stay.
func (f *frozen) thaw() error {
	var errs []error
	for _, db := range slices.Backward(f.locks) {
		errs = append(errs, db.Close()) // which rolls back
	}
	f.locks = nil
	return errors.Join(errs...)
}

func (f *frozen) close() error {
	err := f.thaw()
	for _, v := range f.views {
		err = errors.Join(err, v.conn.Close(), v.db.Close())
	}
	f.views = nil
	return err
}

// unreadableError returns the error of a database that cannot be read or copied.
func unreadableError(name string, err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	quoted := fmt.Sprintf("the database %q", path.Base(name))
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return &Error{
			Code: CodeBusy, Msg: quoted + " is being written by another process", Fix: "run this again afterwards",
			cause: err,
		}
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return &Error{Code: CodeUnusable, Msg: quoted + " is damaged", Fix: "load a snapshot, or reset the state", cause: err}
	case sqlite3.SQLITE_FULL:
		return &Error{Code: CodeUnusable, Msg: "the disk is full", Fix: "free some space on the disk, then run it again", cause: err}
	}
	return fmt.Errorf("read %s: %w", quoted, err)
}
