// Package cldr is the data of Unicode CLDR 48 that JavaScript's Intl needs:
// number and date patterns, names, plural rules, likely subtags, time zones.
// The folder data holds it as text, written by the command gen from CLDR's own
// JSON; data/README.md names the source and its licence. golang.org/x/text would not
// do: it carries CLDR 32, and no dates, units or lists. The 11.5 MB are in the
// repository since the packages they are written from are too much to install for a
// first build.
//
// In: a locale, and the key of a pattern or name, a path such as "date/short",
// "currency/EUR" or "month/format/wide"; the tables in data list them all. Out:
// the text, or that there is none. A text that is many, as the months are, has
// "|" between them. Nothing is read, parsed or allocated before the first
// question. The package is safe for concurrent use and does no formatting.
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

// missing is the value of what a region has not although its parent has it.
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

// search returns where the first line begins that is not before prefix.
func (t Table) search(prefix string) int {
	low, high := 0, len(t) // both at the begin of a line
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
	b, _ := files.ReadFile("data/" + name) // what is embedded can be read
	return Table(b)
}

// The tables that belong to no locale.
var (
	// Common has plural rules, digits of currencies and numerals, and by region or
	// language calendars, hours, weeks and periods of the day: "digits/JPY" is "0".
	Common = sync.OnceValue(func() Table { return load("common.txt") })
	// Likely has the likely subtags: "und-Hant" is "zh-Hant-TW".
	Likely = sync.OnceValue(func() Table { return load("likely.txt") })
	// Aliases has the preferred spellings of subtags: "language/iw" is "he".
	Aliases = sync.OnceValue(func() Table { return load("aliases.txt") })
	// Zones has the time zones by their names; gen/zones.go says in what form.
	Zones = sync.OnceValue(func() Table { return load("zones.txt") })

	index = sync.OnceValue(func() Table { return load("locales.txt") })
)

// Locale is the data of one locale: its own table, then its parents'. With a calendar, its
// dates are that calendar's.
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
	if l.calendar != nil && isDatePattern(key) {
		return "", false
	}
	return l.find(key)
}

// isDatePattern tells of what no calendar takes from the Gregorian one.
func isDatePattern(key string) bool {
	return strings.HasPrefix(key, "date/") || strings.HasPrefix(key, "available/") || strings.HasPrefix(key, "interval/")
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

// Text is Find without the question whether there is one.
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

// Calendar is the locale with the dates of a calendar, by its name in -u-ca-; the locale
// itself for the Gregorian one.
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
	if kept, ok := locales.Load(key); ok {
		opened, _ := kept.(*Locale)
		return opened
	}
	kept, _ := locales.LoadOrStore(key, &Locale{l.name, l.tables, append(prefixes, "ca/generic/")})
	opened, _ := kept.(*Locale)
	return opened
}

// locales are the opened ones; there are some hundred at most.
var locales sync.Map //nolint:gochecknoglobals // a cache of what is embedded

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
		l.tables = append(l.tables, section(at))
		at = parent
	}
	kept, _ := locales.LoadOrStore(name, l)
	opened, _ := kept.(*Locale)
	return opened
}

// section cuts a locale's table out of its language's file.
func section(name string) Table {
	language, _, _ := strings.Cut(name, "-")
	_, table, _ := strings.Cut(languageFile(language), "\n# "+name+"\n")
	if strings.HasPrefix(table, "# ") { // without a line of its own
		return ""
	}
	table, _, _ = strings.Cut(table, "\n# ")
	return Table(table)
}

// texts are the files of the languages in use, each after a line feed.
var texts sync.Map //nolint:gochecknoglobals // a cache of what is embedded

func languageFile(language string) string {
	if t, ok := texts.Load(language); ok {
		text, _ := t.(string)
		return text
	}
	kept, _ := texts.LoadOrStore(language, "\n"+string(load(language+".txt")))
	text, _ := kept.(string)
	return text
}
