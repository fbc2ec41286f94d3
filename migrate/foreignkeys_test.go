package migrate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate"
)

func TestForeignKeys(t *testing.T) {
	const schema = "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id));\n"
	tests := []struct{ sql, want string }{
		{schema + "INSERT INTO c VALUES (7, 1);", "1.sql:2:1: FOREIGN KEY constraint failed"},
		{
			schema + "PRAGMA defer_foreign_keys=ON; INSERT INTO c VALUES (7, 1);",
			`1.sql: row 7 of "c" names a row of "p" that does not exist`,
		},
	}
	for _, tt := range tests {
		db := open(t)
		_, err := migrator(db, list("1.sql", tt.sql), options).Apply(t.Context())
		if err == nil || err.Error() != tt.want || !strings.HasSuffix(codes(err), migrate.CodeForeignKeys) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
		if got := dump(t, db) + ledger(t, db); got != "" {
			t.Errorf("database holds %s", got)
		}
	}
	apply(t, open(t), list("1.sql", schema+"PRAGMA defer_foreign_keys=ON; INSERT INTO c VALUES (7, 1); INSERT INTO p VALUES (1);"))
}

// TestForeignKeyFixes: the error about a broken foreign key has the fix for the statement that broke it.
func TestForeignKeyFixes(t *testing.T) {
	const tables = "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id)); CREATE TABLE r(p REFERENCES p(id) " +
		"ON DELETE RESTRICT ON UPDATE RESTRICT); INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1); INSERT INTO r VALUES (2);\n"
	for _, c := range []struct{ name, sql, fix string }{
		{"insert", "INSERT INTO c VALUES (9);", "insert the parent row first"},
		{"delete", "DELETE FROM p WHERE id = 1;", "delete or change the rows that refer to it first"},
		{"delete, restricted", "DELETE FROM p WHERE id = 2;", "delete or change the rows that refer to it first"},
		{"update", "UPDATE p SET id = 7 WHERE id = 1;", "delete or change the rows that refer to it first"},
		{"update, restricted", "UPDATE p SET id = 7 WHERE id = 2;", "delete or change the rows that refer to it first"},
		{"drop", "DROP TABLE p;", "drop the tables that refer to it first"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := migrator(open(t), list("1.sql", tables+c.sql), options).Apply(t.Context())
			e, ok := errors.AsType[*migrate.Error](err)
			if !ok || e.Code != migrate.CodeForeignKeys || !strings.HasPrefix(e.Fix, c.fix) {
				t.Errorf("%v\n%+v", err, e)
			}
		})
	}
}

// TestForeignKeysOfRebuiltTable: a table with referring rows is rebuilt in the usual steps. SQLite counts these rows as orphans until the
// parents are inserted again or the pragma is off, and reports them only at COMMIT.
func TestForeignKeysOfRebuiltTable(t *testing.T) {
	const tables = "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id)); INSERT INTO p VALUES " +
		"(1); INSERT INTO c VALUES (1);"
	const again = "PRAGMA defer_foreign_keys = ON;\nCREATE TABLE p2(id INTEGER PRIMARY KEY, x); INSERT INTO p2(id) " +
		"SELECT id FROM p;\nDROP TABLE p; ALTER TABLE p2 RENAME TO p;"
	tests := map[string]struct{ sql, want string }{
		"left on":        {again, "2.sql:3:1 " + migrate.CodeForeignKeys},
		"off at the end": {again + "\nPRAGMA defer_foreign_keys = OFF;", ""},
		"inserted again": {
			"PRAGMA defer_foreign_keys = ON; CREATE TABLE kept AS SELECT * FROM p; DROP TABLE p; CREATE TABLE p(id " +
				"INTEGER PRIMARY KEY, x); INSERT INTO p(id) SELECT id FROM kept; DROP TABLE kept;",
			"",
		},
		"deferred": {
			"CREATE TABLE r(id INTEGER PRIMARY KEY); CREATE TABLE q(r REFERENCES r DEFERRABLE INITIALLY DEFERRED); " +
				"INSERT INTO r VALUES (1); INSERT INTO q VALUES (1);\nDROP TABLE r; CREATE TABLE r2(id INTEGER " +
				"PRIMARY KEY); INSERT INTO r2 VALUES (1); ALTER TABLE r2 RENAME TO r;",
			"2.sql:2:1 " + migrate.CodeForeignKeys,
		},
		"deferred, off": {
			"CREATE TABLE r(id INTEGER PRIMARY KEY); CREATE TABLE q(r REFERENCES r DEFERRABLE INITIALLY DEFERRED); " +
				"INSERT INTO r VALUES (1); INSERT INTO q VALUES (1);\nPRAGMA defer_foreign_keys = ON; DROP TABLE r; " +
				"CREATE TABLE r2(id INTEGER PRIMARY KEY); INSERT INTO r2 VALUES (1); ALTER TABLE r2 RENAME TO r; " +
				"PRAGMA defer_foreign_keys = OFF",
			"",
		},
		"off, and orphan": {again + "\nINSERT INTO c VALUES (2); PRAGMA defer_foreign_keys = OFF;", "2.sql " + migrate.CodeForeignKeys},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			apply(t, db, list("1.sql", tables))
			m := migrator(db, list("1.sql", tables, "2.sql", tt.sql), options)
			_, planned := m.Plan(t.Context())
			_, applied := m.Apply(t.Context())
			if codes(planned) != tt.want || codes(applied) != tt.want {
				t.Errorf("planned %q, applied %q, want %q", codes(planned), codes(applied), tt.want)
			}
		})
	}
}

// TestCascade: rows that a dropped table takes along are reported, unless the run restores or deletes them itself.
func TestCascade(t *testing.T) {
	const tables = "CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT);\n" +
		"CREATE TABLE \"a child\"(id INTEGER PRIMARY KEY, p REFERENCES Parent ON DELETE CASCADE);\n" +
		"CREATE TABLE grandchild(id INTEGER PRIMARY KEY, c REFERENCES \"a child\" ON DELETE CASCADE);\n" +
		"CREATE TABLE loose(id INTEGER PRIMARY KEY, p REFERENCES parent ON DELETE SET NULL);\n" +
		"CREATE TABLE node(id INTEGER PRIMARY KEY, up REFERENCES node ON DELETE CASCADE);\n"
	const rows = "INSERT INTO parent VALUES (1, 'a'), (2, 'b');\nINSERT INTO \"a child\" VALUES (10, 1), (11, 2), (12, NULL);\n" +
		"INSERT INTO grandchild VALUES (20, 10);\nINSERT INTO loose VALUES (30, 2);\nINSERT INTO node VALUES (1, NULL), (2, 1);\n"
	const again = "PRAGMA defer_foreign_keys = ON;\nCREATE TABLE p2(id INTEGER PRIMARY KEY, name TEXT NOT NULL);\n" +
		"INSERT INTO p2 SELECT * FROM parent;\n" +
		"DROP TABLE IF EXISTS main.\"PARENT\";\nALTER TABLE p2 RENAME TO parent;\n"
	const (
		keepOne = "copy it to another table before it, and restore it after it"
		child   = `2.sql:4:1: dropping "PARENT" deleted 2 rows of "a child" (ON DELETE CASCADE); ` +
			"copy them to another table before it, and restore them after it"
		grandchild = `2.sql:4:1: dropping "PARENT" deleted 1 row of "grandchild" (ON DELETE CASCADE); ` + keepOne
		loose      = `2.sql:4:1: dropping "PARENT" set "p" to null in 1 row of "loose" (ON DELETE SET NULL); ` + keepOne
	)
	for name, c := range map[string]struct {
		data, second string
		want         []string
	}{
		"all go":       {rows, again, []string{child, loose, grandchild}},
		"no rows":      {"", again, nil},
		"were to go":   {rows, "DELETE FROM \"a child\"; UPDATE loose SET p = NULL;\n\n\n" + again, nil},
		"dropped, too": {rows, "DROP TABLE grandchild; DROP TABLE loose; DROP TABLE \"a child\";\n" + again, nil},
		"itself":       {rows, "DROP TABLE node;", nil},
		"one put back": {rows, again + "INSERT INTO \"a child\" VALUES (10, 1), (11, 2); UPDATE loose SET p = 2;\n", []string{grandchild}},
		"all put back": {
			rows,
			again + "INSERT INTO \"a child\" VALUES (10, 1), (11, 2); INSERT INTO grandchild VALUES (20, 10); UPDATE loose SET p = 2;\n",
			nil,
		},
		"deleted later": {
			"INSERT INTO parent VALUES (1, 'a'); INSERT INTO \"a child\" VALUES (12, NULL);",
			again + "DELETE FROM \"a child\";", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			apply := func(files []migrate.File) migrate.Result {
				t.Helper()
				result, err := migrator(db, files, options).Apply(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return result
			}
			apply(list("1.sql", tables+c.data))
			var got []string
			for _, n := range apply(list("1.sql", tables+c.data, "2.sql", c.second)).Warnings {
				if n.Code == migrate.CodeCascade {
					got = append(got, n.Pos.String()+": "+n.Msg)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
	// in the file that makes the tables
	result, err := migrator(open(t), list("1.sql", tables+rows+"DROP TABLE parent;"), options).Apply(t.Context())
	if err != nil || len(result.Warnings) != 3 {
		t.Errorf("in one file: %v, error %v", result.Warnings, err)
	}
}
