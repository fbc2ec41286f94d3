package rehearsal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// site writes migrations to a folder, and returns it with its manifest.
func site(t *testing.T, m *manifest.Manifest, migrations ...string) (string, *manifest.Manifest) {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "m"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, text := range migrations {
		if err := os.WriteFile(filepath.Join(dir, "m", fmt.Sprintf("%d.sql", i+1)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if m == nil {
		m = &manifest.Manifest{Bindings: manifest.Bindings{Database: &manifest.Database{Migrations: "m"}}}
	}
	return dir, m
}

func lines(diags diagnostic.List) string {
	var all []string
	for _, d := range diags {
		at := d.Path
		if d.File != "" {
			at = fmt.Sprintf("%s:%d:%d", d.File, d.Line, d.Column)
		}
		all = append(all, fmt.Sprintf("%s %s %s: %s; %s", d.Severity, d.Code, at, d.Message, d.Fix))
	}
	return strings.Join(all, "\n")
}

// endless is a statement that does not end.
const endless = "CREATE TABLE n AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(x) AS n FROM c;"

func TestRun(t *testing.T) {
	named := func(submissions string, tables ...string) *manifest.Manifest {
		return &manifest.Manifest{Bindings: manifest.Bindings{
			Database: &manifest.Database{Migrations: "m", Tables: tables}, Submissions: submissions,
		}}
	}
	long := "INSERT INTO a VALUES ('" + strings.Repeat("x", 100_000) + "');"
	for _, c := range []struct {
		name       string
		m          *manifest.Manifest
		migrations []string
		want       string
	}{
		{"no database", &manifest.Manifest{}, []string{"no SQL"}, ""},
		{"no migrations", &manifest.Manifest{Bindings: manifest.Bindings{Database: &manifest.Database{}}}, []string{"no SQL"}, ""},
		{
			"all apply", named("leads", "A", "v"),
			[]string{"CREATE TABLE a(x);", "CREATE TABLE leads(x); CREATE VIEW v AS SELECT x FROM a;"},
			"",
		},
		{
			"a column without a default", nil,
			[]string{"CREATE TABLE a(x); INSERT INTO a VALUES (1);", "-- adds y\nALTER TABLE a ADD COLUMN y TEXT NOT NULL;"},
			"error migration_failed m/2.sql:2:1: Cannot add a NOT NULL column with default value NULL; ",
		},
		{
			"a word of no SQL", nil,
			[]string{"CREATE TABLE a(x);\nCREAT TABLE b(x);", "neither"},
			`error migration_failed m/1.sql:2:1: near "CREAT": syntax error; `,
		},
		{
			"a trigger on a table that is gone", nil,
			[]string{
				"CREATE TABLE a(x); CREATE TABLE b(x); CREATE TRIGGER t AFTER INSERT ON b BEGIN INSERT INTO a VALUES (1); END;",
				"CREATE TABLE a2(x);\nDROP TABLE a;\nALTER TABLE a2 RENAME TO a;",
			},
			"error migration_failed m/2.sql:3:1: error in trigger t: no such table: main.a; " +
				"drop the trigger t before the table is dropped, and create it again at the end of the file",
		},
		{
			"tables that none creates", named("leeds", "leads", "lead", "x", "lead"),
			[]string{"CREATE TABLE leads(x); CREATE TABLE gone(x);", "DROP TABLE gone; -- CREATE TABLE x(x)"},
			`error table-not-created /bindings/database/tables/1: no migration in "m" creates the table "lead"; did you mean "leads"?
error table-not-created /bindings/database/tables/2: no migration in "m" creates the table "x"; create it in a migration, or
	correct the name
error table-not-created /bindings/database/tables/3: no migration in "m" creates the table "lead"; did you mean "leads"?
error table-not-created /bindings/submissions: no migration in "m" creates the table "leeds"; did you mean "leads"?`,
		},
		{
			"a statement that the service refuses", nil,
			[]string{"CREATE TABLE a(x);\n" + long},
			"error migration_over_limit m/1.sql:2:1: the platform refuses this statement: " +
				"a statement has at most 100,000 bytes; write several statements; load rows that are not part " +
				"of the schema with pages db import",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, m := site(t, c.m, c.migrations...)
			want := strings.ReplaceAll(c.want, "\n\t", " ") // a line that begins with a tab continues the one before
			if got := lines(Run(t.Context(), dir, m)); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
				t.Errorf("the rehearsal left %q in the site's folder: %v", left, err)
			}
		})
	}
}

// TestBounds names the migration that was not rehearsed to its end, and the reason: too much time or space is not a fault of the site.
func TestBounds(t *testing.T) {
	much := "CREATE TABLE b AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000) " +
		"SELECT zeroblob(1000000) AS b FROM c;"
	for _, c := range []struct{ name, sql, want string }{
		{"time", endless, "m/2.sql:2 takes longer than 300ms on an empty database"},
		{"bytes", much, "with m/2.sql:2 the database grows over 4.2 MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, m := site(t, nil, "CREATE TABLE a(x);", "-- more\n"+c.sql)
			b := bounds{time: 300 * time.Millisecond, bytes: 4 << 20}
			if c.name == "bytes" {
				b.time = usual.time
			}
			want := "warning migrations-not-rehearsed /bindings/database/migrations: the migrations were not rehearsed to their end: " +
				c.want + "; pages migrate rehearse runs them without a bound"
			if got := lines(b.run(t.Context(), dir, m)); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestEndless: a statement that takes too many steps is an error at its place, however busy the machine is.
func TestEndless(t *testing.T) {
	dir, m := site(t, nil, "CREATE TABLE a(x);", "SELECT 1;\n"+endless)
	b := usual
	b.time, b.steps = time.Hour, 2_000_000
	const want = "error migration_endless m/2.sql:2:1: the statement has not ended after 2 million steps of SQLite; " +
		"make it end, for example with a LIMIT in its recursion; load rows with pages db import"
	if got := lines(b.run(t.Context(), dir, m)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestStopped reports nothing when the context ends.
func TestStopped(t *testing.T) {
	dir, m := site(t, nil, endless)
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if got := Run(ctx, dir, m); len(got) != 0 {
		t.Errorf("%s", lines(got))
	}
}

// TestCache runs the migrations again if their input has changed, and only then.
func TestCache(t *testing.T) {
	dir, m := site(t, nil, "CREATE TABLE a(x);", "no SQL")
	var c Cache
	first := c.Run(t.Context(), dir, m)
	if !first.HasErrors() {
		t.Fatal("a broken migration passes")
	}
	first[0].Message = "changed by the caller"
	if again := c.Run(t.Context(), dir, m); len(again) != 1 || again[0].Message == first[0].Message {
		t.Errorf("%s", lines(again))
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "m", "2.sql"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("CREATE TABLE b(x);")
	if got := c.Run(t.Context(), dir, m); len(got) != 0 {
		t.Errorf("%s", lines(got))
	}
	m.Bindings.Database.Tables = []string{"c"}
	if got := c.Run(t.Context(), dir, m); len(got) != 1 {
		t.Errorf("%s", lines(got))
	}
}
