package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// ReportOn returns the format of diagnostics for w.
func (t *Terminal) ReportOn(w io.Writer) diagnostic.Terminal {
	return diagnostic.Terminal{Color: t.Colored(w), Columns: Columns(w)}
}

// Colored reports whether text for w is coloured.
func (t *Terminal) Colored(w io.Writer) bool {
	switch t.Color {
	case "always":
		return true
	case "never":
		return false
	}
	if v, ok := t.Lookup("NO_COLOR"); ok && v != "" {
		return false
	}
	if v, _ := t.Lookup("TERM"); v == "dumb" {
		return false
	}
	return IsTerminal(w)
}

// Paint puts text for stderr in an SGR style, if stderr is coloured.
func (t *Terminal) Paint(style, text string) string {
	return t.PaintFor(t.Stderr, style, text)
}

// PaintFor is Paint for w.
func (t *Terminal) PaintFor(w io.Writer, style, text string) string {
	if !t.Colored(w) {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// Progress prints a line for people, unless --quiet is set.
func (t *Terminal) Progress(format string, args ...any) {
	if !t.Quiet {
		fmt.Fprintf(t.Stderr, format+"\n", args...)
	}
}

// PrintJSON prints v as one JSON document on stdout.
func (t *Terminal) PrintJSON(v any) { t.encode(v, "  ") }

// encode writes v as JSON on stdout.
func (t *Terminal) encode(v any, indent string) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	_ = enc.Encode(v)                                       // none of our documents can fail
	_, _ = t.Stdout.Write(wording.EscapeJSON(text.Bytes())) // CheckOutput reports lost output
}

// PrintDocument prints v as one JSON document, or as one of the lines if the command prints lines.
func (t *Terminal) PrintDocument(v any) {
	if t.Lines {
		t.PrintJSONLine(v)
		return
	}
	t.PrintJSON(v)
}

// PrintJSONLine prints v as one line of JSON on stdout.
func (t *Terminal) PrintJSONLine(v any) { t.encode(v, "") }

// PrintNone prints that a list is empty, if n is 0.
func (t *Terminal) PrintNone(n int, what string) {
	if n == 0 {
		t.Progress("no %s yet", what)
	}
}

// PrintNoneMatching is PrintNone for a list that flags may have filtered.
func (t *Terminal) PrintNoneMatching(n int, what string, narrowed bool) {
	if n == 0 && narrowed {
		t.Progress("no %s that fit", what)
		return
	}
	t.PrintNone(n, what)
}

// PrintDiagnostics prints a report on stderr.
func (t *Terminal) PrintDiagnostics(r diagnostic.Report, src []byte) {
	_ = diagnostic.WriteText(t.Stderr, r, src, t.ReportOn(t.Stderr)) // fails only if stderr has no reader
}

// Warn prints a warning, with --quiet, too.
func (t *Terminal) Warn(format string, args ...any) {
	fmt.Fprintf(t.Stderr, "%s "+format+"\n", append([]any{t.Paint("33", "warning:")}, args...)...)
}

// ProgressWarning prints a warning, unless --quiet is set.
func (t *Terminal) ProgressWarning(format string, args ...any) {
	t.Progress("%s "+format, append([]any{t.Paint("33", "warning:")}, args...)...)
}

// ProgressWarnings prints warnings, unless --quiet is set.
func (t *Terminal) ProgressWarnings(warnings []string) {
	for _, w := range warnings {
		t.Progress("%s %s", t.Paint("33", "warning:"), wording.Printable(w))
	}
}
