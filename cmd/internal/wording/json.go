package wording

import (
	"fmt"
	"regexp"
	"unicode/utf8"
)

// obeyed matches characters that JSON does not escape and terminals obey: DEL, C1 controls and direction marks.
var obeyed = regexp.MustCompile("[\x7f\u0080-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

// EscapeJSON writes such characters of a JSON text as escapes. Its value stays the same.
func EscapeJSON(text []byte) []byte {
	return obeyed.ReplaceAllFunc(text, func(c []byte) []byte {
		r, _ := utf8.DecodeRune(c)
		return fmt.Appendf(nil, `\u%04x`, r)
	})
}
