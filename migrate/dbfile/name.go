package dbfile

import "strings"

// QuoteName returns the name of a table or column in SQL's quotation marks.
func QuoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// UnquoteName returns the name in a token of SQL, quoted or not.
func UnquoteName(token string) string {
	if len(token) < 2 || !strings.Contains("\"'`[", token[:1]) {
		return token
	}
	quote, inner := token[:1], token[1:len(token)-1]
	if quote == "[" {
		return inner
	}
	return strings.ReplaceAll(inner, quote+quote, quote)
}

// FoldName returns a name as SQLite compares names: without the case of ASCII letters.
func FoldName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// SameName reports whether two names are equal to SQLite.
func SameName(a, b string) bool { return FoldName(a) == FoldName(b) }
