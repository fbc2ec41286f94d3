package sourcetext_test

import (
	"testing"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

func TestMaskQuery(t *testing.T) {
	for query, want := range map[string]string{
		"":                         "",
		"page=2&q=a+b":             "page=2&q=a+b",
		"token=abc&x=1":            "token=***&x=1",
		"x=1&api_key=k":            "x=1&api_key=*",
		"apiKey=12345678901":       "apiKey=********",
		"access%5Ftoken=abc":       "access%5Ftoken=***",
		"password=":                "password=",
		"token":                    "token",
		"q=sk_live_0123456789abcd": "q=********",
		"next=https%3A%2F%2Fada%3Apw%40example.org%2F": "next=********",
		"id=0123456789abcdef0123456789abcdef":          "id=********",
		"monkey=1&keyboard=2":                          "monkey=1&keyboard=2",
		"&&a=1&=2&%zz=%zz":                             "&&a=1&=2&%zz=%zz",
	} {
		t.Run(query, func(t *testing.T) {
			if got := sourcetext.MaskQuery(query); got != want {
				t.Errorf("%q: %q, want %q", query, got, want)
			}
		})
	}
}
