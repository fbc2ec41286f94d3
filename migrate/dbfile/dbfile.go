// Package dbfile is about SQLite databases as files: their names as SQLite's URIs, copies
// page by page, full disks, and bounds on temporary files.
//
// A copy is made by SQLite's backup, which keeps every page as it is: VACUUM INTO may renumber
// rowids that a site relies on. It is a consistent snapshot, and does not stop other writers.
// Errors are SQLite's, the context's, or ErrDriver.
package dbfile

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrDriver means that a connection does not belong to modernc.org/sqlite.
var ErrDriver = errors.New("the database is not opened by the SQLite driver this is built on")

// fullSync makes SQLite's syncs reach the disk on macOS too, where fsync leaves data in the
// drive's memory, which a power cut clears (fsync(2) there; os.File.Sync knows). Elsewhere it
// changes nothing.
const fullSync = "_pragma=fullfsync(1)"

// URI returns a file with a query in SQLite's form. SQLite reads a name after a leading "//" as a host, so a path that
// begins with "//", on a share of Windows, gets an empty host. Syncs of its connections reach the disk.
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
	u := url.URL{Scheme: "file", OmitHost: true, Path: slashed, RawQuery: query + fullSync}
	return u.String()
}

// Copy writes the database of conn to a new file, without a sync: after a crash the file may be
// invalid, so it must not have its final name yet.
func Copy(ctx context.Context, conn *sql.Conn, file string) error {
	return with(conn, func(c copier) error {
		b, err := c.NewBackup(URI(file, "_pragma=synchronous(OFF)&_pragma=journal_mode(OFF)"))
		if err != nil {
			return err
		}
		return errors.Join(copyPages(ctx, b), b.Finish())
	})
}

// Restore replaces the contents of conn's database with those of the database at a URI. It is one
// transaction: a crash leaves the old contents or the new ones, and other connections stay usable.
func Restore(ctx context.Context, conn *sql.Conn, uri string) error {
	return with(conn, func(c copier) error {
		b, err := c.NewRestore(uri)
		if err != nil {
			return err
		}
		return errors.Join(copyPages(ctx, b), b.Finish())
	})
}

// InMemory returns a connection to a copy in memory, which ends with it.
func InMemory(ctx context.Context, conn *sql.Conn) (made driver.Conn, err error) {
	return CopyTo(ctx, conn, "")
}

// CopyTo copies the database of conn to a new one at a URI, and returns a connection to it. "" creates a private one in memory.
func CopyTo(ctx context.Context, conn *sql.Conn, uri string) (made driver.Conn, err error) {
	err = with(conn, func(c copier) error {
		b, err := c.NewBackup(uri)
		if err != nil {
			return err
		}
		if err := copyPages(ctx, b); err != nil {
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

func copyPages(ctx context.Context, b *sqlite.Backup) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if more, err = b.Step(4096); err != nil {
			return err
		}
	}
	return nil
}

// SyncFolder makes the names in a folder durable. open is os.Open, or that of a root.
// Windows cannot sync a folder; its file system journals them.
func SyncFolder(open func(name string) (*os.File, error), name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// FullDisk reports whether an error of a database in a folder means that the disk is full. SQLite reports a full disk only
// for the database's own file. For the shared memory file beside it, it reports "disk I/O error": then FullDisk tries to
// write a file of that size.
func FullDisk(folder string, err error) bool {
	if isFull(err) {
		return true
	}
	failed, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch failed.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return true
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		probe, err := os.CreateTemp(folder, ".probe-*")
		if err == nil {
			_, err = probe.Write(make([]byte, 32<<10))
			err = errors.Join(err, probe.Sync(), probe.Close(), os.Remove(probe.Name()))
		}
		return isFull(err)
	}
	return false
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
