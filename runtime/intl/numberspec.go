package intl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// digitOptions are the options of SetNumberFormatDigitOptions (ECMA-402, 16.1.3); nil is undefined. JavaScript has checked the
// range of each.
type digitOptions struct {
	MinimumIntegerDigits     *int   `json:"minimumIntegerDigits"`
	MinimumFractionDigits    *int   `json:"minimumFractionDigits"`
	MaximumFractionDigits    *int   `json:"maximumFractionDigits"`
	MinimumSignificantDigits *int   `json:"minimumSignificantDigits"`
	MaximumSignificantDigits *int   `json:"maximumSignificantDigits"`
	RoundingIncrement        int    `json:"roundingIncrement"`
	RoundingMode             string `json:"roundingMode"`
	RoundingPriority         string `json:"roundingPriority"`
	TrailingZeroDisplay      string `json:"trailingZeroDisplay"`
}

type numberOptions struct {
	digitOptions
	NumberingSystem string `json:"numberingSystem"`
	Style           string `json:"style"`
	Currency        string `json:"currency"`
	CurrencyDisplay string `json:"currencyDisplay"`
	CurrencySign    string `json:"currencySign"`
	Unit            string `json:"unit"`
	UnitDisplay     string `json:"unitDisplay"`
	Notation        string `json:"notation"`
	CompactDisplay  string `json:"compactDisplay"`
	UseGrouping     any    `json:"useGrouping"` // a string or false
	SignDisplay     string `json:"signDisplay"`
}

// digits are the resolved digit options, in the order of resolvedOptions.
type digits struct {
	MinimumIntegerDigits     int  `json:"minimumIntegerDigits"`
	MinimumFractionDigits    *int `json:"minimumFractionDigits,omitempty"`
	MaximumFractionDigits    *int `json:"maximumFractionDigits,omitempty"`
	MinimumSignificantDigits *int `json:"minimumSignificantDigits,omitempty"`
	MaximumSignificantDigits *int `json:"maximumSignificantDigits,omitempty"`
}

type rounding struct {
	RoundingIncrement   int    `json:"roundingIncrement"`
	RoundingMode        string `json:"roundingMode"`
	RoundingPriority    string `json:"roundingPriority"`
	TrailingZeroDisplay string `json:"trailingZeroDisplay"`
}

// numberSpec has the resolved options of a NumberFormat, in the order of resolvedOptions.
type numberSpec struct {
	Locale          string `json:"locale"`
	NumberingSystem string `json:"numberingSystem"`
	Style           string `json:"style"`
	Currency        string `json:"currency,omitempty"`
	CurrencyDisplay string `json:"currencyDisplay,omitempty"`
	CurrencySign    string `json:"currencySign,omitempty"`
	Unit            string `json:"unit,omitempty"`
	UnitDisplay     string `json:"unitDisplay,omitempty"`
	digits
	UseGrouping    any    `json:"useGrouping"`
	Notation       string `json:"notation"`
	CompactDisplay string `json:"compactDisplay,omitempty"`
	SignDisplay    string `json:"signDisplay"`
	rounding
}

func resolveNumber(requested []string, o numberOptions) (*numberSpec, error) {
	r, err := resolve(requested)
	if err != nil {
		return nil, err
	}
	s := &numberSpec{
		NumberingSystem: r.numberingSystem(o.NumberingSystem), Style: o.Style, Notation: o.Notation,
		UseGrouping: o.UseGrouping, SignDisplay: o.SignDisplay,
	}
	s.Locale = r.tag.String()
	low, high := 0, 3
	switch o.Style {
	case "currency":
		s.Currency, s.CurrencyDisplay, s.CurrencySign = strings.ToUpper(o.Currency), o.CurrencyDisplay, o.CurrencySign
		if o.Notation == "standard" {
			low = 2
			if digits, ok := cldr.Common().Find("digits/" + s.Currency); ok {
				low, _ = strconv.Atoi(digits) // CLDR's own number
			}
			high = low
		}
	case "unit":
		s.Unit, s.UnitDisplay = o.Unit, o.UnitDisplay
	case "percent":
		high = 0
	}
	if o.Notation == "compact" {
		s.CompactDisplay = o.CompactDisplay
	}
	s.digits, s.rounding, err = o.resolve(low, high, o.Notation == "compact")
	return s, err
}

// resolve is SetNumberFormatDigitOptions with the defaults for fraction digits.
func (o digitOptions) resolve(low, high int, compact bool) (digits, rounding, error) {
	d := digits{MinimumIntegerDigits: 1}
	if o.MinimumIntegerDigits != nil {
		d.MinimumIntegerDigits = *o.MinimumIntegerDigits
	}
	r := rounding{o.RoundingIncrement, o.RoundingMode, o.RoundingPriority, o.TrailingZeroDisplay}
	if o.RoundingIncrement != 1 {
		high = low
	}
	hasSignificant := o.MinimumSignificantDigits != nil || o.MaximumSignificantDigits != nil
	hasFraction := o.MinimumFractionDigits != nil || o.MaximumFractionDigits != nil
	needSignificant, needFraction := true, true
	if o.RoundingPriority == "auto" {
		needSignificant = hasSignificant
		needFraction = !hasSignificant && (hasFraction || !compact)
	}
	if needSignificant {
		if err := o.significant(&d); err != nil {
			return d, r, err
		}
	}
	if needFraction {
		if err := o.fraction(&d, low, high); err != nil {
			return d, r, err
		}
	}
	if !needSignificant && !needFraction {
		zero, one, two := 0, 1, 2
		d.MinimumFractionDigits, d.MaximumFractionDigits, d.MinimumSignificantDigits, d.MaximumSignificantDigits = &zero, &zero, &one, &two
		r.RoundingPriority = "morePrecision"
	}
	if o.RoundingIncrement == 1 {
		return d, r, nil
	}
	if needSignificant || !needFraction {
		return d, r, engine.TypeError("roundingIncrement works with fraction digits only")
	}
	if *d.MaximumFractionDigits != *d.MinimumFractionDigits {
		return d, r, rangeError("roundingIncrement needs minimumFractionDigits and maximumFractionDigits to be the same")
	}
	return d, r, nil
}

func (o digitOptions) significant(d *digits) error {
	low, high := 1, 21
	if o.MinimumSignificantDigits != nil {
		low = *o.MinimumSignificantDigits
	}
	if o.MaximumSignificantDigits != nil {
		high = *o.MaximumSignificantDigits
	}
	if high < low {
		return rangeError("maximumSignificantDigits value is out of range.")
	}
	d.MinimumSignificantDigits, d.MaximumSignificantDigits = &low, &high
	return nil
}

func (o digitOptions) fraction(d *digits, low, high int) error {
	switch least, most := o.MinimumFractionDigits, o.MaximumFractionDigits; {
	case least != nil && most != nil:
		low, high = *least, *most
	case least != nil:
		low, high = *least, max(high, *least)
	case most != nil:
		low, high = min(low, *most), *most
	}
	if low > high {
		return rangeError("maximumFractionDigits value is out of range.")
	}
	d.MinimumFractionDigits, d.MaximumFractionDigits = &low, &high
	return nil
}

// sanctioned are the simple units of ECMA-402, 6.6.2, sorted.
var sanctioned = []string{ //nolint:gochecknoglobals // a table
	"acre", "bit", "byte", "celsius", "centimeter", "day", "degree", "fahrenheit", "fluid-ounce", "foot", "gallon", "gigabit",
	"gigabyte", "gram", "hectare", "hour", "inch", "kilobit", "kilobyte", "kilogram", "kilometer", "liter", "megabit", "megabyte",
	"meter", "microsecond", "mile", "mile-scandinavian", "milliliter", "millimeter", "millisecond", "minute", "month", "nanosecond",
	"ounce", "percent", "petabyte", "pound", "second", "stone", "terabit", "terabyte", "week", "yard", "year",
}

func isSanctioned(unit string) bool {
	_, found := slices.BinarySearch(sanctioned, unit)
	return found
}
