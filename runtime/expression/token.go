package expression

import (
	"bytes"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// offsetOf returns the offset of a line and a column, both from 1, in code, which the bundler wrote in ASCII.
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

type token struct {
	kind       js.TokenType // TemplateToken of a whole template
	start, end int
}

// The bytes of code that are read around a position: its text is a word or two.
const (
	excerptBefore = 64 << 10
	excerptAfter  = 16 << 10
)

// tokensAround returns the tokens around an offset, from the begin of a statement of the module.
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

// tokens returns the tokens of code from an offset on, until an unknown one. A template is one, with its substitutions.
func tokens(code []byte, from int) (list []token) {
	// The lexer writes after its text, for a while.
	in := parse.NewInputBytes(bytes.Clone(code[from:]))
	defer in.Restore()
	lexer := js.NewLexer(in)
	var templates []int // the offsets of open ones
	for {
		kind, text := lexer.Next()
		if (kind == js.DivToken || kind == js.DivEqToken) && beginsExpression(list) {
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
			list = append(list, token{kind, start, end})
		case js.TemplateMiddleToken:
			list = append(list, token{kind, start, end})
		case js.TemplateEndToken:
			if len(templates) == 0 {
				return list
			}
			start, templates = templates[len(templates)-1], templates[:len(templates)-1]
			for len(list) > 0 && list[len(list)-1].start >= start {
				list = list[:len(list)-1]
			}
			list = append(list, token{js.TemplateToken, start, end})
		default:
			list = append(list, token{kind, start, end})
		}
	}
}

func (t token) isWord() bool {
	return js.IsIdentifierName(t.kind) || t.kind == js.PrivateIdentifierToken
}

func (t token) isLiteral() bool {
	return js.IsNumeric(t.kind) || t.kind == js.StringToken || t.kind == js.RegExpToken || t.kind == js.TemplateToken
}

// isKeyword reports whether the last token is a keyword before an expression, and no name or value.
func isKeyword(list []token) bool {
	last := len(list) - 1
	if last < 0 || last > 0 && (list[last-1].kind == js.DotToken || list[last-1].kind == js.OptChainToken) {
		return false
	}
	switch kind := list[last].kind; kind {
	case js.ThisToken, js.SuperToken, js.NullToken, js.TrueToken, js.FalseToken, js.ImportToken:
		return false
	default:
		return js.IsReservedWord(kind) || kind == js.AwaitToken || kind == js.YieldToken || kind == js.OfToken
	}
}

// beginsExpression reports whether a slash after these tokens begins a regular expression instead of dividing. After a
// closing bracket that is not certain, and it divides.
func beginsExpression(list []token) bool {
	if len(list) == 0 || isKeyword(list) {
		return true
	}
	switch last := list[len(list)-1]; last.kind {
	case js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.IncrToken, js.DecrToken:
		return false
	default:
		return !last.isWord() && !last.isLiteral()
	}
}
