package dictionary

import (
	"unicode"
	"unicode/utf8"
)

// Words iterates over the words of a text. What is between them, such as spaces and punctuation, is words of its own.
type Words struct {
	text  string
	rules *rules
	start int // of the word
	end   int // of the word
	limit int // of the piece that the rules found
	like  bool

	looked int // within the piece, how far it was divided
	run    run // the letters that are being divided, nil for none
	breaks breaks
	used   int // of the breaks
}

// Split returns the words of a well-formed text.
func Split(text string) (*Words, error) {
	r, err := wordRules()
	if err != nil {
		return nil, err
	}
	return &Words{text: text, rules: r}, nil
}

// Next goes on to the next word and reports whether there is one. The error says that a dictionary cannot be read.
func (w *Words) Next() (bool, error) {
	w.start = w.end
	if w.end == w.limit {
		if w.end == len(w.text) {
			return false, nil
		}
		piece := w.rules.next(w.text[w.end:])
		w.limit, w.like = w.end+piece.size, piece.like
		w.looked = w.limit
		if piece.unspaced {
			w.looked = w.start
		}
	}
	if w.used == len(w.breaks.ends) {
		w.breaks.ends, w.used = w.breaks.ends[:0], 0
		if err := w.divide(); err != nil {
			return false, err
		}
	}
	w.end = w.limit
	if w.used < len(w.breaks.ends) {
		w.end = w.breaks.ends[w.used]
		w.used++
	}
	return true, nil
}

// Value returns the word.
func (w *Words) Value() string { return w.text[w.start:w.end] }

// Like reports whether the word is like one: has letters, digits or ideographs.
func (w *Words) Like() bool { return w.like }

// divide adds further ends of words within the piece, if there are any but its own end. As in ICU, where letters with a dictionary
// meet others within a piece no word ends.
func (w *Words) divide() error {
	for len(w.breaks.ends) == 0 {
		if w.run == nil {
			if err := w.find(); err != nil || w.run == nil {
				return err
			}
		}
		if !w.run.more(&w.breaks) {
			w.run = nil
		}
	}
	return nil
}

// find goes on to the next letters of one script within the piece.
func (w *Words) find() error {
	common := false // within signs of no script that are in no dictionary
	for w.looked < w.limit {
		c, size := utf8.DecodeRuneInString(w.text[w.looked:])
		from := w.looked
		w.looked += size
		if !w.rules.unspaced(c) {
			common = false
			continue
		}
		s := scriptOf(c)
		if s == nil || common && prolonged(c) {
			common = unicode.Is(unicode.Common, c)
			continue
		}
		for w.looked < w.limit {
			c, size = utf8.DecodeRuneInString(w.text[w.looked:])
			if scriptOf(c) != s || !w.rules.unspaced(c) && !sounding(c) {
				break
			}
			w.looked += size
		}
		var err error
		w.run, err = s.begin(&w.breaks, w.text[from:w.looked], from)
		return err
	}
	return nil
}
