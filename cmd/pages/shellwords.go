package main

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

// spell writes arguments as words of a shell: as KEY=VALUE where all are plain, since shells disagree about the quotes
// of JSON.
func spell(arguments json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(arguments, &fields) != nil {
		return shellWord(string(arguments))
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
		if !plainKey.MatchString(name) || !isPlain(word) {
			return shellWord(string(arguments))
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// shellWord writes a text as one word of a shell.
func shellWord(s string) string {
	if s != "" && isPlain(s) {
		return s
	}
	return quotedWord(s)
}

func isPlain(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"+plainWord) == ""
}
