package inbox

import (
	"strings"
	"testing"
)

func TestWithoutFormula(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "",
		"anna":                "anna",
		"a = b; c - d":        "a = b; c - d",
		"2026-11-28":          "2026-11-28",
		"anna@example.com":    "anna@example.com",
		"=1+1":                "'=1+1",
		"+41 44 000 00 00":    "'+41 44 000 00 00",
		"-3":                  "'-3",
		"@SUM(A1)":            "'@SUM(A1)",
		"  =1+1":              "'  =1+1",
		"\t=1+1":              "'\t'=1+1",
		"\r=1+1":              "'\r'=1+1",
		"\tx":                 "'\tx",
		"a;=1+1":              "a;'=1+1",
		"a;=2+2;b":            "a;'=2+2;b",
		"a; =1+1":             "a;' =1+1",
		`a;"=1+1`:             `a;'"=1+1`,
		`"=1+1`:               `'"=1+1`,
		"a\n=1+1":             "a\n'=1+1",
		"a\r\n=1+1":           "a\r\n'=1+1",
		"a\n\n@b":             "a\n\n'@b",
		"a\t=1+1":             "a\t'=1+1",
		"a|=1+1":              "a|'=1+1",
		"＝1+1":                "'＝1+1",
		"a;＝1+1":              "a;'＝1+1",
		"＋1":                  "'＋1",
		"－1":                  "'－1",
		"＠SUM":                "'＠SUM",
		"\u00a0=1+1":          "'\u00a0=1+1",
		"\ufeff=1+1":          "'\ufeff=1+1",
		"a;=1;=2\n-3;plain;@": "a;'=1;'=2\n'-3;plain;'@",
	} {
		t.Run(text, func(t *testing.T) {
			if got := withoutFormula(text); got != want {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		})
	}
}

// FuzzWithoutFormula checks that no cell begins a formula, however a program splits the text, and that only ' is added.
func FuzzWithoutFormula(f *testing.F) {
	for _, seed := range []string{"=1", "a;=1", "a\n \"=1", "\t\r=", "＝;＠", "a;;=", "'=1", "\r\n-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := withoutFormula(text)
		for _, cell := range strings.FieldsFunc(got, func(r rune) bool { return strings.ContainsRune(";|\t\r\n", r) }) {
			bare := strings.TrimLeft(cell, " \v\f\u00a0\ufeff\u200b\u3000\"")
			for _, sign := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠"} {
				if strings.HasPrefix(bare, sign) && !strings.Contains(cell, "'") {
					t.Errorf("%q: the cell %q of %q begins a formula", text, cell, got)
				}
			}
		}
		if strings.ReplaceAll(got, "'", "") != strings.ReplaceAll(text, "'", "") {
			t.Errorf("%q became %q", text, got)
		}
	})
}
