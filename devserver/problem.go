package devserver

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// Problem is one error or warning in the author's own files: of a failed build, or an exception of a Worker. Every text in it is plain and
// untrusted.
type Problem struct {
	// Kind is a short word for programs: "syntax", "manifest", "exception", "cpu-limit" …
	Kind string `json:"kind,omitempty"`
	// Title says what happened in a few words: "Worker threw an error".
	Title string `json:"title,omitempty"`
	// Message is the text of the error itself.
	Message string `json:"message"`
	// Fix is the advice to the author, if known.
	Fix string `json:"fix,omitempty"`
	// File is the author's file, relative to the site's folder, with slashes; empty for none.
	File string `json:"file,omitempty"`
	// Line, Column and EndColumn are 1-based and count characters; 0 means unknown.
	Line      int `json:"line,omitempty"`
	Column    int `json:"column,omitempty"`
	EndColumn int `json:"end_column,omitempty"`
	// Snippet holds the lines around Line, one of them with Hit.
	Snippet []SnippetLine `json:"snippet,omitempty"`
	// Frames is the call stack in the author's files, innermost first.
	Frames []Frame `json:"frames,omitempty"`
	// Notes are further sentences.
	Notes []string `json:"notes,omitempty"`
	// Status is the HTTP status of the page about it: 500 when 0.
	Status int `json:"status,omitempty"`
	// Retriable says that the same request may succeed in a second.
	Retriable bool `json:"retriable,omitempty"`
}

// SnippetLine is one line of the author's file, or the part of it that is shown.
type SnippetLine struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
	Hit    bool   `json:"hit,omitempty"`
	// Cut is the number of characters before Text that are left out. An ellipsis replaces them, and another one those after it.
	Cut int `json:"cut,omitempty"`
}

// A long line is cut to snippetWidth characters. If the column would come after three quarters of that, the cut leaves a quarter before it.
const (
	snippetWidth    = 160
	minSnippetWidth = 20
	snippetEdge     = len(">    1 | ") + 2 // and the ellipses
)

// FitSnippet cuts lines to the characters around a column (1-based; 0 for unknown): a minified file may be one line of a
// megabyte.
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

// Within returns problems whose lines of source fit a terminal, if that is wide enough to show some; 0 columns are a
// terminal of unknown width.
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

// Place returns "file:line:column", as far as known.
func (p Problem) Place() string { return formatPlace(p.File, p.Line, p.Column) }

// Place returns "file:line:column", as far as known.
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

func (p Problem) status() int {
	if p.Status < 400 || p.Status > 599 {
		return http.StatusInternalServerError
	}
	return p.Status
}

// heading returns the title, or a default one.
func (p Problem) heading() string { return cmp.Or(p.Title, "Something went wrong") }

// Marks returns the spaces and carets that point at the columns under the hit line. Tabs of the line stay tabs, and wide
// characters have two spaces, so that the carets line up.
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

// ProblemsText formats problems for a terminal or a plain-text client, one below the other, without colour. Problems with the same title
// share one. Control characters are removed, so that no file name can move the cursor.
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

// write writes the text below the title.
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
		fmt.Fprintf(b, "    at %s (%s)\n", cmp.Or(f.Func, "(anonymous)"), f.Place())
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

// ui holds the pages, scripts and styles of the dev server itself.
//
//go:embed ui
var ui embed.FS

// WriteProblemPage answers r with p, in a form that the client accepts: a page, a JSON object {"ok":false,"problem":{…}}, or plain text.
// The status is p.Status, or 500. Clients beyond this machine learn nothing of the author's files. Nothing may have been written to w
// before.
func WriteProblemPage(w http.ResponseWriter, r *http.Request, p Problem) {
	writeProblems(w, r, []Problem{p}, 0)
}

// writeProblems answers with the first problem and, on the page, with the others below it. build is the number of their failed build, by
// which the reload script recognizes the page; 0 for none. Clients beyond this machine learn only that the site does not answer.
func writeProblems(w http.ResponseWriter, r *http.Request, problems []Problem, build int64) {
	if len(problems) == 0 {
		problems = []Problem{{Message: "the build failed without a message"}}
	}
	h := w.Header()
	if loopback.ExternalOf(r.Context()) != nil {
		refusal := &site.RefusalError{
			Status: problems[0].status(), Code: "worker_failed", Message: "the site's code failed to answer",
		}
		if build != 0 {
			h.Set("Retry-After", "5")
			refusal = &site.RefusalError{
				Status: http.StatusServiceUnavailable, Code: "site_rebuilding",
				Message: "the site is being rebuilt, try again in a moment",
			}
		}
		site.Refuse(w, r, refusal)
		return
	}
	nonce := rand.Text()
	contentType, body := problemBody(r, problems, build, nonce)
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'nonce-"+nonce+"'; script-src 'self'; connect-src 'self'; img-src 'self'; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if problems[0].Retriable {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(problems[0].status())
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone
	}
}

func problemBody(r *http.Request, problems []Problem, build int64, nonce string) (contentType string, body []byte) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.Contains(accept, "text/html") {
		if page, err := problemHTML(problems, build, nonce); err == nil {
			return "text/html; charset=utf-8", page
		}
	}
	if strings.Contains(accept, "json") {
		doc := map[string]any{"ok": false, "problem": problems[0]}
		if data, err := json.Marshal(doc); err == nil {
			return "application/json", append(data, '\n')
		}
	}
	return "text/plain; charset=utf-8", []byte(ProblemsText(problems))
}

// problemHTML renders the page. It parses the template each time: the page is rare and has one reader, and the package needs no state for
// it.
func problemHTML(problems []Problem, build int64, nonce string) ([]byte, error) {
	t, err := template.ParseFS(ui, "ui/problem.html")
	if err != nil {
		return nil, err
	}
	style, err := ui.ReadFile("ui/problem.css")
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = t.Execute(&page, map[string]any{
		"Problems": problems, "Heading": problems[0].heading(), "Status": problems[0].status(),
		"Build": build, "Nonce": nonce,
		"Style": template.CSS(style), // our own embedded file
	})
	return page.Bytes(), err
}
