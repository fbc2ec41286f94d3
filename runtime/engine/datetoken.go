package engine

// dateToken is a number, a word or a mark in the text of a date.
type dateToken struct {
	kind   dateKind
	value  int // of a number or a word; the character of a mark
	length int // characters of a number or a word
}

type dateKind byte

const (
	dateEnd dateKind = iota
	dateNumber
	dateMark  // one of : - + . )
	dateSpace // one character of it
	dateOther
	dateMonth // value from 1
	dateHalf  // AM or PM, value is 0 or 12
	dateZone  // value is its offset in hours
	dateT
	dateWord // that is none of these
)

func (t dateToken) isMark(c int) bool   { return t.kind == dateMark && t.value == c }
func (t dateToken) isSign() bool        { return t.isMark('+') || t.isMark('-') }
func (t dateToken) isDigits(n int) bool { return t.kind == dateNumber && t.length == n }
func (t dateToken) isZ() bool           { return t.kind == dateZone && t.length == 1 }

// inRange reports whether the token is two digits from low to high.
func (t dateToken) inRange(low, high int) bool {
	return t.isDigits(2) && t.value >= low && t.value <= high
}

// thousandths is a number as digits after a decimal point.
func (t dateToken) thousandths() int {
	n := t.value
	for length := min(t.length, dateDigits); length != 3; {
		if length < 3 {
			n, length = n*10, length+1
		} else {
			n, length = n/10, length-1
		}
	}
	return n
}

// dateDigits are the digits of a number that count, from the first that is not 0.
const dateDigits = 9

// dateWords are the known words, of three letters or fewer.
var dateWords = func() map[string]dateToken {
	words := map[string]dateToken{"am": {kind: dateHalf}, "pm": {kind: dateHalf, value: 12}, "t": {kind: dateT}}
	for i, name := range []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"} {
		words[name] = dateToken{kind: dateMonth, value: i + 1}
	}
	for name, hours := range map[string]int{
		"ut": 0, "utc": 0, "z": 0, "gmt": 0, "edt": -4, "est": -5, "cdt": -5, "cst": -6, "mdt": -6, "mst": -7, "pdt": -7, "pst": -8,
	} {
		words[name] = dateToken{kind: dateZone, value: hours}
	}
	return words
}()

// dateReader splits a text into tokens.
type dateReader struct {
	units []byte
	wide  bool
	at    int // the next character
	peek  dateToken
	pause func() // called now and then
}

// unit is the next character; 0 after the last.
func (r *dateReader) unit() int {
	switch {
	case r.wide && r.at*2 < len(r.units):
		return int(r.units[r.at*2]) | int(r.units[r.at*2+1])<<8
	case !r.wide && r.at < len(r.units):
		return int(r.units[r.at])
	}
	return 0
}

// isDateSpace is whitespace, line ends included.
func isDateSpace(c int) bool {
	switch c {
	case ' ', '\t', '\n', '\v', '\f', '\r', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return c >= 0x2000 && c <= 0x200a
}

func isDateLetter(c int) bool { return c >= 'A' && (c < 0x80 || !isDateSpace(c)) }

// next returns peek and reads the token after it.
func (r *dateReader) next() dateToken {
	t := r.peek
	r.peek = r.read()
	return t
}

// skip steps over the mark c, and reports whether it was there.
func (r *dateReader) skip(c int) bool {
	if !r.peek.isMark(c) {
		return false
	}
	r.next()
	return true
}

func (r *dateReader) read() dateToken {
	start, c := r.at, r.unit()
	switch {
	case c == 0:
		return dateToken{}
	case c >= '0' && c <= '9':
		n, counted := 0, 0
		for ; c >= '0' && c <= '9'; c = r.step() {
			if counted < dateDigits {
				n = n*10 + c - '0'
			}
			if n > 0 {
				counted++
			}
		}
		return dateToken{dateNumber, n, r.at - start}
	case isDateLetter(c):
		return r.word()
	}
	switch r.step(); {
	case c == ':' || c == '-' || c == '+' || c == '.' || c == ')':
		return dateToken{kind: dateMark, value: c}
	case isDateSpace(c):
		return dateToken{kind: dateSpace}
	case c == '(':
		for depth := 1; depth > 0 && r.unit() != 0; r.step() {
			switch r.unit() {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
	}
	return dateToken{kind: dateOther}
}

// step advances by one character and returns the next one.
func (r *dateReader) step() int {
	if r.at++; r.at%pace == 0 {
		r.pause()
	}
	return r.unit()
}

// word reads letters. Of months three letters count; other words with more are unknown.
func (r *dateReader) word() dateToken {
	var first [3]byte
	n := 0
	for c := r.unit(); isDateLetter(c); c = r.step() {
		switch {
		case n >= len(first):
		case c >= 'A' && c <= 'Z':
			first[n] = byte(c + 'a' - 'A')
		case c < 0x80:
			first[n] = byte(c)
		}
		n++
	}
	known, ok := dateWords[string(first[:min(n, len(first))])]
	if !ok || n > len(first) && known.kind != dateMonth {
		return dateToken{dateWord, 0, n}
	}
	known.length = n
	return known
}
