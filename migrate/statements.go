package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// maxStatement is the longest statement SQLite takes, in bytes.
const maxStatement = 1_000_000_000

// Statement is one statement of an SQL text, from its first token to its semicolon.
type Statement struct {
	Text  string
	Pos   token.Position // of its first token; columns count characters
	Ended bool           // it has its semicolon; only the last statement of a text can lack one
}

// At returns the position of a byte of the statement's text, and the part of that line that belongs to the
// statement with the column at which it begins; of a long line, only the neighbourhood.
func (s Statement) At(offset int) (pos token.Position, line string, column int) {
	offset = min(max(offset, 0), len(s.Text))
	pos = advance(s.Pos, s.Text[:offset])
	begin := strings.LastIndexAny(s.Text[:offset], "\r\n") + 1
	begin = max(begin, offset-maxShown)
	for begin < offset && !utf8.RuneStart(s.Text[begin]) {
		begin++
	}
	line = s.Text[begin:min(len(s.Text), offset+maxShown)]
	if end := strings.IndexAny(line[offset-begin:], "\r\n"); end >= 0 {
		line = line[:offset-begin+end]
	}
	return pos, line, pos.Column - utf8.RuneCountInString(s.Text[begin:offset])
}

// Culprit returns the offset of the word that SQLite's message names if it occurs once in the statement, otherwise 0.
func (s Statement) Culprit(msg string) int {
	return File{SQL: []byte(s.Text)}.blame(span{0, len(s.Text)}, msg)
}

const maxShown = 120

// advance moves a position over text. A lone carriage return ends a line, as in an editor.
func advance(pos token.Position, text string) token.Position {
	pos.Offset += len(text)
	for {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			pos.Column += utf8.RuneCountInString(text)
			return pos
		}
		if strings.HasPrefix(text[i:], "\r\n") {
			i++
		}
		pos.Line, pos.Column, text = pos.Line+1, 1, text[i+1:]
	}
}

// Statements reads an SQL text of any length one statement at a time. It holds one statement in memory.
type Statements struct {
	r   io.Reader
	buf []byte // bytes that were read and not returned yet
	pos token.Position
	eof bool
}

// NewStatements reads from r; name stands in positions.
func NewStatements(name string, r io.Reader) *Statements {
	return &Statements{r: r, pos: token.Position{Filename: name, Line: 1, Column: 1}}
}

// StartAt sets the line on which the text begins, when that is not the first.
func (s *Statements) StartAt(line int) { s.pos.Line = line }

// Next returns the next statement, or io.EOF. Text that SQLite would misread is an [*Error]: a NUL, bytes that are not
// UTF-8, a comment or quote that never ends.
func (s *Statements) Next() (Statement, error) {
	var follow statement
	start := -1
	for at := 0; ; {
		t, err := s.token(at)
		if errors.Is(err, io.EOF) {
			if start < 0 {
				s.drop(len(s.buf))
				return Statement{}, io.EOF
			}
			return s.take(start, len(s.buf), false)
		}
		if err != nil {
			return Statement{}, err
		}
		at = t.End
		switch between := start < 0; {
		case between && (t.Kind == sqltext.Space || t.Kind == sqltext.Semicolon):
			if s.buf[at-1] == '\r' {
				continue // it may be half of a CRLF, which counts as one line end
			}
			if err := s.checkText(0, at); err != nil {
				return Statement{}, err
			}
			s.drop(at)
			at = 0
			continue
		case t.Kind == sqltext.Space:
			continue
		}
		if start < 0 {
			start = t.Start
		}
		if follow.ends(t.Kind, s.buf[t.Start:t.End]) {
			return s.take(start, at, true)
		}
	}
}

// take returns the statement between two bytes of the buffer.
func (s *Statements) take(start, end int, ended bool) (Statement, error) {
	if err := s.checkText(start, end); err != nil {
		return Statement{}, err
	}
	s.drop(start)
	out := Statement{Text: string(s.buf[:end-start]), Pos: s.pos, Ended: ended}
	s.drop(end - start)
	return out, nil
}

func (s *Statements) drop(n int) {
	text := s.buf[:n]
	if s.pos.Offset == 0 && bytes.HasPrefix(text, []byte(sqltext.BOM)) {
		text = text[len(sqltext.BOM):]
		s.pos.Offset += len(sqltext.BOM)
	}
	s.pos = advance(s.pos, string(text))
	s.buf = s.buf[n:]
}

// token reads the token at a byte of the buffer. A token at the buffer's end may continue after it.
func (s *Statements) token(at int) (sqltext.Span, error) {
	for {
		if at < len(s.buf) {
			t := sqltext.Next(s.buf, at)
			if t.End < len(s.buf) && t.Kind != sqltext.Open {
				return t, nil
			}
			if s.eof && t.Kind == sqltext.Open {
				msg, fix := unendedToken(s.buf[t.Start:t.End])
				return t, s.errorAt(t.Start, CodeFailed, msg, fix)
			}
			if s.eof {
				return t, nil
			}
		}
		if s.eof {
			return sqltext.Span{}, io.EOF
		}
		if err := s.read(); err != nil {
			return sqltext.Span{}, err
		}
	}
}

// read doubles the buffer, so that a long token is not read too often.
func (s *Statements) read() error {
	old := len(s.buf)
	if old > maxStatement {
		return s.errorAt(0, CodeTooLarge, fmt.Sprintf("the statement that begins here has more than %d bytes", maxStatement), "")
	}
	size := max(64<<10, old)
	grown := make([]byte, old+size)
	copy(grown, s.buf)
	n, err := io.ReadFull(s.r, grown[old:])
	s.buf = grown[:old+n]
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		s.eof = true
		return nil
	}
	return err
}

func (s *Statements) errorAt(at int, code, msg, fix string) *Error {
	return &Error{Pos: advance(s.pos, string(s.buf[:at])), Code: code, Msg: msg, Fix: fix}
}

// checkText refuses bytes that SQLite would misread: it stops at a NUL as if the text ended there.
func (s *Statements) checkText(start, end int) error {
	text := s.buf[start:end]
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return s.errorAt(start+i, CodeNotText, "the SQL has a NUL byte", "write the value as CAST(X'00' AS TEXT)")
	}
	if utf8.Valid(text) {
		return nil
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return s.errorAt(start+i, CodeNotText, fmt.Sprintf("the byte 0x%02x is not UTF-8", text[i]),
				"save it as UTF-8, or write the value as CAST(X'…' AS TEXT)")
		}
		i += n
	}
}
