package dictionary

import "fmt"

// This file reads ICU's dictionaries: tries in two formats, one of bytes for the words of one script, each letter its distance from
// a base, and one of 16-bit units for Chinese and Japanese, in which words have costs. A node begins with a lead unit:
//
//	a branch    has so many ways, each a unit and the distance to its node; many ways are halved by comparisons first
//	a match     has so many units that must follow
//	a value     is of the word that ends here; if it is final, no longer word begins so

// openTrie returns the trie of a dictionary and the number by which its letters are transformed.
func openTrie(file []byte, kind uint32) (trie []byte, transform uint32, err error) {
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
	case u32(file, headKind)&kindMask != kind:
		return nil, 0, fmt.Errorf("a dictionary is not of the kind %d", kind)
	}
	return file[u32(file, headOffset):u32(file, headTotal)], u32(file, headTransform), nil
}

// found is what a further unit leads to.
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

// maxWays is the most ways of a branch that are tried one by one.
const maxWays = 5

// letters is a trie of bytes.
type letters struct {
	nodes []byte
	base  rune
}

func newLetters(file []byte) (*letters, error) {
	const (
		kind       = 0
		byOffset   = 0x1000000
		forms      = 0x7f000000
		offsetMask = 0x1fffff
	)
	nodes, transform, err := openTrie(file, kind)
	if err == nil && transform&forms != byOffset {
		err = fmt.Errorf("a dictionary has letters of an unknown form")
	}
	return &letters{nodes: nodes, base: rune(transform & offsetMask)}, err
}

// The lead bytes.
const (
	byteMatch    = 0x10
	byteValue    = 0x20 // and above; the lowest bit says that it is final
	byteFinal    = 1
	byteValueTwo = 0x51 // half the lead byte of values of two bytes, and so on
	byteValue3   = 0x6c
	byteValue4   = 0x7e
	byteStepTwo  = 0xc0 // the lead byte of distances of two bytes, and so on
	byteStep3    = 0xf0
	byteStep4    = 0xfe
)

// unit is the byte of a letter. As in ICU, a letter that no dictionary has is like the last byte.
func (t *letters) unit(c rune) byte {
	const most = 0xfd
	if d := c - t.base; d >= 0 && d <= most {
		return byte(d)
	}
	return 0xff
}

// next goes on from p by a byte.
func (t *letters) next(p *place, b byte) found {
	if p.left >= 0 {
		if t.nodes[p.at] != b {
			return foundNothing
		}
		p.at++
		p.left--
		return t.arrived(p)
	}
	for at := p.at; ; {
		switch lead := t.nodes[at]; {
		case lead < byteMatch:
			return t.branch(p, at, b)
		case lead < byteValue:
			if t.nodes[at+1] != b {
				return foundNothing
			}
			p.at, p.left = at+2, int(lead)-byteMatch-1
			return t.arrived(p)
		case lead&byteFinal != 0:
			return foundNothing
		default:
			_, at = t.value(at)
		}
	}
}

// arrived says what is at p.
func (t *letters) arrived(p *place) found {
	if p.left >= 0 || t.nodes[p.at] < byteValue {
		return foundPrefix
	}
	if t.nodes[p.at]&byteFinal != 0 {
		return foundLast
	}
	return foundWord
}

// branch takes the way of b.
func (t *letters) branch(p *place, at int, b byte) found {
	ways := int(t.nodes[at])
	at++
	if ways == 0 {
		ways = int(t.nodes[at])
		at++
	}
	ways++
	for ways > maxWays {
		less := b < t.nodes[at]
		step, after := t.step(at + 1)
		if less {
			ways, at = ways/2, after+step
		} else {
			ways, at = ways-ways/2, after
		}
	}
	for ; ways > 1; ways-- {
		match := t.nodes[at] == b
		final := t.nodes[at+1]&byteFinal != 0
		value, after := t.value(at + 1)
		switch {
		case match && final:
			p.at, p.left = at+1, -1
			return foundLast
		case match:
			p.at, p.left = after+value, -1
			return t.arrived(p)
		}
		at = after
	}
	if t.nodes[at] != b {
		return foundNothing
	}
	p.at, p.left = at+1, -1
	return t.arrived(p)
}

// value returns the value at a place, and the place behind it.
func (t *letters) value(at int) (value, after int) {
	const least = 0x10
	n := t.nodes[at:]
	switch lead := int(n[0] >> 1); {
	case lead < byteValueTwo:
		return lead - least, at + 1
	case lead < byteValue3:
		return (lead-byteValueTwo)<<8 | int(n[1]), at + 2
	case lead < byteValue4:
		return (lead-byteValue3)<<16 | int(n[1])<<8 | int(n[2]), at + 3
	case lead == byteValue4:
		return int(n[1])<<16 | int(n[2])<<8 | int(n[3]), at + 4
	default:
		return int(n[1])<<24 | int(n[2])<<16 | int(n[3])<<8 | int(n[4]), at + 5
	}
}

// step returns the distance at a place, and the place behind it.
func (t *letters) step(at int) (step, after int) {
	n := t.nodes[at:]
	switch lead := int(n[0]); {
	case lead < byteStepTwo:
		return lead, at + 1
	case lead < byteStep3:
		return (lead-byteStepTwo)<<8 | int(n[1]), at + 2
	case lead < byteStep4:
		return (lead-byteStep3)<<16 | int(n[1])<<8 | int(n[2]), at + 3
	case lead == byteStep4:
		return int(n[1])<<16 | int(n[2])<<8 | int(n[3]), at + 4
	default:
		return int(n[1])<<24 | int(n[2])<<16 | int(n[3])<<8 | int(n[4]), at + 5
	}
}

// costs is a trie of 16-bit units, whose words have costs.
type costs struct{ nodes []uint16 }

func newCosts(file []byte) (*costs, error) {
	const kind = 1
	nodes, _, err := openTrie(file, kind)
	if err != nil {
		return nil, err
	}
	t := &costs{nodes: make([]uint16, len(nodes)/2)}
	for i := range t.nodes {
		t.nodes[i] = u16(nodes, 2*i)
	}
	return t, nil
}

// The lead units.
const (
	unitMatch    = 0x30
	unitValue    = 0x40 // and above; the highest bit says that it is final
	unitKind     = 0x3f // of the node that follows a value that is not final
	unitFinal    = 0x8000
	unitValueTwo = 0x4000 // the lead unit of values of two units, and so on
	unitValue3   = 0x7fff
	unitInnerTwo = 0x4040 // the same for a value that is not final
	unitInner3   = 0x7fc0
	unitStepTwo  = 0xfc00 // the lead unit of distances of two units, and so on
	unitStep3    = 0xffff
)

// next goes on from p by a character. Those beyond 16 bits are in no word.
func (t *costs) next(p *place, c rune) found {
	if p.left >= 0 {
		if rune(t.nodes[p.at]) != c {
			return foundNothing
		}
		p.at++
		p.left--
		return t.arrived(p)
	}
	at, lead := p.at+1, t.nodes[p.at]
	for {
		switch {
		case lead < unitMatch:
			return t.branch(p, at, int(lead), c)
		case lead < unitValue:
			if rune(t.nodes[at]) != c {
				return foundNothing
			}
			p.at, p.left = at+1, int(lead)-unitMatch-1
			return t.arrived(p)
		case lead&unitFinal != 0:
			return foundNothing
		case lead >= unitInner3:
			at += 2
		case lead >= unitInnerTwo:
			at++
		}
		lead &= unitKind
	}
}

// arrived says what is at p.
func (t *costs) arrived(p *place) found {
	if p.left >= 0 || t.nodes[p.at] < unitValue {
		return foundPrefix
	}
	if t.nodes[p.at]&unitFinal != 0 {
		return foundLast
	}
	return foundWord
}

// branch takes the way of c.
func (t *costs) branch(p *place, at, ways int, c rune) found {
	if ways == 0 {
		ways = int(t.nodes[at])
		at++
	}
	ways++
	for ways > maxWays {
		less := c < rune(t.nodes[at])
		step, after := t.step(at + 1)
		if less {
			ways, at = ways/2, after+step
		} else {
			ways, at = ways-ways/2, after
		}
	}
	for ; ways > 1; ways-- {
		match := rune(t.nodes[at]) == c
		final := t.nodes[at+1]&unitFinal != 0
		value, after := t.value(at + 1)
		switch {
		case match && final:
			p.at, p.left = at+1, -1
			return foundLast
		case match:
			p.at, p.left = after+value, -1
			return t.arrived(p)
		}
		at = after
	}
	if rune(t.nodes[at]) != c {
		return foundNothing
	}
	p.at, p.left = at+1, -1
	return t.arrived(p)
}

// cost returns the cost of the word that ends at p.
func (t *costs) cost(p place) int {
	n := t.nodes[p.at:]
	lead := int(n[0])
	switch {
	case lead&unitFinal != 0:
		value, _ := t.value(p.at)
		return value
	case lead < unitInnerTwo:
		return lead>>6 - 1
	case lead < unitInner3:
		return (lead&unitInner3-unitInnerTwo)<<10 | int(n[1])
	default:
		return int(n[1])<<16 | int(n[2])
	}
}

// value returns the final value at a place, or the distance of a way, and the place behind it.
func (t *costs) value(at int) (value, after int) {
	n := t.nodes[at:]
	switch lead := int(n[0] &^ unitFinal); {
	case lead < unitValueTwo:
		return lead, at + 1
	case lead < unitValue3:
		return (lead-unitValueTwo)<<16 | int(n[1]), at + 2
	default:
		return int(n[1])<<16 | int(n[2]), at + 3
	}
}

// step returns the distance at a place, and the place behind it.
func (t *costs) step(at int) (step, after int) {
	n := t.nodes[at:]
	switch lead := int(n[0]); {
	case lead < unitStepTwo:
		return lead, at + 1
	case lead < unitStep3:
		return (lead-unitStepTwo)<<16 | int(n[1]), at + 2
	default:
		return int(n[1])<<16 | int(n[2]), at + 3
	}
}
