package manifest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/xeipuuv/gojsonschema"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// sarifSchema is the schema of SARIF 2.1.0 by OASIS, as a library for that format carries it in its source.
var sarifSchema = sync.OnceValues(func() (*gojsonschema.Schema, error) {
	// A test that is compiled with -trimpath does not know where packages lie; the go command does.
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		return nil, err
	}
	text := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && len(lit.Value) > len(text) {
			text = lit.Value
		}
		return true
	})
	if text, err = strconv.Unquote(text); err != nil {
		return nil, err
	}
	return gojsonschema.NewSchema(gojsonschema.NewStringLoader(text))
})

// sarifLog writes the reports and returns the log as plain JSON. It must be valid by the schema, and a library
// must read as many results as there are.
func sarifLog(t *testing.T, reports ...diagnostic.Report) map[string]any {
	t.Helper()
	out := format(t, func(b *bytes.Buffer) error { return diagnostic.WriteSARIF(b, reports...) })
	schema, err := sarifSchema()
	if err != nil {
		t.Fatal(err)
	}
	result, err := schema.Validate(gojsonschema.NewStringLoader(out))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Errors() {
		t.Errorf("%v\n%.2000s", e, out)
	}
	log, err := sarif.FromString(out)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, r := range reports {
		want += len(r.Diagnostics)
	}
	if got := len(log.Runs[0].Results); got != want {
		t.Errorf("%d results were read, want %d", got, want)
	}
	var plain map[string]any
	if err := json.Unmarshal([]byte(out), &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestSARIFSchemaBites makes sure that the schema is the intended one, by reports that it must refuse.
func TestSARIFSchemaBites(t *testing.T) {
	schema, err := sarifSchema()
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range []string{
		`{}`,
		`{"version":"2.1.0","runs":[{}]}`,
		`{"version":"2.2.0","runs":[]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{}}}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"pages"}},"results":[{"ruleId":"x"}]}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"pages"}},"results":[{"message":{"text":"m"},"level":"bad"}]}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"pages"}},"columnKind":"characters"}]}`,
	} {
		t.Run(log, func(t *testing.T) {
			result, err := schema.Validate(gojsonschema.NewStringLoader(log))
			if err != nil || result.Valid() {
				t.Errorf("%s is accepted: %v", log, err)
			}
		})
	}
}

// TestSARIFSchema validates the log of every report there is a golden of, of all of them together, and of none.
func TestSARIFSchema(t *testing.T) {
	sources, err := filepath.Glob("testdata/report/*.json")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	var all []diagnostic.Report
	for _, file := range sources {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, diags := manifest.Parse(manifest.FileName, src)
		all = append(all, diagnostic.NewReport(file, diags))
		sarifLog(t, all[len(all)-1])
	}
	for _, c := range tableCases(t) {
		_, diags := manifest.Parse(manifest.FileName, []byte(c.source))
		all = append(all, diagnostic.NewReport(fmt.Sprintf("line %d.json", c.line), diags))
	}
	sarifLog(t, all...)
	sarifLog(t)
}

// TestSARIFFiles names files by URIs that a code-scanning service finds in its repository.
func TestSARIFFiles(t *testing.T) {
	for name, want := range map[string]string{
		"pages.deploy.json":         "pages.deploy.json",
		"./site/pages.deploy.json":  "site/pages.deploy.json",
		"../other/m.json":           "../other/m.json",
		"my site/a b.json":          "my%20site/a%20b.json",
		"100%/a%20b.json":           "100%25/a%2520b.json",
		`a\b.json`:                  "a%5Cb.json",
		"seiten/übung/日本.json":      "seiten/%C3%BCbung/%E6%97%A5%E6%9C%AC.json",
		"a:b/c:d.json":              "a%3Ab/c%3Ad.json",
		"a#b?c.json":                "a%23b%3Fc.json",
		"\xff.json":                 "%FF.json",
		"/srv/my site/m.json":       "file:///srv/my%20site/m.json",
		"<stdin>":                   "%3Cstdin%3E",
		"a\u202eb\n.json":           "a%E2%80%AEb%0A.json",
		"site/[slug]/{x}/m~1'.json": "site/%5Bslug%5D/%7Bx%7D/m~1%27.json",
	} {
		t.Run(name, func(t *testing.T) {
			log := sarifLog(t, diagnostic.NewReport(name,
				diagnostic.List{{Severity: diagnostic.Error, Code: "syntax", Line: 1, Column: 1, EndLine: 1, EndColumn: 1, Message: "m"}}))
			if got := dig(t, log, "runs", 0, "results", 0, "locations", 0, "physicalLocation", "artifactLocation", "uri"); got != want {
				t.Errorf("%q is named %v, want %s", name, got, want)
			}
		})
	}
}

// TestSARIFRules holds ruleIndex to the rule it names, and every rule to the texts that GitHub shows.
func TestSARIFRules(t *testing.T) {
	_, diags := manifest.Parse(manifest.FileName,
		[]byte(`{"x":1,"limits":{"cpuMs":0},"forms":[{}],"runtime":{"compatibilityDate":"2020-01-01"}}`))
	diags = append(diags, diagnostic.Diagnostic{Severity: diagnostic.Warning, Code: "from-another-room", Message: "m", File: "a.js"})
	log := sarifLog(t, diagnostic.NewReport("m.json", diags))
	rules, _ := dig(t, log, "runs", 0, "tool", "driver", "rules").([]any)
	results, _ := dig(t, log, "runs", 0, "results").([]any)
	if len(results) != len(diags) || len(rules) != len(diagnostic.Rules()) {
		t.Fatalf("%d results, %d rules", len(results), len(rules))
	}
	for i := range results {
		result, _ := results[i].(map[string]any)
		index, known := result["ruleIndex"].(float64)
		if known == (result["ruleId"] == "from-another-room") {
			t.Errorf("result %d: %v", i, result)
		}
		if known && dig(t, rules[int(index)], "id") != result["ruleId"] {
			t.Errorf("result %d has the index of another rule: %v", i, result)
		}
	}
	for _, rule := range rules {
		for _, key := range []string{"shortDescription", "fullDescription", "help"} {
			if text, ok := dig(t, rule, key, "text").(string); !ok || text == "" {
				t.Errorf("%v has no %s", rule, key)
			}
		}
	}
}

// TestSARIFFingerprint stays the same when lines are added above, and differs for another value.
func TestSARIFFingerprint(t *testing.T) {
	result := func(src string) any {
		_, diags := manifest.Parse(manifest.FileName, []byte(src))
		return dig(t, sarifLog(t, diagnostic.NewReport("m.json", diags)), "runs", 0, "results", 0, "partialFingerprints",
			"pagesDiagnostic/v1")
	}
	before := result(`{"limits":{"cpuMs":0}}`)
	if after := result("{\n\n\"entry\":\"a\",\"limits\":\n{\"cpuMs\":0}}"); before != after {
		t.Errorf("%v became %v", before, after)
	}
	if other := result(`{"limits":{"subRequests":0}}`); before == other {
		t.Errorf("%v stands for two values", before)
	}
}

// TestSARIFOmitted: a report gives the number of results that it leaves out.
func TestSARIFOmitted(t *testing.T) {
	var diags diagnostic.List
	for i := range 150 {
		diags = append(diags, diagnostic.Diagnostic{
			Severity: diagnostic.Warning, Code: "x", Line: 1 + i, Column: 1, EndLine: 1 + i,
			EndColumn: 2, Message: "m",
		})
	}
	log := sarifLog(t, diagnostic.NewReport("m.json", diags))
	text := dig(t, log, "runs", 0, "invocations", 0, "toolExecutionNotifications", 0, "message", "text")
	if text != `this log leaves out 50 problems more of "m.json"` {
		t.Errorf("the notification is %v", text)
	}
}

// dig follows keys and indexes into a JSON value.
func dig(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("no %q in %v", step, v)
			}
			v = object[step]
		case int:
			list, ok := v.([]any)
			if !ok || step >= len(list) {
				t.Fatalf("no item %d in %v", step, v)
			}
			v = list[step]
		}
	}
	return v
}
