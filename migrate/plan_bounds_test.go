package migrate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate"
)

// TestPlanBounds: a plan over its bounds fails with the reason, and leaves no trace.
func TestPlanBounds(t *testing.T) {
	testmachine.Unraced(t)
	const rows = "CREATE TABLE t(id INTEGER PRIMARY KEY, x); INSERT INTO t WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 " +
		"FROM c WHERE i < 3000) " +
		"SELECT i, hex(randomblob(50)) FROM c;"
	const endless = "INSERT INTO t(x) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c;"
	const remove = "DELETE FROM t WHERE id <= 1000;"
	tests := []struct {
		name, sql, want string
		bounds          migrate.PlanOptions
	}{
		{"in memory", remove, "", migrate.PlanOptions{}},
		{"on disk", remove, "", migrate.PlanOptions{MaxMemory: 1}},
		{"over the bound", remove, "the database has 348.2 kB, and the limit for a copy is 100.0 " +
			"kB", migrate.PlanOptions{MaxBytes: 100_000}},
		{"grows over the bound", endless, "with these files, the database grows over 1.0 MB", migrate.PlanOptions{MaxBytes: 1_000_000}},
		{"grows over the bound on disk", endless, "with these files, the database grows over 1.0 " +
			"MB", migrate.PlanOptions{MaxBytes: 1_000_000, MaxMemory: 1}},
		{"grows over memory", endless, "with these files, the database grows over 9.0 " +
			"MB", migrate.PlanOptions{MaxBytes: 9_000_000, MaxMemory: 500_000}},
		{
			"too slow", strings.Replace(endless, "INSERT INTO t(x) ", "CREATE TABLE n AS ", 1) + ";",
			"the statement at 2.sql:1 takes longer than 100ms",
			migrate.PlanOptions{Timeout: 100 * time.Millisecond},
		},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			db := open(t)
			apply(t, db, list("1.sql", rows))
			o := options
			o.Plan = c.bounds
			o.Plan.Dir = filepath.Join(t.TempDir(), "plans")
			stale := filepath.Join(o.Plan.Dir, ".rehearsal-1")
			if err := os.MkdirAll(stale, 0o700); err != nil {
				t.Fatal(err)
			}
			past := o.Now().Add(-2 * time.Hour)
			if err := os.Chtimes(stale, past, past); err != nil {
				t.Fatal(err)
			}
			plan, err := migrator(db, list("1.sql", rows, "2.sql", c.sql), o).Plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if plan.NotRehearsed != c.want || len(plan.Pending) != 1 {
				t.Errorf("not rehearsed: %q, want %q; %+v", plan.NotRehearsed, c.want, plan.Pending)
			}
			if got := fmt.Sprint(plan.Tables, losses(plan.Losses)); c.want == "" && got != "[{t 3000 2000}] [2.sql:1 t 1000 delete]" {
				t.Errorf("%s", got)
			}
			left, err := os.ReadDir(o.Plan.Dir)
			if err != nil || c.bounds.MaxMemory > 0 && len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// TestPlanFailsTheSame: a file that fails on the copy fails with its place, and no bound is blamed.
func TestPlanFailsTheSame(t *testing.T) {
	db := open(t)
	apply(t, db, list("1.sql", "CREATE TABLE t(x)"))
	o := options
	o.Plan = migrate.PlanOptions{MaxMemory: 1, Dir: t.TempDir(), Timeout: time.Minute, MaxBytes: 1 << 30}
	plan, err := migrator(db, list("1.sql", "CREATE TABLE t(x)", "2.sql", "DROP TABLE u;"), o).Plan(t.Context())
	if codes(err) != "2.sql:1:12 migration_failed" || plan.NotRehearsed != "" {
		t.Errorf("%v, %s", err, plan.NotRehearsed)
	}
}
