package migrate_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate"
)

// TestTouchedKeys: each way in which a later file of a run breaks a key that held, or is the first that speaks of one that
// cannot be checked.
func TestTouchedKeys(t *testing.T) {
	const pc = "CREATE TABLE p(id INTEGER PRIMARY KEY, x); CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id));" +
		"INSERT INTO p VALUES (1, 1); INSERT INTO c VALUES (7, 1);"
	const byX = "CREATE TABLE p(id INTEGER PRIMARY KEY, x); CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(x));"
	const orphan = `row 7 of "c" names a row of "p" that does not exist`
	const unchecked = `the foreign key of "c" to "p" (x) is not checked`
	for _, c := range []struct {
		name string
		on   bool // keys are enforced
		sql  []string
		want string
	}{
		{"nothing", true, []string{pc, "INSERT INTO p VALUES (2, 2); UPDATE c SET p = 2; DELETE FROM p WHERE id = 1"}, ""},
		{"a row is inserted", false, []string{pc, "INSERT INTO C VALUES (8, 2)"}, strings.Replace("2.sql: "+orphan, "7", "8", 1)},
		{"a row is updated", false, []string{pc, "UPDATE c SET p = 2"}, "2.sql: " + orphan},
		{"its parent is deleted", false, []string{pc, "DELETE FROM p"}, "2.sql: " + orphan},
		{"its parent is replaced", false, []string{
			"CREATE TABLE p(id INTEGER PRIMARY KEY, x UNIQUE ON CONFLICT REPLACE);" +
				"CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id));" +
				"INSERT INTO p VALUES (1, 1); INSERT INTO c VALUES (7, 1);",
			"INSERT INTO p VALUES (2, 1)",
		}, "2.sql: " + orphan},
		{"its parent is dropped", false, []string{pc, "DROP TABLE P"}, "2.sql: " + orphan},
		{"its parent is renamed away", false, []string{
			pc, "PRAGMA legacy_alter_table = ON; ALTER TABLE p RENAME TO q",
		}, "2.sql: " + orphan},
		{
			"its parent has another name", false,
			[]string{pc, "ALTER TABLE p RENAME TO q", "DELETE FROM q"},
			`3.sql: row 7 of "c" names a row of "q" that does not exist`,
		},
		{"another table is renamed to its parent", false, []string{
			"CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(x)); CREATE TABLE q(x);", "ALTER TABLE q RENAME TO p; -- c",
		}, unchecked},
		{"a trigger deletes its parent", false, []string{
			pc + "CREATE TABLE q(x); CREATE TRIGGER t AFTER INSERT ON q BEGIN DELETE FROM p; END;", "INSERT INTO q VALUES (1)",
		}, "2.sql: " + orphan},
		{"another key deletes its parent", true, []string{
			"CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE p(id INTEGER PRIMARY KEY, a REFERENCES a ON DELETE CASCADE);" +
				"CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id)); INSERT INTO a VALUES (1);" +
				"INSERT INTO p VALUES (1, 1); INSERT INTO c VALUES (7, 1);",
			"PRAGMA defer_foreign_keys = ON; DELETE FROM a; PRAGMA defer_foreign_keys = OFF",
		}, "2.sql: " + orphan},
		{
			"a column names a parent", false,
			[]string{pc + "UPDATE c SET p = NULL;", "ALTER TABLE c ADD COLUMN q REFERENCES p(id) DEFAULT 9"},
			"2.sql: " + orphan,
		},
		{"an index comes", false, []string{byX + "INSERT INTO c VALUES (7, 1);", "CREATE UNIQUE INDEX i ON p(x)"}, "2.sql: " + orphan},
		{"an index goes", false, []string{byX + "CREATE UNIQUE INDEX i ON p(x);", "DROP INDEX i -- of c"}, "2.sql: " + unchecked},
		{
			"a file speaks of it later", false,
			[]string{byX + "CREATE UNIQUE INDEX i ON p(x);", "DROP INDEX i", "SELECT id FROM c"},
			"3.sql: " + unchecked,
		},
		{"a view takes the name of its parent", false, []string{
			"CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(x));", "CREATE VIEW p AS SELECT 1 AS x; -- c",
		}, "2.sql: " + unchecked},
		{"a view with the name of its parent goes", false, []string{
			"CREATE VIEW p AS SELECT 1 AS id; CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id)); INSERT INTO c VALUES (7, 1);",
			"DROP VIEW p",
		}, "2.sql: " + orphan},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=foreign_keys(%t)", filepath.Join(t.TempDir(), "site.db"), c.on))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var files []migrate.File
			for i, sql := range c.sql {
				files = append(files, list(fmt.Sprintf("%d.sql", i+1), sql)...)
			}
			result, err := migrator(db, files, options).Apply(t.Context())
			got := ""
			for _, n := range result.Warnings {
				got = n.Pos.String() + ": " + n.Msg
			}
			if err != nil {
				got = err.Error()
			}
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// keyFiles writes random files about a few names of tables, most of whose statements may break foreign keys.
type keyFiles struct{ *rand.Rand }

func (k keyFiles) one(of ...string) string { return of[k.IntN(len(of))] }

func (k keyFiles) table() string { return k.one("a", "b", "c", "a", "B", "ä") }

func (k keyFiles) column() string { return k.one("id", "x", "y") }

func (k keyFiles) key() string {
	action := k.one("", "", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON UPDATE CASCADE ON DELETE SET DEFAULT")
	if k.IntN(5) == 0 {
		return fmt.Sprintf(", FOREIGN KEY (x, y) REFERENCES %s(x, y)%s", k.table(), action)
	}
	to := k.one("", "(id)", "(x)", "(y)")
	return fmt.Sprintf(", FOREIGN KEY (%s) REFERENCES %s%s%s", k.one("x", "y"), k.table(), to, action)
}

func (k keyFiles) create(name string) string {
	keys := k.one("", "", k.key(), k.key(), k.key()+k.key())
	x := k.one("x", "x UNIQUE", "x INTEGER", "x TEXT COLLATE NOCASE", "x INTEGER UNIQUE ON CONFLICT REPLACE")
	sql := fmt.Sprintf("CREATE TABLE %s(id INTEGER PRIMARY KEY, %s, y DEFAULT 2%s)", name, x, keys)
	if k.IntN(6) == 0 {
		sql += " WITHOUT ROWID"
	}
	return sql
}

func (k keyFiles) value() string { return k.one("1", "2", "3", "4", "'2'", "NULL") }

func (k keyFiles) statement() string {
	t := k.table()
	switch k.IntN(20) {
	case 0, 1:
		return k.create(t)
	case 2, 3, 4:
		verb := k.one("INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE")
		return fmt.Sprintf("%s INTO %s(id, x, y) VALUES (%d, %s, %s)", verb, t, k.IntN(6), k.value(), k.value())
	case 5:
		verb := k.one("UPDATE", "UPDATE OR REPLACE")
		return fmt.Sprintf("%s %s SET %s = %s WHERE id %% 2 = %d", verb, t, k.column(), k.value(), k.IntN(2))
	case 6:
		return fmt.Sprintf("DELETE FROM %s%s", t, k.one("", " WHERE id > 2", " WHERE x = 1"))
	case 7:
		return "DROP TABLE IF EXISTS " + t
	case 8:
		return fmt.Sprintf("ALTER TABLE %s RENAME TO %s", t, k.table())
	case 9:
		return fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO %s", t, k.column(), k.column()+k.one("", "2"))
	case 10:
		return fmt.Sprintf("ALTER TABLE %s ADD COLUMN y%d REFERENCES %s DEFAULT %s", t, k.IntN(3), k.table(), k.one("NULL", "NULL", "1"))
	case 11:
		return fmt.Sprintf("CREATE UNIQUE INDEX i%d ON %s(%s)", k.IntN(4), t, k.one("x", "y", "x, y", "y, x", "x COLLATE NOCASE"))
	case 12:
		return fmt.Sprintf("DROP INDEX IF EXISTS i%d", k.IntN(4))
	case 13:
		return fmt.Sprintf("CREATE TRIGGER t%d AFTER %s ON %s BEGIN %s; END", k.IntN(4), k.one("INSERT", "UPDATE", "DELETE"), t,
			k.one("DELETE FROM "+k.table()+" WHERE id = 1", "UPDATE "+k.table()+" SET x = 4 WHERE id = 2",
				"INSERT OR REPLACE INTO "+k.table()+"(id, x, y) VALUES (1, 5, 5)"))
	case 14:
		return k.one("CREATE VIEW "+t+" AS SELECT 1 AS id, 1 AS x, 1 AS y", "DROP VIEW IF EXISTS "+t, "PRAGMA legacy_alter_table = ON")
	case 15: // rebuilds the table
		return k.create("z") + ";\nINSERT INTO z SELECT id, x, y FROM " + t + ";\nDROP TABLE " + t + ";\nALTER TABLE z RENAME TO " + t
	case 16:
		return "SELECT count(*) FROM " + t
	default:
		return fmt.Sprintf("INSERT INTO %s(x, y) VALUES (%s, %s)", t, k.value(), k.value())
	}
}

// file keeps statements that run by themselves on a database.
func (k keyFiles) file(db *sql.DB) string {
	var out []string
	if k.IntN(3) > 0 {
		out = append(out, "PRAGMA defer_foreign_keys = ON")
	}
	for range 1 + k.IntN(5) {
		s := k.statement()
		if _, err := db.Exec(s); err == nil || k.IntN(20) == 0 {
			out = append(out, s)
		}
	}
	return strings.Join(append(out, "PRAGMA defer_foreign_keys = OFF"), ";\n") + ";\n"
}

// TestRandomKeys: a check of the tables that a file may have broken gives the same verdict and notices as a check of all tables. After a
// write of another connection, the check covers all tables.
func TestRandomKeys(t *testing.T) {
	testmachine.Unraced(t)
	randomKeys(t, 0, 200)
}

func TestManyRandomKeys(t *testing.T) {
	testmachine.Long(t)
	runs := 600
	if os.Getenv("PAGES_SOAK") != "" {
		runs = 10_000
	}
	randomKeys(t, 200, runs)
}

func randomKeys(t *testing.T, first, runs int) {
	broken, unchecked := 0, 0
	for seed := first; seed < first+runs; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			b, u := randomKeysOf(t, uint64(seed))
			broken, unchecked = broken+b, unchecked+u
		})
	}
	t.Logf("%d files broke a key, %d notices of keys that cannot be checked", broken, unchecked)
	if broken < runs/10 || unchecked < runs/4 {
		t.Error("this tests too little")
	}
}

func randomKeysOf(t *testing.T, seed uint64) (broken, unchecked int) {
	k := keyFiles{rand.New(rand.NewPCG(seed, 30))}
	trial, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer trial.Close()
	trial.SetMaxOpenConns(1)
	var files []migrate.File
	for i := range 8 + k.IntN(8) {
		files = append(files, list(fmt.Sprintf("%02d.sql", i), k.file(trial))...)
	}
	keys := k.IntN(2) // rows without parents come more easily where keys are not enforced
	var databases [2]*sql.DB
	for i := range databases {
		uri := fmt.Sprintf("file:/keys-%d-%d?vfs=memdb&_pragma=foreign_keys(%d)", seed, i, keys)
		if databases[i], err = sql.Open("sqlite", uri); err != nil {
			t.Fatal(err)
		}
		defer databases[i].Close()
	}
	for {
		quick, whole := runKeys(t, databases[0], files, false), runKeys(t, databases[1], files, true)
		if quick.text != whole.text {
			t.Fatalf("held to what files touch:\n%s\nheld to all tables:\n%s\n%s", quick.text, whole.text, dumpFiles(files))
		}
		unchecked += strings.Count(whole.text, migrate.CodeKeyUnchecked)
		if whole.failed == "" {
			return broken, unchecked
		}
		if strings.Contains(whole.text, "that does not exist") {
			broken++
		}
		files = slices.DeleteFunc(files, func(f migrate.File) bool { return f.Name == whole.failed })
	}
}

type keyRun struct{ text, failed string }

// runKeys applies files, and tells all that came of it.
func runKeys(t *testing.T, db *sql.DB, files []migrate.File, whole bool) keyRun {
	t.Helper()
	o := options
	o.Progress = func(p migrate.Progress) {
		if whole {
			if _, err := db.Exec(fmt.Sprintf("PRAGMA user_version = %d", p.Done)); err != nil {
				t.Error(err)
			}
		}
	}
	result, err := migrator(db, files, o).Apply(t.Context())
	var out strings.Builder
	for _, e := range result.Applied {
		fmt.Fprintln(&out, "applied", e.Name)
	}
	for _, n := range result.Warnings {
		fmt.Fprintln(&out, n.Pos, n.Code, n.Msg)
	}
	fmt.Fprintln(&out, err)
	out.WriteString(dump(t, db))
	return keyRun{out.String(), result.Failed}
}
