//go:build !windows

package wording

import "strings"

// plainWord has the characters, beside letters and digits, that POSIX shells take without quotes.
const plainWord = "-_./,:@%+="

// AndThen joins commands, each of which is for when the one before went well.
const AndThen = " && "

// quoteWord writes a word for those shells, whatever is in it.
func quoteWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
