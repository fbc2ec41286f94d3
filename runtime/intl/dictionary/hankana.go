package dictionary

import (
	"math"
	"slices"

	"golang.org/x/text/unicode/norm"
)

// This file finds words of Chinese and Japanese like ICU: of all ways to divide a text, it takes the one with the lowest total cost of
// words. The dictionary has the costs; a character outside of words costs most, and a run of Katakana by its length.

const (
	longestWord  = 20 // characters
	costUnknown  = 255
	longestKana  = 20   // a longer run of Katakana is not a word
	costLongKana = 8192 // of a run that is longer than those of kanaCosts
	// maxHeld is the limit of characters that are held until their division is certain. It is certain at a place that no word from before
	// can extend beyond: every few characters of a real text.
	maxHeld = 1 << 15
)

// kanaCosts are the costs of a run of Katakana by its length.
var kanaCosts = [...]int{costLongKana, 984, 408, 240, 204, 252, 300, 372, 480} //nolint:gochecknoglobals // a table

var costsOf = loaded("cjdict.dict", newCosts) //nolint:gochecknoglobals // one dictionary a process

func isKatakana(c rune) bool {
	return c >= 0x30a1 && c <= 0x30fe && c != 0x30fb || c >= 0xff66 && c <= 0xff9f
}

func beginHanKana(b *breaks, text string, at int) (run, error) {
	dictionary, err := costsOf()
	if err != nil {
		return nil, err
	}
	d := &b.cheapest
	*d = cheapest{
		dictionary: dictionary, base: at, last: at, held: d.held[:0], best: d.best[:0], prev: d.prev[:0],
		source: source{text: text, normalized: norm.NFKC.IsNormalString(text)},
	}
	return d, nil
}

// cheapest is one text on its way.
type cheapest struct {
	dictionary *trie[uint16]
	source     source
	base, last int // the place of the text, and the end of its last word

	held   []char
	best   []int32 // [i] is the least cost of dividing the first i characters held
	prev   []int32 // [i] is the length of the last word of that division
	at     int     // the first characters held that were looked at
	reach  int     // how far words go that begin before at
	inKana bool    // Katakana is before at
}

// char is a character of the normalized text.
type char struct {
	c     rune
	start int // in the text, before normalization
}

func (d *cheapest) more(b *breaks) bool {
	for d.fill() {
		d.step()
		if d.at >= maxHeld || d.at >= longestWord && d.reach == d.at {
			d.settle(b)
			return true
		}
	}
	d.settle(b)
	return false
}

// fill holds as many characters as one step may look at, and reports whether there is one.
func (d *cheapest) fill() bool {
	for len(d.held) < d.at+longestWord+1 {
		c, ok := d.source.next()
		if !ok {
			break
		}
		d.held = append(d.held, c)
	}
	for len(d.best) <= len(d.held) {
		d.best, d.prev = append(d.best, math.MaxInt32), append(d.prev, 0)
	}
	d.best[0] = 0
	return d.at < len(d.held)
}

// offer makes a word of the characters from at, if that is the cheapest way so far to reach its end.
func (d *cheapest) offer(length, cost int) {
	end := d.at + length
	d.reach = max(d.reach, end)
	if all := d.best[d.at] + int32(cost); all < d.best[end] {
		d.best[end], d.prev[end] = all, int32(length)
	}
}

// step offers all words that begin at a character.
func (d *cheapest) step() {
	d.offerWords()
	kana := isKatakana(d.held[d.at].c)
	if kana && !d.inKana {
		d.offerKana()
	}
	d.inKana = kana
	d.at++
}

func (d *cheapest) offerWords() {
	p := root()
	single := false
	for i := range min(longestWord, len(d.held)-d.at) {
		f := d.dictionary.next(&p, int(d.held[d.at+i].c))
		if f >= foundWord {
			single = single || i == 0
			d.offer(i+1, d.dictionary.cost(p))
		}
		if f == foundNothing || f == foundLast {
			break
		}
	}
	if !single {
		d.offer(1, costUnknown)
	}
}

func (d *cheapest) offerKana() {
	length := 1
	for length < longestKana && d.at+length < len(d.held) && isKatakana(d.held[d.at+length].c) {
		length++
	}
	switch {
	case length < len(kanaCosts):
		d.offer(length, kanaCosts[length])
	case length < longestKana:
		d.offer(length, costLongKana)
	}
}

// settle appends the ends of the words until at, and lets go of their characters.
func (d *cheapest) settle(b *breaks) {
	before := len(b.ends)
	for i := d.at; i > 0; i -= int(d.prev[i]) {
		b.ends = append(b.ends, i)
	}
	found := b.ends[before:] // from the last to the first, in the characters held
	slices.Reverse(found)
	b.ends = b.ends[:before]
	for _, i := range found {
		if i == len(d.held) { // the end of the text
			break
		}
		if at := d.base + d.held[i].start; at > d.last { // a word cannot end inside the normalized form of one character
			b.ends, d.last = append(b.ends, at), at
		}
	}
	d.held = d.held[:copy(d.held, d.held[d.at:])]
	d.best, d.prev = d.best[:1], d.prev[:1]
	d.at, d.reach = 0, 0
}

// source is the characters of a text, normalized by NFKC.
type source struct {
	text       string
	at         int  // in the text, after the consumed part
	normalized bool // all of it
	queue      []char
}

// maxFragment bounds the text normalized at once: a letter with its signs.
const maxFragment = 128

func (s *source) next() (char, bool) {
	if len(s.queue) > 0 {
		c := s.queue[0]
		s.queue = s.queue[1:]
		return c, true
	}
	if s.at == len(s.text) {
		return char{}, false
	}
	start := s.at
	c, size := decode(s.text[s.at:])
	s.at += size
	if s.normalized {
		return char{c, start}, true
	}
	for s.at < len(s.text) && s.at-start < maxFragment && !norm.NFKC.PropertiesString(s.text[s.at:]).BoundaryBefore() {
		_, size := decode(s.text[s.at:])
		s.at += size
	}
	for _, c := range norm.NFKC.String(s.text[start:s.at]) {
		s.queue = append(s.queue, char{c, start})
	}
	return s.next()
}
