package wording

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ShellWord writes a text as one word of a shell.
func ShellWord(s string) string {
	if s != "" && IsPlain(s) {
		return s
	}
	return quoteWord(s)
}

// IsPlain reports whether s is one word of a shell without quotes.
func IsPlain(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"+plainWord) == ""
}

// plainKey matches the name of an argument that needs no quotes before "=".
var plainKey = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// ShellArguments writes arguments as words of a shell: as KEY=VALUE where all are plain, since shells disagree about the quotes
// of JSON.
func ShellArguments(arguments json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(arguments, &fields) != nil {
		return ShellWord(string(arguments))
	}
	words := make([]string, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var text string
		word := name + "="
		if json.Unmarshal(fields[name], &text) == nil {
			word += text
		} else {
			word = name + ":=" + string(fields[name])
		}
		if !plainKey.MatchString(name) || !IsPlain(word) {
			return ShellWord(string(arguments))
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
