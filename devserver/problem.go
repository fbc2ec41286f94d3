package devserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// Problem is one thing that is wrong, in the author's own files: why a build
// failed, or what a Worker threw. Every text in it is plain and untrusted.
type Problem struct {
	// Kind is a short word for programs: "syntax", "manifest", "exception", "cpu-limit" …
	Kind string `json:"kind,omitempty"`
	// Title says in a few words what happened: "Worker threw an error".
	Title string `json:"title,omitempty"`
	// Message is the error's own text.
	Message string `json:"message"`
	// Fix is what would help, when that is known.
	Fix string `json:"fix,omitempty"`
	// File is the author's file, relative to the site's folder, with slashes; empty when there is none.
	File string `json:"file,omitempty"`
	// Line, Column and EndColumn are 1-based and count characters; 0 means unknown.
	Line      int `json:"line,omitempty"`
	Column    int `json:"column,omitempty"`
	EndColumn int `json:"end_column,omitempty"`
	// Snippet is the lines around Line, one of them with Hit.
	Snippet []SnippetLine `json:"snippet,omitempty"`
	// Frames is the call stack in the author's files, innermost first.
	Frames []Frame `json:"frames,omitempty"`
	// Notes are further sentences.
	Notes []string `json:"notes,omitempty"`
	// Status is the HTTP status of the page about it: 500 when 0.
	Status int `json:"status,omitempty"`
	// Retriable says that the same request may well be answered in a second.
	Retriable bool `json:"retriable,omitempty"`
}

// SnippetLine is one line of the author's file, or the part of it that is shown.
type SnippetLine struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
	Hit    bool   `json:"hit,omitempty"`
	// Cut is how many characters of the line are not shown before Text. There is an
	// ellipsis in their place, and one for what is not shown after it.
	Cut int `json:"cut,omitempty"`
}

// What is shown of a long line: so many characters, and a quarter of them before the
// column when that would otherwise come after three quarters.
const (
	snippetWidth    = 160
	minSnippetWidth = 20
	snippetEdge     = len(">    1 | ") + 2 // and what marks that a line is cut
)

// FitSnippet cuts lines down to what is around a column (1-based; 0 for unknown): a
// minified file may be one line of a megabyte.
func FitSnippet(lines []SnippetLine, column int) []SnippetLine {
	return fitSnippet(lines, column, snippetWidth)
}

func fitSnippet(lines []SnippetLine, column, width int) []SnippetLine {
	from := 0
	if column > width*3/4 {
		from = column - width/4
	}
	for i, l := range lines {
		if from == 0 && len(l.Text) <= width {
			continue
		}
		runes, cut := []rune(l.Text), l.Cut
		if cut > 0 {
			runes = runes[1:] // without its ellipsis
		}
		left := min(max(from-cut, 0), len(runes))
		right := min(left+width, len(runes))
		l.Text, l.Cut = string(runes[left:right]), cut+left
		if l.Cut > 0 {
			l.Text = "…" + l.Text
		}
		if right < len(runes) {
			l.Text += "…"
		}
		lines[i] = l
	}
	return lines
}

// Within returns problems whose lines of source are no wider than a terminal, as far as
// that is wide enough to show some; 0 columns are a terminal of which that is not known.
func Within(columns int, problems []Problem) []Problem {
	width := max(columns-snippetEdge, minSnippetWidth)
	if columns <= 0 || width >= snippetWidth {
		return problems
	}
	problems = slices.Clone(problems)
	for i, p := range problems {
		problems[i].Snippet = fitSnippet(slices.Clone(p.Snippet), p.Column, width)
	}
	return problems
}

// Frame is one call on the stack.
type Frame struct {
	Func   string `json:"func,omitempty"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column,omitempty"`
}

// Place is "file:line:column" with what is known of it.
func (p Problem) Place() string { return formatPlace(p.File, p.Line, p.Column) }

// Place is "file:line:column" with what is known of it.
func (f Frame) Place() string { return formatPlace(f.File, f.Line, f.Column) }

func formatPlace(file string, line, column int) string {
	switch {
	case line <= 0:
		return file
	case column <= 0:
		return fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("%s:%d:%d", file, line, column)
}

// status is the HTTP status to answer with.
func (p Problem) status() int {
	if p.Status < 400 || p.Status > 599 {
		return http.StatusInternalServerError
	}
	return p.Status
}

// heading is the title, or a stand-in.
func (p Problem) heading() string {
	if p.Title != "" {
		return p.Title
	}
	return "Something went wrong"
}

// Marks returns the spaces and carets that point at the columns under the hit
// line. Tabs of the line stay tabs, and what is two cells wide has two spaces, so that the
// carets line up.
func (p Problem) Marks(line SnippetLine) string {
	if p.Column <= 0 {
		return ""
	}
	var b strings.Builder
	runes := []rune(line.Text)
	before := p.Column - 1 - line.Cut
	if line.Cut > 0 {
		before++ // the ellipsis
	}
	before = min(max(before, 0), len(runes))
	for _, r := range runes[:before] {
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteString("  "[:diagnostic.RuneCells(r)])
		}
	}
	width := min(max(1, p.EndColumn-p.Column), max(1, len(runes)-before))
	b.WriteString(strings.Repeat("^", width))
	return b.String()
}

// ProblemsText is problems for a terminal or a plain-text client, one below the other,
// without colour. A title that goes for those that follow is said once. Control
// characters are left out, so that no file name can move the cursor.
func ProblemsText(problems []Problem) string {
	var b strings.Builder
	for i, p := range problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == 0 || p.heading() != problems[i-1].heading() {
			fmt.Fprintf(&b, "%s\n\n", p.heading())
		}
		p.write(&b)
	}
	return strings.Map(printableRune, b.String())
}

// write writes what is below the title.
func (p Problem) write(b *strings.Builder) {
	if at := p.Place(); at != "" {
		fmt.Fprintf(b, "%s: ", at)
	}
	fmt.Fprintf(b, "%s\n", p.Message)
	if len(p.Snippet) > 0 {
		b.WriteByte('\n')
	}
	for _, line := range p.Snippet {
		sign := " "
		if line.Hit {
			sign = ">"
		}
		fmt.Fprintf(b, "%s %4d | %s\n", sign, line.Number, line.Text)
		if marks := p.Marks(line); line.Hit && marks != "" {
			fmt.Fprintf(b, "       | %s\n", marks)
		}
	}
	if p.Fix != "" {
		fmt.Fprintf(b, "\nfix: %s\n", p.Fix)
	}
	for i, f := range p.Frames {
		if i == 0 {
			b.WriteByte('\n')
		}
		name := f.Func
		if name == "" {
			name = "(anonymous)"
		}
		fmt.Fprintf(b, "    at %s (%s)\n", name, f.Place())
	}
	for _, note := range p.Notes {
		fmt.Fprintf(b, "\nnote: %s\n", note)
	}
}

func printableRune(r rune) rune {
	if (r < ' ' && r != '\n' && r != '\t') || (r >= 0x7f && r < 0xa0) {
		return -1
	}
	return r
}
