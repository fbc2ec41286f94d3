package intl

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/runtime/engine"
)

type collatorOptions struct {
	Usage             string `json:"usage"`
	Collation         string `json:"collation"`
	Numeric           *bool  `json:"numeric"`
	CaseFirst         string `json:"caseFirst"`
	Sensitivity       string `json:"sensitivity"`
	IgnorePunctuation *bool  `json:"ignorePunctuation"`
}

// longText is the limit of text, in bytes, that is compared on the isolate's own goroutine.
const longText = 64 << 10

// collatorSpec has the resolved options of a Collator, in the order of resolvedOptions.
type collatorSpec struct {
	Locale            string `json:"locale"`
	Usage             string `json:"usage"`
	Sensitivity       string `json:"sensitivity"`
	IgnorePunctuation bool   `json:"ignorePunctuation"`
	Collation         string `json:"collation"`
	Numeric           bool   `json:"numeric"`
	CaseFirst         string `json:"caseFirst"`
}

var tailored = map[string][]string{ //nolint:gochecknoglobals // a table
	"de": {"phonebk"}, "es": {"trad"}, "sv": {"reformed"}, "zh": {"pinyin", "stroke"},
}

func resolveCollator(requested []string, o collatorOptions) (*collatorSpec, error) {
	r, err := resolve(requested)
	if err != nil {
		return nil, err
	}
	s := &collatorSpec{Usage: o.Usage, Sensitivity: o.Sensitivity}
	// Languages whose search collation is CLDR's root one.
	if o.Usage == "search" && !slices.Contains([]string{"en", "fr", "it", "nl", "pt"}, r.tag.language) {
		return nil, errMissing("Intl.Collator with usage \"search\" for " + r.tag.language)
	}
	s.Collation = r.keyword("co", o.Collation, "default", func(name string) bool {
		return slices.Contains(tailored[r.tag.language], name)
	})
	numericOption := ""
	if o.Numeric != nil {
		numericOption = map[bool]string{true: "true", false: "false"}[*o.Numeric]
	}
	truth := func(v string) bool { return v == "true" || v == "false" }
	s.Numeric = r.keyword("kn", numericOption, "false", truth) == "true"
	caseFirst := "false"
	if r.tag.language == "da" { // as in CLDR's collation for Danish
		caseFirst = "upper"
	}
	s.CaseFirst = r.keyword("kf", o.CaseFirst, caseFirst, func(v string) bool { return v == "upper" || v == "lower" || v == "false" })
	if s.Sensitivity == "" {
		s.Sensitivity = "variant"
	}
	if o.IgnorePunctuation != nil {
		s.IgnorePunctuation = *o.IgnorePunctuation
	}
	s.Locale = r.tag.String()
	return s, nil
}

// collator compares texts. x/text's collators keep state while they compare: each comparison takes one of its own.
type collator struct {
	s        collatorSpec
	strength sync.Pool // of *collate.Collator, at the specification's strength
	primary  sync.Pool // of *collate.Collator that see letters only
	order    []*unicode.RangeTable
}

func newCollator(s collatorSpec) (*collator, error) {
	t, err := parseTag(s.Locale)
	if err != nil {
		return nil, err
	}
	extension := "-u"
	if s.Collation != "default" {
		extension += "-co-" + s.Collation
	}
	at := func(level string) func() any {
		l, _ := language.Parse(collationTag(t) + extension + "-ks-" + level) // well-formed: made of known parts
		options := []collate.Option{collate.OptionsFromTag(l)}
		if s.Numeric {
			options = append(options, collate.Numeric)
		}
		return func() any { return collate.New(l, slices.Clone(options)...) } // New sorts them
	}
	c := &collator{s: s, order: reordered[t.language]}
	if t.script == "Latn" {
		c.order = nil
	}
	level := map[string]string{"base": "level1", "case": "level1", "accent": "level2", "variant": "level3"}[s.Sensitivity]
	if s.Sensitivity == "variant" && s.CaseFirst != "false" {
		level = "level2"
	}
	c.strength.New, c.primary.New = at(level), at("level1")
	return c, nil
}

// collationTag is x/text's tag for a language's order. It only has Nynorsk's for Norwegian, and Croatian's for Bosnian and Serbian in Latin
// letters, which are the same.
func collationTag(t *tag) string {
	switch {
	case t.language == "nb", t.language == "no":
		return "nn"
	case t.language == "sr" && t.script == "Latn", t.language == "bs" && t.script != "Cyrl":
		return "hr"
	}
	return t.base()
}

// reordered are the scripts that a language puts before Latin (CLDR, "reorder").
var reordered = map[string][]*unicode.RangeTable{ //nolint:gochecknoglobals // a table
	"ar": {unicode.Arabic}, "ur": {unicode.Arabic}, "fa": {unicode.Arabic}, "ps": {unicode.Arabic}, "th": {unicode.Thai},
	"ru": {unicode.Cyrillic}, "bg": {unicode.Cyrillic}, "sr": {unicode.Cyrillic}, "uk": {unicode.Cyrillic}, "be": {unicode.Cyrillic},
	"kk": {unicode.Cyrillic}, "mk": {unicode.Cyrillic}, "az": {unicode.Latin, unicode.Cyrillic}, "bs": {unicode.Latin, unicode.Cyrillic},
	"ja": {unicode.Latin, kana, unicode.Han}, "zh": {unicode.Han}, "ko": {unicode.Hangul, unicode.Han}, "my": {unicode.Myanmar},
	"el": {unicode.Greek}, "he": {unicode.Hebrew}, "hy": {unicode.Armenian}, "ka": {unicode.Georgian},
	"hi": indic(unicode.Devanagari), "mr": indic(unicode.Devanagari), "bn": indic(unicode.Bengali), "gu": indic(unicode.Gujarati),
	"kn": indic(unicode.Kannada), "ta": indic(unicode.Tamil), "te": indic(unicode.Telugu),
	"pa": append(indic(unicode.Gurmukhi), unicode.Arabic),
	"ml": {unicode.Malayalam, unicode.Latin, unicode.Devanagari, unicode.Arabic},
}

// indic is the order of the scripts of India, with one before the others.
func indic(first *unicode.RangeTable) []*unicode.RangeTable {
	out := []*unicode.RangeTable{first}
	for _, script := range []*unicode.RangeTable{
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	} {
		if script != first {
			out = append(out, script)
		}
	}
	return out
}

// kana is both syllabaries, as one script.
var kana = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x3041, Hi: 0x30ff, Stride: 1}}} //nolint:gochecknoglobals // a table

func compareWith(pool *sync.Pool, a, b string) int {
	c, ok := pool.Get().(*collate.Collator)
	if !ok {
		return strings.Compare(a, b)
	}
	defer pool.Put(c)
	return c.CompareString(a, b)
}

func (c *collator) compare(a, b string) int {
	if c.s.IgnorePunctuation {
		a, b = withoutPunctuation(a), withoutPunctuation(b)
	}
	if a == b {
		return 0
	}
	if c.order != nil {
		if n := c.compareScripts(a, b); n != 0 {
			return n
		}
	}
	if n := compareWith(&c.strength, a, b); n != 0 {
		return n
	}
	if c.s.Sensitivity == "case" {
		return compareCase(a, b, false)
	}
	if c.s.Sensitivity == "variant" && c.s.CaseFirst != "false" {
		return compareCase(a, b, c.s.CaseFirst == "upper")
	}
	return 0
}

// withoutPunctuation removes spaces and punctuation, as a collation that shifts does (UTS 10, 4, with CLDR's bound). With its own
// option x/text finds all texts equal.
func withoutPunctuation(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) {
			return -1
		}
		return r
	}, text)
}

// compareScripts compares by the order of scripts, at the first letters that differ.
func (c *collator) compareScripts(a, b string) int {
	x, y := []rune(norm.NFC.String(a)), []rune(norm.NFC.String(b))
	for i := range min(len(x), len(y)) {
		if x[i] == y[i] {
			continue
		}
		first, second := c.group(x[i]), c.group(y[i])
		if first != second && first >= 0 && second >= 0 {
			return first - second
		}
		if compareWith(&c.primary, string(x[i]), string(y[i])) != 0 {
			return 0
		}
	}
	return 0
}

// group is the index of a letter's script; -1 for other characters.
func (c *collator) group(r rune) int {
	if !unicode.IsLetter(r) {
		return -1
	}
	for i, script := range c.order {
		if unicode.Is(script, r) {
			return i
		}
	}
	return len(c.order)
}

func compareCase(a, b string, upperFirst bool) int {
	x, y := letters(a), letters(b)
	for i := range min(len(x), len(y)) {
		first, second := unicode.IsUpper(x[i]), unicode.IsUpper(y[i])
		if first != second {
			if first == upperFirst {
				return -1
			}
			return 1
		}
	}
	return 0
}

func letters(s string) []rune {
	return slices.DeleteFunc([]rune(norm.NFD.String(s)), func(r rune) bool { return !unicode.IsLetter(r) })
}

var collators cache[*collator] //nolint:gochecknoglobals // pure functions of their specifications

func collateFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// intl_collator(tags, options) -> specification
		"intl_collator": resolver(resolveCollator),
		// intl_compare(specification, text, text) -> negative, 0 or positive
		"intl_compare": func(c *engine.Call) (any, error) {
			k, err := cached(&collators, c.String(0), newCollator)
			if err != nil {
				return nil, err
			}
			a, b := c.String(1), c.String(2)
			compare := func() (any, error) { return min(max(k.compare(a, b), -1), 1), nil }
			if len(a)+len(b) <= longText {
				return compare()
			}
			return c.Offload(compare)
		},
	}
}
