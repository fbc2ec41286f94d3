package intl

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"testing"
)

func (d decimal) text() string {
	whole, fraction := d.split()
	if fraction != "" {
		whole += "." + fraction
	}
	if d.negative {
		return "-" + whole
	}
	return whole
}

// ECMA-402, 16.5.22: the integers of 1.5, 2.5, -1.5 and 1.4 in each mode.
func TestRoundingModes(t *testing.T) {
	for mode, want := range map[string][4]string{
		"ceil":       {"2", "3", "-1", "2"},
		"floor":      {"1", "2", "-2", "1"},
		"expand":     {"2", "3", "-2", "2"},
		"trunc":      {"1", "2", "-1", "1"},
		"halfCeil":   {"2", "3", "-1", "1"},
		"halfFloor":  {"1", "2", "-2", "1"},
		"halfExpand": {"2", "3", "-2", "1"},
		"halfTrunc":  {"1", "2", "-1", "1"},
		"halfEven":   {"2", "2", "-2", "1"},
	} {
		t.Run(mode, func(t *testing.T) {
			for i, number := range []float64{1.5, 2.5, -1.5, 1.4} {
				if got := float(number).roundTo(0, 1, mode).text(); got != want[i] {
					t.Errorf("%s of %v: %s, want %s", mode, number, got, want[i])
				}
			}
		})
	}
	for _, c := range []struct {
		number    float64
		increment int
		want      string
	}{{1.22, 5, "1.2"}, {1.23, 5, "1.25"}, {0.02, 5, "0"}, {9.98, 5, "10"}, {-1.23, 25, "-1.25"}} {
		t.Run(fmt.Sprint(c.number, c.increment), func(t *testing.T) {
			if got := float(c.number).roundTo(-2, c.increment, "halfExpand").text(); got != c.want {
				t.Errorf("%v by %d: %s, want %s", c.number, c.increment, got, c.want)
			}
		})
	}
}

func TestParseDecimal(t *testing.T) {
	for text, want := range map[string]string{
		"": "0", " 12 ": "12", "-0": "-0", "0x1F": "31", "0b101": "5", "0o17": "15", "1e3": "1000", ".5": "0.5", "5.": "5", "1E-3": "0.001",
		"123456789012345678901234567890.123456789": "123456789012345678901234567890.123456789",
	} {
		t.Run(text, func(t *testing.T) {
			d, ok := parseDecimal(text)
			if !ok || !d.finite() || d.text() != want {
				t.Errorf("%q: %s, %v; want %s", text, d.text(), ok, want)
			}
		})
	}
	for _, text := range []string{"x", "1 2", "0x", "-0x1", "1e", "1_000", "Inf", "infinity", ".", "0b2", "0x-1"} {
		t.Run(text, func(t *testing.T) {
			if d, _ := parseDecimal(text); !d.nan {
				t.Errorf("%q is not a number, got %s", text, d.text())
			}
		})
	}
	for _, text := range []string{"1e99999", "1e-99999", "1e999999999999999999999"} {
		if _, ok := parseDecimal(text); ok {
			t.Errorf("%q cannot be worked with", text)
		}
	}
}

// Parsing is exact, and rounding is within a unit of the last place.
func FuzzDecimal(f *testing.F) {
	for _, seed := range []string{"1.5", "-0", "1e21", "0x10", "9.999e-7", "Infinity", "  7"} {
		f.Add(seed, int8(2))
	}
	f.Fuzz(func(t *testing.T, text string, places int8) {
		d, ok := parseDecimal(text)
		if !ok || !d.finite() {
			return
		}
		exact, good := new(big.Rat).SetString(d.text())
		if !good {
			t.Fatalf("%q became %q", text, d.text())
		}
		if want, err := strconv.ParseFloat(d.text(), 64); err == nil && !math.IsInf(want, 0) {
			if back := float(want); back.digits != "" && len(d.digits) <= 15 && back.text() != d.text() && math.Abs(want) > 1e-300 {
				t.Fatalf("%q is %s, as a float %s", text, d.text(), back.text())
			}
		}
		at := -int(places & 15)
		rounded, good := new(big.Rat).SetString(d.roundTo(at, 1, "halfEven").text())
		if !good {
			t.Fatalf("%q rounds to no number", text)
		}
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-at)), nil))
		if exact.Sub(exact, rounded).Abs(exact).Cmp(unit) > 0 {
			t.Fatalf("%q rounds to %s", text, rounded)
		}
	})
}

// Options and specifications come from JavaScript: any of them gives a text or an error.
func FuzzNumberOptions(f *testing.F) {
	f.Add(
		`{"style":"unit","unit":"kilometer-per-hour","unitDisplay":"long","notation":"compact","compactDisplay":"long",`+
			`"roundingIncrement":1}`,
		"de", 1234.5,
	)
	f.Add(
		`{"style":"currency","currency":"eur","notation":"standard","roundingIncrement":5,"useGrouping":"always"}`,
		"ar-EG-u-nu-arab", -0.5,
	)
	f.Fuzz(func(_ *testing.T, text, tag string, value float64) {
		o, err := options[numberOptions](text)
		if err != nil || !o.valid() {
			return
		}
		s, err := resolveNumber([]string{tag}, o)
		if err != nil {
			return
		}
		n, err := newNumberFormat(*s)
		if err != nil {
			return
		}
		n.format(float(value))
		n.formatRange(float(value), float(1))
	})
}

// valid reports whether JavaScript would have let the digit options through.
func (o digitOptions) valid() bool {
	for _, n := range []*int{
		o.MinimumIntegerDigits, o.MinimumFractionDigits, o.MaximumFractionDigits, o.MinimumSignificantDigits,
		o.MaximumSignificantDigits,
	} {
		if n != nil && (*n < 1 || *n > 21) {
			return false
		}
	}
	return o.RoundingIncrement >= 1 && o.RoundingIncrement <= 5000
}
