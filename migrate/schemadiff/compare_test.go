package schemadiff_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/migrate/schemadiff"
)

// TestCompare separates differences from equal forms.
func TestCompare(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{
			"space, comments, quotes and case", `CREATE TABLE a(x INTEGER NOT NULL DEFAULT 5)`,
			"create table \"a\" ( -- a\n [x] integer default (5) /* b */ not null )", "",
		},
		{
			"the order of columns and objects", "CREATE TABLE a(x, y TEXT); CREATE TABLE b(z)",
			"CREATE TABLE b(z); CREATE TABLE a(y TEXT, x)", "",
		},
		{
			"constraints of columns and of tables", "CREATE TABLE a(x INTEGER PRIMARY KEY, y UNIQUE REFERENCES a(x) CHECK (y > 0))",
			"CREATE TABLE a(x INTEGER, y, PRIMARY KEY(x), UNIQUE(y), CHECK(y>0), FOREIGN KEY(y) REFERENCES a)", "",
		},
		{"the names of keys", "CREATE TABLE a(x CONSTRAINT one UNIQUE)", "CREATE TABLE a(x, CONSTRAINT two UNIQUE (x))", ""},
		{
			"explicit defaults",
			"CREATE TABLE a(x TEXT COLLATE BINARY NOT NULL ON CONFLICT ABORT REFERENCES a(x) ON DELETE NO ACTION)",
			"CREATE TABLE a(x TEXT NOT NULL REFERENCES a(x) NOT DEFERRABLE)", "",
		},
		{
			"the order of an index", "CREATE TABLE a(x); CREATE INDEX i ON a(x)",
			"CREATE TABLE a(x); CREATE INDEX i ON a([x] COLLATE BINARY ASC)", "",
		},
		{"NOT NULL of a rowid", "CREATE TABLE a(x INTEGER PRIMARY KEY NOT NULL)", "CREATE TABLE a(x INTEGER PRIMARY KEY)", ""},

		{"a type", "CREATE TABLE a(x INT)", "CREATE TABLE a(x INTEGER)", "change the column a.x: INT becomes INTEGER"},
		{
			"a text in another case", "CREATE TABLE a(x DEFAULT 'A')", "CREATE TABLE a(x DEFAULT 'a')",
			"change the column a.x: DEFAULT 'A' becomes DEFAULT 'a'",
		},
		{
			"a collation", "CREATE TABLE a(x TEXT)", "CREATE TABLE a(x TEXT COLLATE nocase)",
			"change the column a.x: COLLATE NOCASE is added",
		},
		{
			"a generated column", "CREATE TABLE a(x, y AS (x + 1))", "CREATE TABLE a(x, y AS (x + 1) STORED)",
			"change the column a.y: as (x + 1) becomes as (x + 1) stored",
		},
		{
			"ON CONFLICT", "CREATE TABLE a(x NOT NULL)", "CREATE TABLE a(x NOT NULL ON CONFLICT REPLACE)",
			"change the column a.x: ON CONFLICT REPLACE is added",
		},
		{
			"ON CONFLICT of a key", "CREATE TABLE a(x UNIQUE)", "CREATE TABLE a(x UNIQUE ON CONFLICT IGNORE)",
			"remove UNIQUE (x) from a; add UNIQUE (x) ON CONFLICT IGNORE to a",
		},
		{
			"AUTOINCREMENT", "CREATE TABLE a(x INTEGER PRIMARY KEY)", "CREATE TABLE a(x INTEGER PRIMARY KEY AUTOINCREMENT)",
			"remove PRIMARY KEY (x) from a; add PRIMARY KEY (x) AUTOINCREMENT to a",
		},
		{
			"a descending key, which is not a rowid", "CREATE TABLE a(x INTEGER PRIMARY KEY)", "CREATE TABLE a(x INTEGER PRIMARY KEY DESC)",
			"remove PRIMARY KEY (x) from a; add PRIMARY KEY (x desc) to a",
		},
		{
			"STRICT and WITHOUT ROWID", "CREATE TABLE a(x TEXT PRIMARY KEY NOT NULL)",
			"CREATE TABLE a(x TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
			"add STRICT to a; add WITHOUT ROWID to a",
		},
		{
			"CHECK", "CREATE TABLE a(x CHECK (x > 0))", "CREATE TABLE a(x CONSTRAINT more CHECK (x > 0))",
			"remove CHECK (x > 0) from a; add CONSTRAINT more CHECK (x > 0) to a",
		},
		{
			"DEFERRABLE", "CREATE TABLE a(x REFERENCES a(x))", "CREATE TABLE a(x REFERENCES a(x) DEFERRABLE INITIALLY DEFERRED)",
			"remove FOREIGN KEY (x) REFERENCES a(x) from a; add FOREIGN KEY (x) REFERENCES a(x) DEFERRABLE INITIALLY DEFERRED to a",
		},
		{
			"a partial index", "CREATE TABLE a(x); CREATE INDEX i ON a(x)", "CREATE TABLE a(x); CREATE INDEX i ON a(x) WHERE x > 0",
			"change the index i on a",
		},
		{
			"an index of an expression", "CREATE TABLE a(x); CREATE INDEX i ON a(lower(x))",
			"CREATE TABLE a(x); CREATE INDEX i ON a(upper(x))",
			"change the index i on a",
		},
		{"a full-text table", "CREATE VIRTUAL TABLE f USING fts5(a)", "CREATE VIRTUAL TABLE f USING fts5(a, b)", "change the table f"},
		{"a name in another case", "CREATE TABLE a(x)", "CREATE TABLE A(X)", "rename the column A.x to X"},
		{
			"names that need quotes", "CREATE TABLE a(x)", "CREATE TABLE a(x, \"order\" TEXT, \"a \"\"b\" TEXT)",
			`add the column a."order"; add the column a."a ""b"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			schemaOf(t, c.from, func(_ *sql.DB, from *schemadiff.Schema) {
				schemaOf(t, c.to, func(_ *sql.DB, to *schemadiff.Schema) {
					var list []string
					for _, change := range schemadiff.Compare(from, to) {
						list = append(list, change.Text)
					}
					if got := strings.Join(list, "; "); got != c.want {
						t.Errorf("\n%s, want\n%s", got, c.want)
					}
				})
			})
		})
	}
}

// TestWrite holds the statements of single changes.
func TestWrite(t *testing.T) {
	const people = "CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT);"
	for _, c := range []struct {
		name, from, to string
		renames        []string
		want           string // without comments and empty lines
	}{
		{
			"a column", people, "CREATE TABLE people(id INTEGER PRIMARY KEY, age INT DEFAULT -1, name TEXT)", nil,
			"ALTER TABLE people ADD COLUMN age INT DEFAULT -1;",
		},
		{
			"a column with a key of the table", people,
			"CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT, boss INTEGER, " +
				"FOREIGN KEY (boss) REFERENCES people (id) ON DELETE SET NULL)", nil,
			"ALTER TABLE people ADD COLUMN boss INTEGER REFERENCES people (id) ON DELETE SET NULL;",
		},
		{
			"a column that is gone, with its index", people + "CREATE INDEX i ON people(name)",
			"CREATE TABLE people(id INTEGER PRIMARY KEY)", nil,
			"DROP INDEX i;\nALTER TABLE people DROP COLUMN name;",
		},
		{
			"a table and a column under new names", people, "CREATE TABLE persons(id INTEGER PRIMARY KEY, label TEXT)",
			[]string{"people=persons", "people.name=label"},
			"ALTER TABLE people RENAME TO persons;\nALTER TABLE persons RENAME COLUMN name TO label;",
		},
		{
			"a default that is not a literal", people, people[:len(people)-2] + ", at TEXT DEFAULT CURRENT_TIMESTAMP)", nil,
			"CREATE TABLE people_new(id INTEGER PRIMARY KEY, name TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP);\n" +
				"INSERT INTO people_new (id, name)\n  SELECT id, name\n  FROM people;\n" +
				"DROP TABLE people;\nALTER TABLE people_new RENAME TO people;",
		},
		{
			"NOT NULL with a default", people, "CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT unknown)", nil,
			"CREATE TABLE people_new(id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT unknown);\n" +
				"INSERT INTO people_new (id, name)\n  SELECT id, coalesce(name, 'unknown')\n  FROM people;\n" +
				"DROP TABLE people;\nALTER TABLE people_new RENAME TO people;",
		},
		{
			"a tree", "CREATE TABLE t(id INTEGER PRIMARY KEY, up REFERENCES t ON DELETE CASCADE)",
			"CREATE TABLE t(id INTEGER PRIMARY KEY, up REFERENCES t ON DELETE CASCADE, CHECK (t.id > 0))", nil,
			"PRAGMA defer_foreign_keys = ON;\n" +
				"CREATE TABLE t_new(id INTEGER PRIMARY KEY, up REFERENCES t_new ON DELETE CASCADE, CHECK (t_new.id > 0));\n" +
				"CREATE INDEX t_new_up ON t_new (up);\nINSERT INTO t_new (id, up)\n  SELECT id, up\n  FROM t;\nDROP INDEX t_new_up;\n" +
				"CREATE INDEX t_up ON t (up);\nUPDATE t SET up = NULL WHERE up IS NOT NULL;\nDROP TABLE t;\n" +
				"ALTER TABLE t_new RENAME TO t;\nPRAGMA defer_foreign_keys = OFF;",
		},
		{
			"a full-text table of another one",
			people, people + "CREATE VIRTUAL TABLE f USING fts5(name, content=people, content_rowid=id)", nil,
			"CREATE VIRTUAL TABLE f USING fts5(name, content=people, content_rowid=id);\nINSERT INTO f (f) VALUES ('rebuild');",
		},
		{
			"a full-text table with rows", "CREATE VIRTUAL TABLE f USING fts5(a, b)",
			"CREATE VIRTUAL TABLE f USING fts5(b, c, tokenize=porter)", nil,
			"CREATE VIRTUAL TABLE new_f USING fts5(b, c, tokenize=porter);\nINSERT INTO new_f (rowid, b)\n  SELECT rowid, b\n" +
				"  FROM f;\n" +
				"DROP TABLE f;\nALTER TABLE new_f RENAME TO f;",
		},
		{
			"a view that stands in the way", people + "CREATE VIEW broken AS SELECT x FROM nowhere",
			"CREATE TABLE people(id INTEGER PRIMARY KEY, label TEXT); CREATE VIEW broken AS SELECT x FROM nowhere",
			[]string{"people.name=label"},
			"DROP VIEW broken;\nALTER TABLE people RENAME COLUMN name TO label;\nCREATE VIEW broken AS SELECT x FROM nowhere;",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			made := pair{from: c.from, to: c.to, told: edit{renames: c.renames}}.write(t)
			var lines []string
			for line := range strings.Lines(made.SQL) {
				if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "--") {
					lines = append(lines, line)
				}
			}
			if got := strings.Join(lines, "\n"); got != c.want {
				t.Errorf("\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestHostileNames holds the script to comments that cannot end, and names that cannot leave their quotes.
func TestHostileNames(t *testing.T) {
	hostile := "x\n; DROP TABLE a; --\"'`]"
	p := pair{
		from: "CREATE TABLE a(id INTEGER PRIMARY KEY, uid TEXT UNIQUE, c TEXT)",
		to: "CREATE TABLE a(id INTEGER PRIMARY KEY, uid TEXT UNIQUE, c TEXT NOT NULL DEFAULT '', " + quote(hostile) +
			" TEXT CHECK (" + quote(hostile) + " <> 'a\n; DROP TABLE a;'));\nCREATE TABLE " + quote(hostile) + "(uid)",
		rows: []string{"INSERT INTO a(uid, c) VALUES ('u', 'v')"},
	}
	p.run(t)
}

func TestWriteRefuses(t *testing.T) {
	const people = "CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT);"
	for _, c := range []struct {
		name, from, to string
		o              schemadiff.Options
		code, msg      string
	}{
		{
			"a rename of nothing", people, people,
			schemadiff.Options{Renames: []schemadiff.Rename{{Table: "person", To: "people"}}},
			schemadiff.CodeRename, "--rename person=people: the migrations create no table person",
		},
		{
			"a rename to an existing column", people, people,
			schemadiff.Options{Renames: []schemadiff.Rename{{Table: "people", Column: "name", To: "id"}}},
			schemadiff.CodeRename, "--rename people.name=id: the schema file has a column name too",
		},
		{
			"a value for no new column", people, people + "CREATE TABLE b(x)",
			schemadiff.Options{Values: []schemadiff.Value{{Table: "people", Column: "name", SQL: "''"}}},
			schemadiff.CodeNotAsked, "--value people.name: the column needs no value for existing rows",
		},
		{
			"a new column without a value", people, "CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT, age INT NOT NULL)",
			schemadiff.Options{},
			schemadiff.CodeValue, "the new column people.age is NOT NULL, and has no value for existing rows",
		},
		{
			"a key to nothing", people, people + "CREATE TABLE b(x REFERENCES persons)",
			schemadiff.Options{},
			schemadiff.CodeParent, "b refers to the table persons, which the schema does not have",
		},
		{
			"a table that becomes virtual", people, "CREATE VIRTUAL TABLE people USING fts5(name)",
			schemadiff.Options{},
			schemadiff.CodeBroken, "the table people cannot become a virtual table, or the reverse",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			schemaOf(t, c.to, func(_ *sql.DB, wanted *schemadiff.Schema) {
				schemaOf(t, c.from, func(db *sql.DB, _ *schemadiff.Schema) {
					made, err := schemadiff.Write(t.Context(), db, wanted, c.o)
					e, ok := errors.AsType[*schemadiff.Error](err)
					if !ok || e.Code != c.code || e.Msg != c.msg || e.Fix == "" {
						t.Errorf("%+v %v\n%s", e, err, made.SQL)
					}
				})
			})
		})
	}
}

func TestGuesses(t *testing.T) {
	p := pair{
		from: "CREATE TABLE people(id INTEGER PRIMARY KEY, mail TEXT, born INT); CREATE TABLE notes(id INTEGER PRIMARY KEY, " +
			"body TEXT, at TEXT)",
		to: "CREATE TABLE people(id INTEGER PRIMARY KEY, email TEXT, age REAL); CREATE TABLE posts(id INTEGER PRIMARY KEY, " +
			"body TEXT, on_day TEXT)",
	}
	var got []string
	made := p.write(t)
	for _, g := range made.Guesses {
		got = append(got, g.String())
	}
	if strings.Join(got, " ") != "notes=posts people.mail=email" {
		t.Errorf("%v", got)
	}
	if strings.Join(made.Losing, " ") != "notes people" {
		t.Errorf("losing %v", made.Losing)
	}
}
