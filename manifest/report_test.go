package manifest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// TestReports writes every manifest of testdata/report in every format and compares each with its expected
// file; a file there that belongs to no manifest fails too.
func TestReports(t *testing.T) {
	sources, err := filepath.Glob("testdata/report/*.json")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, file := range sources {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(file)
		known[base] = true
		_, diags := manifest.Parse(manifest.FileName, src)
		r := diagnostic.NewReport("site/pages.deploy.json", diags)
		stem := strings.TrimSuffix(base, ".json")
		for ext, text := range map[string]string{
			"text":     format(t, func(b *bytes.Buffer) error { return diagnostic.WriteText(b, r, src, diagnostic.Terminal{}) }),
			"color":    format(t, func(b *bytes.Buffer) error { return diagnostic.WriteText(b, r, src, diagnostic.Terminal{Color: true}) }),
			"document": format(t, func(b *bytes.Buffer) error { return diagnostic.WriteJSON(b, r) }),
			"github":   format(t, func(b *bytes.Buffer) error { return diagnostic.WriteGitHub(b, true, r) }),
			"summary":  format(t, func(b *bytes.Buffer) error { return diagnostic.WriteGitHubSummary(b, r) }),
			"sarif":    format(t, func(b *bytes.Buffer) error { return diagnostic.WriteSARIF(b, r) }),
		} {
			known[stem+"."+ext] = true
			golden(t, "report/"+stem+"."+ext, text)
		}
	}
	entries, err := os.ReadDir("testdata/report")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !known[e.Name()] {
			t.Errorf("testdata/report/%s belongs to no manifest", e.Name())
		}
	}
}

func format(t *testing.T, write func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNoSecretInOutput holds every format to not repeating a pasted secret, wherever it stands.
func TestNoSecretInOutput(t *testing.T) {
	const secret = "sk_live_0123456789abcdef"
	const plain = "correct-horse"
	for _, source := range []string{
		`{"bindings":{"kv":1,"secrets":["` + secret + `","` + secret + `"],"images":0}}`,
		`{"bindings":{"kv":1,"secrets":"` + secret + `","images":0}}`,
		`{"bindings":{"kv":1,"secrets":{"A":"` + secret + `","B":"` + plain + `"},"images":0}}`,
		`{"bindings":{"kv":1,"secrets":["A=` + plain + `","https://u:` + plain + `@h/"]}}`,
		`{"bindings":{"kv":1,"secrets":[{"A":"` + plain + `"},["` + plain + `"]]}}`,
		`{"` + secret + `":1}`,
		`{"vars":{"A":"` + secret + `"}}`,
		`{"entry":"` + secret + `\\"}`,
		`{"routes":[{"pattern":"` + secret + `"}],"x":1}`,
		`{"forms":[{"name":"` + secret + `.","event":"` + secret + `"}]}`,
		`{"runtime":{"compatibilityFlags":["` + secret + `"],"compatibilityDate":"` + secret + `"}}`,
		`{"bindings":{"projectDatabase":"` + secret + `"}}`,
		`{"entry":` + secret + `}`,
		`{"entry":"a" "` + secret + `":1}`,
		`{"entry":'` + secret + `'}`,
		`{"a":1 "` + secret + `",` + secret + `}`,
		`{"` + secret + `":1,"` + secret + `":2}`,
	} {
		t.Run(source, func(t *testing.T) {
			all := everyFormat(t, source)
			if strings.Contains(all, secret[8:]) || strings.Contains(all, plain) {
				t.Errorf("%s: the secret is in the output:\n%.3000s", source, all)
			}
		})
	}
}

// everyFormat writes the report of a manifest that has problems in all formats.
func everyFormat(t *testing.T, source string) string {
	t.Helper()
	src := []byte(source)
	_, diags := manifest.Parse(manifest.FileName, src)
	if len(diags) == 0 {
		t.Errorf("%s is accepted", source)
	}
	r := diagnostic.NewReport(manifest.FileName, diags)
	return format(t, func(b *bytes.Buffer) error { return diagnostic.WriteText(b, r, src, diagnostic.Terminal{Color: true}) }) +
		format(t, func(b *bytes.Buffer) error { return diagnostic.WriteJSON(b, r) }) +
		format(t, func(b *bytes.Buffer) error { return diagnostic.WriteGitHub(b, true, r) }) +
		format(t, func(b *bytes.Buffer) error { return diagnostic.WriteGitHubSummary(b, r) }) +
		format(t, func(b *bytes.Buffer) error { return diagnostic.WriteSARIF(b, r) })
}

// TestReportCap keeps the first hundred, counts the rest, and lets an error beyond them count.
func TestReportCap(t *testing.T) {
	var diags diagnostic.List
	for i := range 150 {
		diags = append(diags, diagnostic.Diagnostic{
			Severity: diagnostic.Warning, Code: "x", Line: 150 - i, Column: 1, EndLine: 150 - i,
			EndColumn: 2, Message: "m",
		})
	}
	diags[0].Severity = diagnostic.Error
	r := diagnostic.NewReport("f", diags)
	if r.OK || len(r.Diagnostics) != 100 || r.Omitted != 50 || r.Diagnostics[0].Line != 1 || diags[0].Line != 150 {
		t.Errorf("ok %v, %d diagnostics, %d omitted, first on line %d", r.OK, len(r.Diagnostics), r.Omitted, r.Diagnostics[0].Line)
	}
	text := format(t, func(b *bytes.Buffer) error { return diagnostic.WriteText(b, r, nil, diagnostic.Terminal{}) })
	if !strings.HasSuffix(text, "and 50 problems more\n1 error, 149 warnings\n") {
		t.Errorf("the text ends in %q", text[len(text)-60:])
	}
	commands := format(t, func(b *bytes.Buffer) error { return diagnostic.WriteGitHub(b, true, r) })
	const capped = "::notice title=pages validate::140 problems more: the first 100 are listed in the summary of this job\n"
	if strings.Count(commands, "::warning ") != 10 || !strings.HasSuffix(commands, capped) {
		t.Errorf("got %s", commands)
	}
}

// TestGitHubNotice words the notice so that it is true.
func TestGitHubNotice(t *testing.T) {
	report := func(n int) diagnostic.Report {
		return diagnostic.NewReport("f", slices.Repeat(diagnostic.List{{Severity: diagnostic.Warning, Code: "x", Message: "m"}}, n))
	}
	for _, c := range []struct {
		summarized bool
		reports    []diagnostic.Report
		want       string
	}{
		{true, []diagnostic.Report{report(10)}, ""},
		{false, []diagnostic.Report{report(10)}, ""},
		{true, []diagnostic.Report{report(11)}, "1 problem more, listed in the summary of this job"},
		{true, []diagnostic.Report{report(100)}, "90 problems more, listed in the summary of this job"},
		{true, []diagnostic.Report{report(101)}, "91 problems more: the first 100 are listed in the summary of this job"},
		{
			true,
			[]diagnostic.Report{report(101), report(1)},
			"92 problems more: the first 100 of each manifest are listed in the summary of this job",
		},
		{true, []diagnostic.Report{report(6), report(6)}, "2 problems more, listed in the summary of this job"},
		{
			false,
			[]diagnostic.Report{report(11)},
			"1 problem more than GitHub shows for one step: run pages validate in the site's folder to see them",
		},
		{
			false,
			[]diagnostic.Report{report(101)},
			"91 problems more than GitHub shows for one step: run pages validate in the site's folder to see them",
		},
	} {
		t.Run(fmt.Sprint(c.summarized, " ", c.want), func(t *testing.T) {
			out := format(t, func(b *bytes.Buffer) error { return diagnostic.WriteGitHub(b, c.summarized, c.reports...) })
			_, got, _ := strings.Cut(out, "::notice title=pages validate::")
			if got != c.want && got != c.want+"\n" {
				t.Errorf("summarized %v, %d reports: got %q, want %q", c.summarized, len(c.reports), got, c.want)
			}
		})
	}
}

// TestReportFiles: a report names files of the bundle relative to the same folder as its own file.
func TestReportFiles(t *testing.T) {
	r := diagnostic.NewReport(filepath.Join("site", manifest.FileName), diagnostic.List{{File: "public/a.html"}, {File: "/abs/b.html"}, {}})
	got := []string{r.Diagnostics[0].File, r.Diagnostics[1].File, r.Diagnostics[2].File}
	slices.Sort(got)
	if want := []string{"", "/abs/b.html", "site/public/a.html"}; !slices.Equal(got, want) || r.File != "site/pages.deploy.json" {
		t.Errorf("got %q of %q, want %q", got, r.File, want)
	}
}

// TestCaretUnderSpan checks that the carets stand under the words, tabs and wide characters included.
func TestCaretUnderSpan(t *testing.T) {
	for source, want := range map[string]string{
		"{\t\"x\": 1}":               "    1 | {\t\"x\": 1}\n      |  \t^^^\n",
		"{\"entry\":\"日本\",\"x\":1}": "    1 | {\"entry\":\"日本\",\"x\":1}\n      |                 ^^^\n",
		`{"entry":"` + strings.Repeat("a", 400) + `","x":1}`: "    1 | …" + strings.Repeat("a", 23) + `","x":1}` + "\n      | " +
			strings.Repeat(" ", 26) + "^^^\n",
	} {
		t.Run(source, func(t *testing.T) {
			_, diags := manifest.Parse(manifest.FileName, []byte(source))
			r := diagnostic.NewReport("f", diags)
			write := func(b *bytes.Buffer) error { return diagnostic.WriteText(b, r, []byte(source), diagnostic.Terminal{}) }
			if got := format(t, write); !strings.Contains(got, want) {
				t.Errorf("%q: got\n%swant\n%s", source, got, want)
			}
		})
	}
}

// TestJSONKeys fixes the names of the JSON document.
func TestJSONKeys(t *testing.T) {
	_, diags := manifest.Parse(manifest.FileName, []byte(`{"x":1}`))
	out := format(t, func(b *bytes.Buffer) error { return diagnostic.WriteJSON(b, diagnostic.NewReport("f", diags)) })
	var doc struct {
		OK          bool
		File        string
		Diagnostics []map[string]any
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for k := range doc.Diagnostics[0] {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	if got := fmt.Sprint(keys); got != "[code column end_column end_line fix line message path severity]" {
		t.Errorf("keys are %s", got)
	}
	empty := format(t, func(b *bytes.Buffer) error { return diagnostic.WriteJSON(b, diagnostic.Report{OK: true, File: "f"}) })
	if !strings.Contains(empty, `"diagnostics": []`) {
		t.Errorf("no diagnostics are written as %s", empty)
	}
}
