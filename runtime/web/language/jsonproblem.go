package language

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonProblem returns V8's message for invalid JSON; "" for valid JSON, and for a text that is nested deeper than jsonDepth. The standard
// library gives the place too, but the reason only in its own words.
func jsonProblem(text string) string {
	p := &jsonReader{text: text}
	p.space()
	p.value()
	if p.space(); p.problem == "" && p.at < len(p.text) {
		p.setProblem("Unexpected non-whitespace character after JSON")
	}
	if p.depth > jsonDepth {
		return ""
	}
	return p.problem
}

type jsonReader struct {
	text    string
	at      int // in bytes
	depth   int
	problem string
}

const jsonContext = 10 // UTF-16 units shown on each side of the problem

const jsonDepth = 10_000

func (p *jsonReader) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// units is the number of UTF-16 units of a text, as in JavaScript.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

func (p *jsonReader) fail(what string) { p.setProblem(what + " in JSON") }

func (p *jsonReader) setProblem(what string) {
	if p.problem != "" {
		return
	}
	before := p.text[:p.at]
	line := 1 + strings.Count(before, "\n") + strings.Count(before, "\r") - strings.Count(before, "\r\n")
	column := 1 + units(before[strings.LastIndexAny(before, "\r\n")+1:])
	p.problem = fmt.Sprintf("%s at position %d (line %d column %d)", what, units(before), line, column)
}

func (p *jsonReader) failUnexpected() {
	switch c := p.peek(); {
	case p.at >= len(p.text):
		p.problem = "Unexpected end of JSON input"
	case c >= '0' && c <= '9' || c == '-':
		p.fail("Unexpected number")
	case c == '"':
		p.fail("Unexpected string")
	case slices.Contains([]string{"NaN", "Infinity", "undefined", "[object Object]"}, p.text):
		p.problem = `"` + p.text + `" is not valid JSON`
	default:
		_, size := utf8.DecodeRuneInString(p.text[p.at:])
		before, behind := lastUnits(p.text[:p.at]), firstUnits(p.text[p.at:])
		if units(p.text[:min(len(p.text), 4*utf8.UTFMax*jsonContext)]) <= 2*jsonContext {
			before, behind = p.text[:p.at], p.text[p.at:]
		}
		shown := `"` + before + behind + `"`
		if len(before) < p.at {
			shown = "..." + shown
		}
		if p.at+len(behind) < len(p.text) {
			shown += "..."
		}
		p.problem = "Unexpected token '" + p.text[p.at:p.at+size] + "', " + shown + " is not valid JSON"
	}
}

// firstUnits and lastUnits return the part of a text that a message shows.
func firstUnits(text string) string {
	n := 0
	for i, r := range text {
		if n += utf16.RuneLen(r); n > jsonContext {
			return text[:i]
		}
	}
	return text
}

func lastUnits(text string) string {
	for i, n := len(text), 0; ; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if n += utf16.RuneLen(r); size == 0 || n > jsonContext {
			return text[i:]
		}
		i -= size
	}
}

func (p *jsonReader) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *jsonReader) value() {
	switch c := p.peek(); {
	case c == '{':
		p.readNested(p.object)
	case c == '[':
		p.readNested(p.array)
	case c == '"':
		p.str()
	case c == '-' || c >= '0' && c <= '9':
		p.number()
	case c == 't':
		p.literal("true")
	case c == 'f':
		p.literal("false")
	case c == 'n':
		p.literal("null")
	default:
		p.failUnexpected()
	}
}

func (p *jsonReader) readNested(read func()) {
	if p.depth++; p.depth > jsonDepth {
		p.problem = "nested too deep"
		return // and the depth stays
	}
	p.at++
	p.space()
	if read(); p.problem == "" {
		p.depth--
	}
}

func (p *jsonReader) object() {
	if p.peek() == '}' {
		p.at++
		return
	}
	for expected := "Expected property name or '}'"; ; expected = "Expected double-quoted property name" {
		if p.peek() != '"' {
			p.fail(expected)
			return
		}
		if p.str(); p.problem != "" {
			return
		}
		if p.space(); p.peek() != ':' {
			p.fail("Expected ':' after property name")
			return
		}
		p.at++
		p.space()
		if p.value(); p.problem != "" {
			return
		}
		if !p.more('}', "Expected ',' or '}' after property value") {
			return
		}
	}
}

// more reports whether a comma and another member follow; otherwise the end of the value follows, or a
// problem.
func (p *jsonReader) more(end byte, expected string) bool {
	switch p.space(); p.peek() {
	case ',':
		p.at++
		p.space()
		return true
	case end:
		p.at++
	default:
		p.fail(expected)
	}
	return false
}

func (p *jsonReader) array() {
	if p.peek() == ']' {
		p.at++
		return
	}
	for {
		if p.value(); p.problem != "" {
			return
		}
		if !p.more(']', "Expected ',' or ']' after array element") {
			return
		}
	}
}

func (p *jsonReader) literal(text string) {
	for i := range len(text) {
		if p.peek() != text[i] {
			p.failUnexpected()
			return
		}
		p.at++
	}
}

func (p *jsonReader) digits() (n int) {
	for ; p.peek() >= '0' && p.peek() <= '9'; p.at++ {
		n++
	}
	return n
}

func (p *jsonReader) number() {
	if p.peek() == '-' {
		if p.at++; p.peek() < '0' || p.peek() > '9' {
			p.fail("No number after minus sign")
			return
		}
	}
	if p.peek() == '0' {
		if p.at++; p.peek() >= '0' && p.peek() <= '9' {
			p.failUnexpected()
			return
		}
	} else {
		p.digits()
	}
	if p.peek() == '.' {
		if p.at++; p.digits() == 0 {
			p.fail("Unterminated fractional number")
			return
		}
	}
	if p.peek() == 'e' || p.peek() == 'E' {
		if p.at++; p.peek() == '+' || p.peek() == '-' {
			p.at++
		}
		if p.digits() == 0 {
			p.fail("Exponent part is missing a number")
		}
	}
}

func (p *jsonReader) str() {
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return
		case c < ' ':
			p.fail("Bad control character in string literal")
			return
		case c == '\\':
			p.at++
			switch c := p.peek(); {
			case p.at >= len(p.text):
				p.failUnexpected()
				return
			case c == 'u':
				for range 4 {
					if p.at++; p.at >= len(p.text) || strings.IndexByte("0123456789abcdefABCDEF", p.text[p.at]) < 0 {
						p.fail("Bad Unicode escape")
						return
					}
				}
			case strings.IndexByte(`"\/bfnrt`, c) < 0:
				p.fail("Bad escaped character")
				return
			}
		}
	}
	p.fail("Unterminated string")
}
