package intl

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

type numberFormat struct {
	s        numberSpec
	data     *cldr.Locale
	rules    pluralRules
	numerals []rune // digits 0 to 9
	symbols  string // "number/latn/"
	arabic   bool   // Arabic digits in a locale that has none of its own
	pattern  pattern
	currency string // the symbol, for ¤
	grouping int    // least digits before a group; 0 for no groups
}

func newNumberFormat(s numberSpec) (*numberFormat, error) {
	t, err := parseTag(s.Locale)
	if err != nil {
		return nil, err
	}
	name := available(t)
	if name == "" {
		return nil, errMissing("the locale " + s.Locale)
	}
	f := &numberFormat{s: s, data: cldr.Open(name), rules: findPluralRules("cardinal", name)}
	numerals, _ := cldr.Common().Find("numerals/" + s.NumberingSystem)
	f.numerals = []rune(numerals)
	if len(f.numerals) != 10 {
		return nil, errMissing("the numbering system " + s.NumberingSystem)
	}
	// The symbols are the locale's own, CLDR root's for Arabic digits (which are those of Arabic), otherwise the Latin ones.
	f.symbols = "number/" + s.NumberingSystem + "/"
	if _, ok := f.data.Find(f.symbols + "decimal"); !ok {
		f.symbols = "number/latn/"
		f.arabic = s.NumberingSystem == "arab"
	}
	kind := "pattern/decimal"
	switch {
	case f.asPercent():
		kind = "pattern/percent"
	case s.Style == "currency" && s.CurrencyDisplay != "name":
		f.currency = f.currencySymbol()
		kind = "money/standard"
		if s.CurrencySign == "accounting" {
			kind = "money/accounting"
		}
	}
	f.pattern = parsePattern(f.data.Text(f.symbols + kind))
	least := 1
	if f.data.Text("number/grouping") == "2" {
		least = 2
	}
	switch s.UseGrouping {
	case "auto":
		f.grouping = least
	case "always":
		f.grouping = 1
	case "min2":
		f.grouping = max(2, least)
	}
	return f, nil
}

func (f *numberFormat) symbol(name string) string {
	if f.arabic && name != "nan" {
		return cldr.Open("ar-EG").Text("number/arab/" + name)
	}
	return f.data.Text(f.symbols + name)
}

// asPercent reports whether the pattern is that of percentages: also for the unit, unless it is spelled out.
func (f *numberFormat) asPercent() bool {
	return f.s.Style == "percent" || f.s.Style == "unit" && f.s.Unit == "percent" && f.s.UnitDisplay != "long"
}

func (f *numberFormat) currencySymbol() string {
	code := f.s.Currency
	if f.s.CurrencyDisplay == "code" {
		return code
	}
	if f.s.CurrencyDisplay == "narrowSymbol" {
		if s, ok := f.data.Find("currency/" + code + "/narrow"); ok {
			return s
		}
	}
	if s, ok := f.data.Find("currency/" + code + "/symbol"); ok {
		return s
	}
	return code
}

// formatted is a number after rounding.
type formatted struct {
	value           decimal
	whole, fraction string
	shift           int    // the power of ten that value was divided by
	exponent        bool   // shift is shown as an exponent
	compact         string // the compact pattern, "" for none
}

// format returns the parts of a number.
func (f *numberFormat) format(d decimal) []part {
	n := f.scale(f.percent(d))
	if !f.hasWords() {
		return f.decorate(n)
	}
	return f.spell(f.plural(n), f.decorate(n))
}

func (f *numberFormat) percent(d decimal) decimal {
	if f.s.Style == "percent" {
		return d.shift(2)
	}
	return d
}

// hasWords reports whether words around the number depend on the plural.
func (f *numberFormat) hasWords() bool {
	return f.s.Style == "currency" && f.s.CurrencyDisplay == "name" || f.s.Style == "unit" && !f.asPercent()
}

func (f *numberFormat) spell(plural string, number []part) []part {
	if f.s.Style == "currency" {
		return f.writeCurrencyName(plural, number)
	}
	return f.writeUnit(plural, number)
}

func (f *numberFormat) decorate(n formatted) []part {
	number, sign := f.numberParts(n), f.sign(n.value)
	p, literal := f.pattern, "literal"
	if n.compact != "" {
		p, literal = parsePattern(n.compact), "compact"
		if !strings.Contains(n.compact, "0") {
			number = nil // "mille" is "1000" in one word
		}
	}
	a := p.affixesFor(sign)
	prefix, suffix := f.affixParts(a.prefix, literal), f.affixParts(a.suffix, literal)
	if f.currency != "" {
		prefix, suffix = spaceCurrency(prefix, number, suffix)
	}
	return append(append(prefix, number...), suffix...)
}

// sign is the sign to show (ECMA-402, 16.5.16, GetNumberFormatPattern).
func (f *numberFormat) sign(d decimal) byte {
	negative := d.negative && !d.nan
	switch display := f.s.SignDisplay; {
	case display == "never", display == "exceptZero" && (d.zero() || d.nan), display == "negative" && d.zero():
		return 0
	case negative:
		return '-'
	case display == "always", display == "exceptZero":
		return '+'
	}
	return 0
}

// scale rounds a number and, in some notations, divides it by a power of ten.
func (f *numberFormat) scale(d decimal) formatted {
	if !d.finite() || f.s.Notation == "standard" {
		return f.round(d, 0)
	}
	if f.s.Notation == "compact" {
		return f.compact(d)
	}
	n := f.round(d, f.exponentOf(d.magnitude()))
	if again := f.exponentOf(n.value.magnitude() + n.shift); again != n.shift && !n.value.zero() {
		n = f.round(d, again)
	}
	n.exponent = true
	return n
}

func (f *numberFormat) exponentOf(magnitude int) int {
	if f.s.Notation == "engineering" {
		return magnitude - ((magnitude%3)+3)%3
	}
	return magnitude
}

// round divides by a power of ten and rounds (ECMA-402, FormatNumericToString).
func (f *numberFormat) round(d decimal, shift int) formatted {
	s, r := f.s.digits, f.s.rounding
	n := formatted{value: d, shift: shift}
	if !d.finite() {
		return n
	}
	d = d.shift(-shift)
	least := 0 // fraction digits to show
	significant := s.MaximumSignificantDigits != nil && s.MaximumFractionDigits == nil
	if s.MaximumSignificantDigits != nil && s.MaximumFractionDigits != nil {
		finer := d.magnitude()-*s.MaximumSignificantDigits+1 <= -*s.MaximumFractionDigits
		significant = finer == (r.RoundingPriority == "morePrecision")
	}
	if significant {
		n.value = d.roundTo(d.magnitude()-*s.MaximumSignificantDigits+1, 1, r.RoundingMode)
		least = *s.MinimumSignificantDigits - 1 - n.value.magnitude()
	} else {
		n.value = d.roundTo(-*s.MaximumFractionDigits, r.RoundingIncrement, r.RoundingMode)
		least = *s.MinimumFractionDigits
	}
	n.whole, n.fraction = n.value.split()
	if missing := least - len(n.fraction); missing > 0 {
		n.fraction += strings.Repeat("0", missing)
	}
	if r.TrailingZeroDisplay == "stripIfInteger" && strings.Trim(n.fraction, "0") == "" {
		n.fraction = ""
	}
	if missing := s.MinimumIntegerDigits - len(n.whole); missing > 0 {
		n.whole = strings.Repeat("0", missing) + n.whole
	}
	return n
}

func (f *numberFormat) numberParts(n formatted) []part {
	switch {
	case n.value.nan:
		return []part{{"nan", f.symbol("nan")}}
	case n.value.infinite:
		return []part{{"infinity", f.symbol("infinity")}}
	}
	parts := f.groups(n.whole)
	if n.fraction != "" {
		decimalSign := f.symbol("decimal")
		if own := f.symbol("currencyDecimal"); own != "" && f.s.Style == "currency" {
			decimalSign = own
		}
		parts = append(parts, part{"decimal", decimalSign}, part{"fraction", f.localizeDigits(n.fraction)})
	}
	if !n.exponent {
		return parts
	}
	parts = append(parts, part{"exponentSeparator", f.symbol("exponential")})
	if n.shift < 0 {
		parts = appendSymbol(parts, "exponentMinusSign", f.symbol("minusSign"))
	}
	return append(parts, part{"exponentInteger", f.localizeDigits(strconv.Itoa(max(n.shift, -n.shift)))})
}

// groups writes the digits before the point.
func (f *numberFormat) groups(whole string) []part {
	p := f.pattern
	if f.grouping == 0 || p.primary == 0 || len(whole) < p.primary+f.grouping {
		return []part{{"integer", f.localizeDigits(whole)}}
	}
	group := f.symbol("group")
	if own := f.symbol("currencyGroup"); own != "" && f.s.Style == "currency" {
		group = own
	}
	head, tail := whole[:len(whole)-p.primary], whole[len(whole)-p.primary:]
	first := (len(head)-1)%p.secondary + 1
	parts := []part{{"integer", f.localizeDigits(head[:first])}}
	for at := first; at < len(head); at += p.secondary {
		parts = append(parts, part{"group", group}, part{"integer", f.localizeDigits(head[at : at+p.secondary])})
	}
	return append(parts, part{"group", group}, part{"integer", f.localizeDigits(tail)})
}

func (f *numberFormat) localizeDigits(digits string) string {
	if f.s.NumberingSystem == "latn" {
		return digits
	}
	out := make([]byte, 0, len(digits)*utf8.UTFMax)
	for i := range len(digits) {
		out = utf8.AppendRune(out, f.numerals[digits[i]-'0'])
	}
	return string(out)
}

// plural is the plural category of the number as shown.
func (f *numberFormat) plural(n formatted) string { return n.plural(f.rules) }

func (n formatted) plural(rules pluralRules) string {
	if !n.value.finite() {
		return "other"
	}
	o := operands{whole: strings.TrimLeft(n.whole, "0"), fraction: n.fraction, exponent: n.shift}
	if n.shift > 0 {
		// 1.2c6 is the number 1200000.
		all := n.fraction + strings.Repeat("0", max(0, n.shift-len(n.fraction)))
		o.whole, o.fraction = strings.TrimLeft(n.whole+all[:n.shift], "0"), all[n.shift:]
	}
	return rules.find(o)
}

var numberFormats cache[*numberFormat] //nolint:gochecknoglobals // pure functions of their specifications

func numberFormatOf(c *engine.Call) (*numberFormat, error) {
	return cached(&numberFormats, c.String(0), newNumberFormat)
}

func numberFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// intl_number(tags, options) -> specification
		"intl_number": resolver(resolveNumber),
		// intl_number_format(specification, number or its text) -> text
		"intl_number_format": func(c *engine.Call) (any, error) {
			f, d, err := numberCall(c)
			if err != nil {
				return nil, err
			}
			return join(f.format(d)), nil
		},
		// intl_number_parts(specification, number or its text) -> [kind, text, …]
		"intl_number_parts": func(c *engine.Call) (any, error) {
			f, d, err := numberCall(c)
			if err != nil {
				return nil, err
			}
			return flat(f.format(d)), nil
		},
		// intl_number_range(specification, from, to) -> [kind, text, source, …]
		"intl_number_range": func(c *engine.Call) (any, error) {
			f, err := numberFormatOf(c)
			if err != nil {
				return nil, err
			}
			from, to, err := rangeArguments(c)
			if err != nil {
				return nil, err
			}
			return flatRange(f.formatRange(from, to)), nil
		},
		// intl_unit(unit) -> whether it is well-formed
		"intl_unit": func(c *engine.Call) (any, error) {
			unit := c.String(0)
			above, below, ok := strings.Cut(unit, "-per-")
			return isSanctioned(unit) || ok && isSanctioned(above) && isSanctioned(below), nil
		},
	}
}

func rangeArguments(c *engine.Call) (from, to decimal, err error) {
	if from, err = numberArgument(c, 1); err != nil {
		return from, to, err
	}
	if to, err = numberArgument(c, 2); err != nil {
		return from, to, err
	}
	if from.nan || to.nan {
		return from, to, rangeError("Invalid argument: a range has no NaN")
	}
	return from, to, nil
}

func numberCall(c *engine.Call) (*numberFormat, decimal, error) {
	f, err := numberFormatOf(c)
	if err != nil {
		return nil, decimal{}, err
	}
	d, err := numberArgument(c, 1)
	return f, d, err
}

// numberArgument is a number, or the text of a number or bigint.
func numberArgument(c *engine.Call, i int) (decimal, error) {
	text, isText := c.Value(i).(string)
	if !isText {
		return float(c.Float(i)), nil
	}
	d, ok := parseDecimal(text)
	if !ok {
		return d, rangeError("the number " + shorten(text) + " is too large to be written out")
	}
	return d, nil
}

func shorten(text string) string {
	if len(text) > 32 {
		text = strings.ToValidUTF8(text[:32], "") + "…"
	}
	b, _ := json.Marshal(text) // a string always has a JSON form
	return string(b)
}
