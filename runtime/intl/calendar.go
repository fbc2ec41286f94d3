package intl

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// This file computes arithmetic calendars by their published definitions (Reingold and Dershowitz, "Calendrical Calculations")
// and with ICU's bounds, so that every date is that of other JavaScript engines. No Go module has them all.

type calendarDate struct {
	era   int // the index of its name among the calendar's
	year  int // of the era
	month int // 1 is the first; the Hebrew Adar is 7 in every year
	day   int
	leap  bool // whether the Hebrew year has two months Adar
}

// early is added to the index of a Japanese era before Meiji.
const early = 1000

// dayOf is the day of a date in the Gregorian calendar, counted from 1970.
func dayOf(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + floorDiv(year, 4) - floorDiv(year, 100) + floorDiv(year, 400) + (153*month-457)/5 + day - 719469
}

// calendars are those beside gregory and iso8601, by their names in -u-ca-.
var calendars = map[string]func(days int) calendarDate{ //nolint:gochecknoglobals // a table
	"buddhist": func(days int) calendarDate {
		year, month, day := western(days)
		return calendarDate{year: year + 543, month: month, day: day}
	},
	"coptic": func(days int) calendarDate {
		year, month, day := copticDay(days, martyrs)
		if year <= 0 {
			return calendarDate{0, 1 - year, month, day, false}
		}
		return calendarDate{1, year, month, day, false}
	},
	"ethioaa": func(days int) calendarDate {
		year, month, day := copticDay(days, incarnation)
		return calendarDate{year: year + 5500, month: month, day: day}
	},
	"ethiopic": func(days int) calendarDate {
		year, month, day := copticDay(days, incarnation)
		if year <= 0 { // counted since the world began
			return calendarDate{0, year + 5500, month, day, false}
		}
		return calendarDate{1, year, month, day, false}
	},
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

// western is a date in the Gregorian calendar since October 15, 1582, and in the Julian one before.
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

// copticDay is a day in years of twelve months of thirty days and five days more, six in every fourth year; epoch is the first
// day of year 1.
func copticDay(days, epoch int) (year, month, day int) {
	n := days - epoch
	year = floorDiv(4*n+1463, 1461)
	n -= 365*(year-1) + floorDiv(year, 4)
	return year, n/30 + 1, n%30 + 1
}

// The first days of the Coptic and of the Ethiopic year 1, in August 284 and August 8 of the Julian calendar.
const (
	martyrs     = -615558
	incarnation = -716367
)

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

// persian is the Solar Hijri calendar: leap years in cycles of 33, except for notLeap.
func persian(days int) calendarDate {
	n := days + 492268
	year := floorDiv(33*n+3, 12053) + 1
	n -= 365*(year-1) + floorDiv(8*year+21, 33)
	if _, moved := slices.BinarySearch(notLeap, year-1); moved {
		n++
	}
	if _, moved := slices.BinarySearch(notLeap, year); moved && n == 365 {
		year, n = year+1, 0
	}
	if n < 6*31 {
		return calendarDate{year: year, month: n/31 + 1, day: n%31 + 1}
	}
	return calendarDate{year: year, month: (n-6)/30 + 1, day: (n-6)%30 + 1}
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

// ummAlQura is the calendar of Saudi Arabia: its tables for the years 1300 to 1600, otherwise the tabular calendar.
func ummAlQura(days int) calendarDate {
	n := days - dayOf(1882, 11, 12)
	if n < 0 {
		return islamic(days + hijra)
	}
	for at := range len(ummAlQuraYears) / 3 {
		months, _ := strconv.ParseUint(ummAlQuraYears[3*at:3*at+3], 16, 16)
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

// hebrewStart is the day of the first of Tishri since the epoch: by the molad, and the rules that delay it.
func hebrewStart(year int) int {
	months := floorDiv(235*year-234, 19)
	parts := 12084 + 13753*months
	day := 29*months + floorDiv(parts, 25920)
	if floorMod(3*(day+1), 7) < 3 {
		day++
	}
	return day
}

// hebrewYear is the first day of a year, with the two rules that depend on the years beside it.
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
		case month == 6 && !leap: // this year has no Adar I
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

// hebrewNumeral writes a number in letters: fifteen is nine and six, sixteen nine and seven, and five thousand is left out.
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
var eraStarts = sync.OnceValue(func() [][3]int { //nolint:gochecknoglobals // a cache of embedded data
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

// notLeap are the Persian years that are leap in the cycle of 33 years, but not by the equinox; the following year is leap
// instead. They end at the year 3000.
var notLeap = []int{ //nolint:gochecknoglobals // a table
	1502, 1601, 1634, 1667, 1700, 1733, 1766, 1799, 1832, 1865, 1898, 1931, 1964, 1997, 2030, 2059, 2063, 2096, 2129, 2158,
	2162, 2191, 2195, 2224, 2228, 2257, 2261, 2290, 2294, 2323, 2327, 2356, 2360, 2389, 2393, 2422, 2426, 2455, 2459, 2488,
	2492, 2521, 2525, 2554, 2558, 2587, 2591, 2620, 2624, 2653, 2657, 2686, 2690, 2719, 2723, 2748, 2752, 2756, 2781, 2785,
	2789, 2818, 2822, 2847, 2851, 2855, 2880, 2884, 2888, 2913, 2917, 2921, 2946, 2950, 2954, 2979, 2983, 2987,
}

// ummAlQuraYears are the years 1300 to 1600 of the calendar of Umm al-Qura, from ICU, which has the tables of King Abdulaziz
// City for Science and Technology. Each is three hexadecimal digits; a set bit, the first month's first, is a month of thirty
// days.
const ummAlQuraYears = "" +
	"aaad54ec96d46ea36caad5556a9792ba95d4ada55cd2d69574ab54b6a5ad4aea4f51768b6a5ad52d695b49da4dd26d955ac9b62baa5b52ba956caae9" +
	"2f49762b6956acaba4bd25d92dc96d54daa5b52ba55b49b655729754b6a3752b6556aaab52bc95d4ada55caad69574ab94baa5b52b6a5752768b745b" +
	"5555a95b49da4dd26e936aaad54db25d52da95b4aba55b49b64b715b4ab5a55d25e92ec96d4ae996b4aba93d49da4db2ab94baa5b52ba95b2ab5555c" +
	"4bd23d91da95b4ab5a56d2b693b49b6556a9754b6a56caad555b29b92ba95d4ada55aaab595749764baa5b52b6a56e4db25b52b6a5ad2ae92f49764b" +
	"6a56acad655d49da4dd16d955aa5b52da95b4ad5956ca6e4aea4f52b6956aaab54bd25d92ea96d4ada95b4aba55b29b54d6a97547693749b5556aa6b" +
	"52ba8bd46da35caad64db26b94baa5b52b695751768b725b52b5655b49da4ed16d8b6aa6d52da95d4ada95b4ab653729762ba95b2ab5555b25d92ec9" +
	"6d2ae956b4aba55d29d54daa9b54baa3b49ba4daaaad52da95d45ea2ec9ad556b26b94baa5d52da95b52ba8bb45b92da95ab4ada4ed16e8b6a56d535" +
	"695d4ada8dd46da55b29d62bb15b4ab955aaaae92ec8f5276956aaad655d29d"

// This file computes the Islamic calendar by the moon: a month begins on the day after the new moon. The positions of sun and
// moon follow P. Duffett-Smith, "Practical Astronomy with your Calculator", sections 46 and 65, with ICU's constants of 1990,
// so that months begin on ICU's days.

const (
	synodicMonth = 29.530588853
	hijraMillis  = -42521587200000.0 // July 16, 622 of the Julian calendar
	dayMillis    = 86400000.0
)

// islamicByMoon finds the last month that began before the day.
func islamicByMoon(days int) calendarDate {
	n := days + hijra
	month := int(math.Floor(float64(n)/synodicMonth)) + 1
	for newMoonDay(month) > n {
		month--
	}
	return calendarDate{year: floorDiv(month, 12) + 1, month: floorMod(month, 12) + 1, day: n - newMoonDay(month) + 1}
}

// newMoonDay is the first day of a month, both counted since the hijra. It searches day by day from the mean new moon.
func newMoonDay(month int) int {
	at := hijraMillis + math.Floor(float64(month)*synodicMonth)*dayMillis
	step, waxing := dayMillis, moonAge(at) >= 0
	if waxing {
		step = -dayMillis
	}
	for (moonAge(at) >= 0) == waxing {
		at += step
	}
	return int(math.Floor((at-hijraMillis)/dayMillis)) + 1
}

const degree = math.Pi / 180

// turn is an angle within a full turn.
func turn(angle float64) float64 {
	return angle - 2*math.Pi*math.Floor(angle/(2*math.Pi))
}

// moonAge is the distance of the moon from the sun along the ecliptic, in degrees: negative for a waning moon.
func moonAge(millis float64) float64 {
	day := millis/dayMillis + 2440587.5 - 2447891.5 // since the last day of 1989
	anomaly, sun := sunPosition(day)
	age := turn(moonPosition(day, anomaly, sun)-sun) / degree
	if age > 180 {
		age -= 360
	}
	return age
}

// sunPosition is the sun's mean anomaly and its longitude.
func sunPosition(day float64) (anomaly, longitude float64) {
	const (
		atEpoch      = 279.403303 * degree
		perigee      = 282.768422 * degree
		eccentricity = 0.016713
		year         = 365.242191
	)
	anomaly = turn(turn(2*math.Pi/year*day) + atEpoch - perigee)
	eccentric := anomaly
	for {
		delta := eccentric - eccentricity*math.Sin(eccentric) - anomaly
		eccentric -= delta / (1 - eccentricity*math.Cos(eccentric))
		if math.Abs(delta) <= 1e-5 {
			break
		}
	}
	trueAnomaly := 2 * math.Atan(math.Tan(eccentric/2)*math.Sqrt((1+eccentricity)/(1-eccentricity)))
	return anomaly, turn(trueAnomaly + perigee)
}

// moonPosition is the moon's longitude on the ecliptic.
func moonPosition(day, sunAnomaly, sun float64) float64 {
	const (
		atEpoch     = 318.351648 * degree
		perigee     = 36.340410 * degree
		node        = 318.510107 * degree
		inclination = 5.145366 * degree
	)
	mean := turn(13.1763966*degree*day + atEpoch)
	anomaly := turn(mean - 0.1114041*degree*day - perigee)
	evection := 1.2739 * degree * math.Sin(2*(mean-sun)-anomaly)
	annual := 0.1858 * degree * math.Sin(sunAnomaly)
	anomaly += evection - annual - 0.3700*degree*math.Sin(sunAnomaly)
	longitude := mean + evection + 6.2886*degree*math.Sin(anomaly) - annual + 0.2140*degree*math.Sin(2*anomaly)
	longitude += 0.6583 * degree * math.Sin(2*(longitude-sun))
	ascending := turn(node-0.0529539*degree*day) - 0.16*degree*math.Sin(sunAnomaly)
	return math.Atan2(math.Sin(longitude-ascending)*math.Cos(inclination), math.Cos(longitude-ascending)) + ascending
}
