package manifest_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// drawn is a code frame as a terminal shows it, without the part before "| ".
type drawn struct{ text, carets string }

// draw writes a diagnostic with that span over a line of another file, and cuts the frame out.
func draw(t *testing.T, line string, d diagnostic.Diagnostic) drawn {
	t.Helper()
	return drawOn(t, diagnostic.Terminal{}, line, d)
}

func drawOn(t *testing.T, to diagnostic.Terminal, line string, d diagnostic.Diagnostic) drawn {
	t.Helper()
	d.Severity, d.Code, d.File, d.Source, d.Message = diagnostic.Error, "x", "f", line, "m"
	r := diagnostic.NewReport("f", diagnostic.List{d})
	out := format(t, func(b *bytes.Buffer) error { return diagnostic.WriteText(b, r, nil, to) })
	lines := strings.Split(out, "\n")
	if len(lines) < 3 || !strings.Contains(lines[1], " | ") || !strings.HasPrefix(lines[2], "      | ") {
		t.Fatalf("no frame of %q in %q", line, out)
	}
	_, text, _ := strings.Cut(lines[1], " | ")
	return drawn{text, strings.TrimPrefix(lines[2], "      | ")}
}

// columns is how far a terminal's cursor moves over a text that starts after the frame's edge, with tab stops
// every eight cells. wide are the characters the test uses that take two cells.
func columns(s, wide string) int {
	const edge = 8 // "    1 | "
	at := edge
	for _, r := range s {
		switch {
		case r == '\t':
			at += 8 - at%8
		case strings.ContainsRune(wide, r):
			at += 2
		case norm.NFC.PropertiesString(string(r)).CCC() == 0:
			at++
		}
	}
	return at - edge
}

// TestFrames draws random lines with a mark at the span's first character, and looks for the caret under it.
func TestFrames(t *testing.T) {
	testmachine.Unraced(t)
	const wide, marks = "日本字😀Ａ", "X字"
	alphabet := []string{
		"a", "b", " ", "\t", "é", "日", "本", "😀", "Ａ", "e\u0301", "a\u0302\u0323", "\u202e", "\x1b", "\u2028",
		"·", "\u200b",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var before, after strings.Builder
		for range random.IntN(1 + random.IntN(200)) {
			before.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		for range random.IntN(1 + random.IntN(200)) {
			after.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		mark := []rune(marks)[random.IntN(2)]
		column := 1 + utf8.RuneCountInString(before.String())
		d := diagnostic.Diagnostic{Line: 1, Column: column, EndLine: 1 + random.IntN(2), EndColumn: column + random.IntN(60)}
		line := before.String() + string(mark) + after.String()
		f := draw(t, line, d)
		shown, _, ok := strings.Cut(f.text, string(mark))
		if !ok {
			t.Fatalf("%q at column %d: the mark is not in %q", line, column, f.text)
		}
		lead := strings.TrimRight(f.carets, "^")
		if got, want := columns(lead, ""), columns(shown, wide); got != want {
			t.Fatalf("%q at column %d: the caret is at cell %d, the character at %d:\n%s\n%s", line, column, got, want, f.text, f.carets)
		}
		holds(t, line, f, wide)
	}
}

// holds checks that the carets end with the text, or one cell after it, and that neither is wider than the
// frame.
func holds(t *testing.T, line string, f drawn, wide string) {
	t.Helper()
	carets := strings.TrimLeft(f.carets, " \t")
	if carets == "" || strings.Trim(carets, "^") != "" {
		t.Fatalf("%q: the carets are %q", line, f.carets)
	}
	if got, most := columns(f.carets, ""), columns(f.text, wide)+1; got > most {
		t.Fatalf("%q: the carets end at cell %d, the text before %d:\n%s\n%s", line, got, most, f.text, f.carets)
	}
	if n := utf8.RuneCountInString(f.text); n > 102 {
		t.Fatalf("%q: %d characters are shown", line, n)
	}
}

func TestFrameEdges(t *testing.T) {
	long := strings.Repeat("a", 300)
	for _, c := range []struct {
		line      string
		from, to  int
		want, sub string
	}{
		{"{}", 1, 1, "{}", "^"},
		{"{}", 3, 3, "{}", "  ^"},
		{"{}", 9, 12, "{}", "  ^"},
		{"{}  ", 3, 5, "{}  ", "  ^^"},
		{"{}  ", 5, 5, "{}  ", "    ^"},
		{"{}  x", 1, 3, "{}  x", "^^"},
		{"\tx", 2, 3, "\tx", "\t^"},
		{"e\u0301x", 2, 3, "e\u0301x", "^"},
		{"日本", 2, 3, "日本", "  ^^"},
		{"日本", 3, 3, "日本", "    ^"},
		{long, 301, 301, "…" + long[:25], strings.Repeat(" ", 26) + "^"},
		{long, 1, 301, long[:100] + "…", strings.Repeat("^", 100)},
		{long + "  ", 1, 2, long[:100] + "…", "^"},
	} {
		t.Run(fmt.Sprint(c.line, " ", c.from, "-", c.to), func(t *testing.T) {
			f := draw(t, c.line, diagnostic.Diagnostic{Line: 1, Column: c.from, EndLine: 1, EndColumn: c.to})
			if f.text != c.want || f.carets != c.sub {
				t.Errorf("%.20q %d-%d:\n%s\n%s\nwant\n%s\n%s", c.line, c.from, c.to, f.text, f.carets, c.want, c.sub)
			}
		})
	}
}

// TestFramesOfNarrowTerminals: no line of a frame is wider than the terminal, down to widths without room for text, and
// the carets stay under the span, also of a file that is one line of 200 kB.
func TestFramesOfNarrowTerminals(t *testing.T) {
	long := strings.Repeat("a", 100_000) + "FAULT" + strings.Repeat("b", 100_000)
	d := diagnostic.Diagnostic{Line: 1, Column: 100_001, EndLine: 1, EndColumn: 100_006}
	for columns, want := range map[int]drawn{
		0:   {"…" + strings.Repeat("a", 25) + "FAULT" + strings.Repeat("b", 70) + "…", strings.Repeat(" ", 26) + "^^^^^"},
		300: {"…" + strings.Repeat("a", 25) + "FAULT" + strings.Repeat("b", 70) + "…", strings.Repeat(" ", 26) + "^^^^^"},
		50:  {"…" + strings.Repeat("a", 10) + "FAULT" + strings.Repeat("b", 25) + "…", strings.Repeat(" ", 11) + "^^^^^"},
		5:   {"…" + strings.Repeat("a", 5) + "FAULT" + strings.Repeat("b", 10) + "…", strings.Repeat(" ", 6) + "^^^^^"},
	} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			if got := drawOn(t, diagnostic.Terminal{Columns: columns}, long, d); got != want {
				t.Errorf("%d columns:\n%s\n%s\nwant\n%s\n%s", columns, got.text, got.carets, want.text, want.carets)
			}
		})
	}
	for columns := 30; columns < 120; columns++ {
		for _, column := range []int{1, 15, 60, 150, 301} {
			f := drawOn(t, diagnostic.Terminal{Columns: columns}, strings.Repeat("日", 300),
				diagnostic.Diagnostic{Line: 1, Column: column, EndLine: 1, EndColumn: column + 200})
			if edge := 8; edge+max(utf8.RuneCountInString(f.text)+strings.Count(f.text, "日"), len(f.carets)) > columns {
				t.Errorf("%d columns, span at %d:\n%s\n%s", columns, column, f.text, f.carets)
			}
		}
	}
}

// FuzzFrame: every line and span gives one frame without control characters, whose carets are below text.
func FuzzFrame(f *testing.F) {
	f.Add("{\"entry\": 1}", 2, 1, 9)
	f.Add("\t日本e\u0301", 3, 2, 1)
	f.Add(strings.Repeat("\u0301", 300), 200, 1, 300)
	f.Add(" ", 1, 1, 2)
	f.Fuzz(func(t *testing.T, line string, column, endLine, endColumn int) {
		if line == "" || strings.ContainsAny(line, "\n") {
			return
		}
		got := draw(t, line, diagnostic.Diagnostic{Line: 1, Column: column, EndLine: 1 + endLine&1, EndColumn: endColumn})
		if i := strings.IndexFunc(got.text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }); i >= 0 {
			t.Fatalf("%q is shown as %q", line, got.text)
		}
		carets := strings.TrimLeft(got.carets, " \t")
		if carets == "" || strings.Trim(carets, "^") != "" || len(carets) > 201 {
			t.Fatalf("%q: the carets are %q", line, got.carets)
		}
		if n := utf8.RuneCountInString(got.text); n > 102 {
			t.Fatalf("%q: %d characters are shown: %s", line, n, fmt.Sprintf("%q", got.text))
		}
	})
}
