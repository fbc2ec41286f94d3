package expression

import (
	"bytes"

	"github.com/tdewolff/parse/v2/js"
)

// Loop returns the position of the function's next loop that contains no call, if the position is not in a loop itself.
// QuickJS keeps positions of calls, of reads of properties and the like; for code without one it reports the position before
// it, or that of the function. So code that runs for long at such a position is in that loop.
func Loop(code []byte, line, column int) (loopLine, loopColumn int, ok bool) {
	at, ok := offsetOf(code, line, column)
	if !ok {
		return 0, 0, false
	}
	s, from := &excerpt{code: code, tokens: tokensAround(code, at)}, -1
	if column == 1 {
		from = s.functionOn(at)
	}
	if from < 0 {
		if from = s.find(at); from < 0 {
			return 0, 0, false
		}
		if first, begins := s.functionAt(from); begins {
			from = first
		} else if s.inLoop(from) {
			return 0, 0, false
		}
	}
	i := s.nextLoop(from)
	if i < 0 || s.callsWithin(i, s.loopEnd(i)) {
		return 0, 0, false
	}
	at = s.tokens[i].start
	return bytes.Count(code[:at], []byte("\n")) + 1, at - bytes.LastIndexByte(code[:at], '\n'), true
}

// functionOn returns the first token in the body of the first function on the line at an offset; -1 for none. QuickJS keeps
// the line alone of an arrow function.
func (s *excerpt) functionOn(at int) int {
	end := len(s.code)
	if n := bytes.IndexByte(s.code[at:], '\n'); n >= 0 {
		end = at + n
	}
	for i, t := range s.tokens {
		if t.start >= at && t.start < end && t.kind == js.OpenBraceToken && s.isFunction(i) {
			return i + 1
		}
	}
	return -1
}

// functionAt returns the first token in the body of the function that begins at token i, or has it in its name or parameters:
// the position of a function without others.
func (s *excerpt) functionAt(i int) (first int, ok bool) {
	for s.is(i, js.AsyncToken, js.FunctionToken, js.MulToken, js.GetToken, js.SetToken, js.StaticToken) ||
		s.isWord(i) && s.is(i-1, js.FunctionToken, js.MulToken) {
		i++
	}
	if s.isWord(i) && s.is(i+1, js.OpenParenToken, js.ArrowToken) && !isKeyword(s.tokens[:i+1]) {
		i++
	}
	if s.is(i, js.OpenParenToken) {
		if i = s.partner(i, 1); i < 0 {
			return 0, false
		}
		i++
	}
	if s.is(i, js.ArrowToken) {
		i++
	}
	return i + 1, s.is(i, js.OpenBraceToken) && s.isFunction(i)
}

// isFunction reports whether a brace begins the body of a function.
func (s *excerpt) isFunction(open int) bool {
	if s.is(open-1, js.ArrowToken) {
		return true
	}
	head := s.headOf(open)
	return head > 0 && !s.is(head-1, js.IfToken, js.ForToken, js.WhileToken, js.SwitchToken, js.CatchToken, js.WithToken, js.AwaitToken)
}

// headOf returns the opening parenthesis of the pair that ends before token i; -1 for none.
func (s *excerpt) headOf(i int) int {
	if !s.is(i-1, js.CloseParenToken) {
		return -1
	}
	return s.partner(i-1, -1)
}

// isLoop reports whether the parenthesis is the head of a loop.
func (s *excerpt) isLoop(open int) bool {
	return open > 0 && (s.is(open-1, js.ForToken, js.WhileToken) || s.is(open-1, js.AwaitToken) && s.is(open-2, js.ForToken))
}

// inLoop reports whether token i is in a loop of its function.
func (s *excerpt) inLoop(i int) bool {
	statement := true // whether i is in the statement at hand
	for i--; i >= 0; i-- {
		switch {
		case s.is(i, js.SemicolonToken):
			statement = false
		case s.is(i, js.CloseBraceToken):
			statement = false
			fallthrough
		case s.closes(i):
			open := s.partner(i, -1)
			if open < 0 || statement && s.is(open, js.OpenParenToken) && s.isLoop(open) {
				return open >= 0
			}
			i = open
		case s.is(i, js.OpenBraceToken):
			if s.isFunction(i) {
				return false
			}
			if s.is(i-1, js.DoToken) || s.isLoop(s.headOf(i)) {
				return true
			}
			statement = true
		case s.is(i, js.OpenParenToken):
			if s.isLoop(i) {
				return true
			}
		}
	}
	return false
}

// nextLoop returns the first loop from token i on in the same function, -1 for none.
func (s *excerpt) nextLoop(i int) int {
	for depth, around := 0, 0; i < len(s.tokens) && around < mostAround; i++ {
		switch {
		case s.is(i, js.ForToken, js.WhileToken, js.DoToken) && !s.isMember(i-1) && !s.is(i+1, js.ColonToken):
			return i
		case s.is(i, js.OpenBraceToken) && s.isFunction(i):
			if i = s.partner(i, 1); i < 0 {
				return -1
			}
		case s.is(i, js.OpenBraceToken):
			depth++
		case s.is(i, js.CloseBraceToken) && depth > 0:
			depth--
		case s.is(i, js.CloseBraceToken):
			if open := s.partner(i, -1); open < 0 || s.isFunction(open) {
				return -1
			}
			around++
		}
	}
	return -1
}

// loopEnd returns the last token of the loop that begins with token i.
func (s *excerpt) loopEnd(i int) int {
	body := i + 1
	if !s.is(i, js.DoToken) {
		for body < len(s.tokens) && !s.is(body, js.OpenParenToken) {
			body++
		}
		if body = s.partner(body, 1); body < 0 {
			return len(s.tokens)
		}
		body++
	}
	if s.is(body, js.OpenBraceToken) {
		return s.endOf(body)
	}
	for body < len(s.tokens) && !s.is(body, js.SemicolonToken, js.CloseBraceToken) {
		if s.opens(body) {
			body = s.endOf(body)
		}
		body++
	}
	return body
}

// endOf returns the token that closes a bracket, or the end of the excerpt.
func (s *excerpt) endOf(open int) int {
	if end := s.partner(open, 1); end >= 0 {
		return end
	}
	return len(s.tokens)
}

// callsWithin reports whether the tokens have a call, or a possible one, whose position QuickJS would have reported.
func (s *excerpt) callsWithin(from, to int) bool {
	for i := from; i <= to && i < len(s.tokens); i++ {
		if s.is(i, js.NewToken, js.AwaitToken, js.YieldToken, js.TemplateToken, js.ThrowToken) ||
			s.is(i, js.OpenParenToken) && s.isCallee(i-1) {
			return true
		}
	}
	return false
}
