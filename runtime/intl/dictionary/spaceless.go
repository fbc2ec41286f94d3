package dictionary

import "unicode"

// This file finds words of Thai, Lao, Khmer and Burmese, as ICU does: of the words that may begin at a place, the longest that two
// more words can follow. A character here has three bytes of UTF-8, so that places are counted in characters.

const (
	charBytes = 3
	maxFound  = 20 // words that begin at one place
	lookAhead = 3  // words
)

// spaceless is a script of that kind.
type spaceless struct {
	file  string
	least int // the characters of a text that is divided at all
	// A word of fewer characters than shortWord takes in the unexplained text after it, unless that begins a word with at least
	// shortPrefix characters.
	shortWord, shortPrefix int
	begins                 func(c rune) bool
	ends                   func(c rune) bool
	suffixes               bool // has the Thai signs for abbreviation and repetition
	load                   func() (*trie[byte], error)
}

func spacelessScript(s spaceless) *script {
	s.load = loaded(s.file, newLetters)
	return &script{begin: func(b *breaks, text string, at int) (run, error) {
		trie, err := s.load()
		if err != nil {
			return nil, err
		}
		d := &b.division
		*d = division{spaceless: &s, trie: trie, text: text, base: at, size: len(text) / charBytes}
		if d.size < s.least { // too short for two words
			d.at = d.size
		}
		for i := range d.words {
			d.words[i].at = -1
		}
		return d, nil
	}}
}

func thaiBegin(c rune) bool { return c >= 0x0e01 && c <= 0x0e2e || c >= 0x0e40 && c <= 0x0e44 }
func thaiEnd(c rune) bool   { return c != 0x0e31 && (c < 0x0e40 || c > 0x0e44) }
func laoBegin(c rune) bool {
	return c >= 0x0e81 && c <= 0x0eae || c == 0x0edc || c == 0x0edd || !laoEnd(c)
}
func laoEnd(c rune) bool       { return c < 0x0ec0 || c > 0x0ec4 }
func khmerBegin(c rune) bool   { return c >= 0x1780 && c <= 0x17b3 }
func khmerEnd(c rune) bool     { return c != 0x17d2 }
func burmeseBegin(c rune) bool { return c >= 0x1000 && c <= 0x102a }
func burmeseEnd(rune) bool     { return true }

// division is one text on its way.
type division struct {
	*spaceless
	trie  *trie[byte]
	text  string
	base  int                   // the place of the text
	size  int                   // characters
	at    int                   // how many were divided
	words [lookAhead]candidates // at the places looked at last
	next  int                   // the index of the next word's
}

// candidates are the words that begin at a place, the shortest first.
type candidates struct {
	at      int
	count   int
	prefix  int // characters until no word begins so, or the end
	lengths [maxFound]int
	tried   int // the candidate that is tried
	best    int
}

// wordsAtOnce is the number of words that are found before they are returned.
const wordsAtOnce = 1 << 10

func (d *division) more(b *breaks) bool {
	for len(b.ends) < wordsAtOnce && d.at < d.size {
		if d.at += d.word(d.at); d.at < d.size {
			b.ends = append(b.ends, d.base+d.at*charBytes)
		}
	}
	return d.at < d.size
}

func (d *division) char(at int) rune {
	c, _ := decode(d.text[at*charBytes:])
	return c
}

// ahead returns the candidates of the word that is n words after the next one, at a place. The longest is tried first.
func (d *division) ahead(n, at int) *candidates {
	c := &d.words[(d.next+n)%lookAhead]
	if c.at != at {
		d.find(c, at)
	}
	c.tried, c.best = c.count-1, c.count-1
	return c
}

func (d *division) find(c *candidates, at int) {
	c.at, c.count, c.prefix = at, 0, 0
	p := root()
	for i := at; i < d.size; i++ {
		f := d.trie.next(&p, d.trie.letter(d.char(i)))
		c.prefix++
		if f >= foundWord && c.count < maxFound {
			c.lengths[c.count] = c.prefix
			c.count++
		}
		if f == foundNothing || f == foundLast {
			break
		}
	}
}

// word returns the length of the word at a place.
func (d *division) word(at int) int {
	length := d.choose(at)
	if length > 0 {
		d.next++
	}
	if at+length < d.size && length < d.shortWord {
		// A short word, or none: the next characters belong to it, unless a word or the prefix of a longer one begins there.
		if c := d.ahead(0, at+length); c.count == 0 && (length == 0 || c.prefix < d.shortPrefix) {
			passed := d.resume(at + length)
			if length == 0 {
				d.next++
			}
			length += passed
		}
	}
	for at+length < d.size && unicode.IsMark(d.char(at+length)) {
		length++
	}
	if d.suffixes && at+length < d.size {
		length += d.suffix(at + length)
	}
	return length
}

// choose returns the length of the dictionary's word at a place, 0 for none.
func (d *division) choose(at int) int {
	first := d.ahead(0, at)
	if first.count == 0 {
		return 0
	}
	if first.count > 1 {
		d.compare(first)
	}
	return first.lengths[first.best]
}

// compare marks the best of several candidates: the longest that two words follow, or else the shortest that one follows, or else
// the longest. A word that reaches the end needs no word after it.
func (d *division) compare(first *candidates) {
	if first.at+first.lengths[first.tried] >= d.size {
		return
	}
	for ; ; first.tried-- {
		at := first.at + first.lengths[first.tried]
		if second := d.ahead(1, at); second.count > 0 {
			first.best = first.tried
			if at+second.lengths[second.tried] >= d.size {
				return
			}
			for ; second.tried >= 0; second.tried-- {
				if d.ahead(2, at+second.lengths[second.tried]).count > 0 {
					return
				}
			}
		}
		if first.tried == 0 {
			return
		}
	}
}

// resume returns the number of characters after a place that belong to no word: up to the next place at which a word begins.
func (d *division) resume(at int) int {
	before := d.char(at)
	for i := at + 1; i < d.size; i++ {
		c := d.char(i)
		if d.ends(before) && d.begins(c) && d.ahead(1, i).count > 0 {
			return i - at
		}
		before = c
	}
	return d.size - at
}

// suffix returns the number of signs at the end of a word that belong to it, if no word of the dictionary follows.
func (d *division) suffix(at int) int {
	const abbreviation, repetition = 'ฯ', 'ๆ'
	if c := d.char(at); c != abbreviation && c != repetition || d.ahead(0, at).count > 0 {
		return 0
	}
	length := 0
	before := d.char(at - 1)
	if d.char(at) == abbreviation && before != abbreviation && before != repetition {
		length, before = 1, abbreviation
	}
	if at+length < d.size && d.char(at+length) == repetition && before != repetition {
		length++
	}
	return length
}
