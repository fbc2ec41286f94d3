//go:build !windows

package wording

import "strings"

// plainWord has the characters, in addition to letters and digits, that POSIX shells take without quotes.
const plainWord = "-_./,:@%+="

// AndThen joins commands: each one runs after the one before has succeeded.
const AndThen = " && "

// quoteWord quotes any word for those shells.
func quoteWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
