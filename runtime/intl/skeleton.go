package intl

import (
	"strings"
)

// This file compares skeletons of dates as UTS 35, part 4, section 2.6.2.1
// "Matching Skeletons" says, with the distances that ICU gives to differences.

// fieldID is a field of a date, in order of size.
type fieldID int

const (
	fieldEra fieldID = iota
	fieldYear
	fieldMonth
	fieldWeekday
	fieldDay
	fieldPeriod
	fieldHour
	fieldMinute
	fieldSecond
	fieldFraction
	fieldZone
	fieldCount
)

type fieldMask uint

func (f fieldID) mask() fieldMask { return 1 << f }

const (
	dateMask  fieldMask = 1<<fieldPeriod - 1
	timeMask  fieldMask = 1<<fieldCount - 1 - dateMask
	everyMask fieldMask = 1<<fieldCount - 1
)

// Kinds of fields; a number's length is added to formNumeric.
const (
	formNumeric = 0x100
	formNarrow  = -0x101
	formShort   = -0x103
	formLong    = -0x104
	formDelta   = 0x10

	distanceExtra   = 0x10000
	distanceMissing = 0x1000
)

// letter is what one letter of a pattern stands for.
type letter struct {
	field   fieldID
	numeric bool
	delta   int // how far it is from the field's first letter
}

func letterOf(c byte) (letter, bool) {
	switch c {
	case 'G':
		return letter{fieldEra, false, 0}, true
	case 'y':
		return letter{fieldYear, true, 0}, true
	case 'M':
		return letter{fieldMonth, true, 0}, true
	case 'L':
		return letter{fieldMonth, true, 1}, true
	case 'E':
		return letter{fieldWeekday, false, 0}, true
	case 'c':
		return letter{fieldWeekday, true, 2}, true
	case 'd':
		return letter{fieldDay, true, 0}, true
	case 'a':
		return letter{fieldPeriod, false, 0}, true
	case 'b':
		return letter{fieldPeriod, false, 1}, true
	case 'B':
		return letter{fieldPeriod, false, 3}, true
	case 'h':
		return letter{fieldHour, true, 0}, true
	case 'K':
		return letter{fieldHour, true, 1}, true
	case 'H':
		return letter{fieldHour, true, 10}, true
	case 'k':
		return letter{fieldHour, true, 11}, true
	}
	return smallLetter(c)
}

func smallLetter(c byte) (letter, bool) {
	switch c {
	case 'm':
		return letter{fieldMinute, true, 0}, true
	case 's':
		return letter{fieldSecond, true, 0}, true
	case 'S':
		return letter{fieldFraction, true, 0}, true
	case 'z':
		return letter{fieldZone, false, 0}, true
	case 'O':
		return letter{fieldZone, false, 1}, true
	case 'v':
		return letter{fieldZone, false, 2}, true
	}
	return letter{}, false
}

// field is one field of a pattern: its letter and how often it stands there.
type field struct {
	letter byte
	length int
}

// form is the number by which fields are compared; 0 is no field.
func (f field) form() int {
	l, ok := letterOf(f.letter)
	if !ok || f.length == 0 {
		return 0
	}
	if l.numeric && (f.length <= 2 || l.field != fieldMonth && l.field != fieldWeekday) {
		return formNumeric + l.delta*formDelta + f.length
	}
	switch f.length {
	case 4:
		return formLong - l.delta*formDelta
	case 5:
		return formNarrow - l.delta*formDelta
	}
	return formShort - l.delta*formDelta
}

func (f field) isNumeric() bool { return f.form() > 0 }

// skeleton is the fields of a pattern, each at its place.
type skeleton [fieldCount]field

// parseSkeleton reads the letters of a skeleton or pattern, quoted text apart. A
// twelve-hour clock has a day period, a twenty-four-hour clock none.
func parseSkeleton(text string) skeleton {
	var s skeleton
	for piece := range patternPieces(text) {
		if piece.literal {
			continue
		}
		if l, ok := letterOf(piece.text[0]); ok {
			s[l.field] = field{piece.text[0], len(piece.text)}
		}
	}
	switch s[fieldHour].letter {
	case 'h', 'K':
		if s[fieldPeriod].length == 0 {
			s[fieldPeriod] = field{'a', 1}
		}
	case 'H', 'k':
		s[fieldPeriod] = field{}
	}
	return s
}

// String writes the skeleton's letters in the order of the fields.
func (s skeleton) String() string {
	var out strings.Builder
	for _, f := range s {
		out.WriteString(strings.Repeat(string(f.letter), f.length))
	}
	return out.String()
}

func (s skeleton) mask() fieldMask {
	var m fieldMask
	for id, f := range s {
		if f.length > 0 {
			m |= 1 << id
		}
	}
	return m
}

// base is the skeleton without how many digits its numbers have.
func (s skeleton) base() skeleton {
	for id, f := range s {
		switch {
		case f.isNumeric():
			s[id].length = 1
		case f.length > 0 && f.length < 3:
			s[id].length = 3
		}
	}
	return s
}

// only is the skeleton with the fields of a mask.
func (s skeleton) only(mask fieldMask) skeleton {
	for id := range s {
		if mask&(1<<id) == 0 {
			s[id] = field{}
		}
	}
	return s
}

// distance tells how far another skeleton is from the wanted fields of this one,
// and which of those it lacks or has in addition.
func (s skeleton) distance(other skeleton, wanted fieldMask) (distance int, missing, extra fieldMask) {
	for id := range s {
		mine, theirs := 0, other[id].form()
		if wanted&(1<<id) != 0 {
			mine = s[id].form()
		}
		switch {
		case mine == theirs:
		case mine == 0:
			distance += distanceExtra
			extra |= 1 << id
		case theirs == 0:
			distance += distanceMissing
			missing |= 1 << id
		default:
			distance += max(mine-theirs, theirs-mine)
		}
	}
	return distance, missing, extra
}

// piece is a field or literal text of a pattern.
type piece struct {
	text    string
	literal bool
}

// patternPieces cuts a pattern into fields and literal text, which is unquoted.
func patternPieces(pattern string) func(yield func(piece) bool) {
	return func(yield func(piece) bool) {
		for at := 0; at < len(pattern); {
			if isLetter(pattern[at]) {
				end := at + 1
				for end < len(pattern) && pattern[end] == pattern[at] {
					end++
				}
				if !yield(piece{pattern[at:end], false}) {
					return
				}
				at = end
				continue
			}
			text, end := literalAt(pattern, at)
			if !yield(piece{text, true}) {
				return
			}
			at = end
		}
	}
}

// literalAt reads literal text up to the next field.
func literalAt(pattern string, at int) (text string, end int) {
	var out strings.Builder
	quoted := false
	for ; at < len(pattern); at++ {
		c := pattern[at]
		switch {
		case c == '\'' && strings.HasPrefix(pattern[at+1:], "'"):
			out.WriteByte(c)
			at++
		case c == '\'':
			quoted = !quoted
		case !quoted && isLetter(c):
			return out.String(), at
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), at
}

// quoteLiteral writes literal text into a pattern.
func quoteLiteral(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r < 0x80 && isLetter(byte(r)) || r == '\'' }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
