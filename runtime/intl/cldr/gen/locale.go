package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// This file writes what belongs to a locale.

// tree says which locales there are and what each inherits from.
type tree struct {
	names   []string // with tables of their own, sorted
	parents map[string]string
	alias   map[string]string // locales without tables, and the one they are the same as
}

func (s source) tree() (tree, error) {
	t := tree{alias: map[string]string{}}
	entries, err := os.ReadDir(filepath.Join(string(s), "cldr-numbers-full", "main"))
	if err != nil {
		return t, err
	}
	for _, e := range entries {
		language, _, _ := strings.Cut(e.Name(), "-")
		if slices.Contains(languages, language) && s.whole(e.Name()) {
			t.names = append(t.names, e.Name())
		}
	}
	explicit, err := s.read("cldr-core/supplemental/parentLocales.json", "supplemental", "parentLocales", "parentLocale")
	if err != nil {
		return t, err
	}
	t.parents = map[string]string{}
	for _, name := range t.names {
		t.parents[name] = t.parent(name, explicit.text(name))
	}
	return t, s.aliases(&t)
}

// whole reports whether a locale has every part: seldom-used scripts have not. Azerbaijani
// in Arabic letters has them as copies of the root's.
func (s source) whole(locale string) bool {
	if strings.HasPrefix(locale, "az-Arab") {
		return false
	}
	for _, file := range []string{
		"cldr-dates-full/main/%s/ca-gregorian.json", "cldr-units-full/main/%s/units.json", "cldr-misc-full/main/%s/listPatterns.json",
		"cldr-localenames-full/main/%s/languages.json",
	} {
		if _, err := os.Stat(filepath.Join(string(s), fmt.Sprintf(file, locale))); err != nil {
			return false
		}
	}
	return true
}

func (t tree) parent(name, explicit string) string {
	if explicit != "" {
		if slices.Contains(t.names, explicit) {
			return explicit
		}
		return ""
	}
	for up := name; strings.Contains(up, "-"); {
		up = up[:strings.LastIndexByte(up, '-')]
		if slices.Contains(t.names, up) {
			return up
		}
	}
	return ""
}

// aliases adds the locales that have no content of their own: de-DE is de, and
// zh-TW and pa-PK, without their scripts, are zh-Hant and pa-Arab.
func (s source) aliases(t *tree) error {
	core := filepath.Join(string(s), "cldr-core", "defaultContent.json")
	if _, err := os.Stat(core); err != nil {
		return err
	}
	all, err := s.read("cldr-core/defaultContent.json")
	if err != nil {
		return err
	}
	list, _ := all["defaultContent"].([]any)
	for _, item := range list {
		name, _ := item.(string)
		parent := name[:max(0, strings.LastIndexByte(name, '-'))]
		if slices.Contains(t.names, parent) && !slices.Contains(t.names, name) {
			t.alias[name] = parent
		}
	}
	return s.shortAliases(t)
}

// shortAliases adds the tags whose region tells the script.
func (s source) shortAliases(t *tree) error {
	subtags, err := s.read("cldr-core/supplemental/likelySubtags.json", "supplemental", "likelySubtags")
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(t.names, slices.Collect(maps.Keys(t.alias))) {
		if short := withoutScript(name); short != "" && likelyTag(subtags, short) == name && !slices.Contains(t.names, short) {
			t.alias[short] = cmp.Or(t.alias[name], name)
		}
	}
	return nil
}

// withoutScript is uz-AF for uz-Arab-AF; "" for a name without script or region.
func withoutScript(name string) string {
	if parts := strings.Split(name, "-"); len(parts) == 3 && len(parts[1]) == 4 {
		return parts[0] + "-" + parts[2]
	}
	return ""
}

// likelyTag adds the likely script to the language and region of a tag.
func likelyTag(subtags node, tag string) string {
	if whole := subtags.text(tag); whole != "" {
		return whole
	}
	language, region, _ := strings.Cut(tag, "-")
	parts := strings.Split(subtags.text(language), "-")
	return language + "-" + parts[min(1, len(parts)-1)] + "-" + region
}

// locales lists the locales: "name<TAB>parent", and "name<TAB>=locale" for one
// that has no table of its own.
func locales(s source) (string, error) {
	t, err := s.tree()
	if err != nil {
		return "", err
	}
	var out []string
	for _, name := range t.names {
		out = append(out, name+"\t"+t.parents[name]+"\n")
	}
	for name, same := range t.alias {
		out = append(out, name+"\t="+same+"\n")
	}
	slices.Sort(out)
	return strings.Join(out, ""), nil
}

// writeLocales writes one file a language: a line "# locale", its table, and so on.
func writeLocales(s source, to string) error {
	t, err := s.tree()
	if err != nil {
		return err
	}
	tables := map[string]table{}
	for _, name := range t.names {
		if tables[name], err = localeTable(s, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	files := map[string]*strings.Builder{}
	for _, name := range t.names {
		language, _, _ := strings.Cut(name, "-")
		if files[language] == nil {
			files[language] = &strings.Builder{}
		}
		files[language].WriteString("# " + name + "\n" + tables[name].lines(tables[t.parents[name]]))
	}
	for language, text := range files {
		if err := os.WriteFile(filepath.Join(to, language+".txt"), []byte(text.String()), 0o666); err != nil {
			return err
		}
	}
	return nil
}

func localeTable(s source, locale string) (table, error) {
	t := table{}
	for _, part := range []func(source, string, table) error{
		numbers, currencies, gregorian, otherCalendars, zoneNames, fields, lists, units, names,
	} {
		if err := part(s, locale, t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func numbers(s source, locale string, t table) error {
	n, err := s.read("cldr-numbers-full/main/"+locale+"/numbers.json", "main", locale, "numbers")
	if err != nil {
		return err
	}
	system := n.text("defaultNumberingSystem")
	t.put("number/system", system)
	t.put("number/native", n.at("otherNumberingSystems").text("native"))
	t.put("number/grouping", n.text("minimumGroupingDigits"))
	for _, ns := range []string{system, "latn", n.at("otherNumberingSystems").text("native")} {
		at := "-numberSystem-" + ns
		for key, value := range n.at("symbols" + at) {
			if text, ok := value.(string); ok {
				t.put("number/"+ns+"/"+key, text)
			}
		}
		for _, kind := range []string{"decimal", "percent", "scientific"} {
			t.put("number/"+ns+"/pattern/"+kind, n.at(kind+"Formats"+at).text("standard"))
		}
		for _, style := range []string{"short", "long"} {
			compact(t, "number/"+ns+"/"+style+"/", n.at("decimalFormats"+at, style, "decimalFormat"))
		}
		money := n.at("currencyFormats" + at)
		for key, value := range money {
			if text, ok := value.(string); ok && key != "currencyPatternAppendISO" {
				t.put("number/"+ns+"/money/"+key, text)
			}
		}
		compact(t, "number/"+ns+"/money/short/", money.at("short", "standard"))
		for _, key := range []string{"approximately", "range"} {
			t.put("number/"+ns+"/misc/"+key, n.at("miscPatterns"+at).text(key))
		}
	}
	return nil
}

// compact puts the patterns of 1000, 10000, … by the number of zeros.
func compact(t table, prefix string, n node) {
	for key, value := range n {
		text, _ := value.(string)
		size, count, _ := strings.Cut(key, "-count-")
		if strings.Contains(count, "-alt-") { // ICU has no use for it
			continue
		}
		t.put(prefix+strconv.Itoa(len(size)-1)+"/"+count, text)
	}
}

func currencies(s source, locale string, t table) error {
	all, err := s.read("cldr-numbers-full/main/"+locale+"/currencies.json", "main", locale, "numbers", "currencies")
	if err != nil {
		return err
	}
	for code := range all {
		n := all.at(code)
		for key, value := range n {
			text, _ := value.(string)
			short, ok := map[string]string{
				"displayName": "", "symbol": "/symbol", "symbol-alt-narrow": "/narrow", "symbol-alt-formal": "/formal",
			}[key]
			if count, plural := strings.CutPrefix(key, "displayName-count-"); plural {
				if !inflected(n) {
					continue
				}
				short, ok = "/"+count, true
			}
			if known := n.text("symbol"); ok && (text != code || short == "/narrow" && known != "" && known != code) {
				t.put("currency/"+code+short, text)
			}
		}
	}
	return nil
}

// inflected reports whether a currency's name changes with the number.
func inflected(n node) bool {
	for key, value := range n {
		if strings.HasPrefix(key, "displayName-count-") && value != n.text("displayName") {
			return true
		}
	}
	return false
}

func units(s source, locale string, t table) error {
	all, err := s.read("cldr-units-full/main/"+locale+"/units.json", "main", locale, "units")
	if err != nil {
		return err
	}
	for _, width := range []string{"long", "short", "narrow"} {
		t.put("unit/"+width+"/per", all.at(width, "per").text("compoundUnitPattern"))
		for key := range all.at(width) {
			kind, name, _ := strings.Cut(key, "-")
			if kind != "speed" && kind != "graphics" && !slices.Contains(sanctioned, name) || kind == "graphics" {
				continue
			}
			for form, value := range all.at(width, key) {
				text, _ := value.(string)
				if count, ok := strings.CutPrefix(form, "unitPattern-count-"); ok {
					t.put("unit/"+width+"/"+name+"/"+count, text)
				} else if form == "perUnitPattern" {
					t.put("unit/"+width+"/"+name+"/per", text)
				}
			}
		}
	}
	return nil
}

// sanctioned are the simple units of ECMA-402, section 6.6.2.
var sanctioned = []string{ //nolint:gochecknoglobals // a table
	"acre", "bit", "byte", "celsius", "centimeter", "day", "degree", "fahrenheit", "fluid-ounce", "foot", "gallon", "gigabit",
	"gigabyte", "gram", "hectare", "hour", "inch", "kilobit", "kilobyte", "kilogram", "kilometer", "liter", "megabit", "megabyte",
	"meter", "microsecond", "mile", "mile-scandinavian", "milliliter", "millimeter", "millisecond", "minute", "month", "nanosecond",
	"ounce", "percent", "petabyte", "pound", "second", "stone", "terabit", "terabyte", "week", "yard", "year",
	"mile-per-gallon", "liter-per-kilometer",
}

func lists(s source, locale string, t table) error {
	all, err := s.read("cldr-misc-full/main/"+locale+"/listPatterns.json", "main", locale, "listPatterns")
	if err != nil {
		return err
	}
	for key := range all {
		kind := strings.TrimPrefix(key, "listPattern-type-")
		for part, value := range all.at(key) {
			text, _ := value.(string)
			t.put("list/"+kind+"/"+part, text)
		}
	}
	return nil
}

func names(s source, locale string, t table) error {
	folder := "cldr-localenames-full/main/" + locale + "/"
	for _, kind := range []string{"languages", "territories", "scripts", "variants"} {
		all, err := s.read(folder+kind+".json", "main", locale, "localeDisplayNames", kind)
		if kind == "variants" && errors.Is(err, fs.ErrNotExist) { // as in some languages
			continue
		}
		if err != nil {
			return err
		}
		for code, value := range all {
			text, _ := value.(string)
			if kind == "variants" && strings.ToUpper(code) != code {
				continue
			}
			code = strings.Replace(code, "-alt-", "/", 1)
			if text != code && !strings.HasSuffix(code, "/variant") && !strings.Contains(code, "/menu") &&
				!strings.Contains(code, "/stand-alone") && !strings.Contains(code, "/secondary") {
				t.put("name/"+kind[:1]+"/"+code, text)
			}
		}
	}
	all, err := s.read(folder+"localeDisplayNames.json", "main", locale, "localeDisplayNames")
	if err != nil {
		return err
	}
	for key, value := range all.at("localeDisplayPattern") {
		text, _ := value.(string)
		t.put("name/"+key, text)
	}
	for key, value := range all.at("types", "calendar") {
		text, _ := value.(string)
		t.put("name/calendar/"+key, text)
	}
	return nil
}
