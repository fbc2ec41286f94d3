//go:build !windows

package main

import "strings"

// plainWord is what the shells of POSIX take as it is, beside letters and digits.
const plainWord = "-_./,:@%+="

// andThen joins commands, each of which is for when the one before went well.
const andThen = " && "

// quotedWord writes a word for those shells, whatever is in it.
func quotedWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
