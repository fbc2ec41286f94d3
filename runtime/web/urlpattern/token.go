package urlpattern

import (
	"slices"
	"unicode"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// tokenKind is a type of token (URL Pattern standard, 2.1.1).
type tokenKind uint8

const (
	tokenOpen tokenKind = iota
	tokenClose
	tokenExpression
	tokenName
	tokenChar
	tokenEscaped
	tokenModifier
	tokenAsterisk
	tokenEnd
	tokenInvalid
)

// patternToken is a token; at is its offset, in code points.
type patternToken struct {
	kind  tokenKind
	at    int
	value string
}

// tokeniser cuts a pattern into tokens. An invalid one is an error, or a token of its own if
// lenient.
type tokeniser struct {
	text    []rune
	at      int
	lenient bool
	tokens  []patternToken
}

func tokenise(text string, lenient bool) ([]patternToken, error) {
	t := tokeniser{text: []rune(text), lenient: lenient}
	for t.at < len(t.text) {
		if err := t.next(); err != nil {
			return nil, err
		}
	}
	return append(t.tokens, patternToken{kind: tokenEnd, at: t.at}), nil
}

// add adds the token from t.at on whose value is text[from:to], and continues at next.
func (t *tokeniser) add(kind tokenKind, from, to, next int) {
	t.tokens = append(t.tokens, patternToken{kind: kind, at: t.at, value: string(t.text[from:to])})
	t.at = next
}

func (t *tokeniser) fail(next, from int, why string) error {
	if !t.lenient {
		return engine.TypeError("URLPattern: %s at character %d of %q", why, t.at+1, string(t.text))
	}
	t.add(tokenInvalid, from, max(from, next), next)
	return nil
}

func (t *tokeniser) next() error {
	one := t.at + 1
	switch t.text[t.at] {
	case '*':
		t.add(tokenAsterisk, t.at, one, one)
	case '+', '?':
		t.add(tokenModifier, t.at, one, one)
	case '{':
		t.add(tokenOpen, t.at, one, one)
	case '}':
		t.add(tokenClose, t.at, one, one)
	case '\\':
		if one == len(t.text) {
			return t.fail(one, t.at, "a backslash has nothing to escape")
		}
		t.add(tokenEscaped, one, one+1, one+1)
	case ':':
		end := one
		for end < len(t.text) && isNameRune(t.text[end], end == one) {
			end++
		}
		if end == one {
			return t.fail(one, t.at, "a colon has no name after it")
		}
		t.add(tokenName, one, end, end)
	case '(':
		end, why := t.expressionEnd(one)
		if why != "" {
			return t.fail(one, t.at, why)
		}
		t.add(tokenExpression, one, end-1, end)
	default:
		t.add(tokenChar, t.at, one, one)
	}
	return nil
}

// expressionEnd returns the index after the closing bracket of the expression that begins at start,
// or the reason why it has none.
func (t *tokeniser) expressionEnd(start int) (end int, why string) {
	depth := 1
	for at := start; at < len(t.text); at++ {
		c := t.text[at]
		switch {
		case c > unicode.MaxASCII:
			return 0, "an expression has a character that is not ASCII"
		case c == '?' && at == start:
			return 0, "an expression begins with a question mark"
		case c == '\\':
			at++
			if at == len(t.text) || t.text[at] > unicode.MaxASCII {
				return 0, "a backslash has nothing to escape"
			}
		case c == ')':
			depth--
			if depth > 0 {
				continue
			}
			if at == start {
				return 0, "an expression is empty"
			}
			return at + 1, ""
		case c == '(':
			depth++
			if at+1 == len(t.text) || t.text[at+1] != '?' {
				return 0, "an expression holds a capturing group"
			}
		}
	}
	return 0, "an expression is not closed"
}

// isNameRune reports whether a name, which is an identifier of JavaScript, may begin or continue with r.
func isNameRune(r rune, first bool) bool {
	if r == '$' || r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start) {
		return true
	}
	return !first && (r == '\u200c' || r == '\u200d' ||
		unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue))
}

// take returns the token at *at and skips it if it is of one of these kinds.
func take(tokens []patternToken, at *int, kinds ...tokenKind) *patternToken {
	if !slices.Contains(kinds, tokens[*at].kind) {
		return nil
	}
	*at++
	return &tokens[*at-1]
}
