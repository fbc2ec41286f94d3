package migrate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"modernc.org/sqlite"
)

// This file copies databases. A scratch database is private and temporary: SQLite deletes its file as it opens it,
// so that nothing is left of one whatever happens to the process.

var errForeignDriver = errors.New("the database is not opened by the SQLite driver this is built on")

// scratch opens an empty database. It has one connection, and ends with it.
func scratch() (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:?_pragma=foreign_keys(1)&_pragma=synchronous(0)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// copier is the driver's connection.
type copier interface {
	NewBackup(uri string) (*sqlite.Backup, error)
	NewRestore(uri string) (*sqlite.Backup, error)
}

// pagesPerStep is how much is copied before a cancelled context is noticed.
const pagesPerStep = 4096

func copyPages(ctx context.Context, b *sqlite.Backup) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if more, err = b.Step(pagesPerStep); err != nil {
			return err
		}
	}
	return nil
}

// scratchCopy gives a scratch database that holds what db does, at one moment.
func scratchCopy(ctx context.Context, db *sql.DB) (*sql.DB, error) {
	var made driver.Conn
	keys := 0
	err := withConn(ctx, db, func(conn *sql.Conn) error {
		if err := conn.QueryRowContext(ctx, "PRAGMA foreign_keys").Scan(&keys); err != nil {
			return err
		}
		return conn.Raw(func(c any) error {
			source, ok := c.(copier)
			if !ok {
				return errForeignDriver
			}
			b, err := source.NewBackup("")
			if err != nil {
				return err
			}
			if err := copyPages(ctx, b); err != nil {
				return errors.Join(err, b.Finish())
			}
			made, err = b.Commit()
			return err
		})
	})
	if err != nil {
		return nil, databaseError("the database cannot be copied", err)
	}
	out := sql.OpenDB(&onlyConn{made})
	out.SetMaxOpenConns(1)
	pragma := "PRAGMA foreign_keys = OFF"
	if keys != 0 {
		pragma = "PRAGMA foreign_keys = ON"
	}
	if _, err := out.ExecContext(ctx, pragma); err != nil {
		return nil, errors.Join(databaseError("the copy cannot be opened", err), out.Close())
	}
	return out, nil
}

// onlyConn gives a database the one connection there is.
type onlyConn struct{ conn driver.Conn }

var errScratchGone = errors.New("the copy of the database is gone")

// Connect implements driver.Connector.
func (o *onlyConn) Connect(context.Context) (driver.Conn, error) {
	if o.conn == nil {
		return nil, errScratchGone
	}
	conn := o.conn
	o.conn = nil
	return conn, nil
}

// Driver implements driver.Connector.
func (o *onlyConn) Driver() driver.Driver { return &sqlite.Driver{} }

func withConn(ctx context.Context, db *sql.DB, fn func(*sql.Conn) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fn(conn), conn.Close())
}

// address is a file as SQLite's URI.
func address(file, query string) string {
	slashed := filepath.ToSlash(file)
	if runtime.GOOS == "windows" {
		slashed = "/" + slashed
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: slashed, RawQuery: query}
	return u.String()
}

// copyToFile writes what the database of conn holds to a file, which is not synced.
func copyToFile(ctx context.Context, conn *sql.Conn, file string) error {
	return conn.Raw(func(c any) error {
		source, ok := c.(copier)
		if !ok {
			return errForeignDriver
		}
		// A crash leaves a file that has no name yet: SQLite need not guard it.
		b, err := source.NewBackup(address(file, "_pragma=synchronous(OFF)&_pragma=journal_mode(OFF)"))
		if err != nil {
			return err
		}
		return errors.Join(copyPages(ctx, b), b.Finish())
	})
}

// restoreFile makes the database of conn hold what a database file does. It is one transaction: a crash leaves all of the old or all of
// the new, and other connections go on.
func restoreFile(ctx context.Context, conn *sql.Conn, file string) error {
	if err := checkFile(ctx, file); err != nil {
		return err
	}
	return conn.Raw(func(c any) error {
		target, ok := c.(copier)
		if !ok {
			return errForeignDriver
		}
		b, err := target.NewRestore(address(file, "mode=rw"))
		if err != nil {
			return err
		}
		return errors.Join(copyPages(ctx, b), b.Finish())
	})
}

// errDamaged is a copy that is no longer what was written.
var errDamaged = errors.New("the copy is damaged")

// checkFile looks at all of a database file before it takes another's place.
func checkFile(ctx context.Context, file string) error {
	const header = "SQLite format 3\x00"
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	head := make([]byte, len(header))
	n, err := io.ReadFull(f, head)
	if err = errors.Join(ignoring(err, io.EOF), f.Close()); err != nil || n > 0 && string(head) != header {
		return errors.Join(errDamaged, err)
	}
	db, err := sql.Open("sqlite", address(file, "mode=ro"))
	if err != nil {
		return err
	}
	var said string
	err = db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said)
	if err = errors.Join(err, db.Close()); err == nil && said != "ok" {
		return errDamaged
	}
	return err
}

func ignoring(err, known error) error {
	if errors.Is(err, known) {
		return nil
	}
	return err
}

// replay applies files to a database, which has none of them.
func (m *Migrator) replay(ctx context.Context, db *sql.DB, set fileSet) (*run, error) {
	r, err := m.newRun(ctx, db, set)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.counting = true
	if err := r.look(ctx); err != nil {
		return r, err
	}
	return r, r.all(ctx)
}
