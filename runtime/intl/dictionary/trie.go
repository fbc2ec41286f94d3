package dictionary

import (
	"fmt"
	"math"
)

// This file reads ICU's dictionaries: tries in two formats, one of bytes for the words of one script, each letter its distance from
// a base, and one of 16-bit units for Chinese and Japanese, in which words have costs. A node begins with a lead unit:
//
//	a branch    has a number of ways, each a unit and the distance to its node; comparisons first halve many ways
//	a match     has a number of units that must follow
//	a value     belongs to the word that ends here; if it is final, no longer word has this prefix
//
// The lead of a number has its highest bits, and the number of further units.

// trie is a dictionary in one of the two formats.
type trie[U byte | uint16] struct {
	nodes []U
	form  *form
	base  rune // of the letters, in the format of bytes
}

// form is the differences between the formats.
type form struct {
	kind         uint32 // in the head of the file
	bits         int    // of a unit
	match, value int    // the least lead of a match and of a value
	final        int    // the bit of a value that is final
	// finals are the numbers of final values and of ways, whose lead is shifted; inners those of other values.
	finals, inners leads
	finalShift     int
	innerShift     int
	innerKind      int   // the bits of the lead that are the lead of the node after a value; 0 if that node has its own lead
	steps          leads // the distances of comparisons
}

// leads are the bounds between the leads of numbers of different sizes.
type leads struct {
	least  int    // the lead of 0
	limits [4]int // the number of limits up to a lead is that of the units after it
	whole  int    // from so many units on the lead has no bits of the number
}

//nolint:gochecknoglobals // the formats
var (
	ofBytes = &form{
		kind: 0, bits: 8, match: 0x10, value: 0x20, final: 1, finalShift: 1, innerShift: 1,
		finals: leads{0x10, [4]int{0x51, 0x6c, 0x7e, 0x7f}, 3},
		inners: leads{0x10, [4]int{0x51, 0x6c, 0x7e, 0x7f}, 3},
		steps:  leads{0, [4]int{0xc0, 0xf0, 0xfe, 0xff}, 3},
	}
	ofUnits = &form{
		kind: 1, bits: 16, match: 0x30, value: 0x40, final: 0x8000, innerShift: 6, innerKind: 0x3f,
		finals: leads{0, [4]int{0x4000, 0x7fff, math.MaxInt, math.MaxInt}, 2},
		inners: leads{1, [4]int{0x101, 0x1ff, math.MaxInt, math.MaxInt}, 2},
		steps:  leads{0, [4]int{0xfc00, 0xffff, math.MaxInt, math.MaxInt}, 2},
	}
)

// openTrie returns the trie of a dictionary and the base of its letters.
func openTrie(file []byte, f *form) (nodes []byte, transform uint32, err error) {
	const (
		headOffset    = 0
		headTotal     = 12
		headKind      = 16
		headTransform = 20
		head          = 32
		kindMask      = 7
	)
	switch {
	case len(file) < head || len(file) < int(u32(file, headTotal)) || u32(file, headOffset) > u32(file, headTotal):
		return nil, 0, fmt.Errorf("a dictionary is cut off")
	case u32(file, headKind)&kindMask != f.kind:
		return nil, 0, fmt.Errorf("a dictionary is not of the kind %d", f.kind)
	}
	return file[u32(file, headOffset):u32(file, headTotal)], u32(file, headTransform), nil
}

func newLetters(file []byte) (*trie[byte], error) {
	const (
		byOffset   = 0x1000000
		transforms = 0x7f000000
		offsetMask = 0x1fffff
	)
	nodes, transform, err := openTrie(file, ofBytes)
	if err == nil && transform&transforms != byOffset {
		err = fmt.Errorf("a dictionary has letters of an unknown form")
	}
	return &trie[byte]{nodes: nodes, form: ofBytes, base: rune(transform & offsetMask)}, err
}

func newCosts(file []byte) (*trie[uint16], error) {
	nodes, _, err := openTrie(file, ofUnits)
	if err != nil {
		return nil, err
	}
	t := &trie[uint16]{nodes: make([]uint16, len(nodes)/2), form: ofUnits}
	for i := range t.nodes {
		t.nodes[i] = u16(nodes, 2*i)
	}
	return t, nil
}

// letter is the unit of a letter in the format of bytes. As in ICU, a letter that no dictionary has is like the last byte.
func (t *trie[U]) letter(c rune) int {
	const most = 0xfd
	if d := c - t.base; d >= 0 && d <= most {
		return int(d)
	}
	return 0xff
}

// found is the result of a step in the trie.
type found int

const (
	foundNothing found = iota // no word begins so
	foundPrefix               // longer words do
	foundWord                 // and this is one
	foundLast                 // this is one, and no longer one begins so
)

// place is a place in a trie.
type place struct {
	at   int
	left int // units of a match that must still follow, less one; -1 for none
}

func root() place { return place{left: -1} }

// maxWays is the maximum number of ways of a branch that are tried one by one.
const maxWays = 5

// next advances from p by one unit; a number beyond the units is in no word.
func (t *trie[U]) next(p *place, unit int) found {
	if p.left >= 0 {
		if int(t.nodes[p.at]) != unit {
			return foundNothing
		}
		p.at++
		p.left--
		return t.arrived(p)
	}
	at, lead := p.at+1, int(t.nodes[p.at])
	for lead >= t.form.value {
		if lead&t.form.final != 0 {
			return foundNothing
		}
		if _, at = t.number(&t.form.inners, lead>>t.form.innerShift, at); t.form.innerKind != 0 {
			lead &= t.form.innerKind
		} else {
			at, lead = at+1, int(t.nodes[at])
		}
	}
	if lead < t.form.match {
		return t.branch(p, lead, at, unit)
	}
	if int(t.nodes[at]) != unit {
		return foundNothing
	}
	p.at, p.left = at+1, lead-t.form.match-1
	return t.arrived(p)
}

// arrived describes the node at p.
func (t *trie[U]) arrived(p *place) found {
	lead := int(t.nodes[p.at])
	switch {
	case p.left >= 0 || lead < t.form.value:
		return foundPrefix
	case lead&t.form.final != 0:
		return foundLast
	default:
		return foundWord
	}
}

// branch takes the way of a unit; the lead is the number of ways less one, or 0 if that follows.
func (t *trie[U]) branch(p *place, lead, at, unit int) found {
	if lead == 0 {
		lead = int(t.nodes[at])
		at++
	}
	ways := lead + 1
	for ways > maxWays {
		less := unit < int(t.nodes[at])
		step, after := t.number(&t.form.steps, int(t.nodes[at+1]), at+2)
		if less {
			ways, at = ways/2, after+step
		} else {
			ways, at = ways-ways/2, after
		}
	}
	for ; ways > 1; ways-- { // the last way has no distance: its node follows
		match := int(t.nodes[at]) == unit
		way, after := t.final(at + 1)
		switch {
		case match && int(t.nodes[at+1])&t.form.final != 0:
			p.at, p.left = at+1, -1
			return foundLast
		case match:
			p.at, p.left = after+way, -1
			return t.arrived(p)
		}
		at = after
	}
	if int(t.nodes[at]) != unit {
		return foundNothing
	}
	p.at, p.left = at+1, -1
	return t.arrived(p)
}

// cost returns the value of the word that ends at p.
func (t *trie[U]) cost(p place) int {
	lead := int(t.nodes[p.at])
	if lead&t.form.final != 0 {
		value, _ := t.final(p.at)
		return value
	}
	value, _ := t.number(&t.form.inners, lead>>t.form.innerShift, p.at+1)
	return value
}

// final returns the final value at a place, or the distance of a way, and the place after it.
func (t *trie[U]) final(at int) (value, after int) {
	return t.number(&t.form.finals, (int(t.nodes[at])&^t.form.final)>>t.form.finalShift, at+1)
}

// number reads a number whose further units begin at a place. It returns the number and the place after it.
func (t *trie[U]) number(l *leads, lead, at int) (value, after int) {
	if lead < l.limits[0] {
		return lead - l.least, at
	}
	units := 1
	for units < len(l.limits) && lead >= l.limits[units] {
		units++
	}
	if units < l.whole {
		value = lead - l.limits[units-1]
	}
	for range units {
		value = value<<t.form.bits | int(t.nodes[at])
		at++
	}
	return value, at
}
