package migrate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/migrate"
)

// TestAtomic: with the option all files are applied, or none is.
func TestAtomic(t *testing.T) {
	const tables = "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p); INSERT INTO p VALUES (1); INSERT INTO c " +
		"VALUES (1);"
	const deferred = "PRAGMA defer_foreign_keys = ON;\nCREATE TABLE p2(id INTEGER PRIMARY KEY); INSERT INTO p2 SELECT * FROM p; " +
		"DROP TABLE p; " +
		"ALTER TABLE p2 RENAME TO p; PRAGMA defer_foreign_keys = OFF;"
	tests := []struct {
		name   string
		files  []migrate.File
		tables []string
		code   string
		stands string
		holds  string
	}{
		{"all", list("2.sql", "CREATE TABLE a(x);", "3.sql", "INSERT INTO a VALUES (1);"), []string{"a"}, "", "", "1:1.sql 2:2.sql " +
			"3:3.sql"},
		{"nothing pending", nil, nil, "", "", "1:1.sql"},
		{
			"the last one fails", list("2.sql", "CREATE TABLE a(x);", "3.sql", "CREATE TABLE b(x);", "4.sql", "DROP TABLE "+
				"nowhere", "5.sql", "SELECT 1"), nil,
			"4.sql:1:12 migration_failed", "4.sql was rolled back; 2 files, 2.sql to 3.sql, ran and were rolled back; nothing is " +
				"applied; 5.sql did not run", "1:1.sql",
		},
		{
			"a table is missing", list("2.sql", "CREATE TABLE a(x);"),
			[]string{"b"},
			"migration_table_missing",
			"2.sql ran, and was rolled back; nothing is applied", "1:1.sql",
		},
		{
			"keys are checked after each file", list("2.sql", "PRAGMA defer_foreign_keys = ON; INSERT INTO c VALUES "+
				"(7);", "3.sql", "INSERT INTO p VALUES (7);"), nil,
			"2.sql migration_foreign_keys", "2.sql was rolled back; 3.sql did not run", "1:1.sql",
		},
		{
			"what a file defers ends with it", list("2.sql", "PRAGMA defer_foreign_keys = ON;", "3.sql", "INSERT INTO c VALUES (7); "+
				"INSERT INTO p VALUES (7);"), nil,
			"3.sql:1:1 migration_foreign_keys", "3.sql was rolled back; 2.sql ran, and was rolled back; nothing is applied", "1:1.sql",
		},
		{"a table made anew", list("2.sql", deferred, "3.sql", deferred), nil, "", "", "1:1.sql 2:2.sql 3:3.sql"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			db := open(t)
			apply(t, db, list("1.sql", tables))
			before := dump(t, db)
			o := options
			o.Atomic, o.Tables = true, c.tables
			m := migrator(db, append(list("1.sql", tables), c.files...), o)
			_, planned := m.Plan(t.Context())
			result, err := m.Apply(t.Context())
			if codes(err) != c.code || codes(planned) != c.code {
				t.Errorf("applied %v, planned %v, want %s", err, planned, c.code)
			}
			if got := result.Stands(); got != c.stands {
				t.Errorf("stands: %s\nwant:   %s", got, c.stands)
			}
			if got := ledger(t, db); got != c.holds {
				t.Errorf("ledger %s, want %s", got, c.holds)
			}
			if c.code != "" && (dump(t, db) != before || len(result.Applied) > 0) {
				t.Errorf("%s is left, %+v", dump(t, db), result)
			}
		})
	}
}

// TestAtomicInterrupted: the end of the context takes all files back.
func TestAtomicInterrupted(t *testing.T) {
	db := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	o := options
	o.Atomic = true
	o.Progress = func(p migrate.Progress) {
		if p.Done == 1 {
			time.AfterFunc(10*time.Millisecond, cancel)
		}
	}
	endless := "INSERT INTO a WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c;"
	result, err := migrator(db, list("1.sql", "CREATE TABLE a(x);", "2.sql", endless), o).Apply(ctx)
	if got := codes(err); got != "2.sql:1:1 migration_cancelled" || result.Failed != "2.sql" || len(result.TakenBack) != 1 {
		t.Errorf("%v, %+v", err, result)
	}
	if got := dump(t, db) + ledger(t, db); got != "" {
		t.Errorf("database holds %s", got)
	}
}

// TestAtomicKilled: a process that applies several files in one transaction is killed at random moments. Either all of them are applied, or
// none.
func TestAtomicKilled(t *testing.T) {
	kills := 15
	if os.Getenv("PAGES_SOAK") != "" {
		kills = 300
	}
	if testing.Short() {
		kills = 3
	}
	files := pairFiles(6, 300)
	o := options
	o.Atomic = true
	if path := os.Getenv("PAGES_TEST_KILL_ATOMIC"); path != "" {
		if _, err := migrator(openPath(t, path), files, o).Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		return
	}
	whole := 0
	for killed, runs := 0, 0; killed < kills; runs++ {
		if runs > 40*kills {
			t.Fatal("the runs end before they can be killed")
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("site%d.db", runs))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond+time.Duration(rand.Int64N(int64(150*time.Millisecond))))
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestAtomicKilled$")
		cmd.Env = append(os.Environ(), "PAGES_TEST_KILL_ATOMIC="+path)
		err := cmd.Run()
		cancel()
		if err != nil {
			killed++
		}
		switch n := checkPairs(t, path); n {
		case 0:
		case len(files):
			whole++
		default:
			t.Fatalf("%d of %d files are applied", n, len(files))
		}
	}
	t.Logf("%d runs were whole", whole)
}

// TestKeyUnchecked: a foreign key whose index a later file makes is taken, and told.
func TestKeyUnchecked(t *testing.T) {
	files := list("1.sql", "CREATE TABLE p(a, b); CREATE TABLE c(x REFERENCES p(a)); CREATE TABLE q(id INTEGER PRIMARY KEY); CREATE "+
		"TABLE d(q REFERENCES q);",
		"2.sql", "CREATE TABLE other(x);", "3.sql", "CREATE UNIQUE INDEX pa ON p(a);", "4.sql", "INSERT INTO p VALUES (1, 2); "+
			"INSERT INTO c VALUES (1);")
	for _, atomic := range []bool{false, true} {
		o := options
		o.Atomic = atomic
		result, err := migrator(open(t), files, o).Apply(t.Context())
		if err != nil || len(result.Warnings) != 1 {
			t.Fatalf("%v, %+v", err, result.Warnings)
		}
		const want = `1.sql migration_foreign_key_unchecked the foreign key of "c" to "p" (a) is not checked: no unique index has these ` +
			"columns yet; until one does, SQLite refuses to write rows with that key"
		if n := result.Warnings[0]; n.Pos.String()+" "+n.Code+" "+n.Msg != want {
			t.Errorf("%s %s %s", n.Pos, n.Code, n.Msg)
		}
	}
	// Other keys are checked all the same.
	bad := append(files[:1:1], list("2.sql", "PRAGMA defer_foreign_keys = ON; INSERT INTO d VALUES (9);")...)
	if _, err := migrator(open(t), bad, options).Apply(t.Context()); codes(err) != "2.sql migration_foreign_keys" {
		t.Errorf("%v", err)
	}
}

// TestDownSection: a "down" section is reported with its line.
func TestDownSection(t *testing.T) {
	tests := []struct{ name, sql, want string }{
		{"goose", "-- +goose Up\nCREATE TABLE a(x);\n-- +goose Down\nDROP TABLE a;", "1.sql:3:1 -- +goose Down"},
		{"dbmate", "-- migrate:up\nCREATE TABLE a(x);\n\n  -- migrate:down transaction:false\r\n" +
			"DROP TABLE a;", "1.sql:4:3 -- migrate:down transaction:false"},
		{"sql-migrate", "-- +migrate Up\nCREATE TABLE a(x);\n-- +migrate Down\nDROP TABLE a;", "1.sql:3:1 -- +migrate Down"},
		{"node-sqlite", "-- Up\nCREATE TABLE a(x);\n--------- Down\nDROP TABLE a;", "1.sql:3:1 --------- Down"},
		{"node-pg-migrate", "-- Up Migration\nCREATE TABLE a(x);\n-- Down Migration\nDROP TABLE a;", "1.sql:3:1 -- Down Migration"},
		{"nothing below", "-- +goose Up\nCREATE TABLE a(x);\n-- +goose Down\n-- nothing\n", ""},
		{"a sentence", "-- down the river\nCREATE TABLE a(x);", ""},
		{"a text", "CREATE TABLE a(x); INSERT INTO a VALUES ('\n-- +goose Down\n'); SELECT 1;", ""},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			status, err := migrator(open(t), list("1.sql", c.sql), options).Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range status.Warnings {
				if n.Code == migrate.CodeDownSection {
					_, marker, _ := strings.Cut(n.Msg, `"`)
					marker, _, _ = strings.Cut(marker, `"`)
					got = append(got, n.Pos.String()+" "+marker)
				}
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
