package main

import (
	"slices"
	"strconv"
	"strings"
)

// joinNames puts several names on one line, in the order of keys.
func joinNames(n node, keys []string) string {
	var out []string
	for _, key := range keys {
		out = append(out, n.text(key))
	}
	if strings.Join(out, "") == "" {
		return ""
	}
	return strings.Join(out, "|")
}

func numbersFrom(from, to int) []string {
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

func gregorian(s *source, locale string, t table) {
	n := s.read("cldr-dates-full/main/"+locale+"/ca-gregorian.json", "main", locale, "dates", "calendars", "gregorian")
	for _, use := range []string{"format", "stand-alone"} {
		for _, width := range []string{"wide", "abbreviated", "narrow"} {
			t.put("month/"+use+"/"+width, joinNames(n.at("months", use, width), numbersFrom(1, 12)))
			t.put("day/"+use+"/"+width, joinNames(n.at("days", use, width), weekdays))
			for key, value := range n.at("dayPeriods", use, width) {
				if text, _ := value.(string); !strings.Contains(key, "-alt-") && use == "format" {
					// V8's ICU writes the long words in Korean and Pashto, where CLDR has those of English.
					language, _, _ := strings.Cut(locale, "-")
					if (language == "ko" || language == "ps") && width == "abbreviated" && (key == "am" || key == "pm") {
						text = n.at("dayPeriods", use, "wide").text(key)
					}
					t.put("period/"+width+"/"+key, text)
				}
			}
		}
	}
	for key, width := range eraWidths {
		t.put("era/"+width, joinNames(n.at("eras", key), numbersFrom(0, 1)))
	}
	formats(t, locale, n)
	skeletons(t, n.at("dateTimeFormats"))
}

// formats puts the patterns of the four styles.
func formats(t table, locale string, n node) {
	for _, width := range styles {
		t.put("date/"+width, pattern(n.at("dateFormats"), width))
		t.put("time/"+width, pattern(n.at("timeFormats"), width))
		t.put("glue/"+width, restoreSpace(locale, width, pattern(n.at("dateTimeFormats"), width)))
	}
	at := n.at("dateTimeFormats-atTime", "standard")
	own := func(width string) bool { return at.text(width) != pattern(n.at("dateTimeFormats"), width) }
	if !slices.ContainsFunc(styles, own) { // another calendar has its own glue then
		return
	}
	for _, width := range styles {
		t.put("glueat/"+width, restoreSpace(locale, width, at.text(width)))
	}
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} //nolint:gochecknoglobals // a table

var styles = []string{"full", "long", "medium", "short"} //nolint:gochecknoglobals // a table

// restoreSpace restores the space that traditional Chinese has in CLDR 48 but not in its JSON: a thin one in the short form.
func restoreSpace(locale, width, glue string) string {
	switch {
	case !strings.HasPrefix(locale, "zh-Hant") || glue != "{1}{0}":
		return glue
	case width == "short":
		return "{1}\u2009{0}"
	}
	return "{1} {0}"
}

// pattern is a format's pattern, which may come with numbering systems.
func pattern(n node, key string) string {
	if text := n.text(key); text != "" {
		return plain(text)
	}
	return plain(n.at(key).text("_value"))
}

// plain replaces the year of the week by the year, and the weekday's number by its name: some patterns of CLDR 48 have these by
// mistake, and V8 crashes on them.
func plain(pattern string) string {
	quoted := false
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\'':
			quoted = !quoted
		case !quoted && r == 'Y':
			return 'y'
		case !quoted && r == 'e':
			return 'E'
		}
		return r
	}, pattern)
}

func skeletons(t table, n node) {
	for key := range n.at("availableFormats") {
		if !strings.Contains(key, "-alt-") && !strings.Contains(key, "-count-") && !strings.ContainsAny(key, "QwWZ") {
			t.put("available/"+key, pattern(n.at("availableFormats"), key))
		}
	}
	for key, value := range n.at("appendItems") {
		text, _ := value.(string)
		if slices.Contains([]string{"Day", "Day-Of-Week", "Era", "Hour", "Minute", "Month", "Second", "Timezone", "Year"}, key) {
			t.put("append/"+key, text)
		}
	}
	intervals := n.at("intervalFormats")
	t.put("interval/", intervals.text("intervalFormatFallback"))
	for key := range intervals {
		if strings.ContainsAny(key, "Qw") {
			continue
		}
		for field, value := range intervals.at(key) {
			if text, _ := value.(string); !strings.Contains(field, "-alt-") {
				t.put("interval/"+key+"/"+field, plain(text))
			}
		}
	}
}

func zoneNames(s *source, locale string, t table) {
	n := s.read("cldr-dates-full/main/"+locale+"/timeZoneNames.json", "main", locale, "dates", "timeZoneNames")
	for _, key := range []string{"hourFormat", "gmtFormat", "gmtZeroFormat", "regionFormat", "fallbackFormat"} {
		t.put("zone/"+key, n.text(key))
	}
	for meta := range n.at("metazone") {
		zoneForms(t, "metazone/"+meta, n.at("metazone", meta))
	}
	zoneTree(t, "", n.at("zone"))
}

// zoneTree walks Europe → London, America → Argentina → Salta.
func zoneTree(t table, prefix string, n node) {
	for key := range n {
		zone := n.at(key)
		if zone.text("_type") != "zone" {
			zoneTree(t, prefix+key+"/", zone)
			continue
		}
		t.put("zone/"+prefix+key+"/city", zone.text("exemplarCity"))
		zoneForms(t, "zone/"+prefix+key, zone)
	}
}

func zoneForms(t table, prefix string, n node) {
	for _, width := range []string{"long", "short"} {
		for form, value := range n.at(width) {
			if text, _ := value.(string); text != "∅∅∅" {
				t.put(prefix+"/"+width+"/"+form, text)
			}
		}
	}
}

func fields(s *source, locale string, t table) {
	all := s.read("cldr-dates-full/main/"+locale+"/dateFields.json", "main", locale, "dates", "fields")
	for field := range all {
		n := all.at(field)
		t.put("field/"+field, n.text("displayName"))
		for key, value := range n {
			if at, ok := strings.CutPrefix(key, "relative-type-"); ok {
				text, _ := value.(string)
				t.put("relative/"+field+"/"+at, text)
			}
			if when, ok := strings.CutPrefix(key, "relativeTime-type-"); ok {
				for form, value := range n.at(key) {
					text, _ := value.(string)
					t.put("relative/"+field+"/"+when+"/"+strings.TrimPrefix(form, "relativeTimePattern-count-"), text)
				}
			}
		}
	}
}

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
	keys := numbersFrom(1, months)
	if name == "hebrew" {
		keys = append(keys, "7-yeartype-leap")
	}
	for _, use := range []string{"format", "stand-alone"} {
		for _, width := range []string{"wide", "abbreviated", "narrow"} {
			t.put("month/"+use+"/"+width, joinNames(n.at("months", use, width), keys))
			t.put("day/"+use+"/"+width, joinNames(n.at("days", use, width), weekdays))
		}
	}
	for key, width := range eraWidths {
		t.put("era/"+width, joinNames(n.at("eras", key), numbersFrom(first, last)))
	}
	return t
}

var eraWidths = map[string]string{"eraNames": "wide", "eraAbbr": "abbreviated", "eraNarrow": "narrow"} //nolint:gochecknoglobals // a table

// earlyNames are the names of the Japanese eras before Meiji.
func earlyNames(s *source, locale, key string) string {
	file := "cldr-cal-japanese-full/main/" + locale + "/ca-japanese.json"
	return joinNames(s.read(file, "main", locale, "dates", "calendars", "japanese", "eras", key), numbersFrom(0, firstModern-1))
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
