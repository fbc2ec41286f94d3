package migrate

import "strings"

// Token is one token of a statement; space and comments are none.
type Token struct {
	Text       string // as it is written, with its quotes
	Start, End int    // its bytes in the statement
	Quoted     bool   // a string or a quoted name
}

// Is reports whether the token is one of several keywords, in any case and without quotes.
func (t Token) Is(keywords ...string) bool {
	for _, k := range keywords {
		if !t.Quoted && strings.EqualFold(t.Text, k) {
			return true
		}
	}
	return false
}

// Tokens returns the tokens of a statement, as SQLite's own tokenizer would find their ends; a number with a point is three.
func Tokens(sql string) []Token {
	var list []Token
	src := []byte(sql)
	for pos := 0; pos < len(src); {
		t := nextToken(src, pos)
		pos = t.end
		if t.kind != tokenSpace {
			list = append(list, Token{Text: sql[t.start:t.end], Start: t.start, End: t.end, Quoted: t.kind == tokenQuoted})
		}
	}
	return list
}
