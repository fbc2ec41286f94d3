package manifest

import (
	"regexp"
	"sort"
	"strings"
	"unicode"
)

// This file keeps the values of secrets out of what diagnostics say and show.

// masks are, by line and in order, the values that nothing may show.
type masks map[int][]mask

// mask is one such value within a line.
type mask struct {
	columns span   // from 0
	text    string // as the file has it
}

// newMasks looks for secrets in the text of a manifest, or of another config like it, well-formed or not.
func newMasks(l *lines) masks {
	m := masks{}
	for _, at := range secretsIn(l.src) {
		line, column := l.at(at.start)
		text := l.src[at.start:at.end]
		m[line] = append(m[line], mask{span{column - 1, column - 1 + countCharacters(text)}, text})
	}
	return m
}

// hide puts stars over what a line may not show.
func (m masks) hide(number int, line []rune) {
	for _, hidden := range m[number] {
		star(line, hidden.columns)
	}
}

// redact takes out of what diagnostics say whatever they quote of a value that may not be shown. A message
// quotes the file only at its own span.
func (m masks) redact(diags Diagnostics) {
	for i, d := range diags {
		if d.File != "" || d.EndLine != d.Line {
			continue
		}
		list := m[d.Line]
		next := sort.Search(len(list), func(k int) bool { return list[k].columns.end+1 >= d.EndColumn-1 })
		if next == len(list) || d.Column < list[next].columns.start { // the span may have the quotes, too
			continue
		}
		diags[i].Message, diags[i].Fix = unquoted(d.Message, list[next].text), unquoted(d.Fix, list[next].text)
	}
}

// quotedText matches what quote and literal write.
//
//nolint:gochecknoglobals // a constant
var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// unquoted puts stars for what a message quotes of a value. Of a value with escapes nothing can be told, so
// every quotation goes.
func unquoted(msg, value string) string {
	return quotedText.ReplaceAllStringFunc(msg, func(quotation string) string {
		inner := strings.TrimSuffix(quotation[1:len(quotation)-1], "…")
		if letters := strings.ContainsFunc(inner, isWordRune); !letters {
			return quotation // a bracket or a colon
		}
		if strings.ContainsAny(value+inner, `\`) || strings.Contains(value, inner) || strings.Contains(inner, value) {
			return `"` + stars(len(inner)) + `"`
		}
		return quotation
	})
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
