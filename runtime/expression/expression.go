// Package expression finds the expression of an error in the code that threw it: QuickJS reports "not a function" with a
// position, but not the expression. It also finds the loop at a position.
//
// In: the bundler's output, and positions that count from 1. Out: short texts of expressions, or nothing for complex code. It
// reads the tokens around the position without parsing the code. Pure and safe for concurrent use.
package expression

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// Callees returns the callees of the calls that a position may belong to, the innermost first, with "new " before a
// constructor's: QuickJS keeps the last position within a call, which may be that of a call among its arguments. Arguments
// are left out: "a.b(...).c".
func Callees(code []byte, line, column int) []string {
	s := newExcerpt(code, line, column)
	if s == nil {
		return nil
	}
	texts, end := s.calleesHere() // then the calls whose arguments end with these
	inner, around := s.at, 0
	for i := end + 1; end >= 0 && i < len(s.tokens) && around < mostAround; i++ {
		switch {
		case s.opens(i):
			if i = s.partner(i, 1); i < 0 {
				return nil
			}
		case s.is(i, js.SemicolonToken):
			return texts
		case s.closes(i):
			open := s.partner(i, -1)
			if open < 0 || s.is(open, js.OpenBraceToken) && !s.isObject(open) ||
				s.is(open, js.OpenParenToken) && s.is(i+1, js.OpenBraceToken, js.ArrowToken) || s.isArrow(open, inner) {
				return texts // the end of a block, of parameters, or of a function
			}
			texts, inner, around = s.addAround(texts, open, i), open, around+1
		}
	}
	return texts
}

// Iterable returns the iterable at a position, after "of" or "...", or in the initializer of a pattern in brackets; "" for a
// long one.
func Iterable(code []byte, line, column int) string {
	s := newExcerpt(code, line, column)
	if s == nil {
		return ""
	}
	if s.is(s.at-1, js.OpenBracketToken) {
		if text := s.initializer(s.at - 1); text != "" {
			return text
		}
	}
	start := s.chainStart(s.at)
	if start < 0 || !s.is(start-1, js.OfToken, js.EllipsisToken) {
		return ""
	}
	end := s.callsEnd(s.at)
	if end < 0 || !s.is(end+1, js.CloseParenToken, js.CloseBracketToken, js.CommaToken, js.CloseBraceToken) {
		return "" // part of a longer expression
	}
	return s.text(start, end)
}

func newExcerpt(code []byte, line, column int) *excerpt {
	at, ok := offsetOf(code, line, column)
	if !ok {
		return nil
	}
	s := &excerpt{code: code, tokens: tokensAround(code, at)}
	if s.at = s.find(at); s.at < 0 {
		return nil
	}
	return s
}

// excerpt is the tokens around a position.
type excerpt struct {
	code   []byte
	tokens []token
	at     int // the token at the position
}

func (s *excerpt) find(at int) int {
	for i, t := range s.tokens {
		if t.start <= at && at < t.end {
			return i
		}
	}
	return -1
}

// kind returns the kind of token i, ErrorToken if it does not exist.
func (s *excerpt) kind(i int) js.TokenType {
	if i < 0 || i >= len(s.tokens) {
		return js.ErrorToken
	}
	return s.tokens[i].kind
}

// is reports whether token i is of one of the kinds.
func (s *excerpt) is(i int, kinds ...js.TokenType) bool { return slices.Contains(kinds, s.kind(i)) }

func (s *excerpt) isMember(i int) bool { return s.is(i, js.DotToken, js.OptChainToken) }

func (s *excerpt) isWord(i int) bool { return s.kind(i) != js.ErrorToken && s.tokens[i].isWord() }

func (s *excerpt) isLiteral(i int) bool { return s.kind(i) != js.ErrorToken && s.tokens[i].isLiteral() }

func (s *excerpt) opens(i int) bool {
	return s.is(i, js.OpenParenToken, js.OpenBracketToken, js.OpenBraceToken)
}

func (s *excerpt) closes(i int) bool {
	return s.is(i, js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken)
}

// partner returns the bracket that matches token i, in the direction of step, 1 or -1; -1 for none.
func (s *excerpt) partner(i, step int) int {
	for depth := 0; i >= 0 && i < len(s.tokens); i += step {
		switch {
		case s.opens(i):
			depth += step
		case s.closes(i):
			depth -= step
		}
		if depth == 0 {
			return i
		}
	}
	return -1
}

// chainEnd returns the last token of the members that follow token i, without calls.
func (s *excerpt) chainEnd(i int) int {
	for {
		switch {
		case s.isMember(i+1) && s.isWord(i+2):
			i += 2
		case s.is(i+1, js.OpenBracketToken):
			end := s.partner(i+1, 1)
			if end < 0 {
				return i
			}
			i = end
		case s.is(i+1, js.OptChainToken) && s.is(i+2, js.OpenBracketToken):
			i++
		default:
			return i
		}
	}
}

// chainStart returns the first token of the chain of members and calls that ends at token i; -1 for other expressions.
func (s *excerpt) chainStart(i int) int {
	for {
		switch {
		case s.is(i, js.CloseParenToken, js.CloseBracketToken):
			open := s.partner(i, -1)
			if open <= 0 {
				return max(open, -1)
			}
			if !s.isCallee(open - 1) {
				return open // a list, or a group
			}
			if i = open - 1; s.is(i, js.OptChainToken) {
				i--
			}
			continue
		case s.isWord(i), s.isLiteral(i):
		default:
			return -1
		}
		if s.isLiteral(i) || !s.isMember(i-1) {
			return i
		}
		i -= 2
	}
}

// isCallee reports whether an expression that can be called, or have a member, ends at token i.
func (s *excerpt) isCallee(i int) bool {
	switch {
	case s.isWord(i):
		return !isKeyword(s.tokens[:i+1])
	case s.isLiteral(i):
		return true
	}
	return s.is(i, js.CloseParenToken, js.CloseBracketToken, js.OptChainToken)
}

// mostAround is the maximum number of brackets around a position that are searched.
const mostAround = 16

// calleesHere returns the callees of the chain of calls at the position, and its last token; -1 for a call without an end.
func (s *excerpt) calleesHere() (texts []string, end int) {
	end = s.chainEnd(s.at)
	isNew := s.is(s.chainStart(end)-1, js.NewToken)
	for {
		if s.is(end+1, js.OptChainToken) && s.is(end+2, js.OpenParenToken) {
			end++
		}
		switch {
		case s.is(end+1, js.OpenParenToken) && s.isCallee(end):
			texts = s.add(texts, end)
			if end = s.partner(end+1, 1); end < 0 {
				return nil, end
			}
		case s.is(end+1, js.TemplateToken):
			texts = s.add(texts, end)
			end++
		case isNew: // without arguments
			return s.add(texts, end), end
		default:
			return texts, end
		}
		isNew = false
	}
}

// isArrow reports whether token i, within a bracket, is in the result of an arrow function.
func (s *excerpt) isArrow(open, i int) bool {
	for i--; i > open && !s.is(i, js.CommaToken); i-- {
		switch {
		case s.is(i, js.ArrowToken):
			return true
		case s.closes(i):
			if i = s.partner(i, -1); i < 0 {
				return false
			}
		}
	}
	return false
}

// addAround appends the callee whose arguments, or whose computed name, are between two brackets.
func (s *excerpt) addAround(texts []string, open, end int) []string {
	callee := open - 1
	if s.is(callee, js.OptChainToken) {
		callee--
	}
	if !s.isCallee(callee) {
		return texts
	}
	if s.is(open, js.OpenParenToken) {
		texts = s.add(texts, callee)
	}
	if last := s.chainEnd(end); s.is(last+1, js.OpenParenToken) && (last > end || s.is(open, js.OpenBracketToken)) {
		texts = s.add(texts, last)
	}
	return texts
}

// isObject reports whether a brace begins an object, and no block.
func (s *excerpt) isObject(open int) bool {
	if s.is(open-1, js.ArrowToken, js.CloseParenToken, js.CloseBraceToken, js.OpenBraceToken, js.SemicolonToken, js.ErrorToken,
		js.ElseToken, js.DoToken, js.TryToken, js.FinallyToken, js.CatchToken) {
		return false
	}
	return !s.isWord(open-1) || isKeyword(s.tokens[:open]) // the braces of a class are after a name
}

// add appends the text of the chain that ends at token end.
func (s *excerpt) add(texts []string, end int) []string {
	if s.is(end, js.OptChainToken) {
		end--
	}
	start := s.chainStart(end)
	if start < 0 {
		return texts
	}
	text := s.text(start, end)
	if text == "" {
		return texts
	}
	if s.is(start-1, js.NewToken) {
		text = "new " + text
	}
	return append(texts, text)
}

const longestText = 80

// text returns the text of tokens, without the arguments of calls; "" for a long one.
func (s *excerpt) text(start, end int) string {
	var b bytes.Buffer
	for i := start; i <= end && b.Len() <= longestText; i++ {
		if !s.is(i, js.OpenParenToken) {
			b.Write(s.code[s.tokens[i].start:s.tokens[i].end])
			continue
		}
		if i == start {
			b.WriteString("(intermediate value)")
		} else {
			b.WriteString("(...)")
		}
		if i = s.partner(i, 1); i < 0 {
			return ""
		}
	}
	if b.Len() > longestText {
		return ""
	}
	return b.String()
}

// Pattern returns the first property of the pattern in braces whose first token is at a position, as in const { a, b } = c.d, "" if that is
// not a name, and the initializer of its declaration; "" without one, as for a parameter or a part of another pattern. It is not ok when no
// such pattern begins there.
func Pattern(code []byte, line, column int) (property, source string, ok bool) {
	s := newExcerpt(code, line, column)
	if s == nil || !s.is(s.at-1, js.OpenBraceToken) {
		return "", "", false
	}
	switch {
	case s.isWord(s.at):
		property = s.text(s.at, s.at)
	case s.is(s.at, js.StringToken):
		if text := s.text(s.at, s.at); len(text) > 2 && !strings.Contains(text, `\`) {
			property = text[1 : len(text)-1]
		}
	}
	return property, s.initializer(s.at - 1), true
}

// initializer returns the initializer of the declaration whose pattern token open begins; "(intermediate value)" for a long one.
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

// callsEnd returns the last token of the members and calls that follow token i; -1 for a call without an end.
func (s *excerpt) callsEnd(i int) int {
	end := s.chainEnd(i)
	for end >= 0 && s.is(end+1, js.OpenParenToken) {
		if end = s.partner(end+1, 1); end >= 0 {
			end = s.chainEnd(end)
		}
	}
	return end
}

// AssignedMember returns the member that is assigned to at a position, "" for one without a name, or none.
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
