package migrate

import (
	"bytes"
	"go/token"
	"strings"

	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// This file finds the beginning of each statement in a file, and refuses text that SQLite would
// silently drop. SQLite compiles every statement of a span; a span that ends too early is
// "incomplete input" to SQLite and is then extended.

// span is a statement of a file, from its first token to its semicolon.
type span struct{ start, end int }

// scan finds the statements of f, and refuses text that SQLite would silently
// accept: an open comment or quote, a parameter without a value.
func scan(f File) ([]span, *Error) {
	var spans []span
	var s statement
	start := -1
	for pos := 0; pos < len(f.SQL); {
		t := sqltext.Next(f.SQL, pos)
		pos = t.End
		if err := f.refuseToken(t); err != nil {
			return nil, err
		}
		if t.Kind == sqltext.Space {
			continue
		}
		if start < 0 {
			if t.Kind == sqltext.Semicolon {
				continue
			}
			start = t.Start
		}
		if s.ends(t.Kind, f.SQL[t.Start:t.End]) {
			spans = append(spans, span{start, t.End})
			start, s = -1, statement{}
		}
	}
	if start >= 0 {
		spans = append(spans, span{start, len(f.SQL)})
	}
	return spans, nil
}

func (f File) refuseToken(t sqltext.Span) *Error {
	text := f.SQL[t.Start:t.End]
	switch {
	case t.Kind == sqltext.Variable && text[0] == ':' && t.Start > 0 && f.SQL[t.Start-1] == ':':
		return f.errorAt(t.Start-1, CodeFailed, `":`+string(text)+`" is a PostgreSQL cast`,
			isSQLite+"write CAST(… AS "+string(text[1:])+"), or nothing if the value already has the type")
	case t.Kind == sqltext.Variable:
		return f.errorAt(t.Start, CodeParameter, `the parameter "`+string(text)+`" has no value in a migration`,
			"write the value itself, or put the text in quotes")
	case t.Kind == sqltext.Open:
		msg, fix := unendedToken(text)
		return f.errorAt(t.Start, CodeFailed, msg, fix)
	case t.Kind == sqltext.Space && text[0] == '-' && bytes.ContainsRune(bytes.TrimRight(text, "\r"), '\r'):
		return f.errorAt(t.Start, CodeNotText, `the comment's line ends in a carriage return alone, which does not end a "--" comment`,
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
	explain bool // after EXPLAIN, CREATE may be any of the next words
	create  bool
	trigger bool
	tail    int // 1 after a trigger's inner semicolon, 2 after its END
}

func (s *statement) ends(kind sqltext.Kind, text []byte) bool {
	if kind == sqltext.Semicolon {
		if !s.trigger || s.tail == 2 {
			return true
		}
		s.tail = 1
		return false
	}
	word := ""
	if kind == sqltext.Word && len(text) <= len("TEMPORARY") {
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
	if bytes.HasPrefix(src, []byte(sqltext.BOM)) {
		pos.Offset = len(sqltext.BOM)
	}
	return advance(pos, string(src[pos.Offset:max(offset, pos.Offset)]))
}

// blame narrows a failure of the statement at s down to the word that SQLite's message names, when
// that word occurs once in the statement.
func (f File) blame(s span, msg string) int {
	word := wordOf(msg)
	found := -1
	for pos := s.start; pos < s.end && word != ""; {
		t := sqltext.Next(f.SQL, pos)
		pos = t.End
		text := strings.Trim(string(f.SQL[t.Start:t.End]), "\"`[]")
		if t.Kind == sqltext.Space || !strings.EqualFold(text, word) {
			continue
		}
		if found >= 0 {
			return s.start
		}
		found = t.Start
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
