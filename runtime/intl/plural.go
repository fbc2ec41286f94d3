package intl

import (
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// operands are the values of a formatted number in plural rules (UTS 35, part 3, section 5.1.1).
type operands struct {
	whole    string // digits before the point, with the exponent worked in
	fraction string // after it, trailing zeros kept
	exponent int    // of a compact form
}

// value is an operand as a number. A large one is not exact: rules compare only small numbers, and remainders.
func (o operands) value(name byte) float64 {
	number := func(s string) float64 {
		f, _ := strconv.ParseFloat("0"+s, 64) // digits only
		return f
	}
	trimmed := strings.TrimRight(o.fraction, "0")
	switch name {
	case 'i':
		return number(o.whole)
	case 'v':
		return float64(len(o.fraction))
	case 'w':
		return float64(len(trimmed))
	case 'f':
		return number(o.fraction)
	case 't':
		return number(trimmed)
	case 'c', 'e':
		return float64(o.exponent)
	}
	return number(o.whole + "." + o.fraction)
}

// remainder is an operand modulo m; exact also for whole numbers of any size.
func (o operands) remainder(name byte, m int) float64 {
	digits, rest := o.whole, ""
	switch name {
	case 'n':
		rest = strings.TrimRight(o.fraction, "0")
	case 'f':
		digits = o.fraction
	case 't':
		digits = strings.TrimRight(o.fraction, "0")
	case 'v', 'w', 'c', 'e':
		return float64(int(o.value(name)) % m)
	}
	n := 0
	for i := range len(digits) {
		n = (n*10 + int(digits[i]-'0')) % m
	}
	if rest == "" {
		return float64(n)
	}
	f, _ := strconv.ParseFloat("0."+rest, 64)
	return float64(n) + f
}

// pluralRules are the rules of a language: "one:i = 1 and v = 0;few:…;".
type pluralRules string

func findPluralRules(kind, locale string) pluralRules {
	for at := locale; ; {
		if rules, ok := cldr.Common().Find("plural/" + kind + "/" + at); ok {
			return pluralRules(rules)
		}
		cut := strings.LastIndexByte(at, '-')
		if cut < 0 {
			return ""
		}
		at = at[:cut]
	}
}

// categories lists the categories in the order of CLDR, "other" last.
func (r pluralRules) categories() []string {
	var out []string
	for rule := range strings.SplitSeq(string(r), ";") {
		if name, _, ok := strings.Cut(rule, ":"); ok {
			out = append(out, name)
		}
	}
	return append(out, "other")
}

func (r pluralRules) find(o operands) string {
	for rule := range strings.SplitSeq(string(r), ";") {
		name, condition, ok := strings.Cut(rule, ":")
		if !ok {
			continue
		}
		for alternative := range strings.SplitSeq(condition, " or ") {
			if allHold(alternative, o) {
				return name
			}
		}
	}
	return "other"
}

func allHold(conditions string, o operands) bool {
	for c := range strings.SplitSeq(conditions, " and ") {
		if !holds(c, o) {
			return false
		}
	}
	return true
}

func holds(relation string, o operands) bool {
	left, right, ok := strings.Cut(relation, "!=")
	negated := ok
	if !ok {
		left, right, _ = strings.Cut(relation, "=")
	}
	left = strings.TrimSpace(left)
	value := o.value(left[0])
	if _, m, ok := strings.Cut(left, "%"); ok {
		modulus, _ := strconv.Atoi(strings.TrimSpace(m)) // CLDR's own number
		value = o.remainder(left[0], max(modulus, 1))
	}
	return inRanges(value, strings.TrimSpace(right)) != negated
}

func inRanges(value float64, ranges string) bool {
	for r := range strings.SplitSeq(ranges, ",") {
		from, to, span := strings.Cut(strings.TrimSpace(r), "..")
		low, _ := strconv.ParseFloat(from, 64) // CLDR's own numbers
		high := low
		if span {
			high, _ = strconv.ParseFloat(to, 64)
		}
		if value >= low && value <= high && (low == high || value == float64(int64(value))) {
			return true
		}
	}
	return false
}

// pluralRange is the category of a range from one category to another.
func pluralRange(language, from, to string) string {
	pairs, _ := cldr.Common().Find("plural/range/" + language)
	for pair := range strings.SplitSeq(pairs, ";") {
		if result, ok := strings.CutPrefix(pair, from+" "+to+" "); ok {
			return result
		}
	}
	return "other"
}

type pluralOptions struct {
	digitOptions
	Type     string `json:"type"`
	Notation string `json:"notation"`
	Compact  string `json:"compactDisplay"`
}

// pluralSpec has the resolved options of a PluralRules, in the order of resolvedOptions.
type pluralSpec struct {
	Locale   string `json:"locale"`
	Type     string `json:"type"`
	Notation string `json:"notation"`
	Compact  string `json:"compactDisplay,omitempty"`
	digits
	Categories []string `json:"pluralCategories"`
	rounding
}

type pluralFormat struct {
	number *numberFormat
	rules  pluralRules
}

func newPluralFormat(s pluralSpec) (*pluralFormat, error) {
	n, err := newNumberFormat(numberSpec{
		Locale: s.Locale, NumberingSystem: "latn", Style: "decimal", Notation: s.Notation, CompactDisplay: s.Compact,
		digits: s.digits, rounding: s.rounding,
	})
	if err != nil {
		return nil, err
	}
	return &pluralFormat{n, findPluralRules(s.Type, n.data.Name())}, nil
}

func (p *pluralFormat) choose(d decimal) string {
	n := p.number.scale(d)
	if n.exponent {
		n.shift = 0
	}
	return n.plural(p.rules)
}

var pluralFormats cache[*pluralFormat] //nolint:gochecknoglobals // pure functions of their specifications

func pluralFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// intl_plural(tags, options) -> specification
		"intl_plural": resolver(func(tags []string, o pluralOptions) (s pluralSpec, err error) {
			r, err := resolve(tags)
			if err != nil {
				return s, err
			}
			s = pluralSpec{
				Locale: r.tag.String(), Type: o.Type, Notation: o.Notation,
				Categories: findPluralRules(o.Type, r.data.Name()).categories(),
			}
			if o.Notation == "compact" {
				s.Compact = o.Compact
			}
			s.digits, s.rounding, err = o.resolve(0, 3, o.Notation == "compact")
			return s, err
		}),
		// intl_plural_select(specification, number or its text) -> category
		"intl_plural_select": func(c *engine.Call) (any, error) {
			p, err := cached(&pluralFormats, c.String(0), newPluralFormat)
			if err != nil {
				return nil, err
			}
			d, err := numberArgument(c, 1)
			return p.choose(d), err
		},
		// intl_plural_range(specification, from, to) -> category
		"intl_plural_range": func(c *engine.Call) (any, error) {
			p, err := cached(&pluralFormats, c.String(0), newPluralFormat)
			if err != nil {
				return nil, err
			}
			from, to, err := rangeArguments(c)
			if err != nil {
				return nil, err
			}
			return pluralRange(p.number.data.Language(), p.choose(from), p.choose(to)), nil
		},
	}
}
