package intl

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// This file reckons the calendars that are arithmetic, by their published definitions
// (Reingold and Dershowitz, "Calendrical Calculations") and with ICU's bounds, so that every
// date is the one that JavaScript shows elsewhere. No Go module has them all.

// calendarDate is a day in a calendar.
type calendarDate struct {
	era   int // the place of its name among the calendar's
	year  int // of the era
	month int // 1 is the first; the Hebrew Adar is 7 in every year
	day   int
	leap  bool // whether the Hebrew year has two months Adar
}

// early is the era of the Japanese eras before Meiji: less 1000 their place among these.
const early = 1000

// dayOf is the day of a date in the Gregorian calendar, counted from 1970.
func dayOf(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + floorDiv(year, 4) - floorDiv(year, 100) + floorDiv(year, 400) + (153*month-457)/5 + day - 719469
}

// reckonings are the calendars beside gregory and iso8601, by their names in -u-ca-.
var reckonings = map[string]func(days int) calendarDate{ //nolint:gochecknoglobals // a table
	"buddhist": func(days int) calendarDate {
		year, month, day := western(days)
		return calendarDate{year: year + 543, month: month, day: day}
	},
	"coptic": coptic,
	"ethioaa": func(days int) calendarDate {
		year, month, day := copticDay(days, incarnation)
		return calendarDate{year: year + 5500, month: month, day: day}
	},
	"ethiopic":         ethiopic,
	"hebrew":           hebrew,
	"indian":           indian,
	"islamic":          islamicByMoon,
	"islamic-civil":    func(days int) calendarDate { return islamic(days + hijra) },
	"islamic-rgsa":     islamicByMoon,
	"islamic-tbla":     func(days int) calendarDate { return islamic(days + hijra + 1) },
	"islamic-umalqura": ummAlQura,
	"japanese":         japanese,
	"persian":          persian,
	"roc": func(days int) calendarDate {
		year, month, day := western(days)
		if year < 1912 {
			return calendarDate{0, 1912 - year, month, day, false}
		}
		return calendarDate{1, year - 1911, month, day, false}
	},
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int) int { return a - b*floorDiv(a, b) }

// western is a date in the Gregorian calendar since October 15, 1582, before in the Julian one.
func western(days int) (year, month, day int) {
	const reform = -141427
	if days >= reform {
		return gregorian(days)
	}
	n := days + 719470 // since March 1 of the year 0
	year = floorDiv(4*n+3, 1461)
	month, day = fromMarch(n - floorDiv(1461*year, 4))
	return year + month/13, (month-1)%12 + 1, day
}

func gregorian(days int) (year, month, day int) {
	n := days + 719468
	century := floorDiv(4*n+3, 146097)
	n -= floorDiv(146097*century, 4)
	year = (4*n + 3) / 1461
	month, day = fromMarch(n - 1461*year/4)
	return 100*century + year + month/13, (month-1)%12 + 1, day
}

// fromMarch is the month, 3 to 14, and the day of a day of a year that begins with March.
func fromMarch(n int) (month, day int) {
	month = (5*n + 2) / 153
	return month + 3, n - (153*month+2)/5 + 1
}

// copticDay is a day of years of twelve months of thirty days and the rest, every fourth of
// which has a day more; epoch is the first day of year 1.
func copticDay(days, epoch int) (year, month, day int) {
	n := days - epoch
	year = floorDiv(4*n+1463, 1461)
	n -= 365*(year-1) + floorDiv(year, 4)
	return year, n/30 + 1, n%30 + 1
}

// The first days of the Coptic and of the Ethiopic year 1, in August 284 and August 8 of the
// Julian calendar.
const (
	martyrs     = -615558
	incarnation = -716367
)

func coptic(days int) calendarDate {
	year, month, day := copticDay(days, martyrs)
	if year <= 0 {
		return calendarDate{0, 1 - year, month, day, false}
	}
	return calendarDate{1, year, month, day, false}
}

// ethiopic counts the years before the incarnation since the world began.
func ethiopic(days int) calendarDate {
	year, month, day := copticDay(days, incarnation)
	if year <= 0 {
		return calendarDate{0, year + 5500, month, day, false}
	}
	return calendarDate{1, year, month, day, false}
}

// indian is the Śaka calendar: its year begins on March 22, in leap years on March 21.
func indian(days int) calendarDate {
	year, _, _ := gregorian(days)
	start := func(year int) int { return dayOf(year, 1, 1) + 80 }
	if days < start(year) {
		year--
	}
	n := days - start(year)
	chaitra := dayOf(year, 3, 1) - dayOf(year, 1, 1) - 29 // 30, and 31 days in leap years
	switch {
	case n < chaitra:
		return calendarDate{year: year - 78, month: 1, day: n + 1}
	case n < chaitra+5*31:
		n -= chaitra
		return calendarDate{year: year - 78, month: n/31 + 2, day: n%31 + 1}
	}
	n -= chaitra + 5*31
	return calendarDate{year: year - 78, month: n/30 + 7, day: n%30 + 1}
}

// persian is the Solar Hijri calendar: leap years in cycles of 33, but for those in whose
// stead the next one is, by the equinox.
func persian(days int) calendarDate {
	n := days + 492268
	year := floorDiv(33*n+3, 12053) + 1
	n -= persianStart(year)
	if _, moved := slices.BinarySearch(notLeap, year); moved && n == 365 {
		year, n = year+1, 0
	}
	if n < 6*31 {
		return calendarDate{year: year, month: n/31 + 1, day: n%31 + 1}
	}
	return calendarDate{year: year, month: (n-6)/30 + 1, day: (n-6)%30 + 1}
}

// persianStart is the day of the first of Farvardin since that of the year 1.
func persianStart(year int) int {
	start := 365*(year-1) + floorDiv(8*year+21, 33)
	if _, moved := slices.BinarySearch(notLeap, year-1); moved {
		start--
	}
	return start
}

// hijra is the number of days from July 16, 622 of the Julian calendar to 1970.
const hijra = 492148

// islamic is the tabular calendar: eleven leap years in thirty.
func islamic(n int) calendarDate {
	year := floorDiv(30*n+10646, 10631)
	n -= 354*(year-1) + floorDiv(11*year+3, 30)
	month := min(2*n/59, 11)
	return calendarDate{year: year, month: month + 1, day: n - (59*month+1)/2 + 1}
}

// ummAlQura is the calendar of Saudi Arabia: its tables for the years 1300 to 1600, else the
// tabular calendar.
func ummAlQura(days int) calendarDate {
	n := days - dayOf(1882, 11, 12)
	if n < 0 {
		return islamic(days + hijra)
	}
	for at := range len(ummAlQuraYears) / 3 {
		months, _ := strconv.ParseUint(ummAlQuraYears[3*at:3*at+3], 16, 16) // hexadecimal, as it stands there
		for month := range 12 {
			length := 29 + int(months>>(11-month)&1)
			if n < length {
				return calendarDate{year: 1300 + at, month: month + 1, day: n + 1}
			}
			n -= length
		}
	}
	return islamic(days + hijra)
}

// hebrewStart is the day of the first of Tishri since the epoch: by the molad, and the rules
// that put it off.
func hebrewStart(year int) int {
	months := floorDiv(235*year-234, 19)
	parts := 12084 + 13753*months
	day := 29*months + floorDiv(parts, 25920)
	if floorMod(3*(day+1), 7) < 3 {
		day++
	}
	return day
}

// hebrewYear is the first day of a year, with the two rules that look at the years beside it.
func hebrewYear(year int) int {
	last, start, next := hebrewStart(year-1), hebrewStart(year), hebrewStart(year+1)
	switch {
	case next-start == 356:
		return start + 2
	case start-last == 382:
		return start + 1
	}
	return start
}

func hebrew(days int) calendarDate {
	n := days + 2092590 // since the epoch
	year := floorDiv(98496*n, 35975351) + 1
	for hebrewYear(year) > n {
		year--
	}
	for hebrewYear(year+1) <= n {
		year++
	}
	n -= hebrewYear(year)
	length := hebrewYear(year+1) - hebrewYear(year)
	leap := length > 370
	for month := 1; ; month++ {
		long := month%2 == 1 && month < 6 || month%2 == 0 && month >= 6
		switch {
		case month == 6 && !leap: // there is no Adar I
			continue
		case month == 2:
			long = length%10 == 5
		case month == 3:
			long = length%10 != 3
		}
		last := 29
		if long {
			last = 30
		}
		if n < last {
			return calendarDate{year: year, month: month, day: n + 1, leap: leap}
		}
		n -= last
	}
}

// hebrewNumeral writes a number in letters: fifteen and sixteen are nine and six, and nine and
// seven, and the five thousand of these years are left out.
func hebrewNumeral(n int) string {
	const hundreds, tens, units = "קרשת", "יכלמנסעפצ", "אבגדהוזחט"
	letter := func(letters string, n int) string { return string([]rune(letters)[n-1]) }
	switch thousands := n / 1000; {
	case thousands > 0 && n%1000 == 0:
		return hebrewNumeral(thousands) + " אלפים"
	case thousands > 0 && thousands != 5:
		return hebrewNumeral(thousands) + hebrewNumeral(n%1000)
	}
	n %= 1000
	out := strings.Repeat(letter(hundreds, 4), n/400)
	if n %= 400; n >= 100 {
		out += letter(hundreds, n/100)
	}
	switch n %= 100; n {
	case 15, 16:
		out += "ט" + letter(units, n-9)
	default:
		if n >= 10 {
			out += letter(tens, n/10)
		}
		if n%10 > 0 {
			out += letter(units, n%10)
		}
	}
	if r := []rune(out); len(r) > 1 {
		return string(r[:len(r)-1]) + "״" + string(r[len(r)-1:])
	}
	return out + "׳"
}

// eraStarts are the first days of the Japanese eras, Taika first, as year, month, day.
var eraStarts = sync.OnceValue(func() [][3]int { //nolint:gochecknoglobals // a cache of what is embedded
	text, _ := cldr.Common().Find("eras/japanese/start")
	var starts [][3]int
	for start := range strings.SplitSeq(text, "|") {
		var date [3]int
		for i, part := range strings.SplitN(start, "-", 3) {
			date[i], _ = strconv.Atoi(part) // CLDR's own numbers
		}
		starts = append(starts, date)
	}
	return starts
})

func japanese(days int) calendarDate {
	const meiji = 232
	year, month, day := western(days)
	starts := eraStarts()
	at := len(starts) - 1
	for at > 0 && slices.Compare(starts[at][:], []int{year, month, day}) > 0 {
		at--
	}
	d := calendarDate{at - meiji, year - starts[at][0] + 1, month, day, false}
	if at < meiji {
		d.era = early + at
	}
	return d
}
