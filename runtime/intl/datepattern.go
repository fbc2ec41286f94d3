package intl

import (
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// This file makes the pattern for a skeleton out of a locale's patterns (UTS 35, part 4, sections 2.6.2.1 and 2.6.2.2), as ICU's
// DateTimePatternGenerator does, so that dates are those of other JavaScript engines.

type datePatterns struct {
	data *cldr.Locale
	list []datePattern
}

// datePattern is a pattern; specified means that the skeleton is CLDR's own, not read off the pattern.
type datePattern struct {
	skeleton  skeleton
	pattern   string
	specified bool
}

// generators are the patterns of the locales and calendars in use.
var generators sync.Map //nolint:gochecknoglobals // a cache of embedded data

func patternsOf(data *cldr.Locale) *datePatterns {
	if kept, ok := generators.Load(data); ok {
		p, _ := kept.(*datePatterns)
		return p
	}
	p := &datePatterns{data: data}
	for _, c := range "GyMEdaHmsSv" {
		p.add(datePattern{parseSkeleton(string(c)), string(c), false})
	}
	for _, style := range []string{"full", "long", "medium", "short"} {
		for _, kind := range []string{"date/", "time/"} {
			pattern := data.Text(kind + style)
			p.add(datePattern{parseSkeleton(pattern), pattern, false})
		}
	}
	for _, key := range data.Keys("available/") {
		p.add(datePattern{parseSkeleton(key), data.Text("available/" + key), true})
	}
	// If two are equally near, nearest takes the first one: by its largest field's letter, and then a style's pattern.
	slices.SortStableFunc(p.list, func(a, b datePattern) int { return strings.Compare(a.skeleton.String()[:1], b.skeleton.String()[:1]) })
	kept, _ := generators.LoadOrStore(data, p)
	p, _ = kept.(*datePatterns)
	return p
}

// add adds a pattern, unless there is one with the same skeleton; CLDR's own replaces that. A pattern of a style is not added
// either if it differs only in how many digits a number has.
func (p *datePatterns) add(one datePattern) {
	for i, have := range p.list {
		if !one.specified && one.skeleton.base() == have.skeleton.base() {
			return
		}
		if d, _, _ := one.skeleton.distance(have.skeleton, everyMask); d == 0 {
			if one.specified {
				p.list[i] = one
			}
			return
		}
	}
	p.list = append(p.list, one)
}

// nearest finds the pattern that is nearest to some fields of a skeleton.
func (p *datePatterns) nearest(s skeleton, wanted fieldMask) (best datePattern, missing, extra fieldMask) {
	shortest := -1
	for _, candidate := range p.list {
		d, m, e := s.distance(candidate.skeleton, wanted)
		// If two are equally near, the one with the larger fields comes first.
		if shortest < 0 || d < shortest || d == shortest && m > missing {
			shortest, best, missing, extra = d, candidate, m, e
		}
	}
	return best, missing, extra
}

// best makes the pattern for a skeleton.
func (p *datePatterns) best(s skeleton) string {
	found, missing, extra := p.nearest(s, everyMask)
	if missing == 0 && extra == 0 {
		return adjust(found, s, "")
	}
	date, time := p.combine(s, s.mask()&dateMask), p.combine(s, s.mask()&timeMask)
	switch {
	case date == "":
		return time
	case time == "":
		return date
	}
	return glue(p.data.Text(p.glueKey(s)), date, time)
}

// glueKey is the key of the pattern that joins date and time, by the length of the month.
func (p *datePatterns) glueKey(s skeleton) string {
	prefix := "glueat/"
	if _, ok := p.data.Find("glueat/full"); !ok {
		prefix = "glue/"
	}
	switch length := s[fieldMonth].length; {
	case length == 4 && s[fieldWeekday].length > 0:
		return prefix + "full"
	case length == 4:
		return prefix + "long"
	case length == 3:
		return prefix + "medium"
	}
	return prefix + "short"
}

func glue(pattern, date, time string) string {
	return strings.Replace(strings.Replace(pattern, "{1}", date, 1), "{0}", time, 1)
}

// combine makes a pattern of some fields, if necessary of several patterns.
func (p *datePatterns) combine(s skeleton, wanted fieldMask) string {
	if wanted == 0 {
		return ""
	}
	found, missing, _ := p.nearest(s, wanted)
	result := adjust(found, s, "")
	for last := fieldMask(0); missing != 0 && missing != last; {
		last = missing
		if missing&(fieldSecond.mask()|fieldFraction.mask()) == fieldFraction.mask() && wanted&fieldSecond.mask() != 0 {
			result = adjust(
				datePattern{found.skeleton, result, found.specified}, s,
				p.data.Text("number/"+p.data.Text("number/system")+"/decimal"),
			)
			missing &^= fieldFraction.mask()
			continue
		}
		next, still, _ := p.nearest(s, missing)
		result = p.append(result, adjust(next, s, ""), missing&^still)
		missing = still
	}
	return result
}

// append adds a pattern by the locale's pattern for the largest field in it.
func (p *datePatterns) append(result, more string, added fieldMask) string {
	top := fieldID(0)
	for id := range fieldCount {
		if added&id.mask() != 0 {
			top = id
		}
	}
	key := [fieldCount]string{"Era", "Year", "Month", "Day-Of-Week", "Day", "", "Hour", "Minute", "Second", "", "Timezone"}[top]
	name := [fieldCount]string{"era", "year", "month", "weekday", "day", "dayperiod", "hour", "minute", "second", "", "zone"}[top]
	text, ok := p.data.Find("append/" + key)
	if !ok {
		text = "{0} {1}"
	}
	text = strings.Replace(glue(strings.Replace(text, "{0}", "\x01", 1), more, ""), "\x01", result, 1)
	return strings.Replace(text, "{2}", quoteLiteral(p.data.Text("field/"+name)), 1)
}

// adjust sets the lengths of a pattern's fields to those of a skeleton. With point, the fraction of the second follows the second.
func adjust(found datePattern, want skeleton, point string) string {
	var out strings.Builder
	for piece := range patternPieces(found.pattern) {
		l := patternLetters[piece.text[0]]
		if piece.literal || !l.known {
			out.WriteString(quoteLiteral(piece.text))
			continue
		}
		f := field{piece.text[0], len(piece.text)}
		if point != "" && l.field == fieldSecond {
			out.WriteString(piece.text + quoteLiteral(point) + strings.Repeat("S", want[fieldFraction].length))
			continue
		}
		if asked := want[l.field]; asked.length > 0 {
			f = adjustField(f, asked, l.field, found)
		}
		out.WriteString(strings.Repeat(string(f.letter), f.length))
	}
	return out.String()
}

func adjustField(f, asked field, id fieldID, found datePattern) field {
	length := asked.length
	if asked.letter == 'E' {
		length = max(length, 3)
	}
	switch {
	case id == fieldMinute, id == fieldSecond:
		length = f.length
	case found.specified && asked.letter != 'c':
		if found.skeleton[id].length == length || f.isNumeric() != asked.isNumeric() {
			length = f.length
		}
	}
	switch id {
	case fieldHour, fieldMonth, fieldWeekday, fieldYear:
	default:
		f.letter = asked.letter
	}
	f.length = length
	return f
}

// withHours replaces the letter of the hour in a pattern.
func withHours(pattern string, hour byte) string {
	var out strings.Builder
	for piece := range patternPieces(pattern) {
		switch {
		case piece.literal:
			out.WriteString(quoteLiteral(piece.text))
		case strings.IndexByte("hHkK", piece.text[0]) >= 0:
			out.WriteString(strings.Repeat(string(hour), len(piece.text)))
		default:
			out.WriteString(piece.text)
		}
	}
	return out.String()
}
