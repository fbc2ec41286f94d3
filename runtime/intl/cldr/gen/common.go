package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// common is the table that belongs to no locale.
func common(s *source) string {
	t := table{}
	for _, put := range []func(*source, table){plurals, money, calendars, japaneseEras, digits, periods} {
		put(s, t)
	}
	return t.lines(nil)
}

func plurals(s *source, t table) {
	for file, kind := range map[string]string{"plurals": "cardinal", "ordinals": "ordinal"} {
		all := s.read("cldr-core/supplemental/"+file+".json", "supplemental", "plurals-type-"+kind)
		for language := range all {
			var rules []string
			for _, count := range []string{"zero", "one", "two", "few", "many"} {
				rule, _, _ := strings.Cut(all.at(language).text("pluralRule-count-"+count), "@")
				if rule = strings.TrimSpace(rule); rule != "" {
					rules = append(rules, count+":"+rule)
				}
			}
			t.put("plural/"+kind+"/"+language, strings.Join(rules, ";")+";")
		}
	}
	all := s.read("cldr-core/supplemental/pluralRanges.json", "supplemental", "plurals")
	for language := range all {
		var pairs []string
		for key, value := range all.at(language) {
			text, _ := value.(string)
			start, end, _ := strings.Cut(strings.TrimPrefix(key, "pluralRange-start-"), "-end-")
			pairs = append(pairs, start+" "+end+" "+text)
		}
		slices.Sort(pairs)
		t.put("plural/range/"+language, strings.Join(pairs, ";"))
	}
}

func money(s *source, t table) {
	data := s.read("cldr-core/supplemental/currencyData.json", "supplemental", "currencyData")
	for code := range data.at("fractions") {
		if digits := data.at("fractions", code).text("_digits"); digits != "2" || code == "DEFAULT" {
			t.put("digits/"+code, digits)
		}
	}
}

func calendars(s *source, t table) {
	times := s.read("cldr-core/supplemental/timeData.json", "supplemental", "timeData")
	for region := range times {
		t.put("hours/"+strings.ReplaceAll(region, "_", "-"), times.at(region).text("_preferred")+" "+times.at(region).text("_allowed"))
	}
	weeks := s.read("cldr-core/supplemental/weekData.json", "supplemental", "weekData")
	for _, kind := range []string{"minDays", "firstDay", "weekendStart", "weekendEnd"} {
		for region, value := range weeks.at(kind) {
			if text, _ := value.(string); !strings.Contains(region, "-alt-") {
				t.put("week/"+kind+"/"+region, text)
			}
		}
	}
	prefer := s.read("cldr-core/supplemental/calendarPreferenceData.json", "supplemental", "calendarPreferenceData")
	for region, value := range prefer {
		list, _ := value.([]any)
		t.put("calendars/"+region, strings.Trim(fmt.Sprint(list), "[]"))
	}
}

func digits(s *source, t table) {
	all := s.read("cldr-core/supplemental/numberingSystems.json", "supplemental", "numberingSystems")
	for name := range all {
		t.put("numerals/"+name, all.at(name).text("_digits"))
	}
}

// periods are the parts of the day of each language: "name from before" in hours.
func periods(s *source, t table) {
	all := s.read("cldr-core/supplemental/dayPeriods.json", "supplemental", "dayPeriodRuleSet")
	for language := range all {
		var rules []string
		for name := range all.at(language) {
			rule := all.at(language, name)
			from, before := rule.text("_from"), rule.text("_before")
			if from == "" {
				from, before = rule.text("_at"), ""
			}
			rules = append(rules, name+" "+from+" "+before)
		}
		slices.Sort(rules)
		t.put("periods/"+language, strings.Join(rules, ";"))
	}
}

// likely writes "und-Hant<TAB>zh-Hant-TW".
func likely(s *source) string {
	all := s.read("cldr-core/supplemental/likelySubtags.json", "supplemental", "likelySubtags")
	t := table{}
	for key, value := range all {
		text, _ := value.(string)
		t.put(key, text)
	}
	return t.lines(nil)
}

func aliases(s *source) string {
	all := s.read("cldr-core/supplemental/aliases.json", "supplemental", "metadata", "alias")
	t := table{}
	for _, kind := range []string{"language", "script", "territory", "subdivision", "variant"} {
		for key := range all.at(kind + "Alias") {
			t.put(kind+"/"+key, all.at(kind+"Alias", key).text("_replacement"))
		}
	}
	// The preferred spellings of the values of -u- and -t- extensions: "u/ca/gregorian<TAB>gregory".
	for _, file := range []string{
		"calendar", "collation", "currency", "measure", "number", "segmentation", "timezone", "variant", "transform",
		"transform_mt",
	} {
		all := s.read("cldr-bcp47/bcp47/"+file+".json", "keyword")
		for ext := range all {
			for key := range all.at(ext) {
				for value := range all.at(ext, key) {
					putAliases(t, ext+"/"+key, value, all.at(ext, key))
				}
			}
		}
	}
	return t.lines(nil)
}

func putAliases(t table, prefix, value string, values node) {
	if strings.HasPrefix(value, "_") {
		return
	}
	if preferred := values.at(value).text("_preferred"); preferred != "" {
		t.put(prefix+"/"+value, preferred)
	}
	for alias := range strings.FieldsSeq(values.at(value).text("_alias")) {
		if !strings.ContainsAny(alias, "/_") && values[strings.ToLower(alias)] == nil {
			t.put(prefix+"/"+strings.ToLower(alias), value)
		}
	}
}

// zones lists the time zones: "zone<TAB>primary name|territory|metazone from until;…", with times in UTC and an empty time for
// "always".
func zones(s *source) string {
	keys := s.read("cldr-bcp47/bcp47/timezone.json", "keyword", "u", "tz")
	metas := s.read("cldr-core/supplemental/metaZones.json", "supplemental", "metaZones")
	used := map[string]string{}
	metazones(used, "", metas.at("metazoneInfo", "timezone"))
	t := table{}
	for code := range keys {
		entry := keys.at(code)
		if entry == nil || entry.text("_alias") == "" {
			continue
		}
		all := strings.Fields(entry.text("_alias"))
		primary, region := cmp.Or(entry.text("_iana"), all[0]), cmp.Or(entry.text("_region"), strings.ToUpper(code[:2]))
		for _, name := range all {
			t.put(name, strings.Join([]string{primary, all[0], region, used[all[0]]}, "|"))
		}
	}
	golden, _ := metas["metazones"].([]any)
	for _, item := range golden {
		m, _ := item.(map[string]any)
		zone := node(m).at("mapZone")
		t.put("="+zone.text("_other")+"/"+zone.text("_territory"), zone.text("_type"))
	}
	return t.lines(nil)
}

func metazones(used map[string]string, prefix string, n node) {
	for key, value := range n {
		uses, ok := value.([]any)
		if !ok {
			metazones(used, prefix+key+"/", n.at(key))
			continue
		}
		var spans []string
		for _, use := range uses {
			m, _ := use.(map[string]any)
			u := node(m).at("usesMetazone")
			spans = append(spans, strings.Join([]string{u.text("_mzone"), u.text("_from"), u.text("_to")}, ","))
		}
		used[prefix+key] = strings.Join(spans, ";")
	}
}
