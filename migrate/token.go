package migrate

import (
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

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

// CutNames cuts a text at the first separator outside of names that have SQL's quotes. A name begins at the front, or behind a
// separator, a point or a "=".
func CutNames(text string, separator byte) (before, after string, found bool) {
	begins := true
	for at := 0; at < len(text); at++ {
		switch c := text[at]; {
		case c == separator:
			return text[:at], text[at+1:], true
		case begins && strings.IndexByte("\"`[", c) >= 0:
			at += Tokens(text[at:])[0].End - 1
			begins = false
		default:
			begins = c == '.' || c == '=' || begins && c == ' '
		}
	}
	return text, "", false
}

// Unquoted returns a name without SQL's quotes, if it has some.
func Unquoted(name string) string {
	if tokens := Tokens(name); len(tokens) == 1 && tokens[0].Quoted && tokens[0].End == len(name) {
		return dbfile.UnquoteName(name)
	}
	return name
}
