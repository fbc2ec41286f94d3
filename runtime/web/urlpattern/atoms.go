package urlpattern

import (
	"fmt"
	"strings"
)

// This file is about one fault of the engine: with the flag v it refuses
// characters anywhere in an expression that the language reserves inside of
// classes alone, as the hyphen of /foo-bar/v. Written by their number they mean
// the same and are taken.

// reservedInClasses are ASCII characters that v reserves in classes and that
// may stand for themselves outside of them.
const reservedInClasses = "-/&!#%:;<=>@`~"

// plainAtoms writes the reserved characters outside of classes by their number.
func plainAtoms(expression string) string {
	var b strings.Builder
	classes := 0
	for i := 0; i < len(expression); {
		rest := expression[i:]
		n := syntaxLength(rest)
		switch {
		case n > 1: // an escape, or the head of a group
		case rest[0] == '[':
			classes++
		case rest[0] == ']':
			classes = max(classes-1, 0)
		case classes == 0 && (strings.IndexByte(reservedInClasses, rest[0]) >= 0 || strings.HasPrefix(rest, ",,")):
			fmt.Fprintf(&b, `\x%02x`, rest[0])
			i++
			continue
		}
		b.WriteString(rest[:n])
		i += n
	}
	return b.String()
}

// syntaxLength is how many bytes at the beginning of a piece of an expression
// belong together; 1 is a character by itself.
func syntaxLength(rest string) int {
	switch {
	case strings.HasPrefix(rest, "(?"):
		return 1 + indexOrEnd(rest[1:], ":=!>")
	case strings.HasPrefix(rest, `\k<`):
		return indexOrEnd(rest, ">")
	case strings.HasPrefix(rest, `\p{`), strings.HasPrefix(rest, `\P{`), strings.HasPrefix(rest, `\u{`):
		return indexOrEnd(rest, "}")
	case rest[0] == '\\':
		return min(len(rest), len(`\x`))
	default:
		return 1
	}
}

// indexOrEnd is the index behind the first of the characters, or the length.
func indexOrEnd(text, characters string) int {
	if at := strings.IndexAny(text, characters); at >= 0 {
		return at + 1
	}
	return len(text)
}
