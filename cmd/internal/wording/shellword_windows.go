package wording

import "strings"

// plainWord has the characters, beside letters and digits, that cmd.exe and PowerShell take without quotes.
const plainWord = `-_./\:+=`

// AndThen parts commands, each of which is for when the one before went well: PowerShell 5.1 knows no &&, and cmd.exe no ;.
const AndThen = "\n      "

// quoteWord writes a word in the quotes that both know. A program reads a backslash as one unless it is before a quote.
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
