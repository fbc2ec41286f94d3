package engine

import "math"

// This file parses dates like V8. The standard has one format for Date.parse (ECMA-262, 21.4.1.32) and leaves all others to
// the engine. Packages pass the input of forms and the output of toLocaleString, which must mean the same here as in
// production. A text is read in the standard's format as far as possible, with any number of digits for a fraction of a
// second, four for an offset, and lower case; after a T it must continue in that format. Otherwise these rules apply to the
// rest:
//
//   - parentheses, whitespace and any character but numbers, letters and : - + . ) separate; before the first number, so do
//     all words and signs;
//   - a number before a colon belongs to the time of day, as does the one after it; the time ends where neither a colon nor
//     a full stop follows;
//   - a sign after a time or after GMT begins an offset: h, hh, hmm, hhmm or h:mm;
//   - words are months, of which three letters count, AM and PM, and zones;
//   - other numbers, three at most, are the date: month, day and year, or the year first where the first number is not a day;
//     with the month as a word, the first number that is not a day is the year. Years below 100 are those from 1950 to 2049; a
//     missing year is 2001, and a missing day or month is 1.

// date is the parts of a date that were read.
type date struct {
	days     []int // numbers of the date, three at most
	month    int   // by its name; 0 for none
	standard bool
	clock    []int // hours, minutes, seconds, milliseconds
	half     int   // 0 for AM, 12 for PM, -1 for neither
	zone     offset

	dayArray   [3]int // of days
	clockArray [4]int // of clock
}

// offset is a zone's offset from UTC; -1 for hours and minutes not read yet.
type offset struct{ sign, hours, minutes int }

func (o *offset) set(hours int) {
	*o = offset{sign: 1, hours: hours}
	if hours < 0 {
		*o = offset{sign: -1, hours: -hours}
	}
}

// parseDate returns the time of a text in milliseconds since 1970, or NaN.
func parseDate(units []byte, wide bool, pause func()) float64 {
	r := &dateReader{units: units, wide: wide, pause: pause}
	r.next()
	d := &date{half: -1, zone: offset{hours: -1, minutes: -1}}
	d.days, d.clock = d.dayArray[:0], d.clockArray[:0]
	if rest, ok := r.standard(d); ok && r.loose(d, rest) {
		if ms, ok := d.time(); ok {
			return float64(ms)
		}
	}
	return math.NaN()
}

// standard reads the part of the text in the standard's format, and returns the token after it; not ok if no other format may follow.
func (r *dateReader) standard(d *date) (rest dateToken, ok bool) {
	switch {
	case r.peek.isSign():
		sign := r.next()
		if !r.peek.isDigits(6) {
			return sign, true
		}
		year := (',' - sign.value) * r.next().value
		if year == 0 && sign.isMark('-') {
			return sign, true // V8 ignores the remaining sign
		}
		d.days = append(d.days, year)
	case r.peek.isDigits(4):
		d.days = append(d.days, r.next().value)
	default:
		return r.next(), true
	}
	for _, most := range []int{12, 31} {
		if !r.skip('-') {
			break
		}
		if !r.peek.inRange(1, most) {
			return r.next(), true
		}
		d.days = append(d.days, r.next().value)
	}
	if r.peek.kind != dateT {
		if r.peek.kind != dateEnd {
			return r.next(), true
		}
	} else if r.next(); !r.standardClock(d) || !r.standardZone(d) || r.peek.kind != dateEnd {
		return dateToken{}, false
	}
	if d.zone.hours < 0 && len(d.clock) == 0 {
		d.zone.set(0)
	}
	d.standard = true
	return dateToken{}, true
}

// standardClock reads HH:mm[:ss[.sss]], where 24 is the end of the day.
func (r *dateReader) standardClock(d *date) bool {
	if !r.peek.inRange(0, 24) {
		return false
	}
	hours, most := r.next().value, 59
	if hours == 24 {
		most = 0
	}
	if !r.skip(':') || !r.peek.inRange(0, most) {
		return false
	}
	d.clock = append(d.clock, hours, r.next().value)
	if !r.skip(':') {
		return true
	}
	if !r.peek.inRange(0, most) {
		return false
	}
	d.clock = append(d.clock, r.next().value)
	if !r.skip('.') {
		return true
	}
	if r.peek.kind != dateNumber || most == 0 && r.peek.value > 0 {
		return false
	}
	d.clock = append(d.clock, r.next().thousandths())
	return true
}

// standardZone reads nothing, Z, or an offset of hh:mm or hhmm.
func (r *dateReader) standardZone(d *date) bool {
	switch {
	case r.peek.isZ():
		r.next()
		d.zone.set(0)
	case r.peek.isSign():
		d.zone.sign = ',' - r.next().value
		switch {
		case r.peek.isDigits(4):
			n := r.next().value
			d.zone.hours, d.zone.minutes = n/100, n%100
		case r.peek.isDigits(2):
			d.zone.hours = r.next().value
			if !r.skip(':') || !r.peek.isDigits(2) {
				return false
			}
			d.zone.minutes = r.next().value
		default:
			return false
		}
		return d.zone.hours < 24 && d.zone.minutes < 60
	}
	return true
}

// loose reads from t on, without a format.
func (r *dateReader) loose(d *date, t dateToken) bool {
	for numbered := len(d.days) > 0; t.kind != dateEnd; t = r.next() {
		switch {
		case t.kind == dateNumber:
			numbered = true
			if !r.number(d, t) {
				return false
			}
		case t.kind == dateHalf && len(d.clock) > 0:
			d.half = t.value
		case t.kind == dateMonth:
			d.month = t.value
			r.skip('-')
		case t.kind == dateZone && numbered:
			d.zone.set(t.value)
		case t.kind >= dateMonth:
			if numbered || r.peek.kind == dateNumber {
				return false
			}
		case t.isSign() && (d.zone.hours == 0 && d.zone.minutes == 0 || len(d.clock) > 0):
			numbered = true
			if !r.offset(d, t) {
				return false
			}
		case (t.isSign() || t.isMark(')')) && numbered:
			return false
		}
	}
	return true
}

// number reads a number by its place.
func (r *dateReader) number(d *date, t dateToken) bool {
	if r.skip(':') {
		return r.colon(d, t)
	}
	if r.skip('.') && d.expects(t.value) {
		d.tick(t.value)
		if r.peek.kind != dateNumber {
			return false
		}
		d.lastTick(r.next().thousandths())
		return true
	}
	switch {
	case d.zone.hours >= 0 && d.zone.minutes < 0 && t.value < 60:
		d.zone.minutes = t.value
		return true
	case d.expects(t.value):
		d.lastTick(t.value)
		return r.peek.kind == dateEnd || r.peek.kind == dateSpace || r.peek.isZ() || r.peek.isSign()
	case len(d.days) == cap(d.days):
		return false
	}
	d.days = append(d.days, t.value)
	r.skip('-')
	return true
}

// colon reads a number before one colon, which was read, or two.
func (r *dateReader) colon(d *date, t dateToken) bool {
	if r.skip(':') {
		return len(d.clock) == 0 && d.tick(t.value) && d.tick(0)
	}
	if !d.tick(t.value) {
		return false
	}
	r.skip('.')
	return true
}

// offset reads the offset after sign. It may be empty.
func (r *dateReader) offset(d *date, sign dateToken) bool {
	d.zone.sign = ',' - sign.value
	var n dateToken
	if r.peek.kind == dateNumber {
		n = r.next()
	}
	switch {
	case r.peek.isMark(':'):
		d.zone.hours, d.zone.minutes = n.value, -1
	case n.length == 1 || n.length == 2:
		d.zone.hours, d.zone.minutes = n.value, 0
	case n.length == 3 || n.length == 4:
		d.zone.hours, d.zone.minutes = n.value/100, n.value%100
	default:
		return false
	}
	return true
}

// tick adds n to the time of day; false when that is full.
func (d *date) tick(n int) bool {
	if len(d.clock) == cap(d.clock) {
		return false
	}
	d.clock = append(d.clock, n)
	return true
}

// lastTick adds n as the last part.
func (d *date) lastTick(n int) {
	d.tick(n)
	for d.tick(0) {
	}
}

// expects reports whether n may be the next part of the time of day.
func (d *date) expects(n int) bool {
	switch len(d.clock) {
	case 1, 2:
		return n < 60
	case 3:
		return n < 1000
	}
	return false
}

func isDay(n int) bool { return n >= 1 && n <= 31 }

// ymd returns the date of the numbers.
func (d *date) ymd() (year, month, day int, ok bool) {
	n := [3]int{1, 1, 1}
	copy(n[:], d.days)
	switch first := n[0]; {
	case d.month > 0 && isDay(first):
		year, month, day = n[1], d.month, first
	case d.month > 0:
		year, month, day = first, d.month, n[1]
	case d.standard || !isDay(first):
		year, month, day = first, n[1], n[2]
	default:
		year, month, day = n[2], first, n[1]
	}
	if !d.standard && year >= 0 && year < 100 {
		year += 1900
		if year < 1950 {
			year += 100
		}
	}
	return year, month, day, len(d.days) > 0 && month >= 1 && month <= 12 && isDay(day) && year <= latestYear
}

// time returns the time in milliseconds since 1970.
func (d *date) time() (ms int64, ok bool) {
	year, month, day, ok := d.ymd()
	for d.tick(0) {
	}
	hours, rest := d.clock[0], d.clock[1]|d.clock[2]|d.clock[3]
	if d.half >= 0 {
		if hours > 12 {
			return 0, false
		}
		hours = hours%12 + d.half
	}
	inRange := hours < 24 && d.clock[1] < 60 && d.clock[2] < 60 && d.clock[3] < 1000
	if !ok || !inRange && (hours != 24 || rest != 0) {
		return 0, false
	}
	ms = (((daysTo(year, month, day)*24+int64(hours))*60+int64(d.clock[1]))*60+int64(d.clock[2]))*1000 + int64(d.clock[3])
	if d.zone.sign != 0 {
		ahead := int64(max(d.zone.hours, 0))*3600 + int64(max(d.zone.minutes, 0))*60
		ms -= int64(d.zone.sign) * ahead * 1000
	}
	return ms, ms >= -latestDate && ms <= latestDate
}

const (
	// latestDate is the most that a Date is before or after 1970 (ECMA-262, 21.4.1.1).
	latestDate = 8.64e15
	// latestYear is above that of any Date.
	latestYear = 300_000
)

// daysTo returns the days since the first of January 1970.
func daysTo(year, month, day int) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 { // a year that ends with February
		y, m = y-1, m+12
	}
	era := y / 400
	if y < 0 {
		era = (y - 399) / 400
	}
	y -= era * 400
	return era*146097 + y*365 + y/4 - y/100 + (153*(m-3)+2)/5 + int64(day) - 1 - 719468
}

// parseDateArgument is Date.parse: it writes the time of the argument at stack[0] into the scratch block, or that its
// ToString threw.
func parseDateArgument(vm *VM, stack []uint64) {
	v := Value(vm.readU64(uint32(stack[0])))
	units, wide, ok := vm.stringUnits(v)
	if !ok {
		wide = true
		if ptr := vm.call32(fnToWideString, uint64(vm.js), uint64(vm.scratch), uint64(v)); ptr != 0 {
			ok = true
			units = vm.read(ptr, 2*vm.readU32(vm.scratch))
			defer vm.call(fnFreeWideString, uint64(vm.js), uint64(ptr))
		}
	}
	result := makeValue(tagException, 0)
	if ok {
		result = floatValue(parseDate(units, wide, vm.Interrupt))
	}
	vm.mem.writeU64(vm.scratch, uint64(result))
	stack[0] = uint64(vm.scratch)
}
