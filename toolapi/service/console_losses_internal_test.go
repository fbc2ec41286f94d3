package service

import (
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

// TestShownSQL: a statement is shown as its author wrote it, unless a character of it cannot be seen.
func TestShownSQL(t *testing.T) {
	for _, c := range []struct{ name, sql, want string }{
		{"a comparison", `DELETE FROM "old trips" WHERE id <= 5`, `DELETE FROM "old trips" WHERE id <= 5`},
		{"a turned text", "DELETE FROM a -- \u202e b", `"DELETE FROM a -- \u202e b"`},
		{"a zero width", "DELETE FROM a\u200b", `"DELETE FROM a\u200b"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shownSQL(c.sql); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestSumOfLosses: a few words above the list sum up the losses, or the list stands alone.
func TestSumOfLosses(t *testing.T) {
	lost := []toolapi.DataLoss{{Table: "a", Rows: 1}, {Table: "b", Column: "x", Rows: 2}, {Table: "c", Rows: 3}}
	for _, c := range []struct {
		name       string
		lost       []toolapi.DataLoss
		sum, words string
	}{
		{"one", lost[:1], "1 row of a", "1 row of a"},
		{
			"values of then",
			[]toolapi.DataLoss{{Table: "a", Rows: 1}, {Table: "a", Rows: 2, Cause: toolapi.CauseRestoreValues}},
			"1 row of a and the values of 2 rows of a", "1 row of a and the values of 2 rows of a",
		},
		{"many", lost, "", "the losses above"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := &lossView{Words: lostInWords(toolapi.SumLosses(c.lost))}
			if v.Sum() != c.sum || v.Words != c.words {
				t.Errorf("%q and %q, want %q and %q", v.Sum(), v.Words, c.sum, c.words)
			}
		})
	}
}
