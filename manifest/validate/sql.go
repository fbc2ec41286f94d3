package validate

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Bounds on the search for tables.
const (
	maxSQLBytes = 64 << 20 // of all migrations
	maxTables   = 100_000
	maxSQLWord  = 512 // bytes kept of one word, more than of any table's name
)

// tables are the tables and views after a site's migrations, in lower case.
type tables map[string]bool

// apply applies the CREATE, DROP and ALTER … RENAME statements of a script. It reads words only, past comments and strings,
// and knows no more of SQL than that.
func (t tables) apply(script io.Reader) error {
	s := &sqlWords{r: bufio.NewReaderSize(script, 64<<10)}
	for word := s.next(); s.err == nil; {
		switch word {
		case "create":
			word = t.create(s)
		case "drop":
			word = t.drop(s)
		case "alter":
			word = t.alter(s)
		default:
			word = s.next()
		}
	}
	if errors.Is(s.err, io.EOF) {
		return nil
	}
	return s.err
}

// create reads CREATE TABLE or VIEW, and returns the first word that does not fit.
func (t tables) create(s *sqlWords) string {
	word := s.next()
	temporary := word == "temp" || word == "temporary"
	if temporary || word == "virtual" {
		word = s.next()
	}
	if word != "table" && word != "view" {
		return word
	}
	if name, inTemp := s.name(); !temporary && !inTemp {
		t.add(name)
	}
	return "" // a word that starts no statement
}

// drop reads DROP TABLE or VIEW, and returns the first word that does not fit.
func (t tables) drop(s *sqlWords) string {
	if word := s.next(); word != "table" && word != "view" {
		return word
	}
	if name, inTemp := s.name(); !inTemp {
		delete(t, name)
	}
	return ""
}

func (t tables) add(name string) {
	if name != "" && len(t) < maxTables {
		t[name] = true
	}
}

// alter reads ALTER TABLE … RENAME TO …, and returns the first word that does not fit.
func (t tables) alter(s *sqlWords) string {
	if word := s.next(); word != "table" {
		return word
	}
	from, inTemp := s.name()
	if word := s.next(); word != "rename" {
		return word
	}
	if word := s.next(); word != "to" {
		return word
	}
	if to, _ := s.name(); !inTemp {
		delete(t, from)
		t.add(to)
	}
	return ""
}

// sqlWords reads the words, quoted names and signs of a script.
type sqlWords struct {
	r   *bufio.Reader
	err error // why there is no next word
}

// next returns the next unquoted keyword or name, in lower case, or one sign; a quoted text counts as the sign "'". It returns
// "" at the end.
func (s *sqlWords) next() string {
	word, quoted := s.word()
	if quoted {
		return "'"
	}
	return word
}

// name reads a table's name in lower case, past IF NOT EXISTS and a schema, and tells whether that is the one of temporary
// tables.
func (s *sqlWords) name() (name string, inTemp bool) {
	word, quoted := s.word()
	for !quoted && (word == "if" || word == "not" || word == "exists") {
		word, quoted = s.word()
	}
	if s.follows('.') {
		s.byte()
		inTemp = word == "temp"
		word, _ = s.word()
	}
	return word, inTemp
}

func (s *sqlWords) word() (text string, quoted bool) {
	c := s.first()
	if s.err != nil {
		return "", false
	}
	switch c {
	case '\'', '"', '`':
		return s.readQuoted(c), true
	case '[':
		return s.readQuoted(']'), true
	}
	if sign := [...]byte{c}; !jsontree.IsWordByte(c) {
		return string(sign[:]), false
	}
	var b strings.Builder
	for {
		if b.Len() < maxSQLWord {
			b.WriteByte(c)
		}
		next, err := s.r.Peek(1)
		if err != nil || !jsontree.IsWordByte(next[0]) {
			return strings.ToLower(strings.TrimPrefix(b.String(), sourcetext.ByteOrderMark)), false
		}
		c = s.byte()
	}
}

// readQuoted reads to the closing quote; a doubled one stands for itself.
func (s *sqlWords) readQuoted(closing byte) string {
	var b strings.Builder
	for {
		c := s.byte()
		if s.err != nil {
			break
		}
		if c == closing {
			if closing == ']' || !s.follows(closing) {
				break
			}
			s.byte()
		}
		if b.Len() < maxSQLWord {
			b.WriteByte(c)
		}
	}
	return strings.ToLower(b.String())
}

// first skips white space and comments, and returns the first byte behind them.
func (s *sqlWords) first() byte {
	for s.err == nil {
		switch c := s.byte(); c {
		case ' ', '\t', '\r', '\n', '\f':
		case '-':
			if !s.follows('-') {
				return c
			}
			for s.err == nil && s.byte() != '\n' { //nolint:revive // to the end of the line
			}
		case '/':
			if !s.follows('*') {
				return c
			}
			s.byte()
			for last, c := byte(0), s.byte(); s.err == nil && (last != '*' || c != '/'); c = s.byte() {
				last = c
			}
		default:
			return c
		}
	}
	return 0
}

// follows reports whether a byte is next.
func (s *sqlWords) follows(c byte) bool {
	next, err := s.r.Peek(1)
	return err == nil && next[0] == c
}

// byte reads one byte, 0 at the end.
func (s *sqlWords) byte() byte {
	c, err := s.r.ReadByte()
	if err != nil {
		s.err = err
	}
	return c
}
