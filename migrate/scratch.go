package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// scratch opens an empty private database, whose file SQLite deletes on opening: it has one connection, and leaves
// nothing behind even if the process is killed.
func scratch() (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:?_pragma=foreign_keys(1)&_pragma=synchronous(0)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// scratchCopy returns a scratch database with a consistent snapshot of db.
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

// onlyConn connects a database to one open connection.
type onlyConn struct{ conn driver.Conn }

var errScratchGone = errors.New("the copy of the database was deleted")

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

// planCopy is two copies of one snapshot of a database: one to change, and one to compare with.
type planCopy struct {
	changed *sql.DB
	image   image  // the other one in memory; none for an empty database
	dir     string // the folder of both; "" for copies in memory
	limit   int64  // of changed, in bytes; 0 for none
}

// tooLargeError means that a database was too large to copy, or grew too large during the run.
type tooLargeError struct {
	says     string
	inMemory bool // there may be room on disk
}

func (e *tooLargeError) Error() string { return e.says }

// copyForPlan makes the copies within the bounds of [Options.Plan].
func (m *Migrator) copyForPlan(ctx context.Context, mayBeInMemory bool) (c *planCopy, err error) {
	const what = "the database cannot be copied"
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return nil, databaseError("the database cannot be opened", err)
	}
	defer conn.Close()
	var pages, pageSize, keys int64
	err = conn.QueryRowContext(ctx, "SELECT (SELECT page_count FROM pragma_page_count()), (SELECT page_size FROM pragma_page_size()), "+
		"(SELECT foreign_keys FROM pragma_foreign_keys())").Scan(&pages, &pageSize, &keys)
	if err != nil {
		return nil, databaseError(what, err)
	}
	size, most := pages*pageSize, m.o.Plan.MaxBytes
	if most > 0 && size > most {
		return nil, &tooLargeError{says: fmt.Sprintf("the database has %s, and the limit for a copy is "+
			"%s", bytesText(size), bytesText(most))}
	}
	c = &planCopy{limit: most}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	inMemory := cmp.Or(m.o.Plan.MaxMemory, defaultMemory)
	if mayBeInMemory && size <= inMemory {
		if grown := memoryGrowth * inMemory; most == 0 || most > grown {
			c.limit = grown
		}
		err = c.copyInMemory(ctx, conn, m.o.Plan.VFS, size)
	} else {
		if c.dir, err = m.folderForPlan(); err != nil {
			return c, undoError(what, err)
		}
		if err = dbfile.Copy(ctx, conn, filepath.Join(c.dir, unchangedFile)); err == nil {
			c.changed, err = c.changedFile(ctx, m.o.Plan.VFS)
		}
	}
	if err != nil {
		return c, c.full(err, size)
	}
	settings := fmt.Sprintf("PRAGMA foreign_keys = %d; PRAGMA synchronous = OFF;", keys)
	if c.limit > 0 {
		settings += fmt.Sprintf("PRAGMA max_page_count = %d;", max(c.limit/max(pageSize, 1), 1))
	}
	if _, err := c.changed.ExecContext(ctx, settings); err != nil {
		return c, databaseError("the copy cannot be opened", err)
	}
	return c, nil
}

func (c *planCopy) copyInMemory(ctx context.Context, from *sql.Conn, vfs string, size int64) (err error) {
	uri := "file::memory:"
	if vfs != "" {
		uri += "?" + url.Values{"vfs": {vfs}}.Encode()
	}
	if c.changed, err = copyTo(ctx, from, uri); err != nil || size == 0 {
		return err
	}
	return withConn(ctx, c.changed, func(conn *sql.Conn) error {
		handle, err := handleOf(conn)
		if err == nil {
			c.image, err = handle.serialize()
		}
		return err
	})
}

const (
	unchangedFile = "unchanged.db"
	changedFile   = "changed.db"
)

// changedFile copies the file of the unchanged database, and opens the copy.
func (c *planCopy) changedFile(ctx context.Context, vfs string) (db *sql.DB, err error) {
	query := url.Values{"_pragma": {"synchronous(OFF)"}}
	if vfs != "" {
		query.Set("vfs", vfs)
	}
	unchanged, err := sql.Open("sqlite", dbfile.URI(filepath.Join(c.dir, unchangedFile), "mode=ro"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unchanged.Close()) }()
	err = withConn(ctx, unchanged, func(conn *sql.Conn) error {
		db, err = copyTo(ctx, conn, dbfile.URI(filepath.Join(c.dir, changedFile), query.Encode()))
		return err
	})
	return db, err
}

// memoryGrowth is the factor by which a database may grow in memory.
const memoryGrowth = 4

// folderForPlan creates a folder for copies, and removes folders that killed processes left.
func (m *Migrator) folderForPlan() (string, error) {
	parent := m.o.Plan.Dir
	if parent == "" {
		return os.MkdirTemp("", strings.TrimPrefix(rehearsing, ".")+"*")
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), rehearsing) && m.o.Now().Sub(info.ModTime()) > abandoned {
			_ = os.RemoveAll(filepath.Join(parent, e.Name())) // the next one tries again
		}
	}
	return os.MkdirTemp(parent, rehearsing+"*")
}

func copyTo(ctx context.Context, conn *sql.Conn, uri string) (*sql.DB, error) {
	made, err := dbfile.CopyTo(ctx, conn, uri)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(&onlyConn{made})
	db.SetMaxOpenConns(1)
	return db, nil
}

// full returns the error of a copy, as a tooLargeError for a lack of space.
func (c *planCopy) full(err error, size int64) error {
	switch {
	case c.dir == "" && isFull(err):
		return &tooLargeError{says: fmt.Sprintf("the database has %s, too much for a copy in memory", bytesText(size)), inMemory: true}
	case c.dir != "" && (isFull(err) || dbfile.FullDisk(c.dir, err)):
		return &tooLargeError{says: fmt.Sprintf("the disk has no room for two copies of a database of %s", bytesText(size))}
	default:
		return databaseError("the database cannot be copied", err)
	}
}

// bounded returns the error of a run, as a tooLargeError for a copy that grew too large.
func (c *planCopy) bounded(err error) error {
	switch {
	case !isFull(err):
		return err
	case c.limit > 0:
		return &tooLargeError{says: "with these files, the database grows over " + bytesText(c.limit), inMemory: c.dir == ""}
	default:
		return &tooLargeError{says: "the disk has no room for a copy that grows with these files"}
	}
}

// isFull reports whether an error is SQLite's about a full disk, or a database at its greatest size.
func isFull(err error) bool {
	se, ok := errors.AsType[*sqlite.Error](err)
	return ok && se.Code()&0xff == sqlite3.SQLITE_FULL
}

// attachUnchanged attaches the tables from before the run as the schema "was".
func (c *planCopy) attachUnchanged(ctx context.Context) error {
	if c.dir != "" {
		_, err := c.changed.ExecContext(ctx, "ATTACH DATABASE ? AS was", dbfile.URI(filepath.Join(c.dir, unchangedFile), "mode=ro"))
		return err
	}
	return withConn(ctx, c.changed, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "ATTACH DATABASE ':memory:' AS was"); err != nil || c.image.memory == 0 {
			return err
		}
		handle, err := handleOf(conn)
		if err == nil {
			err = handle.attachImage("was", &c.image)
		}
		return err
	})
}

func (c *planCopy) close() (err error) {
	c.image.free()
	if c.changed != nil {
		err = c.changed.Close()
	}
	if c.dir != "" {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	return err
}

// bytesText writes a number of bytes for people.
func bytesText(n int64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
}
