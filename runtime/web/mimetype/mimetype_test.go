package mimetype

import (
	"cmp"
	"testing"
)

// parsedMIME maps a text to its serialized MIME type; "" for an invalid one.
var parsedMIME = map[string]string{
	"":                               "",
	"text":                           "",
	"/":                              "",
	"text/":                          "",
	"/html":                          "",
	"te xt/html":                     "",
	"text/html bad":                  "",
	"text/html/more":                 "",
	"t\u00e9xt/html":                 "",
	" Text/HTML\r\n":                 "text/html",
	"text/html;":                     "text/html",
	"text/html ;;; ;charset=x":       "text/html;charset=x",
	"text/html;charset":              "text/html",
	"text/html;charset=":             "text/html",
	"text/html;charset=;charset=x":   "text/html;charset=x",
	"text/html;charset= ":            "text/html",
	"text/html;charset= x":           `text/html;charset=" x"`,
	"text/html;charset =x":           "text/html",
	"text/html;Charset=X;charset=y":  "text/html;charset=X",
	"text/html;a=1; B=2 ;c=3":        "text/html;a=1;b=2;c=3",
	`text/html;a=""`:                 `text/html;a=""`,
	`text/html;a="b;c"`:              `text/html;a="b;c"`,
	`text/html;a="b\"\\\c" tail;d=e`: `text/html;a="b\"\\c";d=e`,
	`text/html;a="open`:              "text/html;a=open",
	`text/html;a="open\`:             `text/html;a="open\\"`,
	`text/html;a=b"c`:                `text/html;a="b\"c"`,
	"text/html;a=\u00ff":             "text/html;a=\"\u00ff\"",
	"text/html;a=\u0100;b=c":         "text/html;b=c",
	"text/html;a=\x01;b=c":           "text/html;b=c",
	"text/html;base64;a=b":           "text/html;a=b",
}

func TestParseMIME(t *testing.T) {
	for in, want := range parsedMIME {
		t.Run(cmp.Or(in, "nothing"), func(t *testing.T) {
			got := ""
			if m, ok := Parse(in); ok {
				got = m.String()
			}
			if got != want {
				t.Errorf("%q: %q, want %q", in, got, want)
			}
		})
	}
}

// A written type reads back unchanged, and no two parameters share a name.
func FuzzParseMIME(f *testing.F) {
	for in := range parsedMIME {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		m, ok := Parse(in)
		if !ok {
			return
		}
		again, ok := Parse(m.String())
		if !ok || again.String() != m.String() {
			t.Fatalf("%q: %q, then %q", in, m, again)
		}
		seen := map[string]bool{}
		for i := 0; i < len(m.params); i += 2 {
			if seen[m.params[i]] {
				t.Fatalf("%q: %q twice", in, m.params[i])
			}
			seen[m.params[i]] = true
		}
	})
}
