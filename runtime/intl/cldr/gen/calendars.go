package main

import (
	"strconv"
	"strings"
)

// This file writes the dates of the calendars beside the Gregorian one: under "ca/generic/" the
// patterns that they share, and under "ca/NAME/" what a calendar has otherwise, or names
// otherwise than the Gregorian one.

// reckoned are the calendars that package intl reckons, by their folders: the Islamic ones
// have one set of names and patterns.
var reckoned = map[string]string{ //nolint:gochecknoglobals // a table
	"buddhist": "buddhist", "coptic": "coptic", "ethiopic": "ethiopic", "ethiopic-amete-alem": "ethiopic", "hebrew": "hebrew",
	"indian": "indian", "islamic": "islamic", "japanese": "japanese", "persian": "persian", "roc": "roc",
}

// firstModern is Meiji's number among the Japanese eras.
const firstModern = 232

func otherCalendars(s source, locale string, t table) error {
	n, err := s.read("cldr-dates-full/main/"+locale+"/ca-generic.json", "main", locale, "dates", "calendars", "generic")
	if err != nil {
		return err
	}
	generic := datePatterns(locale, n)
	for key, value := range generic {
		t.put("ca/generic/"+key, value)
	}
	for name, folder := range reckoned {
		file := "cldr-cal-" + folder + "-full/main/" + locale + "/ca-" + name + ".json"
		n, err := s.read(file, "main", locale, "dates", "calendars", name)
		if err != nil {
			return err
		}
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
	return earlyEras(s, locale, t)
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

// earlyEras are the names of Japanese eras before Meiji, where they are not those of English.
func earlyEras(s source, locale string, t table) error {
	for key, width := range map[string]string{"eraAbbr": "wide", "eraNarrow": "narrow"} {
		names, err := earlyNames(s, locale, key)
		if err != nil {
			return err
		}
		english, err := earlyNames(s, "en", key)
		if err != nil {
			return err
		}
		if names != english {
			t.put("ca/japanese/early/"+width, names)
		}
	}
	return nil
}

func earlyNames(s source, locale, key string) (string, error) {
	n, err := s.read(
		"cldr-cal-japanese-full/main/"+locale+"/ca-japanese.json", "main", locale, "dates", "calendars", "japanese",
		"eras", key,
	)
	return joined(n, counted(0, firstModern-1)), err
}

// japaneseEras writes when each began, and what the early ones are called in English.
func japaneseEras(s source, t table) error {
	all, err := s.read("cldr-core/supplemental/calendarData.json", "supplemental", "calendarData", "japanese", "eras")
	if err != nil {
		return err
	}
	var starts []string
	for at := range len(all) {
		starts = append(starts, all.at(strconv.Itoa(at)).text("_start"))
	}
	names, err := earlyNames(s, "en", "eraAbbr")
	t.put("eras/japanese/start", strings.Join(starts, "|"))
	t.put("eras/japanese/early", names)
	return err
}
