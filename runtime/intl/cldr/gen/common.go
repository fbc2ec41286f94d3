package main

import (
	"fmt"
	"slices"
	"strings"
)

// This file writes what belongs to no locale.

func common(s source) (string, error) {
	t := table{}
	for _, part := range []func(source, table) error{plurals, money, calendars, japaneseEras, digits, periods} {
		if err := part(s, t); err != nil {
			return "", err
		}
	}
	return t.lines(nil), nil
}

func plurals(s source, t table) error {
	for file, kind := range map[string]string{"plurals": "cardinal", "ordinals": "ordinal"} {
		all, err := s.read("cldr-core/supplemental/"+file+".json", "supplemental", "plurals-type-"+kind)
		if err != nil {
			return err
		}
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
	all, err := s.read("cldr-core/supplemental/pluralRanges.json", "supplemental", "plurals")
	if err != nil {
		return err
	}
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
	return nil
}

func money(s source, t table) error {
	data, err := s.read("cldr-core/supplemental/currencyData.json", "supplemental", "currencyData")
	if err != nil {
		return err
	}
	for code := range data.at("fractions") {
		if digits := data.at("fractions", code).text("_digits"); digits != "2" || code == "DEFAULT" {
			t.put("digits/"+code, digits)
		}
	}
	return nil
}

func calendars(s source, t table) error {
	times, err := s.read("cldr-core/supplemental/timeData.json", "supplemental", "timeData")
	if err != nil {
		return err
	}
	for region := range times {
		t.put("hours/"+strings.ReplaceAll(region, "_", "-"), times.at(region).text("_preferred")+" "+times.at(region).text("_allowed"))
	}
	weeks, err := s.read("cldr-core/supplemental/weekData.json", "supplemental", "weekData")
	if err != nil {
		return err
	}
	for _, kind := range []string{"minDays", "firstDay", "weekendStart", "weekendEnd"} {
		for region, value := range weeks.at(kind) {
			if text, _ := value.(string); !strings.Contains(region, "-alt-") {
				t.put("week/"+kind+"/"+region, text)
			}
		}
	}
	prefer, err := s.read("cldr-core/supplemental/calendarPreferenceData.json", "supplemental", "calendarPreferenceData")
	if err != nil {
		return err
	}
	for region, value := range prefer {
		list, _ := value.([]any)
		t.put("calendars/"+region, strings.Trim(fmt.Sprint(list), "[]"))
	}
	return nil
}

func digits(s source, t table) error {
	all, err := s.read("cldr-core/supplemental/numberingSystems.json", "supplemental", "numberingSystems")
	if err != nil {
		return err
	}
	for name := range all {
		t.put("numerals/"+name, all.at(name).text("_digits"))
	}
	return nil
}

// periods are the parts of the day of each language: "name from before" in hours.
func periods(s source, t table) error {
	all, err := s.read("cldr-core/supplemental/dayPeriods.json", "supplemental", "dayPeriodRuleSet")
	if err != nil {
		return err
	}
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
	return nil
}

// likely writes "und-Hant<TAB>zh-Hant-TW".
func likely(s source) (string, error) {
	all, err := s.read("cldr-core/supplemental/likelySubtags.json", "supplemental", "likelySubtags")
	if err != nil {
		return "", err
	}
	t := table{}
	for key, value := range all {
		text, _ := value.(string)
		t.put(key, text)
	}
	return t.lines(nil), nil
}

func aliases(s source) (string, error) {
	all, err := s.read("cldr-core/supplemental/aliases.json", "supplemental", "metadata", "alias")
	if err != nil {
		return "", err
	}
	t := table{}
	for _, kind := range []string{"language", "script", "territory", "subdivision", "variant"} {
		for key := range all.at(kind + "Alias") {
			t.put(kind+"/"+key, all.at(kind+"Alias", key).text("_replacement"))
		}
	}
	err = valueAliases(s, t)
	return t.lines(nil), err
}

// valueAliases adds the preferred spellings of the values of -u- and -t-
// extensions: "u/ca/gregorian<TAB>gregory".
func valueAliases(s source, t table) error {
	for _, file := range []string{
		"calendar", "collation", "currency", "measure", "number", "segmentation", "timezone", "variant", "transform",
		"transform_mt",
	} {
		all, err := s.read("cldr-bcp47/bcp47/"+file+".json", "keyword")
		if err != nil {
			return err
		}
		for ext := range all {
			for key := range all.at(ext) {
				for value := range all.at(ext, key) {
					valueAlias(t, ext+"/"+key, value, all.at(ext, key))
				}
			}
		}
	}
	return nil
}

func valueAlias(t table, prefix, value string, values node) {
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
