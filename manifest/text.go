package manifest

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFrame is the widest part of a line that a code frame shows, in characters.
const maxFrame = 100

// WriteText writes the report for people: for each diagnostic its position and message, the line it is on
// with a caret under the exact span, and the fix; then a count. src is the manifest's own text and may be
// nil, which leaves the frames out.
func WriteText(w io.Writer, r Report, src []byte, color bool) error {
	t := &textWriter{paint: palette(color), lines: newLines(string(src)), masks: masks(r.Diagnostics)}
	for _, d := range r.Diagnostics {
		t.diagnostic(r, d)
	}
	t.summary(r)
	_, err := io.WriteString(w, t.b.String())
	return err
}

// palette returns the escape sequence of a style, "" for every style without colour.
func palette(color bool) func(style string) string {
	return func(style string) string {
		if !color {
			return ""
		}
		return map[string]string{
			"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "place": "\x1b[1m",
			"dim": "\x1b[2m", "fix": "\x1b[36m", "ok": "\x1b[32m", "off": "\x1b[0m",
		}[style]
	}
}

type textWriter struct {
	b     strings.Builder
	paint func(style string) string
	lines *lines
	masks map[int][]span // by line, the columns of what no output may repeat
}

// masks collects where secrets were pasted, so that no frame shows them, their own or another's.
func masks(diags Diagnostics) map[int][]span {
	m := map[int][]span{}
	for _, d := range diags {
		if d.Code == codeSecretPasted {
			m[d.Line] = append(m[d.Line], span{d.Column, d.EndColumn - 2})
		}
	}
	return m
}

func (t *textWriter) styled(style, s string) {
	t.b.WriteString(t.paint(style) + s + t.paint("off"))
}

func (t *textWriter) diagnostic(r Report, d Diagnostic) {
	t.styled("place", fmt.Sprintf("%s:%d:%d:", visible(r.file(d)), d.Line, d.Column))
	t.b.WriteByte(' ')
	t.styled(string(d.Severity), string(d.Severity)+":")
	t.b.WriteString(" " + visible(d.Message) + " ")
	t.styled("dim", "["+d.Code+"]")
	t.b.WriteByte('\n')
	line := d.Source
	if d.File == "" {
		line = t.lines.text(d.Line)
	}
	if line != "" {
		t.frame(d, line)
	}
	if d.Fix != "" {
		t.b.WriteString("    ")
		t.styled("fix", "fix:")
		t.b.WriteString(" " + visible(d.Fix) + "\n")
	}
	t.b.WriteByte('\n')
}

// frame shows the line of a diagnostic, cut to a width that fits a terminal, and marks the span.
func (t *textWriter) frame(d Diagnostic, line string) {
	runes := []rune(strings.TrimPrefix(line, byteOrderMark))
	from := min(max(d.Column-1, 0), len(runes))
	to := len(runes)
	if d.EndLine == d.Line {
		to = min(max(d.EndColumn-1, from), len(runes))
	}
	if d.File == "" {
		for _, m := range t.masks[d.Line] {
			for i := m.start; i < min(m.end, len(runes)); i++ {
				runes[i] = '*'
			}
		}
	}
	left := 0
	if from > maxFrame*3/4 {
		left = from - maxFrame/4
	}
	right := min(len(runes), left+maxFrame)
	to = min(to, right)
	before, marked, after := string(runes[left:from]), string(runes[from:to]), string(runes[to:right])
	head, tail := "", ""
	if left > 0 {
		head = "…"
	}
	if right < len(runes) {
		tail = "…"
	}
	number := fmt.Sprintf("%5d", d.Line)
	t.styled("dim", number+" |")
	t.b.WriteString(strings.TrimRight(" "+head+visible(before+marked+after)+tail, " \t") + "\n")
	t.styled("dim", strings.Repeat(" ", len(number))+" |")
	t.b.WriteString(" " + blank(head+before))
	t.styled(string(d.Severity), strings.Repeat("^", max(width(marked), 1)))
	t.b.WriteByte('\n')
}

func (t *textWriter) summary(r Report) {
	if r.Omitted > 0 {
		fmt.Fprintf(&t.b, "and %s more\n", plural(r.Omitted, "problem"))
	}
	errors, warnings := r.errors, r.warnings
	if errors+warnings == 0 {
		errors, warnings = r.Diagnostics.count()
	}
	switch {
	case errors > 0 && warnings > 0:
		t.styled("error", fmt.Sprintf("%s, %s", plural(errors, "error"), plural(warnings, "warning")))
	case errors > 0:
		t.styled("error", plural(errors, "error"))
	case warnings > 0:
		t.styled("ok", visible(r.File)+" is valid")
		t.b.WriteString(", with " + plural(warnings, "warning"))
	default:
		t.styled("ok", visible(r.File)+" is valid")
	}
	t.b.WriteByte('\n')
}

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// visible replaces what could drive a terminal or hide text: control characters and invisible formatting.
// Tabs stay, because the caret line repeats them.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) || r == utf8.RuneError {
			return '\u00b7'
		}
		return r
	}, s)
}

// blank is white space as wide as s is on a terminal.
func blank(s string) string {
	var b strings.Builder
	for _, r := range visible(s) {
		if r == '\t' {
			b.WriteByte('\t')
			continue
		}
		b.WriteString("  "[:runeWidth(r)])
	}
	return b.String()
}

// width counts terminal cells.
func width(s string) int {
	n := 0
	for _, r := range visible(s) {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is the number of terminal cells of a character: none for combining marks, two for East Asian
// wide characters and emoji (Unicode Annex 11, in its large blocks).
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	default:
		return 1
	}
}
