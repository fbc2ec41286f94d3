package inbox

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
)

// WriteCSV writes leads as CSV, with a column for each field that any of them has. A field called like a column of ours is the
// second of that name. Unless raw, a value that a spreadsheet would run gets a ' in front.
func WriteCSV(w io.Writer, leads []site.Lead, raw bool) error {
	own := []string{"lead_id", "form", "created_at", "events"}
	var fields []string
	at := map[string]int{}
	for _, l := range leads {
		for _, f := range l.Fields {
			if _, ok := at[f.Name]; !ok {
				at[f.Name] = len(own) + len(fields)
				fields = append(fields, f.Name)
			}
		}
	}
	out := csv.NewWriter(w)
	head := sqlshell.Distinct(slices.Concat(own, fields))
	rows := [][]string{head}
	for _, l := range leads {
		row := make([]string, len(head))
		copy(row, []string{l.ID, l.Form, wording.Timestamp(l.CreatedAt.Time), strings.Join(l.Events, " ")})
		for _, f := range l.Fields {
			row[at[f.Name]] = l.Fields.Text(f.Name)
		}
		rows = append(rows, row)
	}
	if !raw {
		for _, row := range rows {
			for i := range row {
				row[i] = withoutFormula(row[i])
			}
		}
	}
	return out.WriteAll(rows)
}
