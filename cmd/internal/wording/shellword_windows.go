package wording

import "strings"

// plainWord has the characters, in addition to letters and digits, that cmd.exe and PowerShell take without quotes.
const plainWord = `-_./\:+=`

// AndThen joins commands that a person runs one by one, each after the one before has succeeded: PowerShell 5.1 has no &&, and cmd.exe no
// ;.
const AndThen = "\n      "

// quoteWord writes a word in quotes that both shells accept. A program reads a backslash as itself unless it is before a quote.
func quoteWord(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for i := range len(s) {
		switch s[i] {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(s[i])
	}
	return b.String() + strings.Repeat(`\`, slashes) + `"`
}
