package restorepoint_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/restorepoint"
)

const people = "CREATE TABLE people (id INTEGER PRIMARY KEY, name, email); INSERT INTO people VALUES (1, 'ada', 'a@x'), (2, 'bob', 'b@x')"

// TestCompare: losses are the rows that exist now and would not exist after the restore.
func TestCompare(t *testing.T) {
	for _, c := range []struct{ name, then, since, want string }{
		{"nothing", people, "SELECT 1", ""},
		{"rows that came", people, "INSERT INTO people VALUES (3, 'cyd', NULL)", "people 1 restore; people 3→2"},
		{"rows that went", people, "DELETE FROM people", "; people 0→2"},
		{"values", people, "UPDATE people SET name = 'eve' WHERE id = 1", "people 1 restore values"},
		{
			"the case of a letter", "CREATE TABLE a (k TEXT PRIMARY KEY, x TEXT COLLATE NOCASE); INSERT INTO a VALUES ('a', 'x')",
			"UPDATE a SET x = 'X'", "a 1 restore values",
		},
		{"a table", people, "CREATE TABLE more (x); INSERT INTO more VALUES (1), (2)", "more 2 restore; more 2→0"},
		{"an empty table", people, "CREATE TABLE more (x)", ""},
		{"a table that is gone", people, "DROP TABLE people", "; people 0→2"},
		{"a column", people, "ALTER TABLE people ADD COLUMN phone; UPDATE people SET phone = '1' WHERE id = 2", "people.phone 1 restore"},
		{"an empty column", people, "ALTER TABLE people ADD COLUMN phone", ""},
		{
			"a table made anew", people, "DROP TABLE people; CREATE TABLE people (id INTEGER PRIMARY KEY, name); INSERT " +
				"INTO people VALUES (7, 'x')",
			"people 1 restore; people 1→2",
		},
		{
			"another key", "CREATE TABLE a (k TEXT PRIMARY KEY, x); INSERT INTO a VALUES ('a', 1)",
			"DROP TABLE a; CREATE TABLE a (k TEXT, x TEXT PRIMARY KEY); INSERT INTO a VALUES ('a', '1')", "a 1 restore",
		},
		{
			"a key of another name", "CREATE TABLE a (k TEXT PRIMARY KEY); INSERT INTO a VALUES ('x')",
			"DROP TABLE a; CREATE TABLE a (l TEXT PRIMARY KEY); INSERT INTO a VALUES ('x'), ('y')", "a 2 restore, a.l 2 restore; a 2→1",
		},
		{
			"equal rows without a rowid to read", "CREATE TABLE a (rowid, _rowid_, oid); INSERT INTO a VALUES (1, 1, 1)",
			"INSERT INTO a VALUES (1, 1, 1), (1, 1, 1)", "a 2 restore; a 3→1",
		},
		{
			"names that differ in a letter beyond ASCII", `CREATE TABLE "É" (id INTEGER PRIMARY KEY); INSERT INTO "É" VALUES (1)`,
			`CREATE TABLE "é" (x INTEGER PRIMARY KEY); INSERT INTO "é" VALUES (1), (2)`, "é 2 restore; é 2→0",
		},
		{"no key", "CREATE TABLE a (x); INSERT INTO a VALUES (1), (1)", "INSERT INTO a VALUES (1)", "a 1 restore; a 3→2"},
		{
			"WITHOUT ROWID", "CREATE TABLE a (k, l, x, PRIMARY KEY (l, k)) WITHOUT ROWID; INSERT INTO a VALUES (1, 1, 1)",
			"INSERT INTO a VALUES (1, 2, 3); UPDATE a SET x = 9 WHERE l = 1", "a 1 restore, a 1 restore values; a 2→1",
		},
		{
			"generated", "CREATE TABLE a (n INTEGER PRIMARY KEY, twice AS (n * 2)); INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2)",
			"a 1 restore; a 2→1",
		},
		{"fts5", "CREATE VIRTUAL TABLE a USING fts5 (x); INSERT INTO a VALUES ('one')", "INSERT INTO a VALUES " +
			"('two')", "a 1 restore; a 2→1"},
		{"the platform's tables", people, "CREATE TABLE _pages_x (x); INSERT INTO _pages_x VALUES (1)", ""},
		{
			"odd names", `CREATE TABLE "a ""b" ("rowid", "c'd"); INSERT INTO "a ""b" VALUES (1, 2)`, `INSERT INTO "a ""b" VALUES (3, 4)`,
			`a "b 1 restore; a "b 2→1`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, c.then)
			s.add(restorepoint.ReasonPublish, "r2")
			s.exec(c.since)
			d, err := restorepoint.Compare(t.Context(), s.file, s.extract("p1"))
			if err != nil {
				t.Fatal(err)
			}
			if got := said(d); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func said(d restorepoint.Difference) string {
	var lost, counts []string
	for _, l := range d.Lost {
		name := l.Table
		if l.Column != "" {
			name += "." + l.Column
		}
		lost = append(lost, fmt.Sprintf("%s %d %s", name, l.Rows, l.Cause))
	}
	for _, c := range d.Tables {
		counts = append(counts, fmt.Sprintf("%s %d→%d", c.Table, c.Before, c.After))
	}
	if len(counts) == 0 {
		return strings.Join(lost, ", ")
	}
	return strings.Join(lost, ", ") + "; " + strings.Join(counts, ", ")
}

// TestKeepSince: rows of newer leads stay, each once, after any change of the table in between.
func TestKeepSince(t *testing.T) {
	const leads = "CREATE TABLE leads (id INTEGER PRIMARY KEY, lead_id TEXT, name TEXT NOT NULL); INSERT INTO leads " +
		"VALUES (1, 'l1', 'ada'), (2, 'l2', 'bob'); " +
		"CREATE TABLE _pages_submissions (lead_id TEXT PRIMARY KEY, created_at TEXT NOT NULL) STRICT, WITHOUT ROWID; " +
		"INSERT INTO _pages_submissions VALUES ('l1', 't'), ('l2', 't')"
	for _, c := range []struct{ name, then, since, kept, rows string }{
		{"none came", leads, "SELECT 1", "0 0", "1 ada 2 bob"},
		{"one came", leads, "INSERT INTO leads VALUES (3, 'l3', 'cyd')", "1 0", "1 ada 2 bob 3 cyd"},
		{"its number is taken", leads, "DELETE FROM leads; INSERT INTO leads VALUES (1, 'l3', 'cyd')", "1 0", "1 ada 2 bob 3 cyd"},
		{"the old ones are gone", leads, "DELETE FROM leads", "0 0", "1 ada 2 bob"},
		{"a column more", leads, "ALTER TABLE leads ADD COLUMN phone; INSERT INTO leads VALUES (3, 'l3', 'cyd', '1')", "1 " +
			"0", "1 ada 2 bob 3 cyd"},
		{"it does not fit", leads, "DROP TABLE leads; CREATE TABLE leads (id INTEGER PRIMARY KEY, lead_id TEXT, name TEXT); " +
			"INSERT INTO leads VALUES (3, 'l3', NULL), (4, 'l4', 'dan')", "1 1", "1 ada 2 bob 4 dan"},
		{"no lead_id", "CREATE TABLE leads (id INTEGER PRIMARY KEY, name)", "INSERT INTO leads VALUES (5, 'x')", "1 0", "5 x"},
		{"no key", "CREATE TABLE leads (id, name); INSERT INTO leads VALUES (1, 'ada')", "INSERT INTO leads VALUES (2, " +
			"'ada')", "1 0", "1 ada 2 ada"},
		{
			"a key that broke", "CREATE TABLE forms (name TEXT PRIMARY KEY); CREATE TABLE leads (id INTEGER PRIMARY KEY, " +
				"lead_id, name REFERENCES forms)",
			"INSERT INTO forms VALUES ('new'); INSERT INTO leads VALUES (1, 'l1', 'new')", "0 1", "",
		},
		{
			"a key that was broken then", "PRAGMA foreign_keys = OFF; CREATE TABLE forms (name TEXT PRIMARY KEY); " +
				"CREATE TABLE leads (id INTEGER PRIMARY KEY, lead_id, name REFERENCES forms); INSERT INTO leads VALUES (1, 'l1', 'ada')",
			"PRAGMA foreign_keys = OFF; INSERT INTO leads VALUES (2, 'l2', 'bob')", "0 1", "1 ada",
		},
		{"no table then", "CREATE TABLE a (x)", "CREATE TABLE leads (id INTEGER PRIMARY KEY, lead_id, name)", "0 0", "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, c.then)
			s.add(restorepoint.ReasonPublish, "r2")
			s.exec(c.since)
			file := s.extract("p1")
			k, err := restorepoint.KeepSince(t.Context(), file, s.file, "leads")
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(k.Rows, " ", k.Lost); got != c.kept {
				t.Errorf("kept and lost are %s, want %s", got, c.kept)
			}
			if c.rows == "-" {
				return
			}
			db := openFile(t, file)
			if got := strings.Join(column(t, db, "SELECT id || ' ' || name FROM leads ORDER BY id"), " "); got != c.rows {
				t.Errorf("%q, want %q", got, c.rows)
			}
		})
	}
}

// TestTables: single tables come back, or are refused with the reason; others stay.
func TestTables(t *testing.T) {
	const orders = people + "; CREATE TABLE orders (n INTEGER PRIMARY KEY, person INTEGER REFERENCES people); INSERT INTO " +
		"orders VALUES (1, 1); " +
		"CREATE TABLE other (x)"
	for _, c := range []struct{ name, then, since, tables, want string }{
		{"rows", orders, "DELETE FROM orders; UPDATE people SET name = 'eve'; INSERT INTO other VALUES (1)", "people", "ada bob"},
		{"in another case", orders, "UPDATE people SET name = 'eve'", "PEOPLE", "ada bob"},
		{"two tables", orders, "DELETE FROM orders; DELETE FROM people", "people,orders", "ada bob"},
		{
			"a key would break", orders, "INSERT INTO people VALUES (3, 'cyd', NULL); INSERT INTO orders VALUES (2, 3)", "people",
			`One row of the table "orders" would refer to rows of "people" that do not exist: restore both tables, or restore ` +
				`everything, without tables.`,
		},
		{"a key is broken already", orders, "PRAGMA foreign_keys = 0; INSERT INTO orders VALUES (7, 99)", "people", "ada bob"},
		{
			"other columns", orders, "ALTER TABLE people DROP COLUMN email", "people",
			`The table "people" has the columns id, name now, and had email, id, name then: restore everything, without tables.`,
		},
		{"no such table", orders, "SELECT 1", "persons", `Neither the site's database nor the restore point has a table "persons".`},
		{
			"not any more", orders, "DROP TABLE orders; DROP TABLE people", "people",
			`The site's database has no table "people" any more, only the restore point does: restore everything, without tables.`,
		},
		{"not yet", orders, "CREATE TABLE later (x)", "later", `The restore point has no table "later" yet.`},
		{
			"virtual", "CREATE VIRTUAL TABLE people USING fts5 (name)", "INSERT INTO people VALUES ('x')", "people",
			`"people" is a virtual table, whose rows are in other tables: restore everything, without tables.`,
		},
		{
			"the platform's", "CREATE TABLE _pages_migrations (name); CREATE TABLE people (name)", "SELECT 1", "_pages_migrations",
			`Neither the site's database nor the restore point has a table "_pages_migrations".`,
		},
		{
			"a stricter table", people, "ALTER TABLE people RENAME TO p; CREATE TABLE people (id INTEGER PRIMARY KEY, " +
				"name CHECK (name <> 'ada'), email)",
			"people", `The old rows do not fit into the table "people", constraint failed: CHECK constraint failed: ` +
				`name <> 'ada' (275): restore everything, without tables.`,
		},
		{
			"a trigger that changes them", people, "CREATE TRIGGER t AFTER INSERT ON people BEGIN UPDATE people SET name " +
				"= 'by ' || name WHERE id = new.id; END; DELETE FROM people",
			"people", `A trigger changes 2 rows of the table "people" while they are restored: restore everything, without tables.`,
		},
		{
			"an index that follows", "CREATE TABLE people (id INTEGER PRIMARY KEY, name); CREATE VIRTUAL TABLE found " +
				"USING fts5 (name); " +
				"CREATE TRIGGER i AFTER INSERT ON people BEGIN INSERT INTO found (rowid, name) VALUES (new.id, new.name); END; " +
				"CREATE TRIGGER d AFTER DELETE ON people BEGIN DELETE FROM found WHERE rowid = old.id; END; INSERT INTO " +
				"people VALUES (1, 'ada')",
			"DELETE FROM people; INSERT INTO people VALUES (2, 'eve')", "people", "ada",
		},
		{"WITHOUT ROWID", "CREATE TABLE people (name TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO people VALUES " +
			"('ada')", "DELETE FROM people", "people", "ada"},
		{"generated", "CREATE TABLE people (name, up AS (upper(name)) STORED); INSERT INTO people (name) VALUES " +
			"('ada')", "DELETE FROM people", "people", "ada"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, c.then)
			s.add(restorepoint.ReasonPublish, "r2")
			s.exec(c.since)
			others := s.one("SELECT count(*) FROM sqlite_schema")
			got := s.putTables(t, strings.Split(c.tables, ","), "")
			if got == "" {
				got = s.one("SELECT name FROM people ORDER BY name")
			}
			if got != c.want {
				t.Errorf("%q\nwant %q", got, c.want)
			}
			if now := s.one("SELECT count(*) - (SELECT count(*) FROM sqlite_schema WHERE name = '_pages_restores') FROM " +
				"sqlite_schema"); now != others {
				t.Errorf("the schema has %s objects, and had %s", now, others)
			}
			if c.name == "an index that follows" {
				if found := s.one("SELECT count(*) || (SELECT count(*) FROM found WHERE found MATCH 'eve') FROM found " +
					"WHERE found MATCH 'ada'"); found != "10" {
					t.Errorf("the index finds %s", found)
				}
			}
		})
	}
}

// putTables puts tables back from p1, and returns the refusal; "" for none.
func (s *site) putTables(t *testing.T, tables []string, keep string) string {
	t.Helper()
	file := s.extract("p1")
	names, err := restorepoint.CheckTables(t.Context(), s.file, file, tables)
	if err == nil {
		var change *restorepoint.TablesReplacing
		change, err = restorepoint.BeginTables(
			t.Context(), dbfile.URI(s.file, "_pragma=busy_timeout(5000)&_pragma=foreign_keys(0)"), file,
			restorepoint.TableChange{ID: "x", Point: "p1", Tables: names, Keep: keep, At: s.now}, func() error { return nil })
		if err == nil {
			if done, err := restorepoint.Marked(t.Context(), s.db, "x"); err != nil || done {
				t.Errorf("marked before the commit: %v %v", done, err)
			}
			err = change.Commit()
		}
	}
	if refused, ok := errors.AsType[*restorepoint.RefusedError](err); ok {
		return refused.Message
	}
	if err != nil {
		t.Fatal(err)
	}
	if done, err := restorepoint.Marked(t.Context(), s.db, "x"); err != nil || !done {
		t.Errorf("marked after the commit: %v %v", done, err)
	}
	return ""
}

// TestTablesCompare: the comparison before the commit includes the effect of triggers on other tables, without the rows that stay; an
// interrupted comparison does not affect the change.
func TestTablesCompare(t *testing.T) {
	s := newSite(t, "CREATE TABLE leads (lead_id TEXT PRIMARY KEY, name); INSERT INTO leads VALUES ('l1', 'ada'); "+people)
	s.add(restorepoint.ReasonPublish, "r2")
	s.exec("INSERT INTO leads VALUES ('l2', 'bob'); INSERT INTO people VALUES (9, 'new', ''); CREATE TABLE log (x); " +
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT INTO log SELECT i % 7 FROM n; " +
		"CREATE TRIGGER gone AFTER DELETE ON people BEGIN DELETE FROM log WHERE rowid > 49997; END")
	change, err := restorepoint.BeginTables(
		t.Context(), dbfile.URI(s.file, "_pragma=busy_timeout(5000)&_pragma=foreign_keys(0)"), s.extract("p1"),
		restorepoint.TableChange{ID: "x", Point: "p1", Tables: []string{"people", "leads"}, Keep: "leads", Now: s.file, At: s.now},
		func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	cut, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if _, err := change.Compare(cut); err == nil {
		t.Log("it was compared within a millisecond")
	}
	d, err := change.Compare(t.Context())
	if got := fmt.Sprint(d.Lost); err != nil || got != "[{log  3 restore} {people  1 restore}]" {
		t.Errorf("%s %v", got, err)
	}
	if err := change.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := s.one("SELECT count(*) || (SELECT count(*) FROM leads) || (SELECT count(*) FROM log) FROM people"); got != "2249997" {
		t.Errorf("%q", got)
	}
}

// TestTablesKeepLeads: rows of newer leads stay when their table alone is restored.
func TestTablesKeepLeads(t *testing.T) {
	s := newSite(t, "CREATE TABLE leads (lead_id TEXT, name); INSERT INTO leads VALUES ('l1', 'ada')")
	s.add(restorepoint.ReasonPublish, "r2")
	s.exec("UPDATE leads SET name = 'eve'; INSERT INTO leads VALUES ('l2', 'bob')")
	if refused := s.putTables(t, []string{"leads"}, "leads"); refused != "" {
		t.Fatal(refused)
	}
	if got := s.one("SELECT name FROM leads ORDER BY name"); got != "ada bob" {
		t.Errorf("%q", got)
	}
}

// TestTablesByRows: equal rows are not written, so that triggers run only for the others, and all rows are restored byte by byte.
func TestTablesByRows(t *testing.T) {
	const log = "CREATE TABLE log(what); CREATE TRIGGER i AFTER INSERT ON people BEGIN INSERT INTO log VALUES ('i' || new.id); END; " +
		"CREATE TRIGGER u AFTER UPDATE ON people BEGIN INSERT INTO log VALUES ('u' || new.id); END; " +
		"CREATE TRIGGER d AFTER DELETE ON people BEGIN INSERT INTO log VALUES ('d' || old.id); END; "
	const people = "CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, x); " +
		"INSERT INTO people VALUES (1, 'ada', 1), (2, 'bob', x'00ff'), (3, 'cyd', CAST(x'610062' AS TEXT)), (4, 'dan', NULL); "
	for _, c := range []struct{ name, then, since, want string }{
		{"nothing", people, "SELECT 1", ""},
		{"one of each", people, "DELETE FROM people WHERE id = 1; UPDATE people SET x = 7 WHERE id = 2; " +
			"INSERT INTO people VALUES (9, 'new', 0)", "d9 i1 u2"},
		{"another type", people, "UPDATE people SET x = 1.0 WHERE id = 1", "u1"},
		{"another case", people, "UPDATE people SET name = 'ADA' WHERE id = 1", "u1"},
		{"a text with another end", people, "UPDATE people SET x = 'a' WHERE id = 3", "u3"},
		{"names that changed hands", people, "UPDATE people SET name = 'x' WHERE id = 1; UPDATE people SET name = 'ada' WHERE id = 2; " +
			"UPDATE people SET name = 'bob' WHERE id = 1", "d1 d2 d3 d4 i1 i2 i3 i4"},
		{
			"no key but the rowid", "CREATE TABLE people(id, name, x); INSERT INTO people VALUES (1, 'a', 1), (2, 'a', 1), (3, 'a', 1)",
			"DELETE FROM people WHERE rowid = 2", "i2",
		},
		{
			"another rowid", "CREATE TABLE people(id TEXT PRIMARY KEY, name, x); INSERT INTO people VALUES ('a', 1, 1), ('b', 1, 1)",
			"UPDATE people SET rowid = 9 WHERE id = 'a'", "ua",
		},
		{"WITHOUT ROWID", "CREATE TABLE people(id, name, x, PRIMARY KEY (id, name)) WITHOUT ROWID; INSERT INTO people VALUES (1, 2, 3), " +
			"(1, 3, 4)", "UPDATE people SET x = 5 WHERE name = 2", "u1"},
		{
			"keys alone", "CREATE TABLE people(id PRIMARY KEY) WITHOUT ROWID; INSERT INTO people VALUES (1), (2)",
			"DELETE FROM people WHERE id = 2; INSERT INTO people VALUES (3)", "d3 i2",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, c.then)
			s.add(restorepoint.ReasonPublish, "r2")
			const rows = "SELECT ifnull(group_concat(id || typeof(id) || name || typeof(x) || hex(x)), '') " +
				"FROM (SELECT id, name, x, rowid FROM people ORDER BY id)"
			query := rows
			switch {
			case strings.Contains(c.then, "people(id PRIMARY"):
				query = "SELECT group_concat(id) FROM people"
			case strings.Contains(c.then, "WITHOUT ROWID"):
				query = strings.Replace(rows, ", rowid", "", 1)
			}
			before := s.one(query)
			s.exec(c.since)
			s.exec(log)
			if refused := s.putTables(t, []string{"people"}, ""); refused != "" {
				t.Fatal(refused)
			}
			if got := s.one(query); got != before {
				t.Errorf("%q, want %q", got, before)
			}
			if got := s.one("SELECT ifnull(group_concat(what, ' '), '') FROM (SELECT what FROM log ORDER BY what)"); got != c.want {
				t.Errorf("triggers ran for %q, want %q", got, c.want)
			}
		})
	}
}

// TestTablesKeepLeadsAsTheyAre: a row that came since and stays is not written again.
func TestTablesKeepLeadsAsTheyAre(t *testing.T) {
	s := newSite(t, "CREATE TABLE leads(id INTEGER PRIMARY KEY, lead_id TEXT, name); INSERT INTO leads VALUES (1, 'l1', 'ada')")
	s.add(restorepoint.ReasonPublish, "r2")
	s.exec("UPDATE leads SET name = 'eve'; INSERT INTO leads VALUES (2, 'l2', 'bob'); CREATE TABLE log(what); " +
		"CREATE TRIGGER i AFTER INSERT ON leads BEGIN INSERT INTO log VALUES (new.id); END")
	if refused := s.putTables(t, []string{"leads"}, "leads"); refused != "" {
		t.Fatal(refused)
	}
	if got := s.one("SELECT group_concat(name, ' ') || (SELECT count(*) FROM log) FROM leads"); got != "ada bob0" {
		t.Errorf("%q", got)
	}
}
