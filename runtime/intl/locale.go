package intl

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

func localeFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// intl_canonical(tag) -> the tag in canonical form
		"intl_canonical": func(c *engine.Call) (any, error) {
			t, err := parseTag(c.String(0))
			if err != nil {
				return nil, err
			}
			return t.String(), nil
		},
		// intl_supported(tags) -> those for which there is data
		"intl_supported": func(c *engine.Call) (any, error) {
			out := []string{}
			for _, text := range c.Strings(0) {
				t, err := parseTag(text)
				if err != nil {
					return nil, err
				}
				if available(t) != "" {
					out = append(out, t.String())
				}
			}
			return out, nil
		},
		// intl_values(key) -> the values that are supported, sorted
		"intl_values": func(c *engine.Call) (any, error) { return supportedValues(c.String(0)) },
		// intl_locale(tag, changes as JSON) -> the parts of the tag as JSON
		"intl_locale": func(c *engine.Call) (any, error) {
			o, err := options[localeOptions](c.String(1))
			if err != nil {
				return nil, err
			}
			return makeLocale(c.String(0), o)
		},
		// intl_likely(tag, whether to add likely subtags or else to remove them) -> tag
		"intl_likely": func(c *engine.Call) (any, error) {
			t, err := parseTag(c.String(0))
			if err != nil {
				return nil, err
			}
			if c.Bool(1) {
				t.maximize()
			} else {
				t.minimize()
			}
			return t.String(), nil
		},
		// intl_locale_info(tag, what) -> JSON
		"intl_locale_info": func(c *engine.Call) (any, error) {
			t, err := parseTag(c.String(0))
			if err != nil {
				return nil, err
			}
			return specification(localeInfo(t, c.String(1)))
		},
	}
}

// localeOptions are the options of Intl.Locale; nil is undefined.
type localeOptions struct {
	Language *string           `json:"language"`
	Script   *string           `json:"script"`
	Region   *string           `json:"region"`
	Variants *string           `json:"variants"`
	Keywords map[string]string `json:"keywords"`
}

type localeParts struct {
	Tag      string            `json:"tag"`
	Base     string            `json:"base"`
	Language string            `json:"language"`
	Script   string            `json:"script,omitempty"`
	Region   string            `json:"region,omitempty"`
	Variants string            `json:"variants,omitempty"`
	Keywords map[string]string `json:"keywords"`
}

// makeLocale applies options to a tag (ECMA-402, 14.1.1).
func makeLocale(text string, o localeOptions) (any, error) {
	t, err := parseTag(text)
	if err != nil {
		return nil, err
	}
	if err := o.apply(t); err != nil {
		return nil, err
	}
	t.canonicalize()
	p := localeParts{
		Tag: t.String(), Base: t.base(), Language: t.language, Script: t.script, Region: t.region,
		Variants: strings.Join(t.variants, "-"), Keywords: map[string]string{},
	}
	for _, k := range t.keywords {
		p.Keywords[k.key] = k.value
	}
	return specification(p)
}

func (o localeOptions) apply(t *tag) error {
	base := tag{language: t.language, script: t.script, region: t.region, variants: t.variants}
	for _, change := range []struct {
		name string
		to   *string
		set  func(string)
		ok   func(string) bool
	}{
		{"language", o.Language, func(s string) { base.language = s }, func(s string) bool {
			return alphabetic(s) && (len(s) == 2 || len(s) == 3 || len(s) >= 5 && len(s) <= 8)
		}},
		{"script", o.Script, func(s string) { base.script = s }, func(s string) bool { return alphabetic(s) && len(s) == 4 }},
		{"region", o.Region, func(s string) { base.region = s }, func(s string) bool {
			return alphabetic(s) && len(s) == 2 || numeric(s) && len(s) == 3
		}},
		{"variants", o.Variants, func(s string) { base.variants = strings.Split(s, "-") }, func(s string) bool {
			list := strings.Split(strings.ToLower(s), "-")
			unique := slices.Compact(slices.Sorted(slices.Values(list)))
			return len(unique) == len(list) && !slices.ContainsFunc(list, func(v string) bool { return !isVariant(v) })
		}},
	} {
		if change.to == nil {
			continue
		}
		if !change.ok(*change.to) {
			return rangeError("Incorrect locale information provided: " + change.name + " " + shorten(*change.to))
		}
		change.set(strings.ToLower(*change.to))
	}
	changed, err := parseTag(base.base())
	if err != nil {
		return err
	}
	t.language, t.script, t.region, t.variants = changed.language, changed.script, changed.region, changed.variants
	for key, value := range o.Keywords {
		t.setKeyword(key, canonicalValue("u", keyword{key, strings.ToLower(value)}))
	}
	return nil
}

// supportedValues is Intl.supportedValuesOf.
func supportedValues(key string) (any, error) {
	switch key {
	case "calendar":
		names := slices.AppendSeq([]string{"gregory", "iso8601"}, maps.Keys(calendars))
		slices.Sort(names)
		return names, nil
	case "collation":
		names := slices.Concat(slices.Collect(maps.Values(tailored))...)
		slices.Sort(names)
		return slices.Compact(names), nil
	case "currency":
		keys := cldr.Open("en").Keys("currency/")
		return slices.DeleteFunc(keys, func(key string) bool { return strings.Contains(key, "/") }), nil
	case "numberingSystem":
		var out []string
		for name := range cldr.Common().Under("numerals/") {
			out = append(out, name)
		}
		return out, nil
	case "timeZone":
		return primaryZones(), nil
	case "unit":
		return slices.Clone(sanctioned), nil
	}
	return nil, rangeError("Invalid key : " + key)
}

// localeInfo is the result of Intl.Locale's methods about customs.
func localeInfo(t *tag, what string) any {
	whole := tag{language: t.language, script: t.script, region: t.region}
	whole.maximize()
	region := whole.region
	for _, key := range []string{"sd", "rg"} {
		if override, ok := t.keyword(key); ok && len(override) > 2 && (key == "rg" || t.region == "") {
			region = strings.ToUpper(override[:2])
		}
	}
	key := map[string]string{"calendars": "ca", "collations": "co", "hourCycles": "hc", "numberingSystems": "nu"}[what]
	if asked, ok := t.keyword(key); ok {
		return []string{asked}
	}
	switch what {
	case "calendars":
		return preferredCalendars(region)
	case "collations":
		return append([]string{}, tailored[t.language]...)
	case "hourCycles":
		return regionHourCycles(t.language, region)
	case "numberingSystems":
		if name := available(t); name != "" {
			return []string{cldr.Open(name).Text("number/system")}
		}
		return []string{"latn"}
	case "timeZones":
		return zonesOf(region)
	case "textInfo":
		return json.RawMessage(`{"direction":"` + direction(whole.script) + `"}`)
	}
	return weekOf(t, region)
}

func preferredCalendars(region string) []string {
	list, ok := cldr.Common().Find("calendars/" + region)
	if !ok {
		list = "gregorian"
	}
	return strings.Fields(strings.ReplaceAll(list, "gregorian", "gregory"))
}

// direction is by script: those that CLDR's scriptMetadata marks as rtl.
func direction(script string) string {
	const rightToLeft = " Adlm Arab Aran Avst Chrs Cprt Elym Garb Hatr Hebr Hung Khar Lydi Mand Mani Mend Merc Mero Narb Nbat " +
		"Nkoo Orkh Ougr Palm Phli Phlp Phnx Prti Rohg Samr Sarb Sogd Sogo Syrc Thaa Todr Yezi "
	if script != "" && strings.Contains(rightToLeft, " "+script+" ") {
		return "rtl"
	}
	return "ltr"
}

// week is the result of getWeekInfo; days are 1 (Monday) to 7.
type week struct {
	FirstDay int   `json:"firstDay"`
	Weekend  []int `json:"weekend"`
}

var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} //nolint:gochecknoglobals // a table

func weekOf(t *tag, region string) week {
	find := func(kind string) string {
		if value, ok := cldr.Common().Find("week/" + kind + "/" + region); ok {
			return value
		}
		value, _ := cldr.Common().Find("week/" + kind + "/001")
		return value
	}
	w := week{FirstDay: slices.Index(weekdays, find("firstDay")) + 1}
	if asked, ok := t.keyword("fw"); ok && slices.Contains(weekdays, asked) {
		w.FirstDay = slices.Index(weekdays, asked) + 1
	}
	start, end := slices.Index(weekdays, find("weekendStart"))+1, slices.Index(weekdays, find("weekendEnd"))+1
	for day := start; ; day = day%7 + 1 {
		w.Weekend = append(w.Weekend, day)
		if day == end {
			break
		}
	}
	return w
}

// defaultLocale is the locale of Workers (developers.cloudflare.com: their navigator.language is "en").
const defaultLocale = "en-US"

// available is the longest prefix of a tag's base for which there is data (ECMA-402,
// LookupMatchingLocaleByPrefix); "" for none.
func available(t *tag) string {
	for at := t.base(); ; {
		if cldr.Has(at) {
			return at
		}
		cut := strings.LastIndexByte(at, '-')
		if cut < 0 {
			return ""
		}
		at = at[:cut]
	}
}

// resolution is the locale that a request resolves to.
type resolution struct {
	tag  *tag // the data's locale, with the -u- keywords that count
	from *tag // the requested tag; nil for the default
	data *cldr.Locale
}

// resolve takes the first requested locale with data, otherwise the default.
func resolve(requested []string) (*resolution, error) {
	name, r := defaultLocale, &resolution{}
	for _, text := range requested {
		t, err := parseTag(text)
		if err != nil {
			return nil, err
		}
		if found := available(t); found != "" {
			name, r.from = found, t
			break
		}
	}
	var err error
	r.tag, err = parseTag(name)
	r.data = cldr.Open(name)
	return r, err
}

// keyword resolves one -u- key (ECMA-402, ResolveLocale): the option if it is supported, otherwise the requested tag's keyword if
// that is, otherwise the default. The resolved tag has the keyword if that decides.
func (r *resolution) keyword(key, option, fallback string, supported func(string) bool) string {
	value, inTag := fallback, false
	if r.from != nil {
		if asked, ok := r.from.keyword(key); ok {
			if asked == "" {
				asked = "true"
			}
			if supported(asked) {
				value, inTag = asked, true
			}
		}
	}
	if option != "" && option != value {
		if option = canonicalOption(key, option); supported(option) && option != value {
			value, inTag = option, false
		}
	}
	if inTag {
		kept := value
		if kept == "true" {
			kept = ""
		}
		r.tag.setKeyword(key, kept)
	}
	return value
}

func canonicalOption(key, option string) string {
	option = strings.ToLower(option)
	if value := canonicalValue("u", keyword{key, option}); value != "" {
		return value
	}
	return option
}

func (r *resolution) region() string {
	t := tag{language: r.tag.language, script: r.tag.script, region: r.tag.region}
	if t.region == "" {
		t.maximize()
	}
	if t.region == "" {
		return "001"
	}
	return t.region
}

func (r *resolution) numberingSystem(option string) string {
	return r.keyword("nu", option, r.data.Text("number/system"), func(s string) bool {
		_, ok := cldr.Common().Find("numerals/" + s)
		return ok
	})
}
