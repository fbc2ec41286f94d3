package restorepoint_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/restorepoint"
)

// site is a database with its restore points.
type site struct {
	*testing.T

	file  string
	db    *sql.DB
	store restorepoint.Store
	now   time.Time
}

// newSite makes a database in WAL mode, like those of sites.
func newSite(t *testing.T, statements string) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{T: t, file: filepath.Join(dir, "site.db"), now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	s.store = restorepoint.Store{File: filepath.Join(dir, "restorepoints.db"), Now: func() time.Time { return s.now }}
	s.db = openFile(t, s.file)
	s.exec(statements)
	return s
}

func openFile(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dbfile.URI(file,
		"_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_txlock=immediate"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func (s *site) exec(statements string, args ...any) {
	s.Helper()
	if _, err := s.db.ExecContext(s.Context(), statements, args...); err != nil {
		s.Fatal(err)
	}
}

// add makes a point, a minute after the one before.
func (s *site) add(reason restorepoint.Reason, before string) restorepoint.Point {
	s.Helper()
	s.now = s.now.Add(time.Minute)
	p, _, err := s.store.Add(s.Context(), s.file, restorepoint.About{Reason: reason, Before: before, Revision: "r1"})
	if err != nil {
		s.Fatal(err)
	}
	return p
}

// extract returns the file of a point's database.
func (s *site) extract(id string) string {
	s.Helper()
	file := filepath.Join(s.TempDir(), id+".db")
	if _, err := s.store.Extract(s.Context(), id, file); err != nil {
		s.Fatal(err)
	}
	return file
}

// copied returns the bytes of the database as SQLite copies it.
func (s *site) copied() []byte {
	s.Helper()
	conn, err := s.db.Conn(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	file := filepath.Join(s.TempDir(), "copy.db")
	if err := errors.Join(dbfile.Copy(s.Context(), conn, file), conn.Close()); err != nil {
		s.Fatal(err)
	}
	return read(s.T, file)
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// dump is every row of every table of a database, with types and bytes.
func dump(t *testing.T, file string) string {
	t.Helper()
	db := openFile(t, file)
	var out strings.Builder
	for _, table := range column(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> "+
		"'_pages_restores' ORDER BY name") {
		fmt.Fprintf(&out, "%s\n", table)
		quoted := `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+quoted)
		if err != nil {
			t.Fatal(err)
		}
		names, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, len(names))
			into := make([]any, len(names))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				fmt.Fprintf(&out, " %T:%q", v, fmt.Sprint(v))
			}
			out.WriteByte('\n')
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil { //nolint:sqlclosecheck // in a loop
			t.Fatal(err)
		}
	}
	return out.String()
}

// column is the only column of a query.
func column(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// one is the only value of a query, as text.
func (s *site) one(query string) string {
	s.Helper()
	return strings.Join(column(s.T, s.db, query), " ")
}

// putBack replaces the database by one in a file.
func (s *site) putBack(file string) {
	s.Helper()
	change, err := restorepoint.BeginWhole(s.Context(), s.db, file, func() error { return nil })
	if err == nil {
		err = change.Commit()
	}
	if err != nil {
		s.Fatal(err)
	}
}

// withoutCounters clears the bytes that SQLite's own copy changes in the head of a database: the form of its log, and counters of changes.
func withoutCounters(text []byte) []byte {
	text = bytes.Clone(text)
	for _, part := range [][2]int{{18, 20}, {24, 28}, {40, 44}, {92, 100}} {
		clear(text[part[0]:part[1]])
	}
	return text
}

func same(a, b []byte) bool { return bytes.Equal(a, b) }
