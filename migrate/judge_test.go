package migrate_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pages-toolchain/pages/migrate"
)

// TestJudge: the judge gets the losses on the rows that the run meets, before they occur.
func TestJudge(t *testing.T) {
	refusal := errors.New("refused")
	first := "CREATE TABLE a(x); INSERT INTO a VALUES (1), (2)"
	files := list("1.sql", first, "2.sql", "CREATE TABLE b(x)", "3.sql", "DELETE FROM a")
	for _, c := range []struct {
		name   string
		judge  func(losses string, write func(string)) error
		judged string // the losses of each call
		left   string // rows of a, and tables
		err    error
	}{
		{
			name: "agreed", judge: func(string, func(string)) error { return nil },
			judged: "[a 2 delete]", left: "0 a b",
		},
		{
			name: "refused", judge: func(string, func(string)) error { return refusal },
			judged: "[a 2 delete]", left: "2 a", err: refusal,
		},
		{
			name: "a row comes meanwhile",
			judge: func(losses string, write func(string)) error {
				if losses == "a 2 delete" {
					write("INSERT INTO a VALUES (3)")
				}
				return nil
			},
			judged: "[a 2 delete a 3 delete]", left: "0 a b",
		},
		{
			name: "a row that is not agreed to comes meanwhile",
			judge: func(losses string, write func(string)) error {
				if losses == "a 2 delete" {
					write("INSERT INTO a VALUES (3)")
					return nil
				}
				return refusal
			},
			judged: "[a 2 delete a 3 delete]", left: "3 a", err: refusal,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := open(t)
			apply(t, db, list("1.sql", first))
			var judged []string
			o := options
			o.Judge = func(p migrate.Plan) error {
				var losses string
				for _, l := range p.Losses {
					losses += fmt.Sprint(l.Table, " ", l.Rows, " ", l.Cause)
				}
				judged = append(judged, losses)
				return c.judge(losses, func(statement string) { execute(t, db, statement) })
			}
			result, err := migrate.New(db, folder(files), o).Apply(t.Context())
			if !errors.Is(err, c.err) || fmt.Sprint(judged) != c.judged {
				t.Errorf("%v, judged %v", err, judged)
			}
			left := one(t, db, "SELECT count(*) FROM a") + " " + one(t, db,
				"SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema WHERE name IN ('a', 'b') ORDER BY name)")
			if left != c.left || len(result.Applied) != map[bool]int{true: 2, false: 0}[c.err == nil] ||
				c.err == nil && result.Failed != "" {
				t.Errorf("left %q, %+v", left, result)
			}
		})
	}
}
