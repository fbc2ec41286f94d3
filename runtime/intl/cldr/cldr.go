// Package cldr is the data of Unicode CLDR 48 for JavaScript's Intl: number and date patterns, names, plural rules, likely
// subtags, time zones. The command gen writes the folder data, as text, from CLDR's JSON; data/README.md names the source and
// its licence. golang.org/x/text does not suffice: it has CLDR 32, and no dates, units or lists. The 11.5 MB are in the repository
// because their source packages are too large to install for a first build.
//
// In: a locale, and the key of a pattern or name, a path such as "date/short", "currency/EUR" or "month/format/wide"; the tables
// in data list all keys. Out: the text, or that there is none; texts that belong together, such as the months, are joined by "|".
// Nothing is read, parsed or allocated before the first call. The package is safe for concurrent use and does no formatting.
package cldr

import (
	"embed"
	"iter"
	"slices"
	"strings"
	"sync"
)

//go:embed data/*.txt
var files embed.FS

// Table is sorted lines "key<TAB>value".
type Table string

// missing is the value of a key that a region lacks and its parent has.
const missing = "\x00"

// Find returns the value of key.
func (t Table) Find(key string) (value string, ok bool) {
	at := t.search(key + "\t")
	line := t.line(at)
	if value, ok = strings.CutPrefix(line, key+"\t"); !ok {
		return "", false
	}
	return value, true
}

// search returns the begin of the first line that is not before prefix.
func (t Table) search(prefix string) int {
	low, high := 0, len(t) // begins of lines
	for low < high {
		mid := low + (high-low)/2
		start := strings.LastIndexByte(string(t[low:mid]), '\n') + 1 + low
		end := start + len(t.line(start)) + 1
		if string(t[start:end-1]) < prefix {
			low = min(end, len(t))
		} else {
			high = start
		}
	}
	return low
}

func (t Table) line(at int) string {
	line, _, _ := strings.Cut(string(t[min(at, len(t)):]), "\n")
	return line
}

// Under yields the lines whose keys begin with prefix, sorted; keys without it.
func (t Table) Under(prefix string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for at := t.search(prefix); at < len(t); {
			line := t.line(at)
			at += len(line) + 1
			rest, ok := strings.CutPrefix(line, prefix)
			if !ok {
				return
			}
			key, value, _ := strings.Cut(rest, "\t")
			if !yield(key, value) {
				return
			}
		}
	}
}

func load(name string) Table {
	b, _ := files.ReadFile("data/" + name) // embedded files can be read
	return Table(b)
}

// The tables that belong to no locale.
var (
	// Common has plural rules, digits of currencies and numerals, and by region or language calendars, hours, weeks and
	// periods of the day: "digits/JPY" is "0".
	Common = sync.OnceValue(func() Table { return load("common.txt") })
	// Likely has the likely subtags: "und-Hant" is "zh-Hant-TW".
	Likely = sync.OnceValue(func() Table { return load("likely.txt") })
	// Aliases has the preferred spellings of subtags: "language/iw" is "he".
	Aliases = sync.OnceValue(func() Table { return load("aliases.txt") })
	// Zones has the time zones by their names, in the form of function zones in gen/common.go.
	Zones = sync.OnceValue(func() Table { return load("zones.txt") })

	index = sync.OnceValue(func() Table { return load("locales.txt") })
)

// Locale is the data of one locale: its own table, then its parents'. With a calendar, its dates are that calendar's.
type Locale struct {
	name     string
	tables   []Table
	calendar []string // the prefixes of the calendar's keys, its own first; nil for the Gregorian one
}

// Name is the locale's tag.
func (l *Locale) Name() string { return l.name }

// Language is the first subtag of the locale's tag.
func (l *Locale) Language() string {
	language, _, _ := strings.Cut(l.name, "-")
	return language
}

// Find returns the value of key, inherited or not.
func (l *Locale) Find(key string) (string, bool) {
	for _, prefix := range l.calendar {
		if value, ok := l.find(prefix + key); ok {
			return value, true
		}
	}
	// No calendar takes date patterns from the Gregorian one.
	if l.calendar != nil &&
		(strings.HasPrefix(key, "date/") || strings.HasPrefix(key, "available/") || strings.HasPrefix(key, "interval/")) {
		return "", false
	}
	return l.find(key)
}

func (l *Locale) find(key string) (string, bool) {
	for _, t := range l.tables {
		if value, ok := t.Find(key); ok {
			if value == missing {
				return "", false
			}
			return value, true
		}
	}
	return "", false
}

// Text returns the value of key, "" for none.
func (l *Locale) Text(key string) string {
	value, _ := l.Find(key)
	return value
}

// Keys returns the keys that begin with prefix, without it, sorted.
func (l *Locale) Keys(prefix string) []string {
	var keys []string
	for _, calendar := range append(slices.Clone(l.calendar), "") {
		for _, t := range l.tables {
			for key := range t.Under(calendar + prefix) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return slices.DeleteFunc(slices.Compact(keys), func(key string) bool {
		_, ok := l.Find(prefix + key)
		return !ok
	})
}

// Has reports whether there is data for exactly this locale.
func Has(name string) bool {
	_, ok := index().Find(name)
	return ok
}

// Calendar is the locale with the dates of a calendar, by its name in -u-ca-; the locale itself for the Gregorian one.
func (l *Locale) Calendar(name string) *Locale {
	var prefixes []string
	switch {
	case name == "gregory" || name == "iso8601":
		return l
	case strings.HasPrefix(name, "islamic"):
		prefixes = []string{"ca/islamic/"}
	case name == "ethioaa":
		prefixes = []string{"ca/ethioaa/", "ca/ethiopic/"}
	default:
		prefixes = []string{"ca/" + name + "/"}
	}
	key := l.name + " " + prefixes[0]
	cached, ok := locales.Load(key)
	if !ok {
		cached, _ = locales.LoadOrStore(key, &Locale{l.name, l.tables, append(prefixes, "ca/generic/")})
	}
	opened, _ := cached.(*Locale)
	return opened
}

// locales are the opened ones; there are some hundred at most.
var locales sync.Map //nolint:gochecknoglobals // a cache of embedded data

// Open returns the data of a locale for which Has is true; nil for others.
func Open(name string) *Locale {
	if l, ok := locales.Load(name); ok {
		opened, _ := l.(*Locale)
		return opened
	}
	if !Has(name) {
		return nil
	}
	l := &Locale{name: name}
	for at := name; at != ""; {
		parent, _ := index().Find(at)
		if same, ok := strings.CutPrefix(parent, "="); ok {
			at = same
			continue
		}
		language, _, _ := strings.Cut(at, "-")
		_, table, _ := strings.Cut(languageFile(language), "\n# "+at+"\n")
		if strings.HasPrefix(table, "# ") { // without a line of its own
			table = ""
		}
		table, _, _ = strings.Cut(table, "\n# ")
		l.tables = append(l.tables, Table(table))
		at = parent
	}
	cached, _ := locales.LoadOrStore(name, l)
	opened, _ := cached.(*Locale)
	return opened
}

// texts are the files of the languages in use, each after a line feed.
var texts sync.Map //nolint:gochecknoglobals // a cache of embedded data

func languageFile(language string) string {
	cached, ok := texts.Load(language)
	if !ok {
		cached, _ = texts.LoadOrStore(language, "\n"+string(load(language+".txt")))
	}
	text, _ := cached.(string)
	return text
}
