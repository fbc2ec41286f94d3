package migrate_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPlanManyStatements: many statements that lose rows of one table are one item after the first hundred, and so are many
// comments that allow nothing.
func TestPlanManyStatements(t *testing.T) {
	const rows = 2000
	var remove, comment strings.Builder
	for i := range rows {
		fmt.Fprintf(&remove, "DELETE FROM t WHERE id = %d;\n", i+1)
		fmt.Fprintf(&comment, "-- pages: loses nothing%d\nSELECT %d;\n", i, i)
	}
	const table = "CREATE TABLE t(id INTEGER PRIMARY KEY, x); INSERT INTO t WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL " +
		"SELECT i + 1 FROM c WHERE i < 2000) SELECT i, i FROM c;"
	db := open(t)
	apply(t, db, list("1.sql", table))
	plan, err := migrator(db, list("1.sql", table, "2.sql", remove.String(), "3.sql", comment.String()), options).Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lost int64
	for _, l := range plan.Losses {
		lost += l.Rows
	}
	last := plan.Losses[len(plan.Losses)-1]
	if len(plan.Losses) != 100 || lost != rows || last.Rows != rows-99 || last.Pos.Line != 100 {
		t.Errorf("%d losses of %d rows, the last one %d:%d of %d", len(plan.Losses), lost, last.Pos.Line, last.Pos.Column, last.Rows)
	}
	if n := len(plan.Warnings); n != 100 || plan.Warnings[99].Pos.Line != 199 || plan.Warnings[99].Pos.Column != 1 {
		t.Errorf("%d warnings, the last one %+v", n, plan.Warnings[n-1])
	}
}
