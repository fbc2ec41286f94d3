package inbox

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
)

// WriteCSV writes leads as CSV, with a column for each field of any lead. A field with the name of one of our columns becomes a second
// column of that name. Unless raw is set, a value that a spreadsheet would run gets a ' in front.
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

// withoutFormula puts a ' before the formulas that a spreadsheet would run: at the start of a text, and of each part that
// it may read as another cell. Spreadsheets know a formula by its first character, and in some languages split lines at
// ";" and tabs, also within the quotes of CSV. https://owasp.org/www-community/attacks/CSV_Injection
func withoutFormula(text string) string {
	const separators, formulas = ";|\t\r\n", "=+-@\uff1d\uff0b\uff0d\uff20" // full-width ones count in East Asia
	const dropped = " \v\f\u00a0\ufeff\u200b\u3000\""                       // before the first character that counts
	var out strings.Builder
	cell, starts := 0, true
	for i, r := range text {
		switch {
		case strings.ContainsRune(separators, r):
			out.WriteString(text[cell : i+utf8.RuneLen(r)])
			cell, starts = i+utf8.RuneLen(r), true
		case starts && strings.ContainsRune(formulas, r):
			out.WriteByte('\'')
			starts = false
		case !strings.ContainsRune(dropped, r):
			starts = false
		}
	}
	out.WriteString(text[cell:])
	if first := strings.TrimLeft(text, " "); first != "" && strings.ContainsRune("\t\r", rune(first[0])) {
		return "'" + out.String() // some programs drop it and read on
	}
	return out.String()
}
