package diagnostic

import (
	"regexp"
	"sort"
	"strings"
	"unicode"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file keeps the values of secrets out of what diagnostics say and show.

// Masks are, by line and in order, the values that nothing may show.
type Masks map[int][]mask

// mask is one such value within a line.
type mask struct {
	columns sourcetext.Span // from 0
	text    string          // as the file has it
}

// NewMasks looks for secrets in the text of a manifest, or of another config like it, well-formed or not.
func NewMasks(l *sourcetext.Lines) Masks {
	m := Masks{}
	for _, at := range secretsIn(l.Src) {
		line, column := l.At(at.Start)
		text := l.Src[at.Start:at.End]
		m[line] = append(m[line], mask{sourcetext.Span{Start: column - 1, End: column - 1 + sourcetext.CountCharacters(text)}, text})
	}
	return m
}

// Hide puts stars over what a line may not show.
func (m Masks) Hide(number int, line []rune) {
	for _, hidden := range m[number] {
		sourcetext.Star(line, hidden.columns)
	}
}

// Redact takes out of what diagnostics say whatever they quote of a value that may not be shown. A message
// quotes the file only at its own span.
func (m Masks) Redact(diags List) {
	for i, d := range diags {
		if d.File != "" || d.EndLine != d.Line {
			continue
		}
		list := m[d.Line]
		next := sort.Search(len(list), func(k int) bool { return list[k].columns.End+1 >= d.EndColumn-1 })
		if next == len(list) || d.Column < list[next].columns.Start { // the span may have the quotes, too
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
			return `"` + sourcetext.Stars(len(inner)) + `"`
		}
		return quotation
	})
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
