//go:build !windows

package main

import "strings"

// plainWord is what the shells of POSIX take as it is, beside letters and digits.
const plainWord = "-_./,:@%+="

// quotedWord writes a word for those shells, whatever is in it.
func quotedWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
