package dictionary

import (
	"unicode"
	"unicode/utf8"
)

// Segments iterates over the words or sentences of a text. Text between words, such as spaces and punctuation, forms words of its own.
type Segments struct {
	text  string
	rules *rules
	start int // of the segment
	end   int // of the segment
	limit int // of the piece that the rules found
	like  bool

	looked int // within the piece, how far it was divided
	run    run // the letters that are being divided, nil for none
	breaks breaks
	used   int // of the breaks
}

// Words returns the words of a well-formed text.
func Words(text string) (*Segments, error) { return newSegments(wordRules, text) }

// Sentences returns the sentences of a well-formed text. In Greek, which is "el", ";" is a question mark.
func Sentences(text, language string) (*Segments, error) {
	if language == "el" {
		return newSegments(greekRules, text)
	}
	return newSegments(sentenceRules, text)
}

func newSegments(rules func() (*rules, error), text string) (*Segments, error) {
	r, err := rules()
	if err != nil {
		return nil, err
	}
	return &Segments{text: text, rules: r}, nil
}

// Next moves to the next segment and reports whether there is one. The error means that a dictionary cannot be read.
func (s *Segments) Next() (bool, error) {
	s.start = s.end
	if s.end == s.limit {
		if s.end == len(s.text) {
			return false, nil
		}
		piece := s.rules.next(s.text[s.end:])
		s.limit, s.like = s.end+piece.size, piece.like
		s.looked = s.limit
		if piece.unspaced {
			s.looked = s.start
		}
	}
	if s.used == len(s.breaks.ends) {
		s.breaks.ends, s.used = s.breaks.ends[:0], 0
		if err := s.divide(); err != nil {
			return false, err
		}
	}
	s.end = s.limit
	if s.used < len(s.breaks.ends) {
		s.end = s.breaks.ends[s.used]
		s.used++
	}
	return true, nil
}

// Value returns the segment.
func (s *Segments) Value() string { return s.text[s.start:s.end] }

// Like reports whether a segment is word-like: it has letters, digits or ideographs.
func (s *Segments) Like() bool { return s.like }

// divide adds the ends of words within the piece, except for its own end. As in ICU, no word ends between letters with a dictionary and
// others within a piece.
func (s *Segments) divide() error {
	for len(s.breaks.ends) == 0 {
		if s.run == nil {
			if err := s.find(); err != nil || s.run == nil {
				return err
			}
		}
		if !s.run.more(&s.breaks) {
			s.run = nil
		}
	}
	return nil
}

// find advances to the next letters of one script within the piece.
func (s *Segments) find() error {
	common := false // within signs of no script that are in no dictionary
	for s.looked < s.limit {
		c, size := utf8.DecodeRuneInString(s.text[s.looked:])
		from := s.looked
		s.looked += size
		if !s.rules.unspaced(c) {
			common = false
			continue
		}
		script := scriptOf(c)
		if script == nil || common && prolonged(c) {
			common = unicode.Is(unicode.Common, c)
			continue
		}
		for s.looked < s.limit {
			c, size = utf8.DecodeRuneInString(s.text[s.looked:])
			if scriptOf(c) != script || !s.rules.unspaced(c) && !sounding(c) {
				break
			}
			s.looked += size
		}
		var err error
		s.run, err = script.begin(&s.breaks, s.text[from:s.looked], from)
		return err
	}
	return nil
}
