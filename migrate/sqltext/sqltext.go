// Package sqltext splits SQL into the tokens of SQLite's own tokenizer (https://www.sqlite.org/src/file/src/tokenize.c): enough to
// find the statements and their words.
//
// SQLite itself compiles every statement that runs.
package sqltext

import (
	"bytes"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	Space Kind = iota // white space, comment or byte order mark
	Word
	Quoted
	Variable
	Semicolon
	Other
	Open // a comment, string or quoted name that never ends
)

// Span is the place of a token in a text, in bytes.
type Span struct {
	Kind       Kind
	Start, End int
}

// BOM is the byte order mark of UTF-8, which SQLite reads as space.
const BOM = "\xef\xbb\xbf"

// Next reads the token of src that begins at pos < len(src).
func Next(src []byte, pos int) Span {
	rest := src[pos:]
	take := func(kind Kind, n int) Span { return Span{kind, pos, pos + n} }
	switch c := rest[0]; {
	case c == ' ' || c >= '\t' && c <= '\r' && c != '\v':
		return take(Space, 1)
	case bytes.HasPrefix(rest, []byte(BOM)):
		return take(Space, len(BOM))
	case bytes.HasPrefix(rest, []byte("--")):
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			return take(Space, n)
		}
		return take(Space, len(rest))
	case bytes.HasPrefix(rest, []byte("/*")):
		if n := bytes.Index(rest[2:], []byte("*/")); n >= 0 {
			return take(Space, n+4)
		}
		return take(Open, len(rest))
	case c == '\'' || c == '"' || c == '`':
		return take(measureQuoted(rest, c))
	case c == '[':
		if n := bytes.IndexByte(rest, ']'); n >= 0 {
			return take(Quoted, n+1)
		}
		return take(Open, len(rest))
	case c == ';':
		return take(Semicolon, 1)
	case c == '?':
		return take(Variable, 1+wordLength(rest[1:]))
	case c == '$' || c == '@' || c == ':' || c == '#':
		if n := wordLength(rest[1:]); n > 0 {
			return take(Variable, 1+n)
		}
		return take(Other, 1)
	case isWord(c):
		return take(Word, wordLength(rest))
	default:
		return take(Other, 1)
	}
}

// measureQuoted measures a string or name quoted by q, in which q is doubled.
func measureQuoted(rest []byte, q byte) (Kind, int) {
	for i := 1; i < len(rest); i++ {
		if rest[i] != q {
			continue
		}
		if i+1 == len(rest) || rest[i+1] != q {
			return Quoted, i + 1
		}
		i++
	}
	return Open, len(rest)
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func wordLength(rest []byte) int {
	n := 0
	for n < len(rest) && isWord(rest[n]) {
		n++
	}
	return n
}

// Token is one token of a statement, other than space and comments.
type Token struct {
	Span
	Text string // as written, with its quotes
}

// IsQuoted reports whether the token is a string or a quoted name.
func (t Token) IsQuoted() bool { return t.Kind == Quoted }

// Is reports whether the token is one of several keywords, in any case and without quotes.
func (t Token) Is(keywords ...string) bool {
	for _, k := range keywords {
		if !t.IsQuoted() && strings.EqualFold(t.Text, k) {
			return true
		}
	}
	return false
}

// Tokens returns the tokens of a statement, split like SQLite's tokenizer, except that a number with a point is three tokens.
func Tokens(sql string) []Token {
	var list []Token
	src := []byte(sql)
	for pos := 0; pos < len(src); {
		t := Next(src, pos)
		pos = t.End
		if t.Kind != Space {
			list = append(list, Token{t, sql[t.Start:t.End]})
		}
	}
	return list
}

// CutNames cuts a text at the first separator outside of quoted names. A name begins at the front, or after a separator, a
// point or a "=".
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
	if tokens := Tokens(name); len(tokens) == 1 && tokens[0].IsQuoted() && tokens[0].End == len(name) {
		return dbfile.UnquoteName(name)
	}
	return name
}

// FirstWord returns the word with which a text begins, in upper case.
func FirstWord(text string) string { return strings.ToUpper(text[:wordLength([]byte(text))]) }
