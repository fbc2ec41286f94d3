package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// tree is the locales and the parent of each.
type tree struct {
	names   []string // with tables of their own, sorted
	parents map[string]string
	alias   map[string]string // locales without tables, and those they are equal to
}

func (s *source) tree() tree {
	t := tree{alias: map[string]string{}, parents: map[string]string{}}
	entries, err := os.ReadDir(filepath.Join(s.folder, "cldr-numbers-full", "main"))
	s.err = cmp.Or(s.err, err)
	for _, e := range entries {
		language, _, _ := strings.Cut(e.Name(), "-")
		if slices.Contains(languages, language) && s.complete(e.Name()) {
			t.names = append(t.names, e.Name())
		}
	}
	explicit := s.read("cldr-core/supplemental/parentLocales.json", "supplemental", "parentLocales", "parentLocale")
	for _, name := range t.names {
		t.parents[name] = t.parent(name, explicit.text(name))
	}
	s.setAliases(&t)
	return t
}

// complete reports whether a locale has every part: rarely used scripts lack some. Azerbaijani in Arabic letters has copies of
// the root's.
func (s *source) complete(locale string) bool {
	if strings.HasPrefix(locale, "az-Arab") {
		return false
	}
	for _, file := range []string{
		"cldr-dates-full/main/%s/ca-gregorian.json", "cldr-units-full/main/%s/units.json", "cldr-misc-full/main/%s/listPatterns.json",
		"cldr-localenames-full/main/%s/languages.json",
	} {
		if !s.has(fmt.Sprintf(file, locale)) {
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

// setAliases sets the locales without content of their own: de-DE is de, and zh-TW and pa-PK, whose regions imply their scripts,
// are zh-Hant and pa-Arab.
func (s *source) setAliases(t *tree) {
	all := s.read("cldr-core/defaultContent.json")
	list, _ := all["defaultContent"].([]any)
	for _, item := range list {
		name, _ := item.(string)
		parent := name[:max(0, strings.LastIndexByte(name, '-'))]
		if slices.Contains(t.names, parent) && !slices.Contains(t.names, name) {
			t.alias[name] = parent
		}
	}
	subtags := s.read("cldr-core/supplemental/likelySubtags.json", "supplemental", "likelySubtags")
	for _, name := range slices.Concat(t.names, slices.Collect(maps.Keys(t.alias))) {
		parts := strings.Split(name, "-")
		if len(parts) != 3 || len(parts[1]) != 4 {
			continue
		}
		short := parts[0] + "-" + parts[2] // uz-AF for uz-Arab-AF
		if likelyTag(subtags, short) == name && !slices.Contains(t.names, short) {
			t.alias[short] = cmp.Or(t.alias[name], name)
		}
	}
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

// locales lists the locales: "name<TAB>parent", and "name<TAB>=locale" for one without a table of its own.
func locales(s *source) string {
	t := s.tree()
	var out []string
	for _, name := range t.names {
		out = append(out, name+"\t"+t.parents[name]+"\n")
	}
	for name, same := range t.alias {
		out = append(out, name+"\t="+same+"\n")
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

// writeLocales writes one file a language: a line "# locale", its table, and so on.
func writeLocales(s *source, to string) error {
	t := s.tree()
	tables := map[string]table{}
	for _, locale := range t.names {
		tables[locale] = table{}
		for _, put := range []func(*source, string, table){
			numbers, currencies, gregorian, otherCalendars, zoneNames, fields, lists, units, names,
		} {
			put(s, locale, tables[locale])
		}
		if s.err != nil {
			return fmt.Errorf("%s: %w", locale, s.err)
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

func numbers(s *source, locale string, t table) {
	n := s.read("cldr-numbers-full/main/"+locale+"/numbers.json", "main", locale, "numbers")
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

func currencies(s *source, locale string, t table) {
	all := s.read("cldr-numbers-full/main/"+locale+"/currencies.json", "main", locale, "numbers", "currencies")
	for code := range all {
		n := all.at(code)
		for key, value := range n {
			text, _ := value.(string)
			short, ok := map[string]string{
				"displayName": "", "symbol": "/symbol", "symbol-alt-narrow": "/narrow", "symbol-alt-formal": "/formal",
			}[key]
			if count, plural := strings.CutPrefix(key, "displayName-count-"); plural {
				inflected := false // the name changes with the number
				for key, value := range n {
					inflected = inflected || strings.HasPrefix(key, "displayName-count-") && value != n.text("displayName")
				}
				if !inflected {
					continue
				}
				short, ok = "/"+count, true
			}
			if known := n.text("symbol"); ok && (text != code || short == "/narrow" && known != "" && known != code) {
				t.put("currency/"+code+short, text)
			}
		}
	}
}

func units(s *source, locale string, t table) {
	all := s.read("cldr-units-full/main/"+locale+"/units.json", "main", locale, "units")
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
}

// sanctioned are the simple units of ECMA-402, section 6.6.2.
var sanctioned = []string{ //nolint:gochecknoglobals // a table
	"acre", "bit", "byte", "celsius", "centimeter", "day", "degree", "fahrenheit", "fluid-ounce", "foot", "gallon", "gigabit",
	"gigabyte", "gram", "hectare", "hour", "inch", "kilobit", "kilobyte", "kilogram", "kilometer", "liter", "megabit", "megabyte",
	"meter", "microsecond", "mile", "mile-scandinavian", "milliliter", "millimeter", "millisecond", "minute", "month", "nanosecond",
	"ounce", "percent", "petabyte", "pound", "second", "stone", "terabit", "terabyte", "week", "yard", "year",
	"mile-per-gallon", "liter-per-kilometer",
}

func lists(s *source, locale string, t table) {
	all := s.read("cldr-misc-full/main/"+locale+"/listPatterns.json", "main", locale, "listPatterns")
	for key := range all {
		kind := strings.TrimPrefix(key, "listPattern-type-")
		for part, value := range all.at(key) {
			text, _ := value.(string)
			t.put("list/"+kind+"/"+part, text)
		}
	}
}

func names(s *source, locale string, t table) {
	folder := "cldr-localenames-full/main/" + locale + "/"
	for _, kind := range []string{"languages", "territories", "scripts", "variants"} {
		if kind == "variants" && !s.has(folder+kind+".json") { // as in some languages
			continue
		}
		all := s.read(folder+kind+".json", "main", locale, "localeDisplayNames", kind)
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
	all := s.read(folder+"localeDisplayNames.json", "main", locale, "localeDisplayNames")
	for key, value := range all.at("localeDisplayPattern") {
		text, _ := value.(string)
		t.put("name/"+key, text)
	}
	for key, value := range all.at("types", "calendar") {
		text, _ := value.(string)
		t.put("name/calendar/"+key, text)
	}
}
