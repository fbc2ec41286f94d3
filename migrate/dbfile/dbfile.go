// Package dbfile is SQLite databases as files: their names as SQLite's URIs, and copies
// page by page.
//
// A copy is made by SQLite's backup, which keeps every page as it is: VACUUM INTO may
// renumber rowids that a site relies on. It sees one moment of the database, and others
// go on writing. A Temporary bounds what connections keep on the disk for a while. Errors
// are SQLite's, the context's, or ErrDriver.
package dbfile

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"modernc.org/sqlite"
)

// ErrDriver says that a connection is of another driver than modernc.org/sqlite.
var ErrDriver = errors.New("the database is not opened by the SQLite driver this is built on")

// drive has what SQLite syncs reach the disk on macOS too, where fsync leaves it in the
// drive's memory and a power cut takes it (fsync(2) there; os.File.Sync knows). Elsewhere
// it changes nothing.
const drive = "_pragma=fullfsync(1)"

// URI is a file with a query as SQLite takes them. It reads "//" at the front as the name of a host to come: before a
// path that begins so, on a share of Windows, stands an empty one. What its connections sync is on the disk.
func URI(file, query string) string {
	slashed := filepath.ToSlash(file)
	switch {
	case runtime.GOOS == "windows" && strings.HasPrefix(slashed, "//"):
		slashed = "//" + slashed
	case runtime.GOOS == "windows":
		slashed = "/" + slashed
	}
	if query != "" {
		query += "&"
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: slashed, RawQuery: query + drive}
	return u.String()
}

// Copy writes what the database of conn holds to a new file. It is not synced, and what
// a crash leaves of it is no database: it must have no name yet that anyone believes.
func Copy(ctx context.Context, conn *sql.Conn, file string) error {
	return with(conn, func(c copier) error {
		b, err := c.NewBackup(URI(file, "_pragma=synchronous(OFF)&_pragma=journal_mode(OFF)"))
		if err != nil {
			return err
		}
		return errors.Join(pages(ctx, b), b.Finish())
	})
}

// Restore makes the database of conn hold what the one at a URI does. It is one
// transaction: a crash leaves all of the old or all of the new, and other connections
// go on.
func Restore(ctx context.Context, conn *sql.Conn, uri string) error {
	return with(conn, func(c copier) error {
		b, err := c.NewRestore(uri)
		if err != nil {
			return err
		}
		return errors.Join(pages(ctx, b), b.Finish())
	})
}

// InMemory returns a connection to a copy in memory, which ends with it.
func InMemory(ctx context.Context, conn *sql.Conn) (made driver.Conn, err error) {
	err = with(conn, func(c copier) error {
		b, err := c.NewBackup("")
		if err != nil {
			return err
		}
		if err := pages(ctx, b); err != nil {
			return errors.Join(err, b.Finish())
		}
		made, err = b.Commit()
		return err
	})
	return made, err
}

// copier is the driver's connection.
type copier interface {
	NewBackup(uri string) (*sqlite.Backup, error)
	NewRestore(uri string) (*sqlite.Backup, error)
}

func with(conn *sql.Conn, do func(copier) error) error {
	return conn.Raw(func(c any) error {
		if c, ok := c.(copier); ok {
			return do(c)
		}
		return ErrDriver
	})
}

// perStep is how many pages are copied before a cancelled context is noticed.
const perStep = 4096

func pages(ctx context.Context, b *sqlite.Backup) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if more, err = b.Step(perStep); err != nil {
			return err
		}
	}
	return nil
}
