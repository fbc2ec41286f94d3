package manifest

import (
	"bytes"
	"unicode/utf8"
)

// maxSource is how much of a line is kept on each side of a place, in bytes.
const maxSource = 512

// place is where a reader stands in a file that it reads once, from start to end. Lines and columns are
// 1-based, columns count characters.
type place struct {
	line, column int
	before       []byte // the end of the line's text before the place
	frozen       bool   // what is read now is not the file's own text
}

func newPlace() place { return place{line: 1, column: 1} }

// advance moves behind text. A byte order mark at the start of the file is no character of its line.
func (p *place) advance(text []byte) {
	if p.frozen {
		return
	}
	if p.line == 1 && p.column == 1 && len(p.before) == 0 {
		text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	}
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		p.line += bytes.Count(text, []byte{'\n'})
		p.column, p.before = 1, p.before[:0]
		text = text[i+1:]
	}
	p.column += countCharacters(text)
	if len(text) > maxSource {
		p.before, text = p.before[:0], text[len(text)-maxSource:]
	}
	p.before = append(p.before, text...)
	if over := len(p.before) - maxSource; over > 0 {
		p.before = append(p.before[:0], p.before[over:]...)
	}
	for len(p.before) > 0 && !utf8.RuneStart(p.before[0]) { // cut inside a character
		p.before = p.before[1:]
	}
}

// source is a line's text around a place, and the column it starts at.
type source struct {
	text   []byte
	column int
	whole  bool // the line's end was reached, or enough of it
}

// source starts one with what was read of the line.
func (p *place) source() source {
	return source{text: bytes.Clone(p.before), column: p.column - countCharacters(p.before)}
}

// extend adds what follows on the line.
func (s *source) extend(text []byte) {
	if s.whole {
		return
	}
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text, s.whole = bytes.TrimSuffix(text[:i], []byte{'\r'}), true
	}
	if room := 2*maxSource - len(s.text); len(text) >= room {
		text, s.whole = text[:room], true
		for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) { // cut inside a character
			text = text[:len(text)-1]
		}
		if len(text) > 0 && text[len(text)-1] >= utf8.RuneSelf {
			text = text[:len(text)-1]
		}
	}
	s.text = append(s.text, text...)
}
