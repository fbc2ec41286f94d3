package wording

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// Escaper escapes the characters of a text that a terminal would obey. Lines and tabs stay. Flush it at the end.
type Escaper struct {
	w       io.Writer
	rest    []byte // the first bytes of an incomplete character
	Escaped int    // characters
}

// Write implements io.Writer.
func (s *Escaper) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	whole := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if tail := text[len(text)-back:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole -= back
			}
			break
		}
	}
	s.rest = bytes.Clone(text[whole:])
	return len(p), s.show(text[:whole])
}

// Flush writes an incomplete character.
func (s *Escaper) Flush() error {
	rest := s.rest
	s.rest = nil
	return s.show(rest)
}

func (s *Escaper) show(text []byte) error {
	var out bytes.Buffer
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch shown := Printable(string(text[:n])); {
		case r == '\n' || r == '\t' || shown == string(text[:n]):
			out.Write(text[:n])
		default:
			out.WriteString(shown)
			s.Escaped++
		}
		text = text[n:]
	}
	_, err := s.w.Write(out.Bytes())
	return err
}

// NewEscaper returns an Escaper that writes to w.
func NewEscaper(w io.Writer) *Escaper { return &Escaper{w: w} }
