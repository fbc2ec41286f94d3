package manifest

import (
	"regexp"
	"strings"
)

// This file recognises secrets that were pasted into a file, and keeps them out of what is written.

// keyText matches the keys of services that mark theirs.
//
//nolint:gochecknoglobals // a constant
var keyText = regexp.MustCompile(`(?:[sr]k_(?:live|test)_|sk-|gh[opsu]_|github_pat_|glpat-|xox[abpr]-|AKIA|ASIA|AIza|eyJ|whsec_|SG\.|npm_|-----BEGIN)[A-Za-z0-9_.+/=~ -]{10,}`)

// looksLikeSecret guesses whether a string is a key rather than the name of one.
func looksLikeSecret(s string) bool {
	if strings.ContainsAny(s, "=\n\r ") || strings.Contains(s, "://") {
		return true
	}
	if at := keyText.FindStringIndex(s); at != nil && at[0] == 0 {
		return true
	}
	var upper, lower, figures int
	for _, c := range s {
		switch {
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= '0' && c <= '9':
			figures++
		}
	}
	hex := len(s) >= 32 && strings.Trim(strings.ToLower(s), "0123456789abcdef") == "" && figures > 0
	return hex || len(s) >= 24 && upper > 0 && lower > 0 && figures > 2
}

// withoutKeys puts stars for the keys in a text.
func withoutKeys(s string) string {
	return keyText.ReplaceAllStringFunc(s, func(key string) string { return strings.Repeat("*", min(len(key), 8)) })
}

// starKeys puts stars over the keys in a line, one for each character. Keys are ASCII.
func starKeys(line []rune) {
	text := string(line)
	for _, at := range keyText.FindAllStringIndex(text, -1) {
		from := countCharacters(text[:at[0]])
		star(line, span{from, from + at[1] - at[0]})
	}
}

// star puts stars over some characters of a line.
func star(line []rune, at span) {
	for i := max(at.start, 0); i < min(at.end, len(line)); i++ {
		line[i] = '*'
	}
}

// masks returns, for each line, the columns from 0 of what stands where secrets are declared and is no name:
// values that look like secrets, and every value of what is no list of names.
func masks(l *lines) map[int][]span {
	m := map[int][]span{}
	root, _ := parseJSON(l.src)
	secrets := root.path("bindings", "secrets")
	if secrets == nil {
		return m
	}
	var hide func(n *node, names bool)
	hide = func(n *node, names bool) {
		for _, item := range n.items {
			hide(item, names && item.kind == stringNode)
		}
		for _, member := range n.members {
			hide(member.value, false)
		}
		if len(n.items)+len(n.members) > 0 || names && !looksLikeSecret(n.text) {
			return
		}
		line, column := l.at(n.start)
		_, end := l.at(n.end)
		m[line] = append(m[line], span{column, end - 2}) // without the quotes
	}
	hide(secrets, secrets.kind == arrayNode)
	return m
}
