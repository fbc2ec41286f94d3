package sourcetext

import (
	"bytes"
	"unicode/utf8"
)

// MaxSource bounds the bytes of a line that are kept on each side of a place.
const MaxSource = 512

// Cursor is the position in a file that is read once, from start to end. Lines and columns are 1-based, columns count
// characters.
type Cursor struct {
	Line, Column int
	before       []byte // the end of the line's text before the place
	Frozen       bool   // the text being read is not part of the file
}

// NewCursor returns the position of the first character of a text.
func NewCursor() Cursor { return Cursor{Line: 1, Column: 1} }

// Advance moves past text. A byte order mark at the start of the file does not count as a character.
func (p *Cursor) Advance(text []byte) {
	if p.Frozen {
		return
	}
	if p.Line == 1 && p.Column == 1 && len(p.before) == 0 {
		text = bytes.TrimPrefix(text, []byte(ByteOrderMark))
	}
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		p.Line += bytes.Count(text, []byte{'\n'})
		p.Column, p.before = 1, p.before[:0]
		text = text[i+1:]
	}
	p.Column += CountCharacters(text)
	if len(text) > MaxSource {
		p.before, text = p.before[:0], text[len(text)-MaxSource:]
	}
	p.before = append(p.before, text...)
	if over := len(p.before) - MaxSource; over > 0 {
		p.before = append(p.before[:0], p.before[over:]...)
	}
	for len(p.before) > 0 && !utf8.RuneStart(p.before[0]) { // cut inside a character
		p.before = p.before[1:]
	}
}

// Excerpt is a line's text around a place, and its first column.
type Excerpt struct {
	Text   []byte
	Column int
	Whole  bool // the line's end was reached, or enough of it
}

// Source starts an excerpt with the line's text before the place.
func (p *Cursor) Source() Excerpt {
	return Excerpt{Text: bytes.Clone(p.before), Column: p.Column - CountCharacters(p.before)}
}

// Extend adds the following text of the line.
func (s *Excerpt) Extend(text []byte) {
	if s.Whole {
		return
	}
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text, s.Whole = bytes.TrimSuffix(text[:i], []byte{'\r'}), true
	}
	if room := 2*MaxSource - len(s.Text); len(text) >= room {
		text, s.Whole = text[:room], true
		for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) { // cut inside a character
			text = text[:len(text)-1]
		}
		if len(text) > 0 && text[len(text)-1] >= utf8.RuneSelf {
			text = text[:len(text)-1]
		}
	}
	s.Text = append(s.Text, text...)
}
