package diagnostic

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file writes code frames: the line a diagnostic is on, and carets under its span.

// What a frame shows of a long line, in terminal cells, as far as the terminal is that wide. Beside that it has a
// number in front, and a mark of what is cut at either end.
const (
	maxFrame  = 100
	minFrame  = 20
	frameEdge = len("    1 | ") + 2
)

// frameWidth is what a frame shows on a terminal that is so wide; 0 is for one of which that is not known.
func frameWidth(columns int) int {
	if columns <= 0 {
		return maxFrame
	}
	return min(max(columns-frameEdge, minFrame), maxFrame)
}

// frame shows the line of a diagnostic, cut to a width that fits a terminal, and marks the span. The carets
// start under the span's first character and end with the text shown, or one cell after it.
func (t *textWriter) frame(d Diagnostic, line string) {
	runes := []rune(strings.TrimPrefix(line, sourcetext.ByteOrderMark))
	first := max(d.SourceColumn, 1)
	from := min(max(d.Column-first, 0), len(runes))
	to := len(runes)
	if d.EndLine == d.Line {
		to = min(max(d.EndColumn-first, from), len(runes))
	}
	if d.File == "" {
		t.masks.Hide(d.Line, runes)
	}
	w := newWindow(runes, from, to, t.width)
	const margin = 2 * maxFrame // a key may start before what is shown
	sourcetext.StarKeys(runes[max(w.left-margin, 0):min(w.right+margin, len(runes))])
	head, tail := "", ""
	if w.left > 0 || first > 1 {
		head = "…"
	}
	if w.right < len(runes) {
		tail = "…"
	}
	before, marked, after := head+visible(runes[w.left:w.from]), visible(runes[w.from:w.to]), visible(runes[w.to:w.right])
	number := fmt.Sprintf("%5d", d.Line)
	t.styled("dim", number+" |")
	t.b.WriteString(" " + before + marked + strings.TrimRight(after+tail, " \t") + "\n")
	t.styled("dim", strings.Repeat(" ", len(number))+" |")
	t.b.WriteString(" " + blank(before))
	t.styled(string(d.Severity), strings.Repeat("^", max(cells(marked), 1)))
	t.b.WriteByte('\n')
}

// window is what a frame shows of a line, as indexes of its characters: those from left to right, and marked
// those from from to to.
type window struct{ left, from, to, right int }

// newWindow cuts a line to a width around a span, which has a quarter of it in front where it would otherwise come
// after three. A span that starts with a combining mark is marked from the character that the mark is drawn on.
func newWindow(line []rune, from, to, width int) window {
	maxBefore, lead := width*3/4, width/4
	for from > 0 && from < len(line) && RuneCells(line[from]) == 0 {
		from--
	}
	w := window{left: from, from: from, to: to}
	used := 0
	for w.left > 0 && used <= maxBefore {
		w.left--
		used += cost(line[w.left])
	}
	if used > maxBefore {
		for used > lead {
			used -= cost(line[w.left])
			w.left++
		}
	}
	for w.right = from; w.right < len(line) && used+cost(line[w.right]) <= width; w.right++ {
		used += cost(line[w.right])
	}
	w.to = min(to, w.right)
	return w
}

// cost is what a character counts for in a frame. A combining mark takes no cell, but a line of a million of
// them is long too.
func cost(r rune) int { return max(RuneCells(r), 1) }

// visible replaces what could drive a terminal or hide text: control characters, invisible formatting and
// other line ends. Tabs stay, because the caret line repeats them.
func visible[T string | []rune](s T) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && Invisible(r) {
			return '\u00b7'
		}
		return r
	}, string(s))
}

// Invisible reports whether a character is one that a terminal obeys or does not show.
func Invisible(r rune) bool {
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// blank is white space as wide as s is on a terminal.
func blank(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\t' {
			b.WriteByte('\t')
			continue
		}
		b.WriteString("  "[:RuneCells(r)])
	}
	return b.String()
}

// cells counts the terminal cells of a text. A tab counts as one, the least it takes.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += RuneCells(r)
	}
	return n
}

// RuneCells is the number of terminal cells of a character: none for combining marks, two for East Asian wide
// characters and emoji (Unicode Annex 11).
func RuneCells(r rune) int {
	switch {
	case r < 0x300 || Invisible(r):
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
