package language

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"
)

// problems are texts with the messages of V8 15.
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
	{`{"é⛵🚣": nope}`, `Unexpected token 'o', "{"é⛵🚣": nope}" is not valid JSON`},
	{`["🚣🚣🚣🚣🚣🚣🚣🚣🚣🚣", x, "🚣🚣🚣🚣🚣🚣🚣🚣🚣🚣"]`, `Unexpected token 'x', ..."🚣🚣🚣", x, "🚣🚣🚣"... is not valid JSON`}, // V8 shows a half of one more
	{"nulx and some more text here", `Unexpected token 'x', "nulx and some"... is not valid JSON`},
	{"[1,2,3,4,5,6,7,8,9,]", `Unexpected token ']', "[1,2,3,4,5,6,7,8,9,]" is not valid JSON`},
	{"[1,2,3,4,5,6,7,8,9,  ]", `Unexpected token ']', ..."6,7,8,9,  ]" is not valid JSON`},
	{"[1,\r2,\r\n3,\n x]", "Unexpected token 'x', \"[1,\r2,\r\n3,\n x]\" is not valid JSON"},
	{"-Infinity", "No number after minus sign in JSON at position 1 (line 1 column 2)"},
	{`{"a":"b"`, "Expected ',' or '}' after property value in JSON at position 8 (line 1 column 9)"},
	{`"\ud83`, "Bad Unicode escape in JSON at position 6 (line 1 column 7)"},
	{"[\"🚣\",\r\n \"é\" 1]", "Expected ',' or ']' after array element in JSON at position 13 (line 2 column 6)"},
	{"\"\\", "Unexpected end of JSON input"},
	{"\"\\u", "Bad Unicode escape in JSON at position 3 (line 1 column 4)"},
	{"\"\\u1", "Bad Unicode escape in JSON at position 4 (line 1 column 5)"},
	{"\"", "Unterminated string in JSON at position 1 (line 1 column 2)"},
	{"[\"a", "Unterminated string in JSON at position 3 (line 1 column 4)"},
	{"\"a\u0001", "Bad control character in string literal in JSON at position 2 (line 1 column 3)"},
	{"\"\t\"", "Bad control character in string literal in JSON at position 1 (line 1 column 2)"},
	{"\"\\ ", "Bad escaped character in JSON at position 2 (line 1 column 3)"},
	{"\"\\u12g4\"", "Bad Unicode escape in JSON at position 5 (line 1 column 6)"},
	{"-x", "No number after minus sign in JSON at position 1 (line 1 column 2)"},
	{"1.x", "Unterminated fractional number in JSON at position 2 (line 1 column 3)"},
	{"1e+", "Exponent part is missing a number in JSON at position 3 (line 1 column 4)"},
	{"1ex", "Exponent part is missing a number in JSON at position 2 (line 1 column 3)"},
	{"00", "Unexpected number in JSON at position 1 (line 1 column 2)"},
	{"-01", "Unexpected number in JSON at position 2 (line 1 column 3)"},
	{"truex", "Unexpected non-whitespace character after JSON at position 4 (line 1 column 5)"},
	{"true x", "Unexpected non-whitespace character after JSON at position 5 (line 1 column 6)"},
	{"[true", "Expected ',' or ']' after array element in JSON at position 5 (line 1 column 6)"},
	{"{\"a\"", "Expected ':' after property name in JSON at position 4 (line 1 column 5)"},
	{"{\"a\":1,", "Expected double-quoted property name in JSON at position 7 (line 1 column 8)"},
	{"[", "Unexpected end of JSON input"},
	{"{\"a\":[1}", "Expected ',' or ']' after array element in JSON at position 7 (line 1 column 8)"},
	{"\"a\" \"b\"", "Unexpected non-whitespace character after JSON at position 4 (line 1 column 5)"},
	{"]", "Unexpected token ']', \"]\" is not valid JSON"},
	{"}", "Unexpected token '}', \"}\" is not valid JSON"},
	{",", "Unexpected token ',', \",\" is not valid JSON"},
	{":", "Unexpected token ':', \":\" is not valid JSON"},
	{`{"a":1}`, ""},
	{"[\"\\u00e9\\n\", -0.5e+3, true, false, null, {}, [], {\"a\": [1]}]\r\n", ""},
}

func TestJSONProblem(t *testing.T) {
	for _, p := range problems {
		t.Run(cmp.Or(p.text, "an empty text"), func(t *testing.T) {
			if got := jsonProblem(p.text); got != p.want {
				t.Errorf("%q: got %s, want %s", p.text, got, p.want)
			}
		})
	}
	for _, deep := range []string{strings.Repeat("[", 1e6), strings.Repeat(`{"a":[`, 1e6) + "x"} {
		if got := jsonProblem(deep); got != "" {
			t.Errorf("of a text that is nested too deep: %s", got)
		}
	}
	if got := jsonProblem(strings.Repeat("[", 5000)); got != "Unexpected end of JSON input" {
		t.Errorf("got %s", got)
	}
}

// FuzzJSONProblem: a text has no problem exactly when the standard library accepts it.
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
