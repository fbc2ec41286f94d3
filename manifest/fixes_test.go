package manifest_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest"
)

// remedies are the fixes that name what to write, and what that replaces.
var remedies = []struct {
	pattern *regexp.Regexp
	apply   func(d manifest.Diagnostic, named string) string
}{
	{regexp.MustCompile(`^(?:write|use|write the path only:|write the decoded path:) ("(?:[^"\\]|\\.)*")`), verbatim},
	{regexp.MustCompile(`^did you mean ("(?:[^"\\]|\\.)*")\?$`), verbatim},
	{regexp.MustCompile(`^set it to (\d+) or (?:less|more)$`), verbatim},
	{regexp.MustCompile(`^put it in brackets: (\[.*\])$`), verbatim},
	{regexp.MustCompile(`^write (true|false|null)$`), verbatim},
	{regexp.MustCompile(`^write (\\u[0-9a-f]{4})$`), verbatim},
	{regexp.MustCompile(`^add (",?[\]}]"|"\]"|"\}")$`), func(_ manifest.Diagnostic, named string) string { return strings.Trim(named, `"`) }},
	{regexp.MustCompile(`^(remove the comma|remove the comment)$`), func(manifest.Diagnostic, string) string { return "" }},
	{regexp.MustCompile(`^(add a comma)$`), func(manifest.Diagnostic, string) string { return "," }},
}

func verbatim(_ manifest.Diagnostic, named string) string { return named }

// TestFixesPass applies every fix that says what to write, literally and at the place reported, and looks for
// the same complaint there: it must be gone.
func TestFixesPass(t *testing.T) {
	applied := map[string]int{}
	for _, c := range tableCases(t) {
		_, diags := manifest.Parse(manifest.FileName, []byte(c.source))
		for _, d := range diags {
			for _, r := range remedies {
				m := r.pattern.FindStringSubmatch(d.Fix)
				if m == nil || dotted(d, m[1]) {
					continue
				}
				applied[r.pattern.String()]++
				fixed := replaced(c.source, d, r.apply(d, m[1]))
				_, left := manifest.Parse(manifest.FileName, []byte(fixed))
				if worse := complaints(left, d, diags); worse != "" {
					t.Errorf("testdata/cases.txt:%d: %s\n%.200s\nbecomes\n%.200s\n%s", c.line, d.Fix, c.source, fixed, worse)
				}
			}
		}
	}
	for _, r := range remedies {
		if applied[r.pattern.String()] == 0 {
			t.Errorf("no case has a fix like %s", r.pattern)
		}
	}
}

// dotted reports whether a fix names a key of another object, which cannot stand in this one's place.
func dotted(d manifest.Diagnostic, named string) bool {
	return d.Code == "unknown-key" && strings.Contains(named, ".")
}

// replaced puts text in the place of a diagnostic's span.
func replaced(src string, d manifest.Diagnostic, text string) string {
	return src[:offset(src, d.Line, d.Column)] + text + src[offset(src, d.EndLine, d.EndColumn):]
}

// offset is the byte offset of a line and column.
func offset(src string, line, column int) int {
	at := 0
	for range line - 1 {
		at += strings.IndexByte(src[at:], '\n') + 1
	}
	if at == 0 && strings.HasPrefix(src, "\ufeff") {
		at = len("\ufeff")
	}
	for range column - 1 {
		_, n := utf8.DecodeRuneInString(src[at:])
		at += n
	}
	return at
}

// complaints lists what a fix left at its place: the same message, or unless it mended the syntax, another error.
func complaints(left manifest.Diagnostics, fixed manifest.Diagnostic, before manifest.Diagnostics) string {
	known := map[string]int{}
	for _, d := range before {
		known[d.Code+d.Path]++
	}
	known[fixed.Code+fixed.Path]--
	var b strings.Builder
	for _, d := range left {
		same := d.Code == fixed.Code && d.Path == fixed.Path && d.Message == fixed.Message && d.Line == fixed.Line && d.Column == fixed.Column
		known[d.Code+d.Path]--
		more := fixed.Code != "syntax" && d.Severity == manifest.Error && known[d.Code+d.Path] < 0
		if same || more {
			b.WriteString(strconv.Itoa(d.Column) + " " + d.Code + " " + d.Path + ": " + d.Message + "\n")
		}
	}
	return b.String()
}
