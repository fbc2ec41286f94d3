package intl

import (
	"encoding/json"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func trimSpace(s string) string { return strings.TrimFunc(s, isSpace) }

var numberFormats cache[*numberFormat] //nolint:gochecknoglobals // pure functions of their specifications

func numberFormatOf(c *engine.Call) (*numberFormat, error) {
	return of(&numberFormats, c.String(0), newNumberFormat)
}

func numberFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// intl_number(tags, options) -> specification
		"intl_number": func(c *engine.Call) (any, error) {
			o, err := options[numberOptions](c.String(1))
			if err != nil {
				return nil, err
			}
			s, err := resolveNumber(c.Strings(0), o)
			if err != nil {
				return nil, err
			}
			return specification(s)
		},
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
		"intl_unit": func(c *engine.Call) (any, error) { return wellFormedUnit(c.String(0)), nil },
	}
}

// rangeArguments are the two ends of a range.
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
		return d, rangeError("the number " + shortened(text) + " is too large to be written out")
	}
	return d, nil
}

func shortened(text string) string {
	if len(text) > 32 {
		text = strings.ToValidUTF8(text[:32], "") + "…"
	}
	b, _ := json.Marshal(text) // a string always has a JSON form
	return string(b)
}
