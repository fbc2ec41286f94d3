package intl

import (
	"fmt"
	"testing"
	"time"
)

func daysOf(t *testing.T, date string) int {
	t.Helper()
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	return int(at.Unix() / 86400)
}

// Days whose dates are published: in appendix C of "Calendrical Calculations", by decree, or in
// the calendars of the countries.
func TestCalendarDays(t *testing.T) {
	for _, c := range []struct {
		calendar, day          string
		era, year, month, date int
	}{
		{"coptic", "1945-11-12", 1, 1662, 3, 3},
		{"coptic", "2094-07-18", 1, 1810, 11, 11},
		{"ethiopic", "1945-11-12", 1, 1938, 3, 3},
		{"ethiopic", "2007-09-12", 1, 2000, 1, 1},
		{"ethioaa", "2007-09-12", 0, 7500, 1, 1},
		{"islamic-civil", "1945-11-12", 0, 1364, 12, 6},
		{"islamic-civil", "2094-07-18", 0, 1518, 3, 5},
		{"islamic-tbla", "1945-11-12", 0, 1364, 12, 7},
		{"islamic-umalqura", "1882-11-12", 0, 1300, 1, 1},
		{"islamic-umalqura", "2024-03-11", 0, 1445, 9, 1},
		{"islamic-umalqura", "2174-11-25", 0, 1600, 12, 30},
		{"islamic", "2024-03-11", 0, 1445, 9, 1},
		{"islamic-rgsa", "2000-01-01", 0, 1420, 9, 25},
		{"hebrew", "1945-11-12", 0, 5706, 3, 7},
		{"hebrew", "2024-02-29", 0, 5784, 6, 20},
		{"hebrew", "2023-03-07", 0, 5783, 7, 14},
		{"hebrew", "2024-10-03", 0, 5785, 1, 1},
		{"persian", "1945-11-12", 0, 1324, 8, 21},
		{"persian", "2024-03-19", 0, 1402, 12, 29},
		{"persian", "2024-03-20", 0, 1403, 1, 1},
		{"persian", "2025-03-20", 0, 1403, 12, 30},
		{"indian", "1957-03-22", 0, 1879, 1, 1},
		{"indian", "2024-03-21", 0, 1946, 1, 1},
		{"buddhist", "1941-01-01", 0, 2484, 1, 1},
		{"buddhist", "1582-10-15", 0, 2125, 10, 15},
		{"buddhist", "1582-10-14", 0, 2125, 10, 4},
		{"roc", "1912-01-01", 1, 1, 1, 1},
		{"roc", "1911-12-31", 0, 1, 12, 31},
		{"japanese", "1868-10-23", 0, 1, 10, 23},
		{"japanese", "1868-10-22", early + 231, 4, 10, 22},
		{"japanese", "1989-01-07", 2, 64, 1, 7},
		{"japanese", "1989-01-08", 3, 1, 1, 8},
		{"japanese", "2019-05-01", 4, 1, 5, 1},
	} {
		t.Run(c.calendar+" "+c.day, func(t *testing.T) {
			got := calendars[c.calendar](daysOf(t, c.day))
			got.leap = false
			if want := (calendarDate{c.era, c.year, c.month, c.date, false}); got != want {
				t.Errorf("%s of %s: %+v, want %+v", c.calendar, c.day, got, want)
			}
		})
	}
}

// After each day of three centuries comes the next one of its month, or the first of the next
// month, which is not before the 29th but in the month that ends a Coptic or Ethiopic year.
func TestCalendarFollows(t *testing.T) {
	for name, reckon := range calendars {
		before := reckon(daysOf(t, "1850-01-01"))
		for days := daysOf(t, "1850-01-02"); days < daysOf(t, "2150-01-01"); days++ {
			now := reckon(days)
			sameYear := now.year == before.year && now.era == before.era
			switch {
			case sameYear && now.month == before.month && now.day == before.day+1 && now.day <= 32:
			case now.day == 1 && (before.day >= 28 || before.month == 13 && before.day >= 5) && nextMonth(name, before, now):
			case name == "japanese" && now.era != before.era && now.day == before.day+1: // the era changed
			default:
				t.Fatalf("%s, day %d: after %+v comes %+v", name, days, before, now)
			}
			before = now
		}
	}
}

func nextMonth(calendar string, a, b calendarDate) bool {
	if b.month == 1 {
		return a.month >= 12
	}
	return b.month == a.month+1 || calendar == "hebrew" && !a.leap && a.month == 5 && b.month == 7
}

func TestHebrewNumeral(t *testing.T) {
	for n, want := range map[int]string{
		1: "א׳", 10: "י׳", 15: "ט״ו", 16: "ט״ז", 26: "כ״ו", 30: "ל׳", 400: "ת׳", 779: "תשע״ט", 5785: "תשפ״ה",
		5999: "תתקצ״ט", 6000: "ו׳ אלפים", 4260: "ד׳ר״ס",
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if got := hebrewNumeral(n); got != want {
				t.Errorf("%d: %s, want %s", n, got, want)
			}
		})
	}
}
