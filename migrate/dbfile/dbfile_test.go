package dbfile_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// open opens a file, with one connection.
func open(t *testing.T, file, query string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", dbfile.URI(file, query))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(conn.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func exec(t *testing.T, conn *sql.Conn, code string) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), code); err != nil {
		t.Fatal(err)
	}
}

// rowids are those of the table t.
func rowids(t *testing.T, conn *sql.Conn) (list string) {
	t.Helper()
	if err := conn.QueryRowContext(t.Context(), "SELECT group_concat(rowid || x) FROM t").Scan(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

const filled = "CREATE TABLE t (x); INSERT INTO t (rowid, x) VALUES (3, 'a'), (70, 'b'), (9000, 'c'); DELETE FROM t WHERE rowid = 70"

// names are files whose names mean something in a URI.
var names = []string{"plain.db", "a b.db", "100%.db", "what?.db", "a#b.db", "ä.db", "mode=ro&x.db"}

// TestSyncsReachTheDrive: SQLite asks for the sync that macOS has beside fsync.
func TestSyncsReachTheDrive(t *testing.T) {
	for _, query := range []string{"", "mode=rwc", "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"} {
		var full int
		conn := open(t, filepath.Join(t.TempDir(), "a.db"), query)
		if err := conn.QueryRowContext(t.Context(), "PRAGMA fullfsync").Scan(&full); err != nil || full != 1 {
			t.Errorf("with %q: %d, %v", query, full, err)
		}
	}
}

// TestCopy: a copy has the rows under their rowids, including commits that only the log has, with any file names, and is restored as a
// whole.
func TestCopy(t *testing.T) {
	for _, name := range names {
		if runtime.GOOS == "windows" && strings.Contains(name, "?") {
			continue // no name there
		}
		dir := t.TempDir()
		conn := open(t, filepath.Join(dir, name), "_pragma=journal_mode(WAL)")
		exec(t, conn, filled)
		file := filepath.Join(dir, "copy of "+name)
		if err := dbfile.Copy(t.Context(), conn, file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		copied := open(t, file, "mode=ro&immutable=1")
		if got := rowids(t, copied); got != "3a,9000c" {
			t.Errorf("%s: the copy holds %s", name, got)
		}
		exec(t, conn, "DELETE FROM t")
		if err := dbfile.Restore(t.Context(), conn, dbfile.URI(file, "mode=rw")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := rowids(t, conn); got != "3a,9000c" {
			t.Errorf("%s: back is %s", name, got)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 6 {
			t.Errorf("%s: %v %v", name, entries, err)
		}
	}
}

// TestCancelled: the end of a context ends a copy, and the database being restored keeps its
// old contents.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	conn, ended := open(t, filepath.Join(dir, "a.db"), ""), func() context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx
	}()
	exec(t, conn, filled)
	file := filepath.Join(dir, "b.db")
	if err := dbfile.Copy(ended, conn, file); !errors.Is(err, context.Canceled) {
		t.Errorf("copy: %v", err)
	}
	if _, err := dbfile.InMemory(ended, conn); !errors.Is(err, context.Canceled) {
		t.Errorf("in memory: %v", err)
	}
	exec(t, open(t, filepath.Join(dir, "c.db"), ""), "CREATE TABLE other (y)")
	if err := dbfile.Restore(ended, conn, dbfile.URI(filepath.Join(dir, "c.db"), "mode=rw")); !errors.Is(err, context.Canceled) {
		t.Errorf("restore: %v", err)
	}
	if got := rowids(t, conn); got != "3a,9000c" {
		t.Errorf("after all that: %s", got)
	}
}
