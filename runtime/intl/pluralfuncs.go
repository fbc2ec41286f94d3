package intl

import (
	"github.com/pages-toolchain/pages/runtime/engine"
)

type pluralOptions struct {
	digitOptions
	Type     string `json:"type"`
	Notation string `json:"notation"`
	Compact  string `json:"compactDisplay"`
}

// pluralSpec is what a PluralRules resolved to, in the order of resolvedOptions.
type pluralSpec struct {
	Locale   string `json:"locale"`
	Type     string `json:"type"`
	Notation string `json:"notation"`
	Compact  string `json:"compactDisplay,omitempty"`
	digits
	Categories []string `json:"pluralCategories"`
	rounding
}

// pluralFormat chooses plural categories.
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

// choose returns the category of a number.
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
		"intl_plural": func(c *engine.Call) (any, error) {
			o, err := options[pluralOptions](c.String(1))
			if err != nil {
				return nil, err
			}
			return resolvePlural(c.Strings(0), o)
		},
		// intl_plural_select(specification, number or its text) -> category
		"intl_plural_select": func(c *engine.Call) (any, error) {
			p, err := of(&pluralFormats, c.String(0), newPluralFormat)
			if err != nil {
				return nil, err
			}
			d, err := numberArgument(c, 1)
			return p.choose(d), err
		},
		// intl_plural_range(specification, from, to) -> category
		"intl_plural_range": func(c *engine.Call) (any, error) {
			p, err := of(&pluralFormats, c.String(0), newPluralFormat)
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

func resolvePlural(requested []string, o pluralOptions) (any, error) {
	r, err := resolve(requested)
	if err != nil {
		return nil, err
	}
	s := pluralSpec{
		Locale: r.tag.String(), Type: o.Type, Notation: o.Notation,
		Categories: findPluralRules(o.Type, r.data.Name()).categories(),
	}
	if o.Notation == "compact" {
		s.Compact = o.Compact
	}
	if s.digits, s.rounding, err = o.resolve(0, 3, o.Notation == "compact"); err != nil {
		return nil, err
	}
	return specification(s)
}
