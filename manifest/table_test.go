package manifest_test

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// testCase is one manifest and its verdict, both on one line of testdata/cases.txt.
type testCase struct {
	line         int
	source, want string
	written      string // the source as it stands there
}

// name returns the case's line, and the start of its source.
func (c testCase) name() string { return fmt.Sprintf("%d: %.40s", c.line, c.written) }

// notation matches the marks for text that one line cannot hold: ⟨LF⟩, ⟨FF⟩ (a byte), ⟨a*512⟩ (repeated), ⟨⟩ (nothing).
var notation = regexp.MustCompile(`⟨[^⟩]*⟩`)

func expand(s string) string {
	return notation.ReplaceAllStringFunc(s, func(p string) string {
		p = strings.TrimSuffix(strings.TrimPrefix(p, "⟨"), "⟩")
		if text, count, ok := strings.Cut(p, "*"); ok {
			n, _ := strconv.Atoi(count)
			return strings.Repeat(text, n)
		}
		return map[string]string{
			"LF": "\n", "CR": "\r", "TAB": "\t", "NUL": "\x00", "BOM": "\ufeff", "FF": "\xff", "FE": "\xfe",
		}[p]
	})
}

// tableCases reads the table. A line is "source ⇒ verdict", "#" starts a comment.
func tableCases(tb testing.TB) []testCase {
	tb.Helper()
	f, err := os.Open("testdata/cases.txt")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var list []testCase
	scan := bufio.NewScanner(f)
	for line := 1; scan.Scan(); line++ {
		text := scan.Text()
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		source, want, ok := strings.Cut(text, " ⇒ ")
		if !ok {
			tb.Fatalf("testdata/cases.txt:%d: no verdict", line)
		}
		list = append(list, testCase{line, expand(source), want, source})
	}
	if err := scan.Err(); err != nil {
		tb.Fatal(err)
	}
	return list
}

// verdict puts diagnostics on one line: "ok", or for each its span, its code and, unless empty, its path. A
// "~" marks a warning.
func verdict(diags diagnostic.List) string {
	if len(diags) == 0 {
		return "ok"
	}
	parts := make([]string, len(diags))
	for i, d := range diags {
		end := strconv.Itoa(d.EndColumn)
		if d.EndLine != d.Line {
			end = fmt.Sprintf("%d:%d", d.EndLine, d.EndColumn)
		}
		mark := ""
		if d.Severity == diagnostic.Warning {
			mark = "~"
		}
		parts[i] = fmt.Sprintf("%d:%d-%s %s%s %s", d.Line, d.Column, end, mark, d.Code, strconv.QuoteToGraphic(d.Path))
	}
	return strings.Join(parts, " | ")
}
