package intl

import (
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

var dateFormats cache[*dateFormat] //nolint:gochecknoglobals // pure functions of their specifications

func dateFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// intl_date(tags, options) -> specification
		"intl_date": func(c *engine.Call) (any, error) {
			o, err := options[dateOptions](c.String(1))
			if err != nil {
				return nil, err
			}
			s, err := resolveDate(c.Strings(0), o)
			if err != nil {
				return nil, err
			}
			if err := s.usable(c); err != nil {
				return nil, err
			}
			return specification(s)
		},
		// intl_date_format(specification, milliseconds) -> text
		"intl_date_format": func(c *engine.Call) (any, error) {
			f, t, err := dateCall(c)
			if err != nil {
				return nil, err
			}
			return f.text(t), nil
		},
		// intl_date_parts(specification, milliseconds) -> [kind, text, …]
		"intl_date_parts": func(c *engine.Call) (any, error) {
			f, t, err := dateCall(c)
			if err != nil {
				return nil, err
			}
			return flat(f.format(t)), nil
		},
		// intl_date_range(specification, from, to) -> [kind, text, source, …]
		"intl_date_range": func(c *engine.Call) (any, error) {
			f, from, err := dateCall(c)
			if err != nil {
				return nil, err
			}
			to, err := f.instant(c.Float(2))
			if err != nil {
				return nil, err
			}
			return flatRange(f.formatRange(from, to)), nil
		},
	}
}

func dateCall(c *engine.Call) (*dateFormat, time.Time, error) {
	f, err := of(&dateFormats, c.String(0), newDateFormat)
	if err != nil {
		return nil, time.Time{}, err
	}
	if err := f.s.usable(c); err != nil {
		return nil, time.Time{}, err
	}
	t, err := f.instant(c.Float(1))
	return f, t, err
}
