package intl

import (
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// operands are what plural rules ask of a formatted number (UTS 35, part 3,
// section 5.1.1).
type operands struct {
	whole    string // digits before the point, with the exponent worked in
	fraction string // after it, trailing zeros kept
	exponent int    // of a compact form
}

// value is an operand as a number; ok is false for one too large to be of
// interest to any rule, which ask for remainders and small numbers only.
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

// holds decides "n % 10 != 2..4,7".
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
	return within(value, strings.TrimSpace(right)) != negated
}

func within(value float64, ranges string) bool {
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
