package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest"
)

// This file is how commands speak: to people on stderr, to programs in JSON on stdout.

// terminal is what a report that goes to w is written on.
func (c *cli) terminal(w io.Writer) manifest.Terminal {
	return manifest.Terminal{Color: c.colored(w), Columns: columns(w)}
}

// colored reports whether what goes to w is coloured.
func (c *cli) colored(w io.Writer) bool {
	switch c.color {
	case "always":
		return true
	case "never":
		return false
	}
	if v, ok := c.lookup("NO_COLOR"); ok && v != "" {
		return false
	}
	if v, _ := c.lookup("TERM"); v == "dumb" {
		return false
	}
	return isTerminal(w)
}

// paint puts text for stderr in an SGR style, when that is coloured.
func (c *cli) paint(style, text string) string {
	return c.paintFor(c.stderr, style, text)
}

// paintFor is paint for what goes to w.
func (c *cli) paintFor(w io.Writer, style, text string) string {
	if !c.colored(w) {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// progress prints a line for people, unless --quiet.
func (c *cli) progress(format string, args ...any) {
	if !c.quiet {
		fmt.Fprintf(c.stderr, format+"\n", args...)
	}
}

// printJSON prints v as one JSON document on stdout.
func (c *cli) printJSON(v any) { c.encode(v, "  ") }

// encode writes v as JSON on stdout.
func (c *cli) encode(v any, indent string) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	_ = enc.Encode(v)                           // a document of ours
	_, _ = c.stdout.Write(disarm(text.Bytes())) // the exit tells of output that is lost
}

// obeyed are characters that JSON leaves as they are, and that terminals obey: DEL, the second set of
// controls, and marks of direction.
var obeyed = regexp.MustCompile("[\x7f\u0080-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

// disarm writes such characters of a JSON text as escapes. Its value stays what it is.
func disarm(text []byte) []byte {
	return obeyed.ReplaceAllFunc(text, func(c []byte) []byte {
		r, _ := utf8.DecodeRune(c)
		return fmt.Appendf(nil, `\u%04x`, r)
	})
}

// printsLines is the annotation of commands whose --json prints lines of JSON.
const printsLines = "printsLines"

// printDocument prints v as the command prints JSON: one document, or one line among others.
func (c *cli) printDocument(v any) {
	if c.lines {
		c.printJSONLine(v)
		return
	}
	c.printJSON(v)
}

// printJSONLine prints v as one line of JSON on stdout.
func (c *cli) printJSONLine(v any) { c.encode(v, "") }

// none says that a list is empty.
func (c *cli) none(n int, what string) {
	if n == 0 {
		c.progress("no %s yet", what)
	}
}

// noneOf is none for a list that flags may have narrowed.
func (c *cli) noneOf(n int, what string, narrowed bool) {
	if n == 0 && narrowed {
		c.progress("no %s that fit", what)
		return
	}
	c.none(n, what)
}

// count is "1 asset", "2 assets".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// size is a number of bytes for people, in powers of 1000.
func size(n int64) string {
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

// clock is a moment for people, in this machine's zone.
func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// timestamp is a moment in a document: RFC 3339 in UTC, always of one length.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// quotedPath puts a path in the quotes of a message. A backslash that parts folders stands for itself there, so that
// the path can be copied.
func quotedPath(path string) string {
	quoted := strconv.Quote(path)
	if filepath.Separator == '\\' {
		quoted = strings.ReplaceAll(quoted, `\\`, `\`)
	}
	return quoted
}

// printable shows what a terminal would obey, or not show, as an escape.
func printable(text string) string {
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
