package manifest

import (
	"strconv"
	"unicode/utf8"
)

// maxQuoted bounds what a message repeats of the author's file, in characters.
const maxQuoted = 64

// quote puts the author's own word in quotes. Control and invisible characters come out escaped, so that a
// hostile file cannot drive a terminal or a log; keys of services come out as stars.
func quote(s string) string { return strconv.Quote(clip(withoutKeys(s))) }

// literal is quote for what the author is told to write, which must be whole to be of use.
func literal(s string) string { return strconv.Quote(withoutKeys(s)) }

// clip shortens a long word.
func clip(s string) string {
	if utf8.RuneCountInString(s) <= maxQuoted {
		return s
	}
	n := 0
	for i := range s {
		if n == maxQuoted {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
