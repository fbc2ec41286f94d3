package main

import (
	"strconv"
	"strings"
)

// computed are the calendars beside the Gregorian one that package intl computes, with their folders. The Islamic ones share
// names and patterns.
var computed = map[string]string{ //nolint:gochecknoglobals // a table
	"buddhist": "buddhist", "coptic": "coptic", "ethiopic": "ethiopic", "ethiopic-amete-alem": "ethiopic", "hebrew": "hebrew",
	"indian": "indian", "islamic": "islamic", "japanese": "japanese", "persian": "persian", "roc": "roc",
}

// firstModern is Meiji's number among the Japanese eras.
const firstModern = 232

// otherCalendars puts under "ca/generic/" the patterns that calendars share, and under "ca/NAME/" the patterns and names of one
// that differ from the generic and the Gregorian ones.
func otherCalendars(s *source, locale string, t table) {
	n := s.read("cldr-dates-full/main/"+locale+"/ca-generic.json", "main", locale, "dates", "calendars", "generic")
	generic := datePatterns(locale, n)
	for key, value := range generic {
		t.put("ca/generic/"+key, value)
	}
	for name, folder := range computed {
		file := "cldr-cal-" + folder + "-full/main/" + locale + "/ca-" + name + ".json"
		n := s.read(file, "main", locale, "dates", "calendars", name)
		prefix := "ca/" + strings.Replace(name, "ethiopic-amete-alem", "ethioaa", 1) + "/"
		for key, value := range datePatterns(locale, n) {
			if generic[key] != value {
				t.put(prefix+key, value)
			}
		}
		for key, value := range calendarNames(name, n) {
			if t[key] != value {
				t.put(prefix+key, value)
			}
		}
	}
	// The Japanese eras before Meiji, where their names are not those of English.
	for key, width := range map[string]string{"eraAbbr": "wide", "eraNarrow": "narrow"} {
		if names := earlyNames(s, locale, key); names != earlyNames(s, "en", key) {
			t.put("ca/japanese/early/"+width, names)
		}
	}
}

// datePatterns are the patterns that depend on the calendar.
func datePatterns(locale string, n node) table {
	all, t := table{}, table{}
	formats(all, locale, n)
	skeletons(all, n.at("dateTimeFormats"))
	for key, value := range all {
		if kind, _, _ := strings.Cut(key, "/"); kind == "date" || kind == "available" || kind == "interval" || kind == "glue" {
			t[key] = value
		}
	}
	return t
}

// calendarNames are those of months, weekdays and eras. The Hebrew month after Adar I comes last.
func calendarNames(name string, n node) table {
	t := table{}
	months, first, last := 12, 0, 0
	switch name {
	case "coptic", "ethiopic":
		months, last = 13, 1
	case "ethiopic-amete-alem":
		months = 0 // the other Ethiopic ones
	case "hebrew":
		months = 13
	case "japanese":
		first, last = firstModern, firstModern+4
	case "roc":
		last = 1
	}
	keys := counted(1, months)
	if name == "hebrew" {
		keys = append(keys, "7-yeartype-leap")
	}
	for _, use := range []string{"format", "stand-alone"} {
		for _, width := range []string{"wide", "abbreviated", "narrow"} {
			t.put("month/"+use+"/"+width, joined(n.at("months", use, width), keys))
			t.put("day/"+use+"/"+width, joined(n.at("days", use, width), weekdays))
		}
	}
	for key, width := range eraWidths {
		t.put("era/"+width, joined(n.at("eras", key), counted(first, last)))
	}
	return t
}

var eraWidths = map[string]string{"eraNames": "wide", "eraAbbr": "abbreviated", "eraNarrow": "narrow"} //nolint:gochecknoglobals // a table

// earlyNames are the names of the Japanese eras before Meiji.
func earlyNames(s *source, locale, key string) string {
	file := "cldr-cal-japanese-full/main/" + locale + "/ca-japanese.json"
	return joined(s.read(file, "main", locale, "dates", "calendars", "japanese", "eras", key), counted(0, firstModern-1))
}

// japaneseEras puts when each began, and the English names of the early ones.
func japaneseEras(s *source, t table) {
	all := s.read("cldr-core/supplemental/calendarData.json", "supplemental", "calendarData", "japanese", "eras")
	var starts []string
	for at := range len(all) {
		starts = append(starts, all.at(strconv.Itoa(at)).text("_start"))
	}
	t.put("eras/japanese/start", strings.Join(starts, "|"))
	t.put("eras/japanese/early", earlyNames(s, "en", "eraAbbr"))
}
