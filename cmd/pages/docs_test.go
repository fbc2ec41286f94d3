package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/docsearch"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
)

// ask runs `pages docs` in this process.
func ask(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, notes bytes.Buffer
	e := terminal.Terminal{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes, Dir: t.TempDir(), Now: time.Now}
	code = run(t.Context(), append([]string{"docs"}, args...), e)
	return out.String(), notes.String(), code
}

// TestDocs: a question in a person's words finds its page first, with mistyped words and other forms too.
func TestDocs(t *testing.T) {
	for question, want := range map[string]string{
		"undo a migration":                        "pages migrate undo",
		"how can I share databases between sites": "pages dev",
		"roll back to the previous release":       "pages rollback",
		"undoing migratoins":                      "pages migrate undo",
		"seeding my database":                     "pages state seed",
		"what does exit code 75 mean":             "topic exit-codes",
		"phones and tunnel":                       "topic network",
		"screts improt":                           "pages secrets import",
	} {
		out, _, code := ask(t, "--json", question)
		var a docsearch.Answer
		if err := json.Unmarshal([]byte(out), &a); err != nil || code != 0 || len(a.Results) == 0 {
			t.Errorf("%s: exit code %d, %v: %s", question, code, err, out)
			continue
		}
		if r := a.Results[0]; r.Title != want || r.Passage == "" {
			t.Errorf("%s: the first page is %q with %q, want %q", question, r.Title, r.Passage, want)
		}
	}
}

// TestDocsWords: notes name the words that no page has, and the commands that show a page work.
func TestDocsWords(t *testing.T) {
	out, notes, code := ask(t, "migratoins", "zzqqxx", "cron")
	if code != 0 || !strings.Contains(notes, `no page has "migratoins"; this searched for "migrations"`) ||
		!strings.Contains(notes, `no page has "zzqqxx"`+"\n") || !strings.Contains(notes, `no page has "cron"; the nearest word is "`) {
		t.Errorf("%d %s", code, notes)
	}
	n := 0
	for line := range strings.Lines(out) {
		command, ok := strings.CutPrefix(line, "  pages help ")
		if !ok {
			continue
		}
		n++
		e := terminal.Terminal{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Dir: t.TempDir(), Now: time.Now}
		if code := run(t.Context(), append([]string{"help"}, strings.Fields(command)...), e); code != 0 {
			t.Errorf("pages help %s ends with %d", command, code)
		}
	}
	if n != 5 {
		t.Errorf("%d commands, want 5:\n%s", n, out)
	}
	if out, notes, code := ask(t, "zzqqxx"); code != 0 || out != "" || !strings.Contains(notes, "no page of help answers this") {
		t.Errorf("%d %q %s", code, out, notes)
	}
	for _, args := range [][]string{{" "}, {}, {"--limit", "0", "x"}} {
		if _, _, code := ask(t, args...); code != 2 {
			t.Errorf("%q ends with %d, want 2", args, code)
		}
	}
	for _, hostile := range []string{`"`, `a" OR "b`, "NEAR(a b)", "*", strings.Repeat("migration ", 5000), "\x00\xff", "title : x"} {
		if _, notes, code := ask(t, hostile); code != 0 {
			t.Errorf("%.20q ends with %d: %s", hostile, code, notes)
		}
	}
}
