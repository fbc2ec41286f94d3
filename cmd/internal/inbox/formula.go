package inbox

import (
	"strings"
	"unicode/utf8"
)

// This file keeps spreadsheets from running what a visitor wrote. They take a cell for a formula by its first character,
// and split lines at ";" and tabs where the system's language has it so, also within the quotes of CSV.
// https://owasp.org/www-community/attacks/CSV_Injection

// withoutFormula puts a ' before whatever a spreadsheet would take for a formula: at the start of a text, and of what
// it may take for another cell.
func withoutFormula(text string) string {
	const separators, formulas = ";|\t\r\n", "=+-@\uff1d\uff0b\uff0d\uff20" // East Asian ones take the full width for the same
	const dropped = " \v\f\u00a0\ufeff\u200b\u3000\""                       // before what counts
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
		return "'" + out.String() // dropped by some, which then read on
	}
	return out.String()
}
