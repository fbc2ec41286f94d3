package intl

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

type dateFormat struct {
	s        dateSpec
	data     *cldr.Locale
	region   string
	location *time.Location
	pieces   []piece
	number   *numberFormat
	hebrew   bool   // whether years and days are written in Hebrew letters
	gannen   string // the digits of an era's first year, if that is written as a word
}

func newDateFormat(s dateSpec) (*dateFormat, error) {
	r, err := resolve([]string{s.Locale})
	if err != nil {
		return nil, err
	}
	f := &dateFormat{s: s, data: r.data.Calendar(s.Calendar), region: r.region()}
	if f.location, err = location(s.TimeZone); err != nil {
		return nil, err
	}
	f.pieces = slices.Collect(patternPieces(s.Pattern))
	f.hebrew = r.data.Language() == "he" && s.Calendar == "hebrew" && s.DateStyle != ""
	f.number, err = newNumberFormat(numberSpec{
		Locale: r.data.Name(), NumberingSystem: s.NumberingSystem, Style: "decimal", Notation: "standard", UseGrouping: false,
	})
	if err == nil && r.data.Language() == "ja" && s.Calendar == "japanese" {
		f.gannen = f.number.localizeDigits("1")
	}
	return f, err
}

// instant is the time of milliseconds since 1970 (ECMA-262, TimeClip).
func (f *dateFormat) instant(ms float64) (time.Time, error) {
	if math.IsNaN(ms) || math.Abs(ms) > 8.64e15 {
		return time.Time{}, rangeError("Invalid time value")
	}
	return time.UnixMilli(int64(ms)).In(f.location), nil
}

func (f *dateFormat) format(t time.Time) []part { return f.formatPieces(f.pieces, t) }

// commonSpaces replaces the narrow spaces that CLDR puts before "PM" and around the dash of an interval, as V8 does.
var commonSpaces = strings.NewReplacer("\u202f", " ", "\u2009", " ") //nolint:gochecknoglobals // a table

func (f *dateFormat) formatPieces(pieces []piece, t time.Time) []part {
	var parts []part
	for _, p := range pieces {
		if p.literal {
			if n := len(parts); f.gannen != "" && n > 0 && strings.HasPrefix(p.text, "年") && parts[n-1] == (part{"year", f.gannen}) {
				parts[n-1].text = "元"
			}
			parts = appendPart(parts, "literal", commonSpaces.Replace(p.text))
			continue
		}
		kind, text := f.field(field{p.text[0], len(p.text)}, t)
		parts = appendPart(parts, kind, commonSpaces.Replace(text))
	}
	return parts
}

func (f *dateFormat) field(p field, t time.Time) (kind, text string) {
	switch p.letter {
	case 'G':
		return "era", f.era(p, f.date(t).era)
	case 'y':
		year := f.date(t).year
		switch {
		case f.hebrew && year > 0:
			return "year", hebrewNumeral(year)
		case p.length == 2:
			year %= 100
		}
		return "year", f.digits(year, p.length)
	case 'M', 'L':
		return "month", f.month(p, f.date(t))
	case 'E':
		return "weekday", f.name("day/format/", p, int(t.Weekday()))
	case 'c':
		return "weekday", f.name("day/stand-alone/", p, int(t.Weekday()))
	case 'd':
		if f.hebrew {
			return "day", hebrewNumeral(f.date(t).day)
		}
		return "day", f.digits(f.date(t).day, p.length)
	case 'a':
		return "dayPeriod", f.halfDay(p, t.Hour())
	case 'B':
		return "dayPeriod", f.dayPeriod(p, t)
	case 'h':
		return "hour", f.digits((t.Hour()+11)%12+1, p.length)
	case 'K':
		return "hour", f.digits(t.Hour()%12, p.length)
	case 'H':
		return "hour", f.digits(t.Hour(), p.length)
	case 'k':
		return "hour", f.digits((t.Hour()+23)%24+1, p.length)
	case 'm':
		return "minute", f.digits(t.Minute(), p.length)
	case 's':
		return "second", f.digits(t.Second(), p.length)
	case 'S':
		return "fractionalSecond", f.number.localizeDigits(fmt.Sprintf("%03d", t.Nanosecond()/1e6)[:min(p.length, 3)])
	}
	return "timeZoneName", f.zoneText(t, p)
}

// date is the day in the calendar. The Gregorian one has no year 0.
func (f *dateFormat) date(t time.Time) calendarDate {
	if dateOf, ok := calendars[f.s.Calendar]; ok {
		return dateOf(dayOf(t.Year(), int(t.Month()), t.Day()))
	}
	d := calendarDate{era: 1, year: t.Year(), month: int(t.Month()), day: t.Day()}
	if d.year <= 0 && f.s.Calendar != "iso8601" {
		d.era, d.year = 0, 1-d.year
	}
	return d
}

func (f *dateFormat) era(p field, era int) string {
	if era < early {
		return f.name("era/", p, era)
	}
	key := "early/wide"
	if p.length == 5 {
		key = "early/narrow"
	}
	names, ok := f.data.Find(key)
	if !ok {
		names, _ = cldr.Common().Find("eras/japanese/early")
	}
	return strings.Split(names, "|")[era-early]
}

func (f *dateFormat) digits(n, length int) string {
	sign := ""
	if n < 0 {
		sign, n = f.number.symbol("minusSign"), -n
	}
	return sign + f.number.localizeDigits(fmt.Sprintf("%0*d", length, n))
}

func (f field) width() string {
	switch f.length {
	case 4:
		return "wide"
	case 5:
		return "narrow"
	}
	return "abbreviated"
}

func (f *dateFormat) name(prefix string, p field, at int) string {
	names := strings.Split(f.data.Text(prefix+p.width()), "|")
	if at < len(names) {
		return names[at]
	}
	return ""
}

func (f *dateFormat) month(p field, d calendarDate) string {
	const adar, adarTwo = 7, 14
	month := d.month
	if f.s.Calendar == "hebrew" && month >= adar {
		switch {
		case p.length <= 2 && !d.leap:
			month--
		case p.length > 2 && d.leap && month == adar:
			month = adarTwo
		}
	}
	switch {
	case p.length <= 2:
		return f.digits(month, p.length)
	case p.letter == 'L':
		return f.name("month/stand-alone/", p, month-1)
	}
	return f.name("month/format/", p, month-1)
}

func (f *dateFormat) halfDay(p field, hour int) string {
	if hour < 12 {
		return f.data.Text("period/" + p.width() + "/am")
	}
	return f.data.Text("period/" + p.width() + "/pm")
}

// dayPeriod is "in the morning": the part of the day by the language's custom, or noon, to the smallest field of the pattern.
func (f *dateFormat) dayPeriod(p field, t time.Time) string {
	rules, _ := cldr.Common().Find("periods/" + f.data.Language())
	sharp := t.Hour()*60 + t.Minute()
	if !f.shows(fieldMinute) {
		sharp = t.Hour() * 60
	}
	if f.shows(fieldSecond) && t.Second() > 0 {
		sharp = -1
	}
	name := ""
	for rule := range strings.SplitSeq(rules, ";") {
		r := strings.Split(rule, " ")
		if len(r) != 3 {
			continue
		}
		from, before := minutes(r[1]), minutes(r[2])
		if r[2] == "" {
			if text, ok := f.data.Find("period/" + p.width() + "/" + r[0]); ok && sharp == from && r[0] == "noon" {
				return text
			}
			continue
		}
		now := t.Hour()*60 + t.Minute()
		if from <= now && now < before || from > before && (now >= from || now < before) {
			name = r[0]
		}
	}
	if text, ok := f.data.Find("period/" + p.width() + "/" + name); ok {
		return text
	}
	return f.halfDay(p, t.Hour())
}

func (f *dateFormat) shows(id fieldID) bool {
	return parseSkeleton(f.s.Pattern)[id].length > 0
}

// minutes reads "18:00" as minutes of the day.
func minutes(clock string) int {
	if len(clock) != 5 {
		return 0
	}
	return (int(clock[0]-'0')*10+int(clock[1]-'0'))*60 + int(clock[3]-'0')*10 + int(clock[4]-'0')
}

var dateFormats cache[*dateFormat] //nolint:gochecknoglobals // pure functions of their specifications

func dateFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// intl_date(tags, options) -> specification
		"intl_date": func(c *engine.Call) (any, error) {
			o, err := options[dateOptions](c.String(1))
			if err != nil {
				return nil, err
			}
			s, err := resolveDate(c.Strings(0), o)
			if err != nil {
				return nil, err
			}
			if err := s.usable(c); err != nil {
				return nil, err
			}
			return specification(s)
		},
		// intl_date_format(specification, milliseconds) -> text
		"intl_date_format": func(c *engine.Call) (any, error) {
			f, t, err := dateCall(c)
			if err != nil {
				return nil, err
			}
			return join(f.format(t)), nil
		},
		// intl_date_parts(specification, milliseconds) -> [kind, text, …]
		"intl_date_parts": func(c *engine.Call) (any, error) {
			f, t, err := dateCall(c)
			if err != nil {
				return nil, err
			}
			return flat(f.format(t)), nil
		},
		// intl_date_range(specification, from, to) -> [kind, text, source, …]
		"intl_date_range": func(c *engine.Call) (any, error) {
			f, from, err := dateCall(c)
			if err != nil {
				return nil, err
			}
			to, err := f.instant(c.Float(2))
			if err != nil {
				return nil, err
			}
			return flatRange(f.formatRange(from, to)), nil
		},
	}
}

func dateCall(c *engine.Call) (*dateFormat, time.Time, error) {
	f, err := cached(&dateFormats, c.String(0), newDateFormat)
	if err != nil {
		return nil, time.Time{}, err
	}
	if err := f.s.usable(c); err != nil {
		return nil, time.Time{}, err
	}
	t, err := f.instant(c.Float(1))
	return f, t, err
}
