package intl

import (
	"iter"
	"strings"
)

// This file compares skeletons of dates (UTS 35, part 4, section 2.6.2.1 "Matching Skeletons"), with ICU's distances.

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

// letter is the meaning of one letter of a pattern.
type letter struct {
	known   bool
	field   fieldID
	numeric bool
	delta   int // its distance from the field's first letter
}

var patternLetters = [256]letter{ //nolint:gochecknoglobals // a table
	'G': {true, fieldEra, false, 0},
	'y': {true, fieldYear, true, 0},
	'M': {true, fieldMonth, true, 0},
	'L': {true, fieldMonth, true, 1},
	'E': {true, fieldWeekday, false, 0},
	'c': {true, fieldWeekday, true, 2},
	'd': {true, fieldDay, true, 0},
	'a': {true, fieldPeriod, false, 0},
	'b': {true, fieldPeriod, false, 1},
	'B': {true, fieldPeriod, false, 3},
	'h': {true, fieldHour, true, 0},
	'K': {true, fieldHour, true, 1},
	'H': {true, fieldHour, true, 10},
	'k': {true, fieldHour, true, 11},
	'm': {true, fieldMinute, true, 0},
	's': {true, fieldSecond, true, 0},
	'S': {true, fieldFraction, true, 0},
	'z': {true, fieldZone, false, 0},
	'O': {true, fieldZone, false, 1},
	'v': {true, fieldZone, false, 2},
}

// field is one field of a pattern: its letter and how often it is repeated.
type field struct {
	letter byte
	length int
}

// form is the number for comparisons of fields; 0 means no field.
func (f field) form() int {
	l := patternLetters[f.letter]
	if !l.known || f.length == 0 {
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

// parseSkeleton reads the letters of a skeleton or pattern, except for quoted text. A twelve-hour clock has a day period, a
// twenty-four-hour clock none.
func parseSkeleton(text string) skeleton {
	var s skeleton
	for piece := range patternPieces(text) {
		if piece.literal {
			continue
		}
		if l := patternLetters[piece.text[0]]; l.known {
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

// base is the skeleton without the number of digits.
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

func (s skeleton) keepFields(mask fieldMask) skeleton {
	for id := range s {
		if mask&(1<<id) == 0 {
			s[id] = field{}
		}
	}
	return s
}

// distance returns the distance of another skeleton from the wanted fields of this one, and the fields that it lacks or has in addition.
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
func patternPieces(pattern string) iter.Seq[piece] {
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
