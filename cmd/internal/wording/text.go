// Package wording formats values for all messages of the command: counts, sizes, times, paths and words of a shell. Nothing here depends on
// the subject of a message. All functions are safe for concurrent use.
package wording

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// Count returns "1 asset", "2 assets".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Size writes a number of bytes for people, in powers of 1000.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// Clock writes a moment for people, in this machine's zone.
func Clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Timestamp writes a moment for a document: RFC 3339 in UTC, always of one length.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// QuotePath puts a path in the quotes of a message. It does not double the backslashes between folders, so that the path can be copied.
func QuotePath(path string) string {
	quoted := strconv.Quote(path)
	if filepath.Separator == '\\' {
		quoted = strings.ReplaceAll(quoted, `\\`, `\`)
	}
	return quoted
}

// Printable escapes the characters that a terminal would obey or hide.
func Printable(text string) string {
	var b strings.Builder
	for i, r := range text {
		_, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// PrintableCode is Printable for a line of code, whose tabs stay.
func PrintableCode(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = Printable(part)
	}
	return strings.Join(parts, "\t")
}

// QuoteAll quotes each of args, with spaces between.
func QuoteAll(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = fmt.Sprintf("%q", arg)
	}
	return strings.Join(quoted, " ")
}

// FirstLine returns s up to its first line break.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// Nearest returns the name that a mistyped or unfinished one most likely means; "" for none.
func Nearest(name string, names []string) string {
	if near := diagnostic.Nearest(name, names); near != "" {
		return near
	}
	unfinished := func(whole string) bool { return name != "" && strings.HasPrefix(whole, strings.ToLower(name)) }
	if i := slices.IndexFunc(names, unfinished); i >= 0 {
		return names[i]
	}
	return ""
}

// obeyed matches characters that JSON does not escape and terminals obey: DEL, C1 controls and direction marks.
var obeyed = regexp.MustCompile("[\x7f\u0080-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

// EscapeJSON writes such characters of a JSON text as escapes. Its value stays the same.
func EscapeJSON(text []byte) []byte {
	return obeyed.ReplaceAllFunc(text, func(c []byte) []byte {
		r, _ := utf8.DecodeRune(c)
		return fmt.Appendf(nil, `\u%04x`, r)
	})
}
