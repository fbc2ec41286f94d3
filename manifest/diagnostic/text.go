package diagnostic

import (
	"fmt"
	"io"
	"strings"

	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Terminal is what a report is written on. The zero value is a file.
type Terminal struct {
	// Color has the report in colours.
	Color bool
	// Columns is how wide the terminal is. Default as wide as a frame may be.
	Columns int
}

// WriteText writes the report for people: for each diagnostic its position and message, the line it is on
// with a caret under the exact span, and the fix; then a count. src is the manifest's own text and may be
// nil, which leaves the frames out; so does a text that is too long to be a manifest.
func WriteText(w io.Writer, r Report, src []byte, to Terminal) error {
	if len(src) > limits.MaxManifestBytes {
		src = nil // it was not read for what it says
	}
	t := &textWriter{paint: palette(to.Color), width: frameWidth(to.Columns), lines: sourcetext.NewLines(string(src))}
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
	width int // of a frame
	lines *sourcetext.Lines
	masks Masks
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
		line = t.lines.Text(d.Line)
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
		t.styled("error", fmt.Sprintf("%s, %s", Plural(errors, "error"), Plural(warnings, "warning")))
	case errors > 0:
		t.styled("error", Plural(errors, "error"))
	case warnings > 0:
		t.styled("ok", visible(r.File)+" is valid")
		t.b.WriteString(", with " + Plural(warnings, "warning"))
	default:
		t.styled("ok", visible(r.File)+" is valid")
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
