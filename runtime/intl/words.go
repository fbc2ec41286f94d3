package intl

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// wordFuncs are those of RelativeTimeFormat, ListFormat, DisplayNames and the cases of strings.
func wordFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// intl_resolve(tags, whether numbers matter, numbering system) -> [locale, numbering system, separator of a clock's numbers]
		"intl_resolve": func(c *engine.Call) (any, error) {
			r, err := resolve(c.Strings(0))
			if err != nil {
				return nil, err
			}
			if !c.Bool(1) {
				return []string{r.tag.String(), "", ""}, nil
			}
			system := r.numberingSystem(c.String(2))
			separator, ok := r.data.Find("number/" + system + "/timeSeparator")
			if !ok {
				separator = r.data.Text("number/latn/timeSeparator")
			}
			return []string{r.tag.String(), system, separator}, nil
		},
		// intl_relative(locale, numbering system, style, numeric, number, unit) -> [kind, text, …]
		"intl_relative": func(c *engine.Call) (any, error) {
			f, err := relativeFormatOf(c.String(0), c.String(1))
			if err != nil {
				return nil, err
			}
			return flat(f.relative(c.String(2), c.String(3) == "auto", c.Float(4), c.String(5))), nil
		},
		// intl_list(locale, type, style, texts) -> [kind, text, …]
		"intl_list": func(c *engine.Call) (any, error) {
			r, err := resolve([]string{c.String(0)})
			if err != nil {
				return nil, err
			}
			const many = 1000
			kind, style, texts := c.String(1), c.String(2), c.Strings(3)
			if len(texts) <= many {
				return flat(list(r.data, kind, style, texts)), nil
			}
			return c.Offload(func() (any, error) { return flat(list(r.data, kind, style, texts)), nil })
		},
		// intl_name(locale, type, style, dialect or standard, code) -> [canonical code, name]
		// without the name when there is none
		"intl_name": func(c *engine.Call) (any, error) {
			r, err := resolve([]string{c.String(0)})
			if err != nil {
				return nil, err
			}
			n := namer{r.data, c.String(2), c.String(3) == "dialect"}
			return n.find(c.String(1), c.String(4))
		},
		// intl_case(tags, text, whether to upper case) -> text
		"intl_case": func(c *engine.Call) (any, error) {
			tags, text, upper := c.Strings(0), c.String(1), c.Bool(2)
			if len(text) <= longText {
				return changeCase(tags, text, upper)
			}
			return c.Offload(func() (any, error) { return changeCase(tags, text, upper) })
		},
	}
}

var relativeFormats cache[*numberFormat] //nolint:gochecknoglobals // pure functions of their specifications

func relativeFormatOf(locale, system string) (*numberFormat, error) {
	return cached(&relativeFormats, `["`+locale+`","`+system+`"]`, func(key [2]string) (*numberFormat, error) {
		s, err := resolveNumber([]string{key[0]}, numberOptions{
			digitOptions: digitOptions{
				RoundingIncrement: 1, RoundingMode: "halfExpand", RoundingPriority: "auto", TrailingZeroDisplay: "auto",
			},
			NumberingSystem: key[1], Style: "decimal", Notation: "standard", UseGrouping: "auto", SignDisplay: "auto",
		})
		if err != nil {
			return nil, err
		}
		return newNumberFormat(*s)
	})
}

// relative writes "in 3 days" (ECMA-402, 18.5.2).
func (f *numberFormat) relative(style string, auto bool, value float64, unit string) []part {
	key := "relative/" + unit
	if style != "long" {
		key += "-" + style
	}
	d := float(value)
	if auto {
		if text, ok := f.data.Find(key + "/" + strconv.Itoa(int(value))); ok && value == math.Trunc(value) {
			return []part{{"literal", text}}
		}
	}
	when := "future"
	if d.negative {
		when, d.negative = "past", false
	}
	before, after, ok := strings.Cut(f.inPlural(key+"/"+when+"/", f.plural(f.scale(d))), "{0}")
	parts := appendPart(nil, "literal", before)
	if !ok { // the word has the number in it
		return parts
	}
	return appendPart(append(parts, f.format(d)...), "literal", after)
}

// list writes "a, b, and c" (ECMA-402, 14.5.2).
func list(data *cldr.Locale, kind, style string, texts []string) []part {
	switch len(texts) {
	case 0:
		return nil
	case 1:
		return []part{{"element", texts[0]}}
	}
	key := "list/" + map[string]string{"conjunction": "standard", "disjunction": "or", "unit": "unit"}[kind]
	if style != "long" {
		key += "-" + style
	}
	last := len(texts) - 1
	if last == 1 {
		return pair(pairPattern(data, key+"/2", texts[1]), []part{{"element", texts[0]}}, texts[1])
	}
	parts := pair(data.Text(key+"/start"), []part{{"element", texts[0]}}, texts[1])
	for _, text := range texts[2:last] {
		parts = pair(data.Text(key+"/middle"), parts, text)
	}
	return pair(pairPattern(data, key+"/end", texts[last]), parts, texts[last])
}

func pair(pattern string, before []part, text string) []part {
	pieces, out := placeholders(pattern), []part(nil)
	if len(pieces) > 0 && pieces[0] == "{0}" { // as most: a long list is not copied for each element
		pieces, out = pieces[1:], before
	}
	for _, piece := range pieces {
		switch piece {
		case "{0}":
			out = append(out, before...)
		case "{1}":
			out = append(out, part{"element", text})
		default:
			out = append(out, part{"literal", piece})
		}
	}
	return out
}

// pairPattern is a pattern before its last element: Spanish changes "y" and "o" before a word that begins with the same sound,
// Hebrew puts a hyphen before a word in other letters (UTS 35, part 2, "List patterns").
func pairPattern(data *cldr.Locale, key, next string) string {
	pattern := data.Text(key)
	word := strings.ToLower(next)
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(word, p) {
				return true
			}
		}
		return false
	}
	if data.Language() == "es" {
		if has("i", "hi") && !has("hie", "hia") {
			pattern = strings.Replace(pattern, " y ", " e ", 1)
		}
		if has("o", "ho", "8") || word == "11" || has("11 ") {
			pattern = strings.Replace(pattern, " o ", " u ", 1)
		}
	}
	if data.Language() == "he" && next != "" && !unicode.Is(unicode.Hebrew, []rune(next)[0]) {
		pattern = strings.Replace(pattern, "ו{1}", "ו-{1}", 1)
	}
	return pattern
}

// namer is a DisplayNames.
type namer struct {
	data    *cldr.Locale
	style   string
	dialect bool
}

// findStyled is a name in the style, otherwise the long one.
func (n namer) findStyled(key string) (string, bool) {
	if n.style != "long" {
		if name, ok := n.data.Find(key + "/short"); ok {
			return name, true
		}
	}
	return n.data.Find(key)
}

// find returns the canonical code, and its name if there is one.
func (n namer) find(kind, code string) (any, error) {
	canonical, name, valid, found := code, "", false, false
	switch kind {
	case "language":
		t, err := parseTag(code)
		if valid = err == nil && t.base() == t.String(); valid {
			canonical = t.String()
			name, found = n.language(t)
		}
	case "region":
		valid = len(code) == 2 && alphabetic(code) || len(code) == 3 && numeric(code)
		canonical = strings.ToUpper(code)
		name, found = n.findStyled("name/t/" + canonical)
	case "script":
		valid = len(code) == 4 && alphabetic(code)
		canonical = title(code)
		if name, found = n.data.Find("name/s/" + canonical + "/stand-alone"); !found {
			name, found = n.findStyled("name/s/" + canonical)
		}
	case "currency":
		valid = len(code) == 3 && alphabetic(code)
		canonical = strings.ToUpper(code)
		name, found = n.data.Find("currency/" + canonical)
	case "calendar":
		valid = !slices.ContainsFunc(strings.Split(code, "-"), func(word string) bool { return !sized(word, 3, 8) })
		canonical = canonicalValue("u", keyword{"ca", strings.ToLower(code)})
		key := cmp.Or(map[string]string{"gregory": "gregorian", "ethioaa": "ethiopic-amete-alem"}[canonical], canonical)
		name, found = n.data.Find("name/calendar/" + key)
	case "dateTimeField":
		var key string
		key, valid = dateTimeFields[code]
		if n.style != "long" {
			name, found = n.data.Find("field/" + key + "-" + n.style)
		}
		if !found {
			name, found = n.data.Find("field/" + key)
		}
	default:
		return nil, rangeError("Intl.DisplayNames has no type " + shorten(kind))
	}
	if !valid {
		return nil, rangeError("Invalid argument to Intl.DisplayNames.prototype.of: " + shorten(code))
	}
	if !found {
		return []string{canonical}, nil
	}
	return []string{canonical, name}, nil
}

// dateTimeFields are CLDR's names of the codes of "of".
var dateTimeFields = map[string]string{ //nolint:gochecknoglobals // a table
	"era": "era", "year": "year", "quarter": "quarter", "month": "month", "weekOfYear": "week", "weekday": "weekday", "day": "day",
	"dayPeriod": "dayperiod", "hour": "hour", "minute": "minute", "second": "second", "timeZoneName": "zone",
}

// language is the name of a whole tag: of the longest known beginning, with the rest in brackets (UTS 35, part 2, section 1.1).
func (n namer) language(t *tag) (string, bool) {
	rest := tag{script: t.script, region: t.region, variants: t.variants}
	name, ok := "", false
	if n.dialect {
		name, ok = n.dialectName(t, &rest)
	}
	if !ok {
		if name, ok = n.findStyled("name/l/" + t.language); !ok {
			if t.base() == t.language {
				return "", false
			}
			name = t.language
		}
	}
	var extra []string
	for _, part := range append([]string{rest.script, rest.region}, rest.variants...) {
		if part == "" {
			continue
		}
		kind := map[bool]string{true: "name/s/", false: "name/t/"}[len(part) == 4 && part == rest.script]
		if len(part) > 4 || isDigit(part[0]) && len(part) == 4 {
			kind, part = "name/v/", strings.ToUpper(part)
		}
		text, ok := n.findStyled(kind + part)
		if !ok {
			text = part
		}
		extra = append(extra, strings.NewReplacer("(", "[", ")", "]").Replace(text))
	}
	if len(extra) == 0 {
		return name, true
	}
	inner := extra[0]
	for _, e := range extra[1:] {
		inner = glue(n.data.Text("name/localeSeparator"), e, inner)
	}
	return glue(n.data.Text("name/localePattern"), inner, name), true
}

func (n namer) dialectName(t, rest *tag) (string, bool) {
	for _, try := range []tag{
		{language: t.language, script: t.script, region: t.region},
		{language: t.language, script: t.script},
		{language: t.language, region: t.region},
	} {
		if try.base() == t.language {
			continue
		}
		if name, ok := n.findStyled("name/l/" + try.base()); ok {
			if try.script != "" {
				rest.script = ""
			}
			if try.region != "" {
				rest.region = ""
			}
			return name, true
		}
	}
	return "", false
}

// changeCase does String.prototype.toLocaleUpperCase and toLocaleLowerCase (ECMA-402, 20.1.2): languages with rules of
// their own are lt, tr, az and, for upper case, el. Armenian has none in ICU's rules that V8 asks.
func changeCase(requested []string, text string, upper bool) (any, error) {
	t := &tag{language: "en"}
	if len(requested) > 0 {
		var err error
		if t, err = parseTag(requested[0]); err != nil {
			return nil, err
		}
	}
	l := language.Und
	switch t.language {
	case "tr", "az", "lt", "el":
		l = language.Make(t.language)
	}
	if upper {
		return cases.Upper(l).String(text), nil
	}
	return cases.Lower(l).String(text), nil
}
