package d1

import (
	"strings"
	"testing"
)

// TestRowLimit: UPDATE and DELETE with ORDER BY and LIMIT, as in D1, with errors at bytes of the author's text.
func TestRowLimit(t *testing.T) {
	for _, c := range []struct {
		name, sql string
		params    []any
		left      string // the ids that are left, with "!" for those that were changed; "" for all of them
		err       string
	}{
		{name: "delete", sql: "DELETE FROM q ORDER BY a LIMIT 1", left: "1 3 4"},
		{name: "delete with parameters", sql: "DELETE FROM q WHERE a > ? ORDER BY a DESC LIMIT ?", params: []any{1., 2.}, left: "2 3"},
		{name: "update", sql: "UPDATE q SET b = 'new' ORDER BY a DESC LIMIT 1", left: "1! 2 3 4"},
		{name: "a quoted table", sql: `DELETE FROM "q" AS x WHERE x.a < 3 ORDER BY x.a DESC LIMIT 1`, left: "1 2 4"},
		{name: "a comment", sql: "DELETE FROM q -- all\nLIMIT 2 -- of them", left: "3 4"},
		{name: "a semicolon", sql: "DELETE FROM q ORDER BY id LIMIT 3;", left: "4"},
		{
			name: "an unknown column", sql: "DELETE FROM q ORDER BY missing LIMIT 1",
			err: "no such column: missing at offset 23: SQLITE_ERROR",
		},
		{
			name: "an unknown column in a condition", sql: "UPDATE q SET a = 1 WHERE missing = 1 ORDER BY a LIMIT 1",
			err: "no such column: missing at offset 25: SQLITE_ERROR",
		},
		{name: "no limit", sql: "DELETE FROM q ORDER BY a", err: "ORDER BY without LIMIT on DELETE: SQLITE_ERROR"},
		{
			name: "a word too many", sql: "DELETE FROM q LIMIT 1 nonsense",
			err: `near "nonsense": syntax error at offset 22: SQLITE_ERROR`,
		},
		{name: "nothing behind LIMIT", sql: "DELETE FROM q ORDER BY a LIMIT", err: "incomplete input: SQLITE_ERROR"},
		{
			name: "in a trigger", sql: "CREATE TRIGGER x AFTER INSERT ON q BEGIN DELETE FROM q LIMIT 1; END",
			err: `near "LIMIT": syntax error at offset 55: SQLITE_ERROR`,
		},
		{name: "a platform's table", sql: "DELETE FROM _cf_KV LIMIT 1", err: "no such table: _cf_KV: SQLITE_ERROR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDatabase(t, Options{})
			for _, text := range []string{
				"CREATE TABLE q (id INTEGER PRIMARY KEY, a, b)", "INSERT INTO q VALUES (1, 4, ''), (2, 1, ''), (3, 2, ''), (4, 3, '')",
				"CREATE TABLE other (x)",
			} {
				askSQL(t, d, shapeAll, text)
			}
			got := askSQL(t, d, shapeAll, c.sql, c.params...)
			if c.err != "" && !strings.Contains(got, c.err) || c.err == "" && !strings.HasPrefix(got, "[[],") {
				t.Errorf("%s", got)
			}
			if c.left == "" {
				c.left = "1 2 3 4"
			}
			left := askSQL(t, d, shapeAll, "SELECT group_concat(id || iif(b = '', '', '!'), ' ') AS ids FROM (SELECT * FROM q ORDER BY id)")
			if !strings.Contains(left, `"`+c.left+`"`) {
				t.Errorf("left are %s, want %s", left, c.left)
			}
		})
	}
}

// TestRowLimitTwice: such a statement is compiled once, also as one of several, and follows a change of the schema.
func TestRowLimitTwice(t *testing.T) {
	d := newDatabase(t, Options{})
	askSQL(t, d, shapeAll, "CREATE TABLE q (id INTEGER PRIMARY KEY, a)")
	for range 3 {
		askSQL(t, d, shapeAll, "INSERT INTO q (a) VALUES (1), (2), (3)")
		if got := askSQL(t, d, shapeAll, "DELETE FROM q ORDER BY a LIMIT 2"); !strings.Contains(got, ",2,") {
			t.Error(got)
		}
	}
	askSQL(t, d, shapeAll, "DROP TABLE q")
	askSQL(t, d, shapeAll, "CREATE TABLE q (k TEXT PRIMARY KEY, a) WITHOUT ROWID")
	askSQL(t, d, shapeAll, "INSERT INTO q VALUES ('x', 1), ('y', 2), ('z', 3)")
	if got := askSQL(t, d, shapeAll, "DELETE FROM q ORDER BY a LIMIT 2"); !strings.Contains(got, ",2,") {
		t.Error(got)
	}
	if got := askSQL(t, d, shapeAll, "SELECT k FROM q"); !strings.Contains(got, `"z"`) || strings.Contains(got, `"x"`) {
		t.Error(got)
	}
}
