package migrate

import (
	"bytes"
	"go/token"
	"strings"
)

// This file reads SQL as far as SQLite's own tokenizer does
// (https://www.sqlite.org/src/file/src/tokenize.c): enough to find where in a
// file a statement begins, and to refuse text that SQLite would silently
// drop. It never decides what runs. Each span goes to SQLite, which
// compiles every statement in it; a span that ends too early is
// "incomplete input" to SQLite and is then lengthened.

type tokenKind uint8

const (
	tokenSpace tokenKind = iota // white space, comment or byte order mark
	tokenWord
	tokenQuoted
	tokenVariable
	tokenSemicolon
	tokenOther
	tokenOpen // a comment, string or quoted name that never ends
)

type sqlToken struct {
	kind       tokenKind
	start, end int
}

const bom = "\xef\xbb\xbf"

// nextToken reads the token of src that begins at pos < len(src).
func nextToken(src []byte, pos int) sqlToken {
	rest := src[pos:]
	take := func(kind tokenKind, n int) sqlToken { return sqlToken{kind, pos, pos + n} }
	switch c := rest[0]; {
	case c == ' ' || c >= '\t' && c <= '\r' && c != '\v':
		return take(tokenSpace, 1)
	case bytes.HasPrefix(rest, []byte(bom)):
		return take(tokenSpace, len(bom))
	case bytes.HasPrefix(rest, []byte("--")):
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			return take(tokenSpace, n)
		}
		return take(tokenSpace, len(rest))
	case bytes.HasPrefix(rest, []byte("/*")):
		if n := bytes.Index(rest[2:], []byte("*/")); n >= 0 {
			return take(tokenSpace, n+4)
		}
		return take(tokenOpen, len(rest))
	case c == '\'' || c == '"' || c == '`':
		return take(measureQuoted(rest, c))
	case c == '[':
		if n := bytes.IndexByte(rest, ']'); n >= 0 {
			return take(tokenQuoted, n+1)
		}
		return take(tokenOpen, len(rest))
	case c == ';':
		return take(tokenSemicolon, 1)
	case c == '?':
		return take(tokenVariable, 1+wordLength(rest[1:]))
	case c == '$' || c == '@' || c == ':' || c == '#':
		if n := wordLength(rest[1:]); n > 0 {
			return take(tokenVariable, 1+n)
		}
		return take(tokenOther, 1)
	case isWord(c):
		return take(tokenWord, wordLength(rest))
	default:
		return take(tokenOther, 1)
	}
}

// measureQuoted measures a string or name quoted by q, in which q is doubled.
func measureQuoted(rest []byte, q byte) (tokenKind, int) {
	for i := 1; i < len(rest); i++ {
		if rest[i] != q {
			continue
		}
		if i+1 == len(rest) || rest[i+1] != q {
			return tokenQuoted, i + 1
		}
		i++
	}
	return tokenOpen, len(rest)
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

// span is a statement of a file, from its first token to its semicolon.
type span struct{ start, end int }

// scan finds the statements of f, and refuses text that SQLite would silently
// accept: an open comment or quote, a parameter without a value.
func scan(f File) ([]span, *Error) {
	var spans []span
	var s statement
	start := -1
	for pos := 0; pos < len(f.SQL); {
		t := nextToken(f.SQL, pos)
		pos = t.end
		if err := f.refuseToken(t); err != nil {
			return nil, err
		}
		if t.kind == tokenSpace {
			continue
		}
		if start < 0 {
			if t.kind == tokenSemicolon {
				continue
			}
			start = t.start
		}
		if s.ends(t.kind, f.SQL[t.start:t.end]) {
			spans = append(spans, span{start, t.end})
			start, s = -1, statement{}
		}
	}
	if start >= 0 {
		spans = append(spans, span{start, len(f.SQL)})
	}
	return spans, nil
}

func (f File) refuseToken(t sqlToken) *Error {
	text := f.SQL[t.start:t.end]
	switch {
	case t.kind == tokenVariable && text[0] == ':' && t.start > 0 && f.SQL[t.start-1] == ':':
		return f.errorAt(t.start-1, CodeFailed, `":`+string(text)+`" is a cast of PostgreSQL's`,
			isSQLite+"write CAST(… AS "+string(text[1:])+"), or nothing where the value has the type already")
	case t.kind == tokenVariable:
		return f.errorAt(t.start, CodeParameter, `the parameter "`+string(text)+`" has no value in a migration`,
			"write the value itself, or put the text in quotes")
	case t.kind == tokenOpen:
		msg, fix := unendedToken(text)
		return f.errorAt(t.start, CodeFailed, msg, fix)
	case t.kind == tokenSpace && text[0] == '-' && bytes.ContainsRune(bytes.TrimRight(text, "\r"), '\r'):
		return f.errorAt(t.start, CodeNotText, `the comment's line ends in a carriage return alone, which does not end a "--" comment`,
			"save the file with line feeds")
	}
	return nil
}

// unendedToken returns message and fix for a comment, string or quoted name that never ends.
func unendedToken(text []byte) (msg, fix string) {
	switch text[0] {
	case '/':
		return "the comment that begins here never ends", `end it with "*/"`
	case '[':
		return "the quote that begins here never ends", "end it with ]"
	}
	return "the quote that begins here never ends", "end it with " + string(text[:1])
}

// statement follows one statement's tokens to its end, by the states of SQLite's own
// sqlite3_complete. A trigger's body holds statements, so a trigger ends only at "; END ;".
type statement struct {
	words   int
	explain bool // EXPLAIN is the first word: CREATE may be any after it
	create  bool
	trigger bool
	tail    int // 1 after a trigger's inner semicolon, 2 after the END behind it
}

func (s *statement) ends(kind tokenKind, text []byte) bool {
	if kind == tokenSemicolon {
		if !s.trigger || s.tail == 2 {
			return true
		}
		s.tail = 1
		return false
	}
	word := ""
	if kind == tokenWord && len(text) <= len("TEMPORARY") {
		word = strings.ToUpper(string(text))
	}
	if s.tail == 1 && word == "END" {
		s.tail = 2
	} else {
		s.tail = 0
	}
	s.head(word)
	return false
}

// head reads the words up to the one that distinguishes a trigger.
func (s *statement) head(word string) {
	switch {
	case s.words < 0:
	case word == "EXPLAIN" && s.words == 0 && !s.explain:
		s.explain = true
	case word == "CREATE" && s.words == 0:
		s.create, s.words = true, 1
	case s.create && (word == "TEMP" || word == "TEMPORARY"):
	case s.create && word == "TRIGGER":
		s.trigger, s.words = true, -1
	case s.explain && s.words == 0 && word != "EXPLAIN":
	default:
		s.words = -1
	}
}

// position returns line and column of a byte offset in src, both from 1, the
// column in characters. A lone carriage return ends a line, as in an editor.
func position(name string, src []byte, offset int) token.Position {
	pos := token.Position{Filename: name, Line: 1, Column: 1}
	if bytes.HasPrefix(src, []byte(bom)) {
		pos.Offset = len(bom)
	}
	return advance(pos, string(src[pos.Offset:max(offset, pos.Offset)]))
}

// blame narrows a failure of the statement at s down to the word that
// SQLite's message names, when that word stands in the statement just once.
func (f File) blame(s span, msg string) int {
	word := wordOf(msg)
	found := -1
	for pos := s.start; pos < s.end && word != ""; {
		t := nextToken(f.SQL, pos)
		pos = t.end
		text := strings.Trim(string(f.SQL[t.start:t.end]), "\"`[]")
		if t.kind == tokenSpace || !strings.EqualFold(text, word) {
			continue
		}
		if found >= 0 {
			return s.start
		}
		found = t.start
	}
	return max(found, s.start)
}

func wordOf(msg string) string {
	if _, after, ok := strings.Cut(msg, `near "`); ok {
		if i := strings.LastIndexByte(after, '"'); i >= 0 {
			return after[:i]
		}
	}
	if what, name, ok := strings.Cut(msg, ": "); ok && strings.HasPrefix(what, "no such ") {
		return name[strings.LastIndexByte(name, '.')+1:]
	}
	return ""
}
