package diagnostic

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Bounds of the visible part of a long line, in terminal cells. A line number precedes it, and a mark shows each cut end.
const (
	maxFrame  = 100
	minFrame  = 20
	frameEdge = len("    1 | ") + 2
)

// Terminal describes the output of a report. The zero value is a file.
type Terminal struct {
	Color   bool // colours the report
	Columns int  // the width of the terminal; the default fits the widest frame
}

// WriteText writes the report for people: for each diagnostic its position and message, its line with carets under the
// exact span, and the fix; then a count. src is the manifest's own text. Without src, or with one that is too long for
// a manifest, the report has no frames.
func WriteText(w io.Writer, r Report, src []byte, to Terminal) error {
	if len(src) > limits.MaxManifestBytes {
		src = nil
	}
	t := &textWriter{color: to.Color, width: maxFrame, lines: sourcetext.NewLines(string(src))}
	if to.Columns > 0 {
		t.width = min(max(to.Columns-frameEdge, minFrame), maxFrame)
	}
	if len(r.Diagnostics) > 0 {
		t.masks = NewMasks(t.lines)
	}
	for _, d := range r.Diagnostics {
		t.diagnostic(r, d)
	}
	t.summary(r)
	_, err := io.WriteString(w, t.b.String())
	return err
}

type textWriter struct {
	b     strings.Builder
	color bool
	width int // of a frame
	lines *sourcetext.Lines
	masks Masks
}

func (t *textWriter) writeStyled(style, s string) {
	if t.color {
		s = map[string]string{
			"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "place": "\x1b[1m", "dim": "\x1b[2m", "fix": "\x1b[36m", "ok": "\x1b[32m",
		}[style] + s + "\x1b[0m"
	}
	t.b.WriteString(s)
}

func (t *textWriter) diagnostic(r Report, d Diagnostic) {
	t.writeStyled("place", fmt.Sprintf("%s:%d:%d:", visible(r.file(d)), d.Line, d.Column))
	t.b.WriteByte(' ')
	t.writeStyled(string(d.Severity), string(d.Severity)+":")
	t.b.WriteString(" " + visible(d.Message) + " ")
	t.writeStyled("dim", "["+d.Code+"]")
	t.b.WriteByte('\n')
	line := d.Source
	if d.File == "" {
		line = t.lines.Text(d.Line)
	}
	if line != "" {
		t.frame(d, line)
	}
	if d.Fix != "" {
		t.b.WriteString("    ")
		t.writeStyled("fix", "fix:")
		t.b.WriteString(" " + visible(d.Fix) + "\n")
	}
	t.b.WriteByte('\n')
}

func (t *textWriter) summary(r Report) {
	if r.Omitted > 0 {
		fmt.Fprintf(&t.b, "and %s more\n", Plural(r.Omitted, "problem"))
	}
	errors, warnings := r.errors, r.warnings
	if errors+warnings == 0 {
		errors, warnings = r.Diagnostics.count()
	}
	switch {
	case errors > 0 && warnings > 0:
		t.writeStyled("error", fmt.Sprintf("%s, %s", Plural(errors, "error"), Plural(warnings, "warning")))
	case errors > 0:
		t.writeStyled("error", Plural(errors, "error"))
	case warnings > 0:
		t.writeStyled("ok", visible(r.File)+" is valid")
		t.b.WriteString(", with " + Plural(warnings, "warning"))
	default:
		t.writeStyled("ok", visible(r.File)+" is valid")
	}
	t.b.WriteByte('\n')
}

// Plural writes a count with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// frame writes a code frame: the line of a diagnostic, cut to the width of the terminal, and carets under the span, which
// start under its first character and end with the text shown, or one cell after it.
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
	const margin = 2 * maxFrame // a key may start before the visible part
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
	t.writeStyled("dim", number+" |")
	t.b.WriteString(" " + before + marked + strings.TrimRight(after+tail, " \t") + "\n")
	t.writeStyled("dim", strings.Repeat(" ", len(number))+" |")
	t.b.WriteByte(' ')
	for _, r := range before { // white space of the same width
		if r == '\t' {
			t.b.WriteByte('\t')
		} else {
			t.b.WriteString("  "[:RuneCells(r)])
		}
	}
	cells := 0 // a tab counts as one, the least it takes
	for _, r := range marked {
		cells += RuneCells(r)
	}
	t.writeStyled(string(d.Severity), strings.Repeat("^", max(cells, 1)))
	t.b.WriteByte('\n')
}

// window is the part of a line that a frame shows, as indexes of its characters: the range from left to right, and the marks between the
// fields from and to.
type window struct{ left, from, to, right int }

// newWindow cuts a line to a width around a span. A span after three quarters of the width gets a quarter in front.
// A span that starts with a combining mark is marked from the character that the mark is drawn on.
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

// cost is the width of a character in a frame. A combining mark takes no cell, but a line of a million of them is long too.
func cost(r rune) int { return max(RuneCells(r), 1) }

// visible replaces characters that could drive a terminal or hide text: control characters, invisible formatting and
// other line ends. Tabs stay, because the caret line repeats them.
func visible[T string | []rune](s T) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && Invisible(r) {
			return '\u00b7'
		}
		return r
	}, string(s))
}

// Invisible reports whether a terminal obeys a character or does not show it.
func Invisible(r rune) bool {
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
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
