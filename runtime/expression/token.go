package expression

import (
	"bytes"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// offsetOf is where a line and a column, both from 1, are in code, which the bundler
// wrote in ASCII.
func offsetOf(code []byte, line, column int) (at int, ok bool) {
	for ; line > 1; line-- {
		end := bytes.IndexByte(code[at:], '\n')
		if end < 0 {
			return 0, false
		}
		at += end + 1
	}
	at += column - 1
	return at, line == 1 && column > 0 && at < len(code)
}

// tokenKind is what a token is, as far as it matters here.
type tokenKind byte

const (
	word        tokenKind = iota // an identifier, private or not, or a keyword
	literal                      // a number, text, expression or whole template
	punctuation                  // all else
)

type token struct {
	kind       tokenKind
	start, end int
}

// Code is read from this far before a position at most, and as far behind it: what is
// said of it is a word or two.
const (
	excerptBefore = 64 << 10
	excerptAfter  = 16 << 10
)

// tokensAround are the tokens around an offset, from where the bundler began a statement
// of the module's own.
func tokensAround(code []byte, at int) []token {
	from := at
	for {
		line := bytes.LastIndexByte(code[:from], '\n')
		if from = line + 1; line < 0 || js.IsIdentifierStart(code[from:]) {
			break
		}
		if from = line; at-from > excerptBefore {
			return nil
		}
	}
	return tokens(code[:min(len(code), at+excerptAfter)], from)
}

// tokens are those of code from an offset on, as far as they can be told. A template is
// one, with what is written within it.
func tokens(code []byte, from int) (list []token) {
	// The lexer writes behind the text that it is given, for a while.
	in := parse.NewInputBytes(bytes.Clone(code[from:]))
	defer in.Restore()
	lexer := js.NewLexer(in)
	var templates []int // where those begin that are open
	for {
		kind, text := lexer.Next()
		if (kind == js.DivToken || kind == js.DivEqToken) && beginsExpression(code, list) {
			kind, text = lexer.RegExp()
		}
		end := from + in.Offset()
		start := end - len(text)
		switch kind {
		case js.ErrorToken:
			return list
		case js.WhitespaceToken, js.LineTerminatorToken, js.CommentToken, js.CommentLineTerminatorToken:
		case js.TemplateStartToken:
			templates = append(templates, start)
			list = append(list, token{punctuation, start, end})
		case js.TemplateMiddleToken:
			list = append(list, token{punctuation, start, end})
		case js.TemplateEndToken:
			if len(templates) == 0 {
				return list
			}
			start, templates = templates[len(templates)-1], templates[:len(templates)-1]
			for len(list) > 0 && list[len(list)-1].start >= start {
				list = list[:len(list)-1]
			}
			list = append(list, token{literal, start, end})
		default:
			list = append(list, token{kindOf(kind), start, end})
		}
	}
}

func kindOf(kind js.TokenType) tokenKind {
	switch {
	case js.IsIdentifierName(kind), kind == js.PrivateIdentifierToken:
		return word
	case js.IsNumeric(kind), kind == js.StringToken, kind == js.RegExpToken, kind == js.TemplateToken:
		return literal
	}
	return punctuation
}

// beginsExpression reports whether a slash after these tokens begins a regular
// expression, and divides nothing.
func beginsExpression(code []byte, before []token) bool {
	if len(before) == 0 {
		return true
	}
	switch last := before[len(before)-1]; last.kind {
	case literal:
		return false
	case word:
		switch string(code[last.start:last.end]) {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "await", "yield", "else", "do":
			return true
		}
		return false
	default:
		c := code[last.end-1]
		return c != ')' && c != ']' && c != '}'
	}
}
