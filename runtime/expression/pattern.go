package expression

import (
	"cmp"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// This file reads patterns, such as { a, b } in const { a, b } = c.d, at whose first token
// the engine was, and members that are assigned to.

// Pattern returns the first property of a pattern in braces, "" when that is no name, and
// what a declaration takes apart with it, "" when there is none: a parameter, or a part of
// another pattern. It is not ok when no such pattern begins there. Line and column count from 1.
func Pattern(code []byte, line, column int) (property, source string, ok bool) {
	s := newExcerpt(code, line, column)
	if s == nil || !s.is(s.at-1, js.OpenBraceToken) {
		return "", "", false
	}
	return s.property(s.at), s.initializer(s.at - 1), true
}

// property is the name at token i; "" for what is computed, or all that is left.
func (s *excerpt) property(i int) string {
	switch {
	case s.isWord(i):
		return s.text(i, i)
	case s.is(i, js.StringToken):
		if text := s.text(i, i); len(text) > 2 && !strings.Contains(text, `\`) {
			return text[1 : len(text)-1]
		}
	}
	return ""
}

// initializer is the text of what is taken apart by the pattern that token open begins, in a
// declaration; "(intermediate value)" for more than a few words.
func (s *excerpt) initializer(open int) string {
	end := s.partner(open, 1)
	if !s.is(open-1, js.ConstToken, js.LetToken, js.VarToken) || end < 0 || !s.is(end+1, js.EqToken) {
		return ""
	}
	const unnamed = "(intermediate value)"
	start := end + 2
	last := s.callsEnd(start)
	if !s.isWord(start) || isKeyword(s.tokens[:start+1]) || !s.is(last+1, js.SemicolonToken, js.CommaToken, js.CloseBraceToken) {
		return unnamed
	}
	return cmp.Or(s.text(start, last), unnamed)
}

// callsEnd is the last token of the members and calls that follow token i; -1 for a call
// without an end.
func (s *excerpt) callsEnd(i int) int {
	end := s.chainEnd(i)
	for end >= 0 && s.is(end+1, js.OpenParenToken) {
		if end = s.partner(end+1, 1); end >= 0 {
			end = s.chainEnd(end)
		}
	}
	return end
}

// AssignedMember returns the member that is assigned to at a position, "" when none is that has a
// name. Line and column count from 1.
func AssignedMember(code []byte, line, column int) string {
	s := newExcerpt(code, line, column)
	if s == nil {
		return ""
	}
	end := s.callsEnd(s.at)
	if !s.is(end+1, assignments...) || !s.isMember(end-1) || s.is(end, js.PrivateIdentifierToken) {
		return ""
	}
	return s.text(end, end)
}

var assignments = []js.TokenType{
	js.EqToken, js.AddEqToken, js.SubEqToken, js.MulEqToken, js.DivEqToken, js.ModEqToken, js.ExpEqToken, js.LtLtEqToken, js.GtGtEqToken,
	js.GtGtGtEqToken, js.BitAndEqToken, js.BitOrEqToken, js.BitXorEqToken, js.AndEqToken, js.OrEqToken,
	js.NullishEqToken, js.IncrToken, js.DecrToken,
}
