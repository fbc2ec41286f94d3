package web

import (
	"encoding/json"
	"strings"
	"testing"
)

// problems are texts with what V8 15 says of them.
var problems = []struct{ text, want string }{
	{"", "Unexpected end of JSON input"},
	{"abc", `Unexpected token 'a', "abc" is not valid JSON`},
	{"{", "Expected property name or '}' in JSON at position 1 (line 1 column 2)"},
	{"{a:1}", "Expected property name or '}' in JSON at position 1 (line 1 column 2)"},
	{`{"a":1,}`, "Expected double-quoted property name in JSON at position 7 (line 1 column 8)"},
	{"[1,]", `Unexpected token ']', "[1,]" is not valid JSON`},
	{"[1 2]", "Expected ',' or ']' after array element in JSON at position 3 (line 1 column 4)"},
	{`{"a" 1}`, "Expected ':' after property name in JSON at position 5 (line 1 column 6)"},
	{`"abc`, "Unterminated string in JSON at position 4 (line 1 column 5)"},
	{"\"a\nb\"", "Bad control character in string literal in JSON at position 2 (line 1 column 3)"},
	{`"\x"`, "Bad escaped character in JSON at position 2 (line 1 column 3)"},
	{`"\u12"`, "Bad Unicode escape in JSON at position 5 (line 1 column 6)"},
	{"1 2", "Unexpected non-whitespace character after JSON at position 2 (line 1 column 3)"},
	{`{"a":1}x`, "Unexpected non-whitespace character after JSON at position 7 (line 1 column 8)"},
	{"undefined", `"undefined" is not valid JSON`},
	{"[object Object]", `"[object Object]" is not valid JSON`},
	{"NaN", `"NaN" is not valid JSON`},
	{"-", "No number after minus sign in JSON at position 1 (line 1 column 2)"},
	{"1.", "Unterminated fractional number in JSON at position 2 (line 1 column 3)"},
	{"1e", "Exponent part is missing a number in JSON at position 2 (line 1 column 3)"},
	{"01", "Unexpected number in JSON at position 1 (line 1 column 2)"},
	{"<!DOCTYPE html><html><head>", `Unexpected token '<', "<!DOCTYPE "... is not valid JSON`},
	{`{"a":1 "b":2}`, "Expected ',' or '}' after property value in JSON at position 7 (line 1 column 8)"},
	{"tru", "Unexpected end of JSON input"},
	{`{"a":`, "Unexpected end of JSON input"},
	{"'a'", `Unexpected token ''', "'a'" is not valid JSON`},
	{`{"k": undefined, "other": "something quite long to be cut off"}`, `Unexpected token 'u', "{"k": undefined,"... is not valid JSON`},
	{"[1,2", "Expected ',' or ']' after array element in JSON at position 4 (line 1 column 5)"},
	{"\n\n{\n  bad\n}", "Expected property name or '}' in JSON at position 6 (line 4 column 3)"},
	{`{"a":1}`, ""},
	{"[\"\\u00e9\\n\", -0.5e+3, true, false, null, {}, [], {\"a\": [1]}]\r\n", ""},
}

func TestJSONProblem(t *testing.T) {
	for _, p := range problems {
		if got := jsonProblem(p.text); got != p.want {
			t.Errorf("%q: got %s, want %s", p.text, got, p.want)
		}
	}
	if got := jsonProblem(strings.Repeat("[", 1e6)); got == "" {
		t.Error("a text without an end has no problem")
	}
}

// FuzzJSONProblem: what the standard library takes has no problem, and nothing else has none.
func FuzzJSONProblem(f *testing.F) {
	for _, p := range problems {
		f.Add(p.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		if got := jsonProblem(text); (got == "") != json.Valid([]byte(text)) {
			t.Errorf("%q: %q", text, got)
		}
	})
}
