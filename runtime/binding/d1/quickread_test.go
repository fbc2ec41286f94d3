package d1

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDatabaseQuick runs queries that return at once, and others that return a promise.
func TestDatabaseQuick(t *testing.T) {
	d := newDatabase(t, Options{})
	setupSQL(t, d, "CREATE TABLE q(id INTEGER PRIMARY KEY, x)", "INSERT INTO q VALUES (1, 'a'), (2, 'b')")
	const one = "SELECT x FROM q WHERE id = ?"
	quick := func(text string, params ...any) string {
		turn := d.acquireReader()
		if turn == nil {
			return "later"
		}
		defer turn.end()
		out, done, err := turn.query(t.Context(), Query{text, params}, newRowWriter(shapeRaw, "", bufferOf(t.Context())))
		switch {
		case !done:
			return "later"
		case err != nil:
			return err.Error()
		}
		return string(out.bytes())
	}
	expect := func(when, want, text string, params ...any) {
		t.Helper()
		got := quick(text, params...)
		for tries := 0; want != "later" && got == "later" && tries < 100*slowUses; tries++ {
			got = quick(text, params...) // a busy machine took longer than a moment
		}
		if got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	expect("not compiled", "later", one, 1.0)
	askSQL(t, d, shapeRaw, one, 1.0)
	expect("compiled", `[["b"]]`, one, 2.0)
	expect("parameters missing", "Error: D1_ERROR: Wrong number of parameter bindings for SQL query.", one)
	for _, text := range []string{
		"INSERT INTO q(x) VALUES (?) RETURNING x", "PRAGMA foreign_keys", "SELECT 1; SELECT x FROM q",
		"SELECT last_insert_rowid()",
	} {
		t.Run(text, func(t *testing.T) {
			var params []any
			if strings.Contains(text, "?") {
				params = []any{"c"}
			}
			askSQL(t, d, shapeRaw, text, params...)
			expect(text, "later", text, params...)
		})
	}
	const long = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?) SELECT max(n) FROM n"
	askSQL(t, d, shapeRaw, long, 1.0)
	for range 2 { // the second is not even tried
		expect("long", "later", long, 1e12)
	}
	if slow := d.readers.idle[0].handle.cache[cacheKey{text: long}].slow; slow != slowUses-1 {
		t.Errorf("it is tried again in %d uses", slow)
	}
	if got := askSQL(t, d, shapeRaw, long, 10.0); got != "[[10]]" {
		t.Errorf("after it was interrupted: %s", got)
	}
	for range maxReaders {
		<-d.readers.free
	}
	expect("in use", "later", one, 1.0)
	for range maxReaders {
		d.readers.free <- struct{}{}
	}
	setupSQL(t, d, "ALTER TABLE q ADD COLUMN y")
	expect("another schema", "later", one, 1.0)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	expect("closed", "later", one, 1.0)
}

// TestDatabaseTurn reads several times in one turn of an event loop while others write.
func TestDatabaseTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	d := New(openSQL(t, path), Options{})
	defer d.Close()
	elsewhere := New(openSQL(t, path), Options{}) // as another process
	defer elsewhere.Close()
	const sum = "SELECT sum(x) FROM q"
	setupSQL(t, d, "CREATE TABLE q(x)", "INSERT INTO q VALUES (1)")
	askSQL(t, d, shapeRaw, sum)
	var turn *turnReader
	read := func(params ...any) string {
		for range 100 * slowUses { // until one was quick enough
			out, done, err := turn.query(t.Context(), Query{sum, params}, newRowWriter(shapeRaw, "", bufferOf(t.Context())))
			if err != nil {
				return err.Error()
			}
			if done {
				return string(out.bytes())
			}
		}
		return "later"
	}
	expect := func(when, want string) {
		t.Helper()
		if got := read(); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	turn = d.acquireReader()
	expect("the first", "[[1]]")
	setupSQL(t, elsewhere, "INSERT INTO q VALUES (10)")
	expect("the second", "[[11]]")
	setupSQL(t, elsewhere, "INSERT INTO q VALUES (100)")
	expect("reads of one turn", "[[11]]")
	setupSQL(t, d, "INSERT INTO q VALUES (1000)")
	expect("after a write of this process", "[[1111]]")
	if got := read(1.0); !strings.Contains(got, "parameter") {
		t.Errorf("with a parameter too many: %s", got)
	}
	expect("after an error", "[[1111]]")
	turn.end()
	setupSQL(t, elsewhere, "INSERT INTO q VALUES (10000)")
	turn = d.acquireReader()
	expect("the next turn", "[[11111]]")
	expect("the next turn again", "[[11111]]")
	turn.end()
	var busy, log, moved int
	if err := d.pool.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved); err != nil || busy != 0 {
		t.Errorf("a turn that ended still reads: %d, %v", busy, err)
	}
}
