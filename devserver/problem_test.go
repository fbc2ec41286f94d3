package devserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func sampleProblem() Problem {
	return Problem{
		Kind: "exception", Title: "The Worker threw an error", Message: "cannot read properties of undefined (reading 'id')",
		Fix: "check that the row exists", File: "src/worker.js", Line: 12, Column: 9, EndColumn: 11, Status: 500,
		Snippet: []SnippetLine{
			{Number: 11, Text: "\tconst row = await find();"},
			{Number: 12, Text: "\treturn row.id;", Hit: true},
			{Number: 13, Text: "}"},
		},
		Frames: []Frame{{"show", "src/worker.js", 12, 9}, {"", "src/router.js", 3, 0}},
		Notes:  []string{"the request was GET /outings/7"},
	}
}

func problemResponse(t testing.TB, method, accept string, p Problem) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), method, "/outings/7", http.NoBody)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	WriteProblemPage(w, r, p)
	return w
}

func TestProblemForms(t *testing.T) {
	tests := []struct{ accept, kind string }{
		{"text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"},
		{"application/json", "application/json"},
		{"application/problem+json", "application/json"},
		{"*/*", "text/plain; charset=utf-8"},
		{"", "text/plain; charset=utf-8"},
	}
	for _, test := range tests {
		t.Run("Accept "+test.accept, func(t *testing.T) {
			for _, method := range []string{"GET", "POST", "HEAD"} {
				w := problemResponse(t, method, test.accept, sampleProblem())
				h := w.Header()
				if w.Code != 500 || h.Get("Content-Type") != test.kind || h.Get("Cache-Control") != "no-store" ||
					h.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("%s, Accept %q: %d %v", method, test.accept, w.Code, h)
				}
				if (method == "HEAD") != (w.Body.Len() == 0) {
					t.Errorf("%s, Accept %q: a body of %d bytes", method, test.accept, w.Body.Len())
				}
				if method == "GET" && !strings.Contains(w.Body.String(), "src/worker.js") {
					t.Errorf("Accept %q: no word of the file", test.accept)
				}
			}
		})
	}
	var doc struct {
		OK      bool    `json:"ok"`
		Problem Problem `json:"problem"`
	}
	if err := json.Unmarshal(problemResponse(t, "GET", "application/json", sampleProblem()).Body.Bytes(), &doc); err != nil || doc.OK ||
		doc.Problem.Place() != "src/worker.js:12:9" {
		t.Errorf("%+v, %v", doc, err)
	}
}

// TestProblemsText: all problems of a failed build share one heading.
func TestProblemsText(t *testing.T) {
	failed := "The site could not be built"
	text := ProblemsText([]Problem{
		{Title: failed, Message: "one", File: "a.ts", Line: 1, Column: 2},
		{Title: failed, Message: "two", Fix: "mend it"},
		{Title: "A migration failed", Message: "three"},
		{Message: "four"},
	})
	const want = "The site could not be built\n\na.ts:1:2: one\n\ntwo\n\nfix: mend it\n\nA migration failed\n\nthree\n" +
		"\nSomething went wrong\n\nfour\n"
	if text != want {
		t.Errorf("%s", text)
	}
	page, err := problemHTML([]Problem{{Title: failed, Message: "one"}, {Title: failed, Message: "two"}, {Message: "three"}}, 1, "nonce")
	if err != nil || strings.Count(string(page), failed+"</h") != 1 || strings.Count(string(page), "<h2>") != 1 ||
		strings.Count(string(page), "<article>") != 3 {
		t.Errorf("%v\n%s", err, page)
	}
}

func TestProblemStatus(t *testing.T) {
	for status, want := range map[int]int{0: 500, 503: 503, 404: 404, 200: 500, 99: 500, 600: 500} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			if w := problemResponse(t, "GET", "", Problem{Status: status}); w.Code != want {
				t.Errorf("status %d became %d, want %d", status, w.Code, want)
			}
		})
	}
}

// No part of a problem is ever markup or a terminal command: file names and messages come from strangers' code.
func TestProblemIsOnlyText(t *testing.T) {
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>` + "\x1b[2J\u009b2J"
	p := Problem{
		Title: evil, Message: evil, Fix: evil, File: evil, Line: 1, Column: 2, Snippet: []SnippetLine{{Number: 1, Text: evil, Hit: true}},
		Frames: []Frame{{evil, evil, 1, 1}}, Notes: []string{evil},
	}
	page := problemResponse(t, "GET", "text/html", p).Body.String()
	if tags := regexp.MustCompile(`<(script|img)`).FindAllString(page, -1); len(tags) > 0 {
		t.Errorf("the page has %v", tags)
	}
	if text := ProblemsText([]Problem{p}); strings.ContainsAny(text, "\x1b\u009b") {
		t.Errorf("the text has control characters: %q", text)
	}
	nonce := regexp.MustCompile(`style-src 'nonce-([A-Z2-7]+)'`)
	first, second := problemResponse(t, "GET", "text/html", p), problemResponse(t, "GET", "text/html", p)
	a, b := nonce.FindString(first.Header().Get("Content-Security-Policy")),
		nonce.FindString(second.Header().Get("Content-Security-Policy"))
	if a == "" || a == b {
		t.Errorf("nonces %q and %q", a, b)
	}
	if policy := first.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self'") {
		t.Errorf("the policy keeps the site's icon from the page: %s", policy)
	}
}

func TestMarks(t *testing.T) {
	tests := []struct {
		line        string
		column, end int
		want        string
	}{
		{"return row.id;", 8, 11, "       ^^^"},
		{"\treturn x", 2, 8, "\t^^^^^^"},
		{"añb", 3, 0, "  ^"},
		{"😀漢e\u0301b", 5, 0, "     ^"},
		{"ab", 2, 99, " ^"},
		{"ab", 3, 3, "  ^"},
		{"ab", 900_000_000, 900_000_001, "  ^"},
		{"ab", 0, 0, ""},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s, %d to %d", test.line, test.column, test.end), func(t *testing.T) {
			if got := (Problem{Column: test.column, EndColumn: test.end}).Marks(SnippetLine{Text: test.line}); got != test.want {
				t.Errorf("Marks(%q, %d-%d) = %q, want %q", test.line, test.column, test.end, got, test.want)
			}
		})
	}
}

// The code frame of a very long line shows the text around the fault.
func TestFitSnippet(t *testing.T) {
	long := strings.Repeat("a", 5000) + "FAULT" + strings.Repeat("b", 1<<20)
	p := Problem{Message: "m", File: "f.js", Line: 2, Column: 5001, EndColumn: 5006}
	p.Snippet = FitSnippet([]SnippetLine{{Number: 1, Text: "short"}, {Number: 2, Text: long, Hit: true}, {Number: 3, Text: ""}}, p.Column)
	want := "Something went wrong\n\nf.js:2:5001: m\n\n     1 | …\n>    2 | …" + strings.Repeat(
		"a", 39,
	) + "FAULT" + strings.Repeat("b", 116) + "…\n" +
		"       | " + strings.Repeat(" ", 40) + "^^^^^\n     3 | \n"
	if got := ProblemsText([]Problem{p}); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	for _, column := range []int{0, 1, snippetWidth, 1 << 40} {
		t.Run(fmt.Sprint(column), func(t *testing.T) {
			for _, line := range FitSnippet([]SnippetLine{{Text: long}, {Text: "é\tü"}}, column) {
				if n := len([]rune(line.Text)); n > snippetWidth+2 {
					t.Errorf("column %d: %d characters", column, n)
				}
				if marks := (Problem{Column: column}).Marks(line); len(marks) > 2*snippetWidth {
					t.Errorf("column %d: marks of %d bytes", column, len(marks))
				}
			}
		})
	}
	if got := FitSnippet([]SnippetLine{{Text: "short"}}, 3); got[0].Text != "short" || got[0].Cut != 0 {
		t.Errorf("got %+v", got)
	}
}

// TestWithin: the source of a problem fits a narrow terminal, even if it was cut before, and the problem stays unchanged.
func TestWithin(t *testing.T) {
	line := strings.Repeat("a", 100) + "FAULT" + strings.Repeat("b", 200_000)
	cut := FitSnippet(
		[]SnippetLine{{Number: 1, Text: strings.Repeat("x", 130)}, {Number: 2, Text: line, Hit: true}, {Number: 3, Text: "short"}},
		125,
	)
	for _, p := range []Problem{
		{
			Message: "m", Column: 101, EndColumn: 106,
			Snippet: []SnippetLine{
				{Number: 1, Text: strings.Repeat("x", 130)},
				{Number: 2, Text: line, Hit: true},
				{Number: 3, Text: "short"},
			},
		},
		{Message: "m", Column: 101, EndColumn: 106, Snippet: cut},
	} {
		was := ProblemsText([]Problem{p})
		got := ProblemsText(Within(51, []Problem{p}))
		if want := "Something went wrong\n\nm\n\n     1 | …" + strings.Repeat(
			"x", 39,
		) + "\n>    2 | …" + strings.Repeat("a", 9) + "FAULT" + strings.Repeat("b", 26) + "…\n" +
			"       | " + strings.Repeat(" ", 10) + "^^^^^\n     3 | …\n"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if ProblemsText([]Problem{p}) != was || ProblemsText(Within(0, []Problem{p})) != was ||
			ProblemsText(Within(300, []Problem{p})) != was {
			t.Error("the problem itself was cut, or for a wide terminal")
		}
	}
}

func FuzzProblem(f *testing.F) {
	f.Add("unexpected token", "src/a.js", "let a = <b>;", 1, 9, 12)
	f.Add("", "", "", 0, 0, 0)
	f.Add("\x00\xff", "a\nb", "\t\t", -1, -5, 1<<40)
	f.Add("0", "\xc5", "\x9f", 22, -5, 1<<40) // two halves of a character
	f.Fuzz(func(t *testing.T, message, file, line string, number, column, end int) {
		p := Problem{
			Message: message, File: file, Line: number, Column: column, EndColumn: end,
			Snippet: FitSnippet([]SnippetLine{{Number: number, Text: line, Hit: true}}, column),
		}
		for _, accept := range []string{"text/html", "application/json", ""} {
			w := problemResponse(t, "GET", accept, p)
			body := w.Body.String()
			if w.Code != 500 || !utf8.ValidString(body) && utf8.ValidString(message) && utf8.ValidString(file) && utf8.ValidString(line) {
				t.Errorf("%d, valid UTF-8: %v", w.Code, utf8.ValidString(body))
			}
			if accept == "text/html" && strings.Contains(body, "<script") {
				t.Error("markup came through")
			}
		}
	})
}

// A request that failed through the fault of another one may be sent again in a second, and its page says so.
func TestRetriableProblem(t *testing.T) {
	for retriable, want := range map[bool]string{true: "1", false: ""} {
		w := httptest.NewRecorder()
		WriteProblemPage(
			w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil),
			Problem{Message: "restarted", Status: http.StatusServiceUnavailable, Retriable: retriable},
		)
		if got := w.Header().Get("Retry-After"); got != want || w.Code != http.StatusServiceUnavailable {
			t.Errorf("retriable %v: %d, Retry-After %q", retriable, w.Code, got)
		}
	}
}
