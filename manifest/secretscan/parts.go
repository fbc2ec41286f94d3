package secretscan

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// This file says which parts of a value are as bad as all of it.

// The names of parts.
const (
	partPassword = "password"
	partLine     = "line"
)

// maxValue is how much of a value is looked for: of a longer one its end, since many begin alike.
const maxValue = 4 << 10

// minLine is the length of a line that is looked for by itself.
const minLine = 16

// part is a text that is looked for.
type part struct {
	text     string
	name     string
	strength strength
	bits     int
}

// partsOf lists the whole value first.
func partsOf(value string) []part {
	value = strings.Trim(value, "\r\n")
	var list []part
	add := func(text, name string, least strength) {
		s, bits := judge(text)
		if s >= least {
			list = append(list, part{text[max(0, len(text)-maxValue):], name, s, bits})
		}
	}
	add(value, "", weak)
	if u, err := url.Parse(value); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok {
			add(password, partPassword, strong)
			_, asWritten, _ := strings.Cut(u.User.String(), ":")
			add(asWritten, partPassword, strong)
		}
	}
	addLines := func(text string) {
		for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if line = strings.TrimSpace(line); len(line) >= minLine && !strings.HasPrefix(line, "-----") && line != value {
				add(line, partLine, strong)
			}
		}
	}
	addLines(strings.ReplaceAll(value, `\n`, "\n"))
	for _, text := range hiddenIn(value) {
		add(text, partLine, strong)
		addLines(text)
	}
	return list
}

// hides matches the keys of a JSON document whose values are secrets.
var hides = regexp.MustCompile( //nolint:gochecknoglobals // a constant
	`(?i)(?:private_?key|secret|password|passwd|token|api_?key|access_?key)$`,
)

// hiddenIn are the secrets in a value that is a JSON object, as the key of an account is handed out.
func hiddenIn(value string) []string {
	if !strings.HasPrefix(strings.TrimSpace(value), "{") {
		return nil
	}
	var fields map[string]any
	if json.Unmarshal([]byte(value), &fields) != nil {
		return nil
	}
	var list []string
	for key, field := range fields {
		if text, ok := field.(string); ok && hides.MatchString(key) {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list
}

// Texts are the strings in a JSON document, those of lists and objects too: what is public in a manifest or a
// package.json. Other text has none.
func Texts(document []byte) []string {
	var value any
	if json.Unmarshal(document, &value) != nil {
		return nil
	}
	var list []string
	var visit func(any)
	visit = func(v any) {
		switch v := v.(type) {
		case string:
			list = append(list, v)
		case []any:
			for _, item := range v {
				visit(item)
			}
		case map[string]any:
			for key, item := range v {
				list = append(list, key)
				visit(item)
			}
		}
	}
	visit(value)
	return list
}
