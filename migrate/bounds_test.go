package migrate_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate"
)

const endlessRows = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "

// TestMaxSteps: a statement with more than MaxSteps steps fails at its place, and leaves no trace.
func TestMaxSteps(t *testing.T) {
	testmachine.Unraced(t)
	const ends = "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10000) SELECT x FROM c;\n"
	for _, c := range []struct{ name, sql, want string }{
		{"each ends", strings.Repeat(ends, 20), ""},
		{"it inserts without end", ends + "INSERT INTO t " + endlessRows + "SELECT x FROM c;", "2.sql:2:1 " + migrate.CodeEndless},
		{"it counts without end", "\n\n" + endlessRows + "SELECT count(*) FROM c;", "2.sql:3:1 " + migrate.CodeEndless},
		{"it gives rows without end", endlessRows + "SELECT x FROM c;", "2.sql:1:1 " + migrate.CodeEndless},
		{"it makes a table without end", "CREATE TABLE n AS " + endlessRows + "SELECT x FROM c;", "2.sql:1:1 " + migrate.CodeEndless},
		{
			"a trigger goes on without end",
			"CREATE TRIGGER a AFTER INSERT ON t BEGIN INSERT INTO n SELECT count(*) FROM forever; END;\n" +
				"CREATE TABLE n(x); CREATE VIEW forever AS " + endlessRows + "SELECT x FROM c;\nINSERT INTO t VALUES (1);",
			"2.sql:3:1 " + migrate.CodeEndless,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := open(t)
			o := options
			o.MaxSteps = 1_000_000
			_, err := migrator(db, list("1.sql", "CREATE TABLE t(x);", "2.sql", c.sql), o).Apply(t.Context())
			if codes(err) != c.want {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			var n int
			if err := db.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil || c.want != "" && n > 0 {
				t.Errorf("%d rows are left: %v", n, err)
			}
			if c.want == "" {
				return
			}
			if e, _ := errors.AsType[*migrate.Error](err); e.Msg != "the statement has not ended after 1 million steps of SQLite" ||
				!strings.HasPrefix(e.Fix, "make it end") {
				t.Errorf("%s; %s", e.Msg, e.Fix)
			}
			ending := strings.ReplaceAll(endlessRows, "FROM c)", "FROM c LIMIT 200000)")
			if _, err := db.Exec("INSERT INTO t " + ending + "SELECT x FROM c"); err != nil {
				t.Errorf("the bound stays with the connection: %v", err)
			}
		})
	}
}

// TestScratchBounds: files cannot exceed the bounds of size, sorting and time; the error names the bound and the place.
func TestScratchBounds(t *testing.T) {
	const large = "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT zeroblob(1900000) AS b FROM c;"
	const sorted = "CREATE TABLE t AS SELECT count(*) AS n FROM (WITH RECURSIVE c(x, z) AS (SELECT 1, zeroblob(900000) " +
		"UNION ALL SELECT x + 1, zeroblob(900000) FROM c) SELECT x FROM c ORDER BY z || x LIMIT -1 OFFSET 0);"
	// On a busy machine the bound of time is the first.
	const tooLong = "1.sql:2:1: the statement was stopped: the files take longer than 1m0s on an empty database"
	for _, c := range []struct{ name, sql, want string }{
		{"rows", large, "1.sql:2:1: with this statement, an empty database grows over 268.4 MB"},
		{"sorting", sorted, "1.sql:2:1: the statement sorts more than 536.9 MB on an empty database"},
		{
			"steps", "SELECT count(*) FROM (" + endlessRows + "SELECT x FROM c);",
			"1.sql:2:1: the statement has not ended after 200 million steps of SQLite",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "rows" {
				testmachine.Long(t)
			}
			m := migrate.New(nil, nil, migrate.Options{More: list("1.sql", "-- all of it\n"+c.sql)})
			use := func(context.Context, *sql.DB) error { t.Error("it ended"); return nil }
			each := func(context.Context, string, *sql.DB) (bool, error) { t.Error("it ended"); return false, nil }
			of := map[string]error{"OnScratch": m.OnScratch(t.Context(), use), "EachState": m.EachState(t.Context(), each)}
			for name, err := range of {
				e, ok := errors.AsType[*migrate.Error](err)
				if !ok || e.Error() != c.want && !(c.name != "rows" && e.Error() == tooLong) {
					t.Fatalf("%s: got %v, want %s", name, err, c.want)
				}
				if strings.Contains(e.Fix, "free disk space") || e.Fix == "" {
					t.Errorf("%s: %s", name, e.Fix)
				}
			}
		})
	}
}
