package manifest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// TestTable holds every line of testdata/cases.txt to its verdict.
func TestTable(t *testing.T) {
	cases := tableCases(t)
	if len(cases) < 250 {
		t.Errorf("%d cases, want at least 250", len(cases))
	}
	seen := map[string]int{}
	for _, c := range cases {
		t.Run(c.name(), func(t *testing.T) {
			if before, twice := seen[c.source]; twice {
				t.Errorf("testdata/cases.txt:%d: repeats line %d", c.line, before)
			}
			seen[c.source] = c.line
			m, diags := manifest.Parse(manifest.FileName, []byte(c.source))
			if got := verdict(diags); got != c.want {
				t.Errorf("testdata/cases.txt:%d: %.120q\n got %s\nwant %s", c.line, c.source, got, c.want)
			}
			if (m == nil) != diags.HasErrors() {
				t.Errorf("testdata/cases.txt:%d: manifest %v with errors %v", c.line, m, diags.HasErrors())
			}
		})
	}
}

// TestMessages compares the message and fix of every case with testdata/messages.txt, where they stand below the
// source, and not below its line: a case in the midst of the others changes no other's lines.
func TestMessages(t *testing.T) {
	var b strings.Builder
	for _, c := range tableCases(t) {
		_, diags := manifest.Parse(manifest.FileName, []byte(c.source))
		if len(diags) > 0 {
			fmt.Fprintln(&b, c.written)
		}
		for _, d := range diags {
			fmt.Fprintf(&b, "\t%s: %s\n\t\tfix: %s\n", d.Code, d.Message, d.Fix)
		}
	}
	golden(t, "messages.txt", b.String())
}

// TestMessageStyle holds every message to the style of this project.
func TestMessageStyle(t *testing.T) {
	for _, c := range tableCases(t) {
		t.Run(c.name(), func(t *testing.T) {
			_, diags := manifest.Parse(manifest.FileName, []byte(c.source))
			for _, d := range diags {
				if d.Message == "" || strings.HasSuffix(d.Message, ".") || strings.ContainsAny(d.Message+d.Fix, "\n\x00") {
					t.Errorf("line %d: message %q, fix %q", c.line, d.Message, d.Fix)
				}
				if d.Fix == "" {
					t.Errorf("line %d: %s has no fix", c.line, d.Code)
				}
			}
		})
	}
}

// TestRules holds the list of codes sorted, complete and free of codes that no longer exist.
func TestRules(t *testing.T) {
	known := map[string]bool{}
	for _, r := range diagnostic.Rules() {
		known[r.Code] = true
	}
	if !slices.IsSortedFunc(diagnostic.Rules(), func(a, b diagnostic.Rule) int { return strings.Compare(a.Code, b.Code) }) {
		t.Error("Rules is not sorted by code")
	}
	for _, c := range tableCases(t) {
		_, diags := manifest.Parse(manifest.FileName, []byte(c.source))
		for _, d := range diags {
			if !known[d.Code] {
				t.Errorf("line %d: the code %q is not in Rules", c.line, d.Code)
			}
		}
	}
	src, err := os.ReadFile("diagnostic/codes.go")
	if err != nil {
		t.Fatal(err)
	}
	if declared := strings.Count(string(src), `= "`); declared != len(known) {
		t.Errorf("%d codes declared, %d described", declared, len(known))
	}
}

func TestDefaults(t *testing.T) {
	m, diags := manifest.Parse(manifest.FileName, []byte(`{"entry":"./w.ts","assets":"public/","routes":[{"pattern":"/a"}],`+
		`"bindings":{"storage":{},"kv":{}},"limits":{"cpuMs":2e4}}`))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	want := &manifest.Manifest{
		Entry: "w.ts", Assets: "public",
		Routes: []manifest.Route{{Pattern: "/a", Access: manifest.Public}},
		Bindings: manifest.Bindings{
			ProjectDatabase: manifest.ProjectNone,
			Storage:         &manifest.Storage{Name: "BUCKET"},
			KV:              &manifest.KV{Name: "KV"},
		},
		Limits: manifest.Limits{CPUMs: 20000, SubRequests: 20},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got %+v\nwant %+v", m, want)
	}
}

// TestRoundTrip writes every accepted manifest and reads it back.
func TestRoundTrip(t *testing.T) {
	for _, c := range tableCases(t) {
		t.Run(c.name(), func(t *testing.T) {
			if m, _ := manifest.Parse(manifest.FileName, []byte(c.source)); m != nil {
				roundTrip(t, m)
			}
		})
	}
}

func roundTrip(t *testing.T, m *manifest.Manifest) {
	t.Helper()
	src, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	again, diags := manifest.Parse(manifest.FileName, src)
	if again == nil {
		t.Fatalf("%s is refused: %v", src, diags)
	}
	if !reflect.DeepEqual(m, again) {
		t.Fatalf("%s came back as %+v", src, again)
	}
	var plain manifest.Manifest
	if err := json.Unmarshal(src, &plain); err != nil || !reflect.DeepEqual(m, &plain) {
		t.Fatalf("encoding/json: %v, %+v", err, plain)
	}
}

func TestValidate(t *testing.T) {
	if diags := manifest.Validate(&manifest.Manifest{}); len(diags) > 0 {
		t.Errorf("the zero manifest: %v", diags)
	}
	diags := manifest.Validate(&manifest.Manifest{Limits: manifest.Limits{CPUMs: 30001}})
	if len(diags) != 1 || diags[0].Path != "/limits/cpuMs" {
		t.Errorf("got %v", diags)
	}
}

// TestConcurrent reads the whole table from several goroutines at once, for the race detector.
func TestConcurrent(t *testing.T) {
	cases := tableCases(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, c := range cases {
				if _, diags := manifest.Parse(manifest.FileName, []byte(c.source)); verdict(diags) != c.want {
					t.Errorf("testdata/cases.txt:%d: got %s", c.line, verdict(diags))
				}
			}
		})
	}
	wg.Wait()
}

func TestForm(t *testing.T) {
	m := manifest.Manifest{Forms: []manifest.Form{{"a", "custom.first"}, {"a", "custom.second"}}}
	if f, ok := m.Form("a"); !ok || f.Event != "custom.first" {
		t.Errorf("got %v, %v", f, ok)
	}
	if _, ok := m.Form("b"); ok {
		t.Error("found a form that is not declared")
	}
}

// TestLarge feeds files whose size alone is an attack. Each must end in a verdict, and none may take more than
// a few times as long as the others: a quadratic rule takes minutes here.
func TestLarge(t *testing.T) {
	testmachine.Unraced(t)
	const limit = 256 << 10
	for name, src := range map[string]string{
		"over the limit":    strings.Repeat(" ", limit+1),
		"only spaces":       strings.Repeat(" ", limit),
		"brackets":          strings.Repeat("[", limit),
		"digits":            `{"limits":{"cpuMs":` + strings.Repeat("9", limit-64) + `}}`,
		"fraction":          `{"limits":{"cpuMs":1.` + strings.Repeat("0", limit-64) + `1}}`,
		"commas":            `{"x":[` + strings.Repeat(`1,`, limit/2-64) + `]}`,
		"routes":            `{"entry":"w","routes":[` + strings.Repeat(`{"pattern":"/a/b/c/*"},`, 10000) + `{"pattern":"/*"}]}`,
		"wrong routes":      `{"entry":"w","routes":[` + strings.Repeat(`1,`, 50000) + `1]}`,
		"same keys":         `{` + strings.Repeat(`"x":1,`, 40000) + `"y":1}`,
		"other keys":        `{` + numbered(`"%d":1,`, 20000) + `"y":1}`,
		"comments":          strings.Repeat("#\n", limit/2-64) + "{}",
		"escapes":           `{"entry":"` + strings.Repeat(`\q`, limit/2-64) + `"}`,
		"one long segment":  `{"entry":"w","routes":[{"pattern":"` + strings.Repeat(`/`, limit-64) + `"}]}`,
		"duplicate secrets": `{"bindings":{"secrets":[` + strings.Repeat(`"A",`, 60000) + `"A"]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			m, diags := manifest.Parse(manifest.FileName, []byte(src))
			if len(diags) == 0 {
				t.Errorf("%s: accepted as %v", name, m)
			}
		})
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
