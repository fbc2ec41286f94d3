// Package expression finds what an error is about in the code that threw it: QuickJS says
// "not a function" and where, and not of what.
//
// The code is what the bundler wrote; it is read in tokens around the position, and not
// parsed.
package expression

import (
	"bytes"
	"slices"
)

// Called returns the callees of the calls that a position may be of, the innermost first,
// with "new " before a constructor's: QuickJS keeps the last position within a call, which
// may be that of a call among its arguments. Arguments are left out: "a.b(...).c". Line and
// column count from 1.
func Called(code []byte, line, column int) []string {
	if s := read(code, line, column); s != nil {
		return s.called()
	}
	return nil
}

// Iterated returns what is gone through at a position, behind "of" or "...", and "" when
// that cannot be told in a few words.
func Iterated(code []byte, line, column int) string {
	if s := read(code, line, column); s != nil {
		return s.iterated()
	}
	return ""
}

func read(code []byte, line, column int) *excerpt {
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

// excerpt are tokens of the code, and the one that is at the engine's position.
type excerpt struct {
	code   []byte
	tokens []token
	at     int
}

func (s *excerpt) find(at int) int {
	for i, t := range s.tokens {
		if t.start <= at && at < t.end {
			return i
		}
	}
	return -1
}

// is reports whether token i is one of the texts.
func (s *excerpt) is(i int, texts ...string) bool {
	if i < 0 || i >= len(s.tokens) || s.tokens[i].kind == literal {
		return false
	}
	got := string(s.code[s.tokens[i].start:s.tokens[i].end])
	return slices.Contains(texts, got)
}

func (s *excerpt) isKind(i int, kind tokenKind) bool {
	return i >= 0 && i < len(s.tokens) && s.tokens[i].kind == kind
}

// partner is the bracket that token i closes or is closed by, looked for in steps of 1
// or -1; -1 for none.
func (s *excerpt) partner(i, step int) int {
	for depth := 0; i >= 0 && i < len(s.tokens); i += step {
		switch {
		case s.is(i, "(", "[", "{"):
			depth += step
		case s.is(i, ")", "]", "}"):
			depth -= step
		}
		if depth == 0 {
			return i
		}
	}
	return -1
}

// chainEnd is the last token of the members that follow token i without a call; what
// comes then is at the next.
func (s *excerpt) chainEnd(i int) int {
	for {
		switch {
		case s.is(i+1, ".", "?.") && s.isKind(i+2, word):
			i += 2
		case s.is(i+1, "["):
			end := s.partner(i+1, 1)
			if end < 0 {
				return i
			}
			i = end
		case s.is(i+1, "?.") && s.is(i+2, "["):
			i++
		default:
			return i
		}
	}
}

// chainStart is the first token of the chain of members and calls that ends at token i;
// -1 when it is none that can be told in a few words.
func (s *excerpt) chainStart(i int) int {
	for {
		switch {
		case s.is(i, ")", "]"):
			open := s.partner(i, -1)
			if open <= 0 {
				return max(open, -1)
			}
			if s.is(open, "[") && !s.isCallee(open-1) {
				return open // a list
			}
			if s.is(open, "(") && !s.isCallee(open-1) {
				return open // a group
			}
			if i = open - 1; s.is(i, "?.") {
				i--
			}
			continue
		case s.isKind(i, word), s.isKind(i, literal):
		default:
			return -1
		}
		if s.isKind(i, literal) || !s.is(i-1, ".", "?.") {
			return i
		}
		i -= 2
	}
}

// keywords may stand before a bracket, and are no function.
var keywords = []string{"if", "for", "while", "switch", "catch", "function", "return", "await", "typeof", "of", "in", "case", "void", "delete", "throw", "yield", "new", "else", "do", "instanceof", "extends", "default"}

// isCallee reports whether what ends at token i can be called, or have a member.
func (s *excerpt) isCallee(i int) bool {
	return s.isKind(i, word) && !s.is(i, keywords...) || s.isKind(i, literal) || s.is(i, ")", "]", "?.")
}

// mostAround is how many brackets are looked at around a position.
const mostAround = 16

// called is what Called returns: first the calls at the position itself, then those whose
// arguments end with what is there.
func (s *excerpt) called() []string {
	texts, end := s.calledHere()
	inner, around := s.at, 0
	for i := end + 1; end >= 0 && i < len(s.tokens) && around < mostAround; i++ {
		switch {
		case s.is(i, "(", "[", "{"):
			if i = s.partner(i, 1); i < 0 {
				return nil
			}
		case s.is(i, ";"):
			return texts
		case s.is(i, ")", "]", "}"):
			open := s.partner(i, -1)
			if open < 0 || s.is(open, "{") && !s.isObject(open) || s.is(open, "(") && s.is(i+1, "{", "=>") || s.isArrow(open, inner) {
				return texts // the end of a block, of parameters, or of a function
			}
			texts, inner, around = s.addAround(texts, open, i), open, around+1
		}
	}
	return texts
}

// calledHere are the callees of the calls that the position is at, one of what the other
// returns, and the last token of them; -1 for a call without an end.
func (s *excerpt) calledHere() (texts []string, end int) {
	end = s.chainEnd(s.at)
	isNew := s.is(s.chainStart(end)-1, "new")
	for {
		if s.is(end+1, "?.") && s.is(end+2, "(") {
			end++
		}
		switch {
		case s.is(end+1, "(") && s.isCallee(end):
			texts = s.add(texts, end)
			if end = s.partner(end+1, 1); end < 0 {
				return nil, end
			}
		case s.isKind(end+1, literal) && s.code[s.tokens[end+1].start] == '`':
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

// isArrow reports whether what is at a token, within a bracket, is what an arrow function
// returns.
func (s *excerpt) isArrow(open, i int) bool {
	for i--; i > open && !s.is(i, ","); i-- {
		switch {
		case s.is(i, "=>"):
			return true
		case s.is(i, ")", "]", "}"):
			if i = s.partner(i, -1); i < 0 {
				return false
			}
		}
	}
	return false
}

// addAround appends the callee whose arguments, or whose computed name, are between two
// brackets.
func (s *excerpt) addAround(texts []string, open, end int) []string {
	callee := open - 1
	if s.is(callee, "?.") {
		callee--
	}
	if !s.isCallee(callee) {
		return texts
	}
	if s.is(open, "(") {
		texts = s.add(texts, callee)
	}
	if last := s.chainEnd(end); s.is(last+1, "(") && (last > end || s.is(open, "[")) {
		texts = s.add(texts, last)
	}
	return texts
}

// isObject reports whether a brace begins an object, and no block.
func (s *excerpt) isObject(open int) bool {
	return s.is(open-1, "(", ",", ":", "[", "=", "?", "return", "...", "&", "|", "await", "yield")
}

// add appends the text of the chain that ends at token end.
func (s *excerpt) add(texts []string, end int) []string {
	if s.is(end, "?.") {
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
	if s.is(start-1, "new") {
		text = "new " + text
	}
	return append(texts, text)
}

const longestText = 80

// text is what tokens say, without the arguments of calls; "" for one that is too long
// to be read.
func (s *excerpt) text(start, end int) string {
	var b bytes.Buffer
	for i := start; i <= end && b.Len() <= longestText; i++ {
		if !s.is(i, "(") {
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

// iterated is what Iterated returns.
func (s *excerpt) iterated() string {
	start := s.chainStart(s.at)
	if start < 0 || !s.is(start-1, "of", "...") {
		return ""
	}
	end := s.chainEnd(s.at)
	for s.is(end+1, "(") {
		if end = s.partner(end+1, 1); end < 0 {
			return ""
		}
		end = s.chainEnd(end)
	}
	if !s.is(end+1, ")", "]", ",", "}") {
		return "" // part of a longer expression
	}
	return s.text(start, end)
}
