package migrate_test

import (
	"strings"
	"testing"
)

// TestLossesOfTruncation: DELETE of all rows of a table is tracked although SQLite then reports no row; row by row if a row has
// consequences.
func TestLossesOfTruncation(t *testing.T) {
	const tables = "CREATE TABLE t(id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (5, 'c'), (9, 'd');\n"
	tests := []struct{ name, before, sql, want string }{
		{"ids with gaps, one put back", "", "DELETE FROM t; INSERT INTO t VALUES (5, 'c');", "2.sql:1 t 3 delete"},
		{"with its schema and a comment", "", "-- all\ndelete /* of */ from \"main\" . [T]", "2.sql:2 t 4 delete"},
		{"twice", "", "DELETE FROM t;\nDELETE FROM t;", "2.sql:1 t 4 delete"},
		{"after some", "", "DELETE FROM t WHERE id < 3;\nDELETE FROM t;", "2.sql:1 t 2 delete; 2.sql:2 t 2 delete"},
		{
			"rows of the run", "",
			"INSERT INTO t VALUES (6, 'e'), (10, 'f'); DELETE FROM t WHERE id < 9;\nDELETE FROM t;",
			"2.sql:1 t 3 delete; 2.sql:2 t 1 delete",
		},
		{"rows with other ids", "", "UPDATE t SET id = -id;\nDELETE FROM t;", "2.sql:2 t 4 delete"},
		{"with a condition", "", "DELETE FROM t WHERE 1;", "2.sql:1 t 4 delete"},
		{
			"the ends of all ids", "DELETE FROM t; INSERT INTO t VALUES (-9223372036854775808, 1), (9223372036854775807, 2);",
			"DELETE FROM t;",
			"2.sql:1 t 2 delete",
		},
		{
			"all ids up to the end", "DELETE FROM t; INSERT INTO t VALUES (9223372036854775806, 1), (9223372036854775807, 2);",
			"DELETE FROM t;",
			"2.sql:1 t 2 delete",
		},
		{
			"a trigger", "CREATE TABLE o(x); INSERT INTO o VALUES ('a'), ('b'); " +
				"CREATE TRIGGER g AFTER DELETE ON t BEGIN DELETE FROM o WHERE x = old.x; END;",
			"DELETE FROM t;",
			"2.sql:1 o 2 trigger; 2.sql:1 t 4 delete",
		},
		{
			"a trigger of the run", "CREATE TABLE o(x); INSERT INTO o VALUES ('a');",
			"CREATE TRIGGER g AFTER DELETE ON T BEGIN DELETE FROM o; END;\nDELETE FROM t;",
			"2.sql:2 o 1 trigger; 2.sql:2 t 4 delete",
		},
		{
			"a child", "CREATE TABLE c(t REFERENCES T ON DELETE CASCADE); INSERT INTO c VALUES (1), (1), (NULL);",
			"DELETE FROM t;",
			"2.sql:1 c 2 cascade; 2.sql:1 t 4 delete",
		},
		{
			"itself", "CREATE TABLE s(id INTEGER PRIMARY KEY, up REFERENCES s ON DELETE CASCADE); " +
				"INSERT INTO s VALUES (1, NULL), (2, 1), (3, 2);",
			"DELETE FROM s;",
			"2.sql:1 s 2 cascade; 2.sql:1 s 1 delete",
		},
		{
			"without rowid", "CREATE TABLE w(k PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES (1), (2), (3);",
			"DELETE FROM w; INSERT INTO w VALUES (2);",
			"2.sql:1 w 2 delete",
		},
		{"a column of the name", "CREATE TABLE n(rowid, y); INSERT INTO n VALUES (7, 7), (7, 8);", "DELETE FROM n;", "2.sql:1 n 2 delete"},
		{
			"columns of all names", "CREATE TABLE n(rowid, _rowid_, oid); INSERT INTO n VALUES (7, 7, 7), (7, 7, 7);",
			"DELETE FROM n;",
			"2.sql:1 n 2 delete",
		},
		{
			"a view", "CREATE VIEW v AS SELECT * FROM t; " +
				"CREATE TRIGGER g INSTEAD OF DELETE ON v BEGIN DELETE FROM t WHERE id = old.id; END;",
			"DELETE FROM v;",
			"2.sql:1 t 4 trigger",
		},
		{
			"another statement after it", "",
			"DELETE FROM t; UPDATE t SET x = 1; INSERT INTO t VALUES (1, 'z');\nDELETE FROM t WHERE id = 1;",
			"2.sql:1 t 3 delete; 2.sql:2 t 1 delete",
		},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			db := open(t)
			before := list("1.sql", tables+c.before)
			apply(t, db, before)
			plan, err := migrator(db, append(before, list("2.sql", c.sql)...), options).Plan(t.Context())
			if err != nil || plan.NotRehearsed != "" {
				t.Fatalf("%v, %s", err, plan.NotRehearsed)
			}
			if got := strings.Join(losses(plan.Losses), "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
