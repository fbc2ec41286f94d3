package wording

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// This file writes command lines that people copy. Which characters a shell takes as they are, and how it is given the
// others, is told by plainWord and quotedWord of the system.

// plainKey is a name of an argument that stands before "=" as it is.
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
