package migrate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"os"

	"modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// This file copies databases. A scratch database is private and temporary: SQLite deletes its file as it opens it,
// so that nothing is left of one whatever happens to the process.

// scratch opens an empty database. It has one connection, and ends with it.
func scratch() (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:?_pragma=foreign_keys(1)&_pragma=synchronous(0)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// scratchCopy gives a scratch database that holds what db does, at one moment.
func scratchCopy(ctx context.Context, db *sql.DB) (*sql.DB, error) {
	var made driver.Conn
	keys := 0
	err := withConn(ctx, db, func(conn *sql.Conn) error {
		if err := conn.QueryRowContext(ctx, "PRAGMA foreign_keys").Scan(&keys); err != nil {
			return err
		}
		var err error
		made, err = dbfile.InMemory(ctx, conn)
		return err
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

// restoreFile makes the database of conn hold what a database file does.
func restoreFile(ctx context.Context, conn *sql.Conn, file string) error {
	if err := checkFile(ctx, file); err != nil {
		return err
	}
	return dbfile.Restore(ctx, conn, dbfile.URI(file, "mode=rw"))
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
	if err = errors.Join(ignoreError(err, io.EOF), f.Close()); err != nil || n > 0 && string(head) != header {
		return errors.Join(errDamaged, err)
	}
	db, err := sql.Open("sqlite", dbfile.URI(file, "mode=ro"))
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

func ignoreError(err, known error) error {
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
	if err := r.readLedger(ctx); err != nil {
		return r, err
	}
	return r, r.applyAll(ctx)
}
