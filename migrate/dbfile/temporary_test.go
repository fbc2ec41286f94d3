package dbfile_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// sorting returns the number of so many rows of 100 kB after a sort in a temporary file.
const sorting = `WITH RECURSIVE c(x, z) AS (SELECT 1, zeroblob(100000) UNION ALL SELECT x + 1, zeroblob(100000) FROM c LIMIT ?)
	SELECT count(*) FROM (SELECT x FROM c ORDER BY z || x LIMIT -1 OFFSET 0)`

// TestTemporary: sorts stay within the bounds on disk space, alone and together, and free it afterwards; databases and their logs have no
// bound.
func TestTemporary(t *testing.T) {
	bound := &dbfile.Temporary{PerFile: 20_000_000, Together: 24_000_000}
	if err := bound.Register("bounded-in-test"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", dbfile.URI(path, "vfs=bounded-in-test&_pragma=journal_mode(WAL)"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sort := func(rows int) error {
		var n int
		err := db.QueryRow(sorting, rows).Scan(&n)
		if err == nil && n != rows {
			t.Errorf("%d rows of %d", n, rows)
		}
		return err
	}
	full := func(err error) bool { return err != nil && strings.Contains(err.Error(), "disk is full") }
	for range 3 {
		if err := sort(80); err != nil {
			t.Errorf("8 MB: %v", err)
		}
		if err := sort(400); !full(err) {
			t.Errorf("40 MB: %v", err)
		}
		if n := bound.Taken(); n != 0 {
			t.Errorf("%d bytes are still taken", n)
		}
	}
	// A running sort leaves the rest to the others.
	rows, err := db.Query(strings.Replace(sorting, "count(*)", "x", 1), 150)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() || bound.Taken() < 14_000_000 {
		t.Errorf("%d bytes are taken: %v", bound.Taken(), rows.Err())
	}
	if err := sort(150); !full(err) {
		t.Errorf("15 MB more: %v", err)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sort(150); err != nil {
		t.Errorf("15 MB afterwards: %v", err)
	}
	if _, err := db.Exec("CREATE TABLE t(a); INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 " +
		"FROM c LIMIT 50) SELECT zeroblob(1000000) FROM c"); err != nil {
		t.Errorf("a database of 50 MB: %v", err)
	}
	var sound string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" || bound.Taken() != 0 {
		t.Errorf("%s %v, %d bytes are taken", sound, err, bound.Taken())
	}
}
