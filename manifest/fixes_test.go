package manifest_test

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// remedies are the fixes that name a text, and the text that it replaces.
var remedies = []struct {
	pattern *regexp.Regexp
	apply   func(d diagnostic.Diagnostic, named string) string
}{
	{regexp.MustCompile(`^(?:write|use|write the path only:|write the decoded path:) ("(?:[^"\\]|\\.)*")`), verbatim},
	{regexp.MustCompile(`^write ("access": "(?:members|public)")$`), verbatim},
	{regexp.MustCompile(`^did you mean ("(?:[^"\\]|\\.)*")\?$`), verbatim},
	{regexp.MustCompile(`^set it to (\d+) or (?:less|more)$`), verbatim},
	{regexp.MustCompile(`^put it in brackets: (\[.*\])$`), verbatim},
	{regexp.MustCompile(`^write (\{".*"\}|\[.*"\}?\])(?: and set the values on the site)?$`), verbatim},
	{regexp.MustCompile(`^write (true|false|null)$`), verbatim},
	{regexp.MustCompile(`^write (\\u[0-9a-f]{4})$`), verbatim},
	{
		regexp.MustCompile(`^add (",?[\]}]"|"\]"|"\}")$`),
		func(_ diagnostic.Diagnostic, named string) string { return strings.Trim(named, `"`) },
	},
	{regexp.MustCompile(`^write an? (?:path|event) such as ("[^"]*")$`), verbatim},
	{
		regexp.MustCompile(`^(give it at least one character)(?:, or remove it)?$`),
		func(diagnostic.Diagnostic, string) string { return `"a"` },
	},
	{regexp.MustCompile(`^(remove the comma|remove the comment)$`), func(diagnostic.Diagnostic, string) string { return "" }},
	{regexp.MustCompile(`^(add a comma)$`), func(diagnostic.Diagnostic, string) string { return "," }},
}

func verbatim(_ diagnostic.Diagnostic, named string) string { return named }

// TestFixesPass applies every fix with a literal text at the reported place; the same diagnostic must be gone afterwards.
func TestFixesPass(t *testing.T) {
	applied := map[string]int{}
	for _, c := range tableCases(t) {
		t.Run(c.name(), func(t *testing.T) {
			_, diags := manifest.Parse(manifest.FileName, []byte(c.source))
			for _, d := range diags {
				for _, r := range remedies {
					m := r.pattern.FindStringSubmatch(d.Fix)
					if m == nil || dotted(d, m[1]) || strings.HasPrefix(d.Fix, m[0]+": ") {
						continue
					}
					applied[r.pattern.String()]++
					fixed := replaced(c.source, d, r.apply(d, m[1]))
					if strings.HasPrefix(m[1], `"access": `) {
						fixed = replacedMember(c.source, d, m[1])
					}
					_, left := manifest.Parse(manifest.FileName, []byte(fixed))
					if worse := complaints(left, d, diags); worse != "" {
						t.Errorf("testdata/cases.txt:%d: %s\n%.200s\nbecomes\n%.200s\n%s", c.line, d.Fix, c.source, fixed, worse)
					}
				}
			}
		})
	}
	for _, r := range remedies {
		if applied[r.pattern.String()] == 0 {
			t.Errorf("no case has a fix like %s", r.pattern)
		}
	}
}

// removal matches the fixes that take a key or an item out.
var removal = regexp.MustCompile(`^(?:give it at least one character, or )?remove it(?:$|:|, or )`)

// TestRemovalsPass removes the keys that a fix says to remove: the complaint must be gone, and its object have no new one.
func TestRemovalsPass(t *testing.T) {
	removed := map[string]bool{}
	for _, c := range tableCases(t) {
		t.Run(c.name(), func(t *testing.T) {
			_, diags := manifest.Parse(manifest.FileName, []byte(c.source))
			for _, d := range diags {
				inText := d.Code == "route-invalid" || d.Code == "path-invalid" // it is a character there
				if !removal.MatchString(d.Fix) || inText || diags[0].Code == "syntax" {
					continue
				}
				removed[d.Code] = true
				fixed := without(c.source, d)
				_, left := manifest.Parse(manifest.FileName, []byte(fixed))
				near := slices.DeleteFunc(left, func(l diagnostic.Diagnostic) bool {
					return l.Code != "syntax" && l.Path != d.Path && l.Path != path.Dir(d.Path)
				})
				if worse := complaints(near, d, diags); worse != "" {
					t.Errorf("testdata/cases.txt:%d: %s: %s\n%.200s\nbecomes\n%.200s\n%s", c.line, d.Code, d.Fix, c.source, fixed, worse)
				}
			}
		})
	}
	for _, code := range []string{"too-short", "wrong-type", "unknown-key", "schema-key", "date-ignored", "route-shadowed"} {
		if !removed[code] {
			t.Errorf("no case of %s is removed", code)
		}
	}
}

// without is a source without the item or member that a diagnostic is about.
func without(src string, d diagnostic.Diagnostic) string {
	from, to := offset(src, d.Line, d.Column), offset(src, d.EndLine, d.EndColumn)
	if strings.HasPrefix(d.Code, "route-") { // the route, not its pattern
		from = strings.LastIndex(src[:from], "{")
		to = endOfValue(src, from)
	}
	space := " \t\r\n"
	if rest := strings.TrimLeft(src[to:], space); strings.HasPrefix(rest, ":") { // it is a key
		to = endOfValue(src, len(src)-len(rest)+1)
	} else if before := strings.TrimRight(src[:from], space); strings.HasSuffix(before, ":") { // it has a key
		key := strings.TrimRight(strings.TrimSuffix(before, ":"), space)
		from = strings.LastIndex(key[:len(key)-1], `"`)
	}
	before, after := strings.TrimRight(src[:from], space), strings.TrimLeft(src[to:], space)
	if rest, ok := strings.CutPrefix(after, ","); ok {
		return before + rest
	}
	return strings.TrimSuffix(before, ",") + after
}

// endOfValue is the offset after the JSON value that starts at one.
func endOfValue(src string, from int) int {
	dec := json.NewDecoder(strings.NewReader(src[from:]))
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return from
	}
	return from + int(dec.InputOffset())
}

// dotted reports whether a fix names a key of another object, which cannot stand in this one's place.
func dotted(d diagnostic.Diagnostic, named string) bool {
	return d.Code == "unknown-key" && strings.Contains(named, ".")
}

// replaced puts text in the place of a diagnostic's span.
func replaced(src string, d diagnostic.Diagnostic, text string) string {
	return src[:offset(src, d.Line, d.Column)] + text + src[offset(src, d.EndLine, d.EndColumn):]
}

// replacedMember puts text in the place of the key of a diagnostic, and its value.
func replacedMember(src string, d diagnostic.Diagnostic, text string) string {
	colon := offset(src, d.EndLine, d.EndColumn) + strings.IndexByte(src[offset(src, d.EndLine, d.EndColumn):], ':')
	return src[:offset(src, d.Line, d.Column)] + text + src[endOfValue(src, colon+1):]
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

// complaints lists the diagnostics that remain at the place of a fix: the same message, or unless it mended the syntax, another error.
func complaints(left diagnostic.List, fixed diagnostic.Diagnostic, before diagnostic.List) string {
	known := map[string]int{}
	for _, d := range before {
		known[d.Code+d.Path]++
	}
	known[fixed.Code+fixed.Path]--
	var b strings.Builder
	for _, d := range left {
		same := d.Code == fixed.Code && d.Path == fixed.Path && d.Message == fixed.Message && d.Line == fixed.Line &&
			d.Column == fixed.Column
		known[d.Code+d.Path]--
		more := fixed.Code != "syntax" && d.Severity == diagnostic.Error && known[d.Code+d.Path] < 0
		if same || more {
			b.WriteString(strconv.Itoa(d.Column) + " " + d.Code + " " + d.Path + ": " + d.Message + "\n")
		}
	}
	return b.String()
}
