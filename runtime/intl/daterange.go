package intl

import (
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// This file formats intervals (UTS 35, part 4, section 2.6.3).

// formatRange formats from … to; common fields are written once.
func (f *dateFormat) formatRange(from, to time.Time) []rangePart {
	if f.hebrew { // only for a single date
		plain := *f
		plain.hebrew = false
		f = &plain
	}
	have := parseSkeleton(f.s.Pattern)
	id, differ := f.largestDifference(from, to)
	if standAlone := have[fieldMonth].letter == 'L' ||
		have[fieldWeekday].letter == 'c'; standAlone && !slices.Equal(f.format(from), f.format(to)) {
		return f.fallbackRange(f.pieces, from, to) // to ICU they are fields that no interval has
	}
	if wider := have.addDistinct(id); differ && wider != have {
		have = wider
		pattern := withHours(patternsOf(f.data).best(have), have[fieldHour].letter)
		if have.mask()&timeMask != 0 {
			return f.fallbackRange(slices.Collect(patternPieces(pattern)), from, to)
		}
		return f.intervalOf(have, slices.Collect(patternPieces(pattern)), id, from, to)
	}
	if !differ || slices.Equal(f.format(from), f.format(to)) {
		return withSource(f.format(from), "shared")
	}
	if have.mask()&dateMask != 0 && have.mask()&timeMask != 0 {
		if id <= fieldDay || id == fieldWeekday {
			pattern := withHours(patternsOf(f.data).best(have), have[fieldHour].letter)
			return f.fallbackRange(slices.Collect(patternPieces(pattern)), from, to)
		}
		return f.timeRange(have, id, from, to)
	}
	return f.intervalOf(have, f.pieces, id, from, to)
}

// addDistinct adds the fields of the date without which the two ends of a range look like the same day.
func (s skeleton) addDistinct(id fieldID) skeleton {
	timeOnly := s.mask()&dateMask == 0
	if id > fieldDay || id == fieldWeekday {
		return s
	}
	add := func(f fieldID, letter byte) {
		if s[f].length == 0 {
			s[f] = field{letter, 1}
		}
	}
	switch {
	case timeOnly:
		add(fieldYear, 'y')
		add(fieldMonth, 'M')
		add(fieldDay, 'd')
	case s[fieldDay].length > 0 && id <= fieldMonth:
		add(fieldMonth, 'M')
		if id <= fieldYear {
			add(fieldYear, 'y')
		}
	case s[fieldMonth].length > 0 && id <= fieldYear:
		add(fieldYear, 'y')
	}
	return s
}

// largestDifference is the largest field in which two instants differ.
func (f *dateFormat) largestDifference(a, b time.Time) (fieldID, bool) {
	from, to := f.date(a), f.date(b)
	for _, c := range []struct {
		id   fieldID
		same bool
	}{
		{fieldEra, from.era == to.era},
		{fieldYear, from.year == to.year},
		{fieldMonth, from.month == to.month},
		{fieldDay, from.day == to.day},
		{fieldPeriod, a.Hour()/12 == b.Hour()/12},
		{fieldHour, a.Hour() == b.Hour()},
		{fieldMinute, a.Minute() == b.Minute()},
		{fieldSecond, a.Second() == b.Second()},
		{fieldFraction, a.Nanosecond() == b.Nanosecond()},
	} {
		if !c.same {
			return c.id, true
		}
	}
	return 0, false
}

func (f *dateFormat) fallbackRange(pieces []piece, from, to time.Time) []rangePart {
	var out []rangePart
	for _, p := range placeholders(f.data.Text("interval/")) {
		switch p {
		case "{0}":
			out = append(out, wholeEnd(f.formatPieces(pieces, from), "startRange")...)
		case "{1}":
			out = append(out, wholeEnd(f.formatPieces(pieces, to), "endRange")...)
		default:
			out = append(out, rangePart{part{"literal", commonSpaces.Replace(p)}, "shared"})
		}
	}
	return joinLiterals(out)
}

func wholeEnd(parts []part, source string) []rangePart {
	out := withSource(parts, source)
	for _, at := range []int{0, len(out) - 1} {
		if at >= 0 && out[at].kind == "literal" {
			out[at].source = "shared"
		}
	}
	return out
}

func (f *dateFormat) timeRange(have skeleton, id fieldID, from, to time.Time) []rangePart {
	patterns := patternsOf(f.data)
	if f.intervalPattern(have.keepFields(timeMask), id) == "" { // the times are written in full
		have = have.forInterval()
	}
	clock := have.keepFields(timeMask)
	datePattern := patterns.best(have.keepFields(dateMask))
	timePattern := withHours(patterns.best(clock), have[fieldHour].letter)
	interval := f.intervalOf(clock, slices.Collect(patternPieces(timePattern)), id, from, to)
	var out []rangePart
	for _, p := range placeholders(f.data.Text("glue/medium")) {
		switch p {
		case "{1}":
			out = append(out, withSource(f.formatPieces(slices.Collect(patternPieces(datePattern)), from), "shared")...)
		case "{0}":
			out = append(out, interval...)
		default:
			for literal := range patternPieces(p) {
				out = append(out, rangePart{part{"literal", literal.text}, "shared"})
			}
		}
	}
	return joinLiterals(out)
}

func joinLiterals(parts []rangePart) []rangePart {
	var out []rangePart
	for _, p := range parts {
		if n := len(out); n > 0 && p.kind == "literal" && out[n-1].kind == "literal" && out[n-1].source == p.source {
			out[n-1].text += p.text
			continue
		}
		out = append(out, p)
	}
	return out
}

// intervalOf formats by the locale's interval pattern for the skeleton and the field that differs.
func (f *dateFormat) intervalOf(have skeleton, pieces []piece, id fieldID, from, to time.Time) []rangePart {
	pattern := f.intervalPattern(have, id)
	if pattern == "" {
		return f.fallbackRange(pieces, from, to)
	}
	all := slices.Collect(patternPieces(pattern))
	var seen fieldMask
	second := slices.IndexFunc(all, func(p piece) bool { // it begins at the first field that is repeated
		l := patternLetters[p.text[0]]
		if p.literal || !l.known {
			return false
		}
		repeated := seen&l.field.mask() != 0
		seen |= l.field.mask()
		return repeated
	})
	if second < 0 {
		second = len(all)
	}
	return markEnds(f.formatPieces(all[:second], from), f.formatPieces(all[second:], to))
}

// markEnds marks the parts of one end: from the first to the last field that both ends have.
func markEnds(start, end []part) []rangePart {
	in := func(list []part, kind string) bool {
		return kind != "literal" && slices.ContainsFunc(list, func(p part) bool { return p.kind == kind })
	}
	mark := func(list, other []part, source string) []rangePart {
		first, last := -1, -1
		for i, p := range list {
			if in(other, p.kind) {
				if first < 0 {
					first = i
				}
				last = i
			}
		}
		out := withSource(list, "shared")
		for i := max(first, 0); i <= last; i++ {
			out[i].source = source
		}
		return out
	}
	return joinLiterals(append(mark(start, end, "startRange"), mark(end, start, "endRange")...))
}

// intervalPattern finds the pattern and gives its fields the lengths of the skeleton; "" when there is none for that difference.
func (f *dateFormat) intervalPattern(have skeleton, id fieldID) string {
	if have[fieldHour].letter != 'h' && have[fieldHour].letter != 'K' && id == fieldPeriod {
		id = fieldHour
	}
	have = have.forInterval()
	want := have
	switch want[fieldHour].letter {
	case 'K':
		want[fieldHour].letter = 'h'
	case 'k':
		want[fieldHour].letter = 'H'
	}
	if want[fieldZone].letter == 'z' {
		want[fieldZone].letter = 'v'
	}
	key := nearestInterval(f.data, want)
	if key == "" {
		return ""
	}
	letters := [fieldCount]string{
		fieldEra: "G", fieldYear: "y", fieldMonth: "M", fieldDay: "d", fieldPeriod: "aB", fieldHour: "hH",
		fieldMinute: "m",
	}[id]
	for _, c := range letters {
		if pattern, ok := f.data.Find("interval/" + key + "/" + string(c)); ok {
			adjusted := adjustInterval(pattern, parseSkeleton(key), have)
			if have[fieldHour].length > 0 {
				adjusted = withHours(adjusted, have[fieldHour].letter)
			}
			return adjusted
		}
	}
	return ""
}

// forInterval is the skeleton with the shortest numbers, weekday and zone: with that ICU finds and formats an interval.
func (s skeleton) forInterval() skeleton {
	for _, id := range []fieldID{fieldMonth, fieldWeekday, fieldDay, fieldHour, fieldMinute, fieldZone} {
		switch f := &s[id]; {
		case id == fieldMonth && f.length > 2, id == fieldWeekday && f.length > 3:
		default:
			f.length = min(f.length, 1)
		}
	}
	return s
}

// nearestInterval is the interval skeleton with the same fields, of the nearest lengths; "" for none.
func nearestInterval(data *cldr.Locale, want skeleton) string {
	best, shortest := "", -1
	for _, key := range data.Keys("interval/") {
		name, _, ok := strings.Cut(key, "/")
		if !ok || name == best {
			continue
		}
		d, missing, extra := want.distance(parseSkeleton(name), everyMask)
		if missing == 0 && extra == 0 && (shortest < 0 || d < shortest) {
			best, shortest = name, d
		}
	}
	return best
}

// adjustInterval changes the lengths of fields at each occurrence.
func adjustInterval(pattern string, from, want skeleton) string {
	var out strings.Builder
	for p := range patternPieces(pattern) {
		l := patternLetters[p.text[0]]
		if p.literal || !l.known {
			out.WriteString(quoteLiteral(p.text))
			continue
		}
		length := len(p.text)
		asked, was := want[l.field], from[l.field]
		if length == was.length && asked.length > length && l.field != fieldMinute {
			length = asked.length
		}
		c := p.text[0]
		if l.field == fieldZone && asked.length > 0 {
			c, length = asked.letter, asked.length
		}
		out.WriteString(strings.Repeat(string(c), length))
	}
	return out.String()
}
