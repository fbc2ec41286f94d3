package secretscan

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The names of the parts of a value that are as sensitive as the whole.
const (
	partPassword = "password"
	partLine     = "line"
)

const (
	maxValue = 4 << 10 // bytes of a value; a longer one is searched by its end, since many begin alike
	minLine  = 16      // length of a line that is a part
)

// part is a text to find.
type part struct {
	text     string
	name     string
	strength strength
	bits     int
}

// partsOf lists the parts of a value, the whole value first.
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
	for _, text := range jsonSecrets(value) {
		add(text, partLine, strong)
		addLines(text)
	}
	return list
}

// secretKey matches the keys of a JSON document whose values are secrets.
var secretKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)(?:private_?key|secret|password|passwd|token|api_?key|access_?key)$`,
	)
})

// jsonSecrets lists the secrets in a value that is a JSON object, such as the key of a service account.
func jsonSecrets(value string) []string {
	if !strings.HasPrefix(strings.TrimSpace(value), "{") {
		return nil
	}
	var fields map[string]any
	if json.Unmarshal([]byte(value), &fields) != nil {
		return nil
	}
	var list []string
	for key, field := range fields {
		if text, ok := field.(string); ok && secretKey().MatchString(key) {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list
}

// Texts returns all keys and strings in a JSON document, such as the public texts in a manifest or a package.json; none for
// other text.
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
