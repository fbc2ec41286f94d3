package dictionary

import (
	"fmt"
	"unicode/utf8"
)

// This file reads and runs compiled rules of ICU's break iterators, format 6: a table that gives each character a category, and
// a state machine over categories.

// rules are those of one kind of segments.
type rules struct {
	categories codePoints
	ascii      [utf8.RuneSelf]uint16 // the categories of these
	table      []uint16              // rows of the state machine
	row        int                   // numbers of a row
	dictionary uint16                // the first category of characters for dictionaries
	statuses   []int32
	marks      int // how many places of a text the look-ahead may remember
	anchored   bool
}

// The first numbers of a row, before the next state of each category.
const (
	rowAccepting = iota
	rowLookAhead
	rowStatus
	rowNext
)

const (
	categoryEnd   = 1 // of the text
	categoryBegin = 2 // of the text, for rules that begin with ^
	stateStop     = 0
	stateStart    = 1
	leastLike     = 100 // the least status of a word that is like one
)

// piece is a run of text that the rules keep together.
type piece struct {
	size     int
	like     bool
	unspaced bool // characters for dictionaries were seen
}

//nolint:gochecknoglobals // the rules of a process
var (
	wordRules     = loaded("word.brk", newRules)
	sentenceRules = loaded("sent.brk", newRules)
	greekRules    = loaded("sent_el.brk", newRules)
)

// newRules reads the file. It comes from the build, so only its version is checked.
func newRules(file []byte) (*rules, error) {
	const (
		magic            = 0xb1a0
		version          = 6
		headVersion      = 4
		headForward      = 16
		headCategories   = 32
		headStatuses     = 48
		headStatusesSize = 52
		tableStates      = 0
		tableRow         = 4
		tableDictionary  = 8
		tableMarks       = 12
		tableFlags       = 16
		tableRows        = 20
		flagAnchored     = 2
		flagNarrow       = 4
	)
	if len(file) < headStatusesSize+4 || u32(file, 0) != magic || file[headVersion] != version {
		return nil, fmt.Errorf("rules of segments are not of format %d", version)
	}
	table := file[u32(file, headForward):]
	r := &rules{
		row: int(u32(table, tableRow)), dictionary: uint16(u32(table, tableDictionary)), marks: int(u32(table, tableMarks)),
		anchored: u32(table, tableFlags)&flagAnchored != 0,
	}
	rows := table[tableRows:][:int(u32(table, tableStates))*r.row]
	if u32(table, tableFlags)&flagNarrow != 0 {
		for _, b := range rows {
			r.table = append(r.table, uint16(b))
		}
	} else {
		r.row /= 2
		for at := 0; at < len(rows); at += 2 {
			r.table = append(r.table, u16(rows, at))
		}
	}
	statuses := file[u32(file, headStatuses):][:u32(file, headStatusesSize)]
	for at := 0; at+4 <= len(statuses); at += 4 {
		r.statuses = append(r.statuses, int32(u32(statuses, at)))
	}
	var err error
	if r.categories, err = newCodePoints(file[u32(file, headCategories):]); err != nil {
		return nil, err
	}
	for c := range r.ascii {
		r.ascii[c] = r.categories.of(rune(c))
	}
	return r, nil
}

// unspaced reports whether c is a letter of a script without spaces between words.
func (r *rules) unspaced(c rune) bool { return r.categories.of(c) >= r.dictionary }

// next returns the piece that the text begins with; the text is not empty.
func (r *rules) next(text string) piece {
	state, at := stateStart, 0
	size, status, unspaced := 0, uint16(0), false
	var marks []int // positions at which the look-ahead may end
	if r.anchored {
		state = int(r.table[state*r.row+rowNext+categoryBegin])
	}
	for over := false; state != stateStop && !over; {
		category := uint16(categoryEnd)
		switch over = at == len(text); {
		case over:
		case text[at] < utf8.RuneSelf:
			category = r.ascii[text[at]]
			at++
		default:
			c, bytes := utf8.DecodeRuneInString(text[at:])
			category = r.categories.of(c)
			unspaced = unspaced || category >= r.dictionary
			at += bytes
		}
		state = int(r.table[state*r.row+rowNext+int(category)])
		row := r.table[state*r.row:][:rowNext]
		if row[rowAccepting] == 1 {
			size, status = at, row[rowStatus]
		} else if accepting := int(row[rowAccepting]); accepting > 1 && accepting < len(marks) && marks[accepting] > 0 {
			return piece{size: marks[accepting], like: r.like(row[rowStatus]), unspaced: unspaced}
		}
		if row[rowLookAhead] != 0 {
			if marks == nil {
				marks = make([]int, r.marks)
			}
			marks[row[rowLookAhead]] = at
		}
	}
	if size == 0 { // no rule matched
		_, size = utf8.DecodeRuneInString(text)
		status = 0
	}
	return piece{size: size, like: r.like(status), unspaced: unspaced}
}

// like reports whether the segment with a list of statuses, the highest last, is word-like.
func (r *rules) like(list uint16) bool {
	return r.statuses[int(list)+int(r.statuses[list])] >= leastLike
}

// codePoints is a map from code points to numbers, in ICU's format "Tri3".
type codePoints struct {
	index     []uint16
	values    []uint16
	small     bool
	highStart rune
}

func newCodePoints(file []byte) (codePoints, error) {
	const (
		magic  = 0x54726933
		header = 16
	)
	if len(file) < header || u32(file, 0) != magic {
		return codePoints{}, fmt.Errorf("the table of characters is not of ICU's format")
	}
	options := u16(file, 4)
	t := codePoints{small: options>>6&3 == 1, highStart: rune(u16(file, 14)) << 9}
	at := header
	for range u16(file, 6) {
		t.index = append(t.index, u16(file, at))
		at += 2
	}
	width := []int{2, 4, 1, 1}[options&3]
	for range int(options>>12)<<16 | int(u16(file, 8)) {
		value := uint16(file[at])
		if width > 1 {
			value = u16(file, at)
		}
		t.values = append(t.values, value)
		at += width
	}
	return t, nil
}

// of returns the number of c.
func (t *codePoints) of(c rune) uint16 {
	const (
		fastShift    = 6
		fastMask     = 1<<fastShift - 1
		smallMax     = 0xfff
		smallMask    = 0xf
		bmpIndex     = 1024
		bmpOmitted   = 4
		smallIndex   = 64
		highFromLast = 2
	)
	fast := rune(0xffff)
	if t.small {
		fast = smallMax
	}
	var at int
	switch {
	case c <= fast:
		at = int(t.index[c>>fastShift]) + int(c&fastMask)
	case c >= t.highStart:
		at = len(t.values) - highFromLast
	default:
		i1 := int(c >> 14)
		if t.small {
			i1 += smallIndex
		} else {
			i1 += bmpIndex - bmpOmitted
		}
		block := int(t.index[int(t.index[i1])+int(c>>9&0x1f)])
		i3 := int(c >> 4 & 0x1f)
		if block&0x8000 == 0 {
			at = int(t.index[block+i3])
		} else { // eight block numbers of 18 bits have nine places
			block = block&0x7fff + i3&^7 + i3>>3
			i3 &= 7
			at = int(t.index[block])<<(2+2*i3)&0x30000 | int(t.index[block+1+i3])
		}
		at += int(c & smallMask)
	}
	return t.values[at]
}
