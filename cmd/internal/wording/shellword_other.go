//go:build !windows

package wording

import "strings"

// plainWord has the characters, beside letters and digits, that POSIX shells take without quotes.
const plainWord = "-_./,:@%+="

// AndThen joins commands, each of which is for when the one before went well.
const AndThen = " && "

// quoteWord quotes any word for those shells.
func quoteWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
