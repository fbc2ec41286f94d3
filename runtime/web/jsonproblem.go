package web

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// jsonProblem is what V8 says of a text that is no JSON, "" of one that is.
func jsonProblem(text string) string {
	p := &jsonReader{text: utf16.Encode([]rune(text)), line: 1}
	p.space()
	if p.value(); p.problem != "" {
		return p.problem
	}
	if p.space(); p.at < len(p.text) {
		p.failed("Unexpected non-whitespace character after JSON")
	}
	return p.problem
}

// jsonReader reads a text of UTF-16 units, as positions count them, up to its first
// problem.
type jsonReader struct {
	text      []uint16
	at        int
	line      int // of at
	lineBegan int
	depth     int
	problem   string
}

// jsonContext is how much of a text is shown before and after what is wrong, in units.
const jsonContext = 10

// jsonDepth is as deep as is read; the engine refuses deeper ones before.
const jsonDepth = 10_000

func (p *jsonReader) peek() uint16 {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// fail says what is wrong in the JSON, and where.
func (p *jsonReader) fail(what string) { p.failed(what + " in JSON") }

func (p *jsonReader) failed(what string) {
	if p.problem == "" {
		p.problem = what + " at position " + strconv.Itoa(p.at) + " (line " + strconv.Itoa(p.line) + " column " + strconv.Itoa(p.at-p.lineBegan+1) + ")"
	}
}

// unexpected says that what is here does not belong here.
func (p *jsonReader) unexpected() {
	switch c := p.peek(); {
	case p.problem != "":
	case p.at >= len(p.text):
		p.problem = "Unexpected end of JSON input"
	case c >= '0' && c <= '9' || c == '-':
		p.fail("Unexpected number")
	case c == '"':
		p.fail("Unexpected string")
	default:
		p.problem = p.unexpectedToken()
	}
}

func (p *jsonReader) unexpectedToken() string {
	whole := string(utf16.Decode(p.text))
	switch whole {
	case "NaN", "Infinity", "undefined", "[object Object]":
		return `"` + whole + `" is not valid JSON`
	}
	token := "Unexpected token '" + string(utf16.Decode(p.text[p.at:p.at+1])) + "', "
	from, to := max(0, p.at-jsonContext), min(len(p.text), p.at+jsonContext)
	if len(p.text) <= 2*jsonContext {
		from, to = 0, len(p.text)
	}
	shown := `"` + string(utf16.Decode(p.text[from:to])) + `"`
	if from > 0 {
		shown = "..." + shown
	}
	if to < len(p.text) {
		shown += "..."
	}
	return token + shown + " is not valid JSON"
}

func (p *jsonReader) space() {
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case ' ', '\t':
		case '\r', '\n':
			if p.text[p.at] == '\r' && p.at+1 < len(p.text) && p.text[p.at+1] == '\n' {
				p.at++
			}
			p.line++
			p.lineBegan = p.at + 1
		default:
			return
		}
	}
}

func (p *jsonReader) value() {
	switch c := p.peek(); {
	case c == '{':
		p.nested(p.object)
	case c == '[':
		p.nested(p.array)
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
		p.unexpected()
	}
}

func (p *jsonReader) nested(read func()) {
	if p.depth++; p.depth > jsonDepth {
		p.problem = "the text is nested too deep"
		return
	}
	p.at++
	p.space()
	read()
	p.depth--
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
		switch p.space(); p.peek() {
		case ',':
			p.at++
			p.space()
		case '}':
			p.at++
			return
		default:
			p.fail("Expected ',' or '}' after property value")
			return
		}
	}
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
		switch p.space(); p.peek() {
		case ',':
			p.at++
			p.space()
		case ']':
			p.at++
			return
		default:
			p.fail("Expected ',' or ']' after array element")
			return
		}
	}
}

func (p *jsonReader) literal(text string) {
	for _, c := range text {
		if p.peek() != uint16(c) {
			p.unexpected()
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
			p.unexpected()
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
			case c == 'u':
				for range 4 {
					if p.at++; p.at >= len(p.text) || p.text[p.at] > 'f' || !strings.ContainsRune("0123456789abcdefABCDEF", rune(p.text[p.at])) {
						p.fail("Bad Unicode escape")
						return
					}
				}
			case c > 0x7f || !strings.ContainsRune(`"\/bfnrt`, rune(c)):
				p.fail("Bad escaped character")
				return
			}
		}
	}
	p.fail("Unterminated string")
}
