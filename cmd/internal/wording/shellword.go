package wording

import "strings"

// ShellWord writes a text as one word of a shell.
func ShellWord(s string) string {
	if s != "" && IsPlain(s) {
		return s
	}
	return quoteWord(s)
}

// IsPlain reports whether s is one word of a shell without quotes.
func IsPlain(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"+plainWord) == ""
}
