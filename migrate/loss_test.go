package migrate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// losses gives "file:line table.column rows cause" of each, with "allowed" after.
func losses(list []migrate.Loss) (lines []string) {
	for _, l := range list {
		what := l.Table
		if l.Column != "" {
			what += "." + l.Column
		}
		line := fmt.Sprintf("%s:%d %s %d %s", l.Pos.Filename, l.Pos.Line, what, l.Rows, l.Cause)
		if l.Allowed {
			line += " allowed"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestLosses(t *testing.T) {
	const shop = `CREATE TABLE p(id INTEGER PRIMARY KEY, name TEXT, price REAL, note TEXT);
CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p ON DELETE CASCADE, q REFERENCES p ON DELETE SET NULL);
CREATE TABLE w(a TEXT, b INT, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE k(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE bare(x, y);
CREATE TABLE empty(x);
INSERT INTO p VALUES (1, 'a', 1.5, 'n1'), (2, 'b', 2, NULL), (3, 'c', 2.25, 'n3'), (7, 'd', 4, '');
INSERT INTO c VALUES (10, 1, 1), (11, 1, 2), (12, 2, 3), (13, NULL, NULL);
INSERT INTO w VALUES ('a', 1), ('a', 2), ('b', 1);
INSERT INTO k VALUES ('theme', 'dark'), ('lang', 'de');
INSERT INTO bare VALUES (1, 'x'), (1, 'x'), (2, 'y'), ('007', 'z');
`
	const again = "CREATE TABLE p2(id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, note TEXT);\n"
	tests := []struct{ name, sql, want string }{
		{"nothing", "SELECT 1;", ""},
		{"delete", "SELECT 1;\nDELETE FROM p WHERE id = 7;", "2.sql:2 p 1 delete"},
		{"delete all", "DELETE FROM bare;", "2.sql:1 bare 4 delete"},
		{"delete in two statements", "DELETE FROM bare WHERE x = 1;\nDELETE FROM bare;", "2.sql:1 bare 2 delete; 2.sql:2 bare 2 delete"},
		{"cascade", "DELETE FROM p WHERE id = 1;", "2.sql:1 c 2 cascade; 2.sql:1 p 1 delete"},
		{"set null", "DELETE FROM p WHERE id = 3;", "2.sql:1 c.q 1 set null; 2.sql:1 p 1 delete"},
		{"set null and filled again", "UPDATE c SET q = 1 WHERE q = 3; DELETE FROM p WHERE id = 3;", "2.sql:1 p 1 delete"},
		{"drop", "DROP TABLE bare;\nDROP TABLE empty;", "2.sql:1 bare 4 drop"},
		{"drop a parent", "DROP TABLE p;", "2.sql:1 c 3 cascade; 2.sql:1 p 4 drop"},
		{"delete, then drop", "DELETE FROM k WHERE key = 'lang';\nDROP TABLE k;", "2.sql:1 k 1 delete; 2.sql:2 k 1 drop"},
		{"rows of the run", "INSERT INTO bare VALUES (9, 9), (9, 8); DELETE FROM bare WHERE x = 9;", ""},
		{"rows of the run and others", "INSERT INTO bare VALUES (2, 9); DELETE FROM bare WHERE x = 2;", "2.sql:1 bare 1 delete"},
		{"a table of the run", "CREATE TABLE t AS SELECT * FROM bare; DELETE FROM t; DROP TABLE t;", ""},
		{"put back", "DELETE FROM k; INSERT INTO k VALUES ('lang', 'de'), ('theme', 'dark');", ""},
		{"put back with other values", "DELETE FROM k; INSERT INTO k VALUES ('lang', 'en'), ('theme', 'dark');", "2.sql:1 k 1 delete"},
		{"put back by way of a table", "CREATE TABLE t AS SELECT * FROM k; DELETE FROM k; INSERT INTO k SELECT key, upper(value) " +
			"FROM t; DROP TABLE t;", ""},
		{"another row with its key and no value", "DELETE FROM k; INSERT INTO k VALUES ('lang', NULL), ('theme', " +
			"'dark');", "2.sql:1 k 1 delete"},
		{"one put back", "DELETE FROM k; INSERT INTO k VALUES ('lang', 'de'), ('other', 'dark');", "2.sql:1 k 1 delete"},
		{"made anew with other rows", "DROP TABLE k; CREATE TABLE k(key TEXT PRIMARY KEY, value TEXT); INSERT INTO k VALUES " +
			"('lang', 'en'), ('theme', 'dark');", "2.sql:1 k 1 drop"},
		{"put back by values", "DELETE FROM bare; INSERT INTO bare VALUES (2, 'y'), (1, 'x'), ('007', 'z');", "2.sql:1 bare 1 delete"},
		{"put back with others", "CREATE TABLE t AS SELECT * FROM w; DELETE FROM w; INSERT INTO w SELECT * FROM t WHERE b = 1; DROP " +
			"TABLE t;", "2.sql:1 w 1 delete"},
		{"without rowid", "DELETE FROM w WHERE a = 'a';", "2.sql:1 w 2 delete"},
		{"replace the same key", "REPLACE INTO k VALUES ('lang', 'en');", ""},
		{"replace with NULL", "INSERT OR REPLACE INTO k(key) VALUES ('lang');", "2.sql:1 k.value 1 replace"},
		{"replace by a unique index", "CREATE UNIQUE INDEX i ON p(name);\n" +
			"REPLACE INTO p(id, name) VALUES (20, 'd');", "2.sql:2 p 1 replace"},
		{"update or replace", "UPDATE OR REPLACE p SET id = 1 WHERE id = 7;", "2.sql:1 c 2 cascade; 2.sql:1 p 1 replace"},
		{"upsert", "INSERT INTO k VALUES ('lang', 'en') ON CONFLICT DO UPDATE SET value = excluded.value;", ""},
		{
			"a trigger on a table with a cascade of its own",
			"CREATE TRIGGER t AFTER INSERT ON empty BEGIN DELETE FROM c WHERE id = 12; END;\nINSERT INTO empty VALUES (1);",
			"2.sql:2 c 1 trigger",
		},
		{
			"a trigger that deletes a parent",
			"CREATE TRIGGER t AFTER INSERT ON empty BEGIN DELETE FROM p WHERE id = 1; END;\nINSERT INTO empty VALUES (1);",
			"2.sql:2 c 2 cascade; 2.sql:2 p 1 trigger",
		},
		{
			"trigger", "CREATE TRIGGER t AFTER INSERT ON empty BEGIN DELETE FROM bare WHERE x = 1; END;\nINSERT INTO empty VALUES (1);",
			"2.sql:2 bare 2 trigger",
		},
		{"update", "UPDATE p SET name = upper(name), price = price * 2, note = 'n' || note;", ""},
		{"update to NULL", "UPDATE p SET note = NULL WHERE id < 3;", "2.sql:1 p.note 1 update"},
		{"update of empty text to NULL", "UPDATE p SET note = NULL WHERE note = '';", ""},
		{"update to one value", "UPDATE p SET name = 'x';", "2.sql:1 p.name 4 update"},
		{"update that narrows", "UPDATE p SET price = CAST(price AS INTEGER);", ""},
		{"update that cuts", "UPDATE p SET note = substr(note, 1, 1) WHERE id < 4;", "2.sql:1 p.note 2 narrow"},
		{"two updates", "UPDATE p SET note = NULL WHERE id = 1;\nUPDATE p SET note = NULL, name = name || 'x' WHERE id = " +
			"3;", "2.sql:1 p.note 1 update; 2.sql:2 p.note 1 update"},
		{"renumber", "UPDATE k SET key = key || '2'; UPDATE bare SET rowid = rowid + 100;", ""},
		{"drop a column", "ALTER TABLE p DROP COLUMN note;", "2.sql:1 p.note 3 drop column"},
		{"drop an empty column", "ALTER TABLE p ADD COLUMN z; ALTER TABLE p DROP COLUMN z;", ""},
		{"drop a column of rows that go", "DELETE FROM p WHERE id = 7;\n" +
			"ALTER TABLE p DROP COLUMN note;", "2.sql:1 p 1 delete; 2.sql:2 p.note 2 drop column"},
		{"rename", "ALTER TABLE p RENAME TO r; ALTER TABLE r RENAME COLUMN note TO remark; DELETE FROM r WHERE id = 7;", "2.sql:1 p " +
			"1 delete"},
		{"column copied", "ALTER TABLE p ADD COLUMN remark; UPDATE p SET remark = note; ALTER TABLE p DROP COLUMN note;", ""},
		{
			"column made anew", "ALTER TABLE p ADD COLUMN z TEXT; UPDATE p SET z = CAST(price AS TEXT);\n" +
				"ALTER TABLE p DROP COLUMN price; ALTER TABLE p RENAME COLUMN z TO price;",
			"",
		},
		{
			"column made anew as a number", "ALTER TABLE p ADD COLUMN z INTEGER; UPDATE p SET z = CAST(note AS INTEGER);\n" +
				"ALTER TABLE p DROP COLUMN note; ALTER TABLE p RENAME COLUMN z TO note;",
			"2.sql:2 p.note 2 narrow",
		},
		{"table made anew", "PRAGMA defer_foreign_keys = ON; CREATE TABLE kept AS SELECT * FROM c;\n" + again + "INSERT INTO p2 " +
			"SELECT * FROM p; DROP TABLE p; ALTER TABLE p2 RENAME TO p;\n" +
			"DELETE FROM c; INSERT INTO c SELECT * FROM kept; DROP TABLE kept; PRAGMA defer_foreign_keys = OFF;", ""},
		{"table made anew, cascade", "PRAGMA foreign_keys = OFF;\n" + again + "INSERT INTO p2 SELECT * FROM p;\nDROP TABLE p;\n" +
			"ALTER TABLE p2 RENAME TO p;", "2.sql:4 c 3 cascade"},
		{
			"table made anew without rows", "DROP TABLE c;\n" + again + "INSERT INTO p2 SELECT * FROM p WHERE price > 1.5;\n" +
				"DROP TABLE p;\nALTER TABLE p2 RENAME TO p;",
			"2.sql:1 c 4 drop; 2.sql:4 p 1 drop",
		},
		{
			"table made anew without a column", "CREATE TABLE k2(key TEXT PRIMARY KEY); INSERT INTO k2 SELECT key FROM k;\n" +
				"DROP TABLE k; ALTER TABLE k2 RENAME TO k;",
			"2.sql:2 k.value 2 drop column",
		},
		{
			"table made anew, column not copied", "CREATE TABLE k2(key TEXT PRIMARY KEY, value TEXT DEFAULT ''); INSERT INTO " +
				"k2(key) SELECT key FROM k;\nDROP TABLE k; ALTER TABLE k2 RENAME TO k;",
			"2.sql:2 k.value 2 drop column",
		},
		{
			"table made anew, column renamed", "CREATE TABLE k2(key TEXT PRIMARY KEY, v TEXT); INSERT INTO k2 SELECT key, value " +
				"FROM k;\nDROP TABLE k; ALTER TABLE k2 RENAME TO k;",
			"",
		},
		{
			"table made anew, narrow", "CREATE TABLE b2(x INTEGER, y TEXT) STRICT; INSERT INTO b2 SELECT CAST(x AS INTEGER), y FROM " +
				"bare;\nDROP TABLE bare; ALTER TABLE b2 RENAME TO bare;",
			"2.sql:2 bare.x 1 narrow",
		},
		{
			"table made anew, integers", "DROP TABLE c; CREATE TABLE p2(id INTEGER PRIMARY KEY, name TEXT, price INTEGER, note " +
				"TEXT) STRICT;\nINSERT INTO p2 SELECT id, name, CAST(price AS INTEGER), note FROM p;\n" +
				"DROP TABLE p; ALTER TABLE p2 RENAME TO p;",
			"2.sql:1 c 4 drop; 2.sql:3 p.price 2 narrow",
		},
		{"table made anew, empty", "DROP TABLE bare; CREATE TABLE bare(x, y);", "2.sql:1 bare 4 drop"},
		{
			"old one renamed first", "ALTER TABLE k RENAME TO old; CREATE TABLE k(key TEXT PRIMARY KEY, value TEXT); INSERT INTO k " +
				"SELECT * FROM old WHERE key = 'lang';\nDROP TABLE old;",
			"2.sql:2 k 1 drop",
		},
		{"moved", "CREATE TABLE k2 AS SELECT * FROM k;\n-- pages: loses k\nDROP TABLE k;", "2.sql:3 k 2 drop allowed"},
		{"allowed", "-- it is over\n-- Pages: Loses \"P\", c\nDELETE FROM p WHERE id = 1;", "2.sql:3 c 2 cascade allowed; 2.sql:3 p " +
			"1 delete allowed"},
		{"allowed in part", "-- pages: loses p\nDELETE FROM p WHERE id = 1;", "2.sql:2 c 2 cascade; 2.sql:2 p 1 delete allowed"},
		{"allowed under its new name", "ALTER TABLE k RENAME TO kv;\n-- pages: loses kv\nDELETE FROM kv;", "2.sql:3 k 2 delete allowed"},
		{"allowed elsewhere", "-- pages: loses bare\nSELECT 1; -- pages: loses bare\nDELETE FROM bare;", "2.sql:3 bare 4 delete"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			db := open(t)
			apply(t, db, list("1.sql", shop))
			plan, err := migrator(db, list("1.sql", shop, "2.sql", c.sql), options).Plan(t.Context())
			if err != nil || plan.NotRehearsed != "" {
				t.Fatalf("%v, %s", err, plan.NotRehearsed)
			}
			if got := strings.Join(losses(plan.Losses), "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestLossesOfOddTables is about tables that differ from those of TestLosses.
func TestLossesOfOddTables(t *testing.T) {
	tests := []struct{ name, before, sql, want string }{
		{
			"quoted names", `CREATE TABLE "a ""b"(x, "c d" TEXT, rowid TEXT); INSERT INTO "a ""b" VALUES (1, 2, 3), (4, 5, 6);`,
			"DELETE FROM [a \"b] WHERE x = 1;\n-- pages: loses \"A \"\"b\"\n" +
				"ALTER TABLE \"A \"\"B\" DROP COLUMN \"C D\"; ALTER TABLE \"a \"\"b\" RENAME TO `x``y`; UPDATE `x``y` SET rowid = NULL;",
			`2.sql:1 a "b 1 delete; 2.sql:3 a "b.c d 1 drop column allowed; 2.sql:3 a "b.rowid 1 update`,
		},
		{
			"values of all kinds that are cut", "CREATE TABLE v(id INTEGER PRIMARY KEY, x); INSERT INTO v(x) VALUES ('abc'), (x'00ff'), " +
				"(9e99), (-9e999), (1.5), (7), (NULL);",
			"CREATE TABLE v2(id INTEGER PRIMARY KEY, x INTEGER); INSERT INTO v2 SELECT id, CAST(x AS INTEGER) FROM v;\nDROP TABLE v; " +
				"ALTER TABLE v2 RENAME TO v;",
			"2.sql:2 v.x 5 narrow",
		},
		{
			"generated columns", "CREATE TABLE g(id INTEGER PRIMARY KEY, a INT, b AS (a + 1), c AS (a + 2) STORED); INSERT INTO " +
				"g(a) VALUES (1), (2);",
			"ALTER TABLE g DROP COLUMN b; UPDATE g SET a = a + 1; DELETE FROM g WHERE id = 1;", "2.sql:1 g 1 delete",
		},
		{
			"full text", "CREATE VIRTUAL TABLE f USING fts5(t); INSERT INTO f VALUES ('a'), ('b');", "SELECT 1;\n" +
				"DELETE FROM f WHERE t = 'a';", "2.sql:2 f 1 delete",
		},
		{"full text, dropped", "CREATE VIRTUAL TABLE f USING fts5(t); INSERT INTO f VALUES ('a'), ('b');", "SELECT 1;\n" +
			"DROP TABLE f;", "2.sql:2 f 2 drop"},
		{
			"full text, renamed", "CREATE VIRTUAL TABLE f USING fts5(t); INSERT INTO f VALUES ('a'), ('b');",
			"ALTER TABLE f RENAME TO g; INSERT INTO g VALUES ('c'); INSERT INTO g(g) VALUES ('optimize');", "",
		},
		{"tree", "CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES (1, 0, 1), (2, 0, 1);", "DELETE FROM r WHERE " +
			"id = 2;", "2.sql:1 r 1 delete"},
		{
			"a column that replaces", "CREATE TABLE u(id INTEGER PRIMARY KEY, k UNIQUE ON CONFLICT REPLACE, v); INSERT INTO u " +
				"VALUES (1, 'a', 'x'), (2, 'b', 'y');",
			"INSERT INTO u VALUES (3, 'a', 'z');\nUPDATE u SET k = 'b' WHERE id = 3;", "2.sql:1 u 1 replace; 2.sql:2 u 1 replace",
		},
		{
			"a tree of rows", "CREATE TABLE n(id INTEGER PRIMARY KEY, up REFERENCES n ON DELETE CASCADE); INSERT INTO n VALUES (1, " +
				"NULL), (2, 1), (3, 2), (4, NULL);",
			"DELETE FROM n WHERE id = 1;", "2.sql:1 n 2 cascade; 2.sql:1 n 1 delete",
		},
		{
			"set default", "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, p DEFAULT 1 REFERENCES p " +
				"ON DELETE SET DEFAULT);" +
				"INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1, 1), (2, 2), (3, 2);", "DELETE FROM p WHERE id = " +
				"2;", "2.sql:1 c.p 2 set null; 2.sql:1 p 1 delete",
		},
		{
			"on update", "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p ON UPDATE " +
				"SET NULL);" +
				"INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1, 1), (2, 2), (3, 2);", "UPDATE p SET id = 9 WHERE id = " +
				"2;", "2.sql:1 c.p 2 set null",
		},
		{
			"grandchildren", "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY, a REFERENCES a ON " +
				"DELETE CASCADE); CREATE TABLE c(b REFERENCES b ON DELETE CASCADE);" +
				"INSERT INTO a VALUES (1); INSERT INTO b VALUES (1, 1), (2, 1); INSERT INTO c VALUES (1), (2), (2);", "DROP TABLE a;",
			"2.sql:1 a 1 drop; 2.sql:1 b 2 cascade; 2.sql:1 c 3 cascade",
		},
		{
			"replaced parent", "CREATE TABLE a(id INTEGER PRIMARY KEY, v); CREATE TABLE b(a REFERENCES a ON DELETE CASCADE); INSERT " +
				"INTO a VALUES (1, 'x'); INSERT INTO b VALUES (1);",
			"REPLACE INTO a VALUES (1, 'y');", "2.sql:1 b 1 cascade",
		},
		{
			"a view in its place", "CREATE TABLE a(x); INSERT INTO a VALUES (1);",
			"ALTER TABLE a RENAME TO rows; CREATE VIEW a AS SELECT * FROM rows; CREATE TRIGGER t INSTEAD OF DELETE ON a BEGIN " +
				"DELETE FROM rows WHERE x = old.x; END;\nDELETE FROM a;",
			"2.sql:2 a 1 trigger",
		},
		{
			"made anew twice", "CREATE TABLE a(id INTEGER PRIMARY KEY, x); INSERT INTO a VALUES (1, 'a'), (2, 'b'), (3, 'c');",
			"CREATE TABLE b(id INTEGER PRIMARY KEY, x); INSERT INTO b SELECT * FROM a; DROP TABLE a; ALTER TABLE b RENAME TO a;\n" +
				"CREATE TABLE b(id INTEGER PRIMARY KEY); INSERT INTO b SELECT id FROM a WHERE id < 3;\n" +
				"DROP TABLE a; ALTER TABLE b RENAME TO a;\nDELETE FROM a WHERE id = 1;",
			"2.sql:3 a 1 drop; 2.sql:3 a.x 1 drop column; 2.sql:4 a 1 delete",
		},
		{
			"made anew without a key", "CREATE TABLE a(x, y); INSERT INTO a VALUES (1, 'a'), (2, 'b'), (3, 'c');",
			"CREATE TABLE b(x, y); INSERT INTO b SELECT * FROM a WHERE x < 3;\n" +
				"DROP TABLE a; ALTER TABLE b RENAME TO a;", "2.sql:2 a 1 drop",
		},
		{
			"made anew with another key", "CREATE TABLE a(id INTEGER PRIMARY KEY, x); INSERT INTO a VALUES (1, 'a'), (2, 'b');",
			"CREATE TABLE b(id TEXT PRIMARY KEY, x); INSERT INTO b SELECT hex(randomblob(8)), x FROM a;\n" +
				"DROP TABLE a; ALTER TABLE b RENAME TO a;", "",
		},
		{
			"another table in its place", "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY); INSERT " +
				"INTO a VALUES (1), (2); INSERT INTO b VALUES (1);",
			"DROP TABLE a; ALTER TABLE b RENAME TO a;", "2.sql:1 a 2 drop",
		},
		{
			"keys of several columns", "CREATE TABLE k(a, b, v, PRIMARY KEY (a, b)); INSERT INTO k VALUES (1, 1, 'x'), (1, 2, 'y'), " +
				"(NULL, 1, 'z');",
			"REPLACE INTO k VALUES (1, 1, NULL);\nDELETE FROM k WHERE b = 2; INSERT INTO k VALUES (9, 9, 9);", "2.sql:1 k.v 1 " +
				"replace; 2.sql:2 k 1 delete",
		},
		{
			"without rowid, another key", "CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES ('a', 1), ('b', 2);",
			"UPDATE w SET k = k || k; DELETE FROM w WHERE k = 'aa'; UPDATE w SET v = NULL;", "2.sql:1 w 1 delete",
		},
		{
			"a statement over the limit of steps", "CREATE TABLE a(x INTEGER PRIMARY KEY); INSERT INTO a VALUES (1), (2);",
			"REPLACE INTO a SELECT 1 WHERE 1 IN (1" + strings.Repeat(", 1", 20_000) + ");\nDELETE FROM a WHERE x = 1;",
			"2.sql:2 a 1 delete",
		},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			db := open(t)
			apply(t, db, list("1.sql", c.before))
			plan, err := migrator(db, list("1.sql", c.before, "2.sql", c.sql), options).Plan(t.Context())
			if err != nil || plan.NotRehearsed != "" {
				t.Fatalf("%v, %s", err, plan.NotRehearsed)
			}
			if got := strings.Join(losses(plan.Losses), "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestLossComment: the comment that advice shows allows the tables that it names.
func TestLossComment(t *testing.T) {
	tables := []string{"people", "old trips", "order", `"quoted"`, "日本", "v1.boats", "2026", "a,b", "it's"}
	var sql, drops strings.Builder
	for _, name := range tables {
		fmt.Fprintf(&sql, "CREATE TABLE %s(x); INSERT INTO %[1]s VALUES (1);", dbfile.QuoteName(name))
		fmt.Fprintf(&drops, "%s\nDROP TABLE %s;\n", migrate.LossComment(tables...), dbfile.QuoteName(name))
	}
	db := open(t)
	apply(t, db, list("1.sql", sql.String()))
	plan, err := migrator(db, list("1.sql", sql.String(), "2.sql", drops.String()), options).Plan(t.Context())
	if err != nil || len(plan.Losses) != len(tables) {
		t.Fatalf("%d losses, %v", len(plan.Losses), err)
	}
	for _, l := range plan.Losses {
		if !l.Allowed {
			t.Errorf("%q is not allowed", l.Table)
		}
	}
	if got := migrate.LossComment(tables[:2]...); got != `-- pages: loses people, "old trips"` {
		t.Errorf("%s", got)
	}
}

// TestLossCounted: a plan marks rows that are counted instead of matched one by one.
func TestLossCounted(t *testing.T) {
	tests := []struct{ name, before, sql, want string }{
		{
			"a virtual table", "CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f VALUES ('a'), ('b');",
			"INSERT INTO f VALUES ('c');\nDELETE FROM f WHERE rowid = 1;", "2.sql:2:1 f",
		},
		{
			"a virtual table that only grows", "CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f VALUES ('a');",
			"INSERT INTO f VALUES ('c');", "",
		},
		{
			"without rowids", "CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES ('a', 1), ('b', 2);",
			"DELETE FROM w;\nINSERT INTO w VALUES ('a', 1);", "",
		},
		{
			"without rowids, and other keys",
			"CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES ('a', 1), ('b', 2);",
			"UPDATE w SET k = 'c' WHERE k = 'a';\nDELETE FROM w; INSERT INTO w VALUES ('b', 2);", "2.sql:2:1 w",
		},
		{
			"made anew without a key", "CREATE TABLE a(x); INSERT INTO a VALUES (1), (2);",
			"CREATE TABLE b(x); INSERT INTO b SELECT x FROM a WHERE x < 2;\nDROP TABLE a; ALTER TABLE b RENAME TO a;", "2.sql:2:1 a",
		},
		{
			"made anew with all rows", "CREATE TABLE a(x); INSERT INTO a VALUES (1), (2);",
			"CREATE TABLE b(x); INSERT INTO b SELECT x FROM a;\nDROP TABLE a; ALTER TABLE b RENAME TO a;", "",
		},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			db := open(t)
			apply(t, db, list("1.sql", c.before))
			plan, err := migrator(db, list("1.sql", c.before, "2.sql", c.sql), options).Plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range plan.Warnings {
				if n.Code == migrate.CodeLossCounted {
					got = append(got, n.Pos.String()+" "+strings.Split(n.Msg, `"`)[1])
				}
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestLossUnfounded: a comment that allows a loss which does not happen is reported, unless the database is empty.
func TestLossUnfounded(t *testing.T) {
	const tables = "CREATE TABLE a(x); CREATE TABLE b(x); INSERT INTO a VALUES (1);"
	const comments = "-- pages: loses a\nSELECT 1;\n-- pages: loses b\nDELETE FROM b;\n-- pages: loses bb\nDELETE FROM b;\n" +
		"-- pages: loses a\nDELETE FROM a;"
	db := open(t)
	apply(t, db, list("1.sql", tables))
	plan, err := migrator(db, list("1.sql", tables, "2.sql", comments), options).Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range plan.Warnings {
		got = append(got, n.Pos.String()+" "+n.Code+" "+n.Msg)
	}
	want := []string{
		`2.sql:1:1 migration_loss_unfounded the comment allows a loss of "a", and the statement below removes nothing from it`,
		`2.sql:5:1 migration_loss_unfounded the comment allows a loss of "bb", and the statement below removes nothing from it`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	plan, err = migrator(open(t), list("1.sql", tables), options).Plan(t.Context())
	if err != nil || len(plan.Losses)+len(plan.Warnings) > 0 {
		t.Errorf("%+v, %v", plan, err)
	}
}

// TestLossCommentMisplaced: a comment that seems to allow a loss but does not is reported.
func TestLossCommentMisplaced(t *testing.T) {
	const table = "CREATE TABLE a(x); INSERT INTO a VALUES (1);"
	for _, c := range []struct{ name, sql, want string }{
		{"after the statement", "DROP TABLE a; -- pages: loses a", "2.sql:1:15 -- pages: loses a"},
		{"inside", "DROP TABLE -- pages: loses a\n a;", "2.sql:1:12 -- pages: loses a"},
		{"a block", "/* pages: loses a */\nDROP TABLE a;", "2.sql:1:1 /* pages: loses a */"},
		{"without a table", "-- pages: loses\nDROP TABLE a;", "2.sql:1:1 -- pages: loses"},
		{"misspelled", "--Pages: looses a\nDROP TABLE a;", "2.sql:1:1 --Pages: looses a"},
		{"one of prose", "-- pages: those that the site shows\nDROP TABLE a;", ""},
		{"in a string", "INSERT INTO a VALUES ('\n-- pages: loses a\n');\nDROP TABLE a;", ""},
		{"as it should be", "-- because\n-- pages: loses a\n-- of that\n\nDROP TABLE a;", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := open(t)
			apply(t, db, list("1.sql", table))
			plan, err := migrator(db, list("1.sql", table, "2.sql", c.sql), options).Plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got string
			for _, n := range plan.Warnings {
				got += n.Pos.String() + " " + n.Msg
			}
			at, comment, _ := strings.Cut(c.want, " ")
			want := fmt.Sprintf(`%s the comment %q allows nothing: write "-- pages: loses TABLE" on its own line above the statement`,
				at, comment)
			if c.want == "" {
				want = ""
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
