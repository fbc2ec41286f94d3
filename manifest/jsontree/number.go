package jsontree

import (
	"encoding/json"
	"strconv"
	"strings"
)

// This file reads numbers by their exact decimal value: no literal is too large, too small or too long.

// decimal is the value of a number literal: digits × 10^exponent, without zeros at either end of the digits.
// Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// newDecimal reads a literal that matches JSON's grammar, in time linear in its length.
func newDecimal(literal string) decimal {
	literal, negative := strings.CutPrefix(literal, "-")
	mantissa, exponent := literal, ""
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa, exponent = literal[:i], literal[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	digits := strings.TrimRight(all, "0")
	d := decimal{
		negative: negative,
		digits:   strings.TrimLeft(digits, "0"),
		exponent: clampedExponent(exponent) - len(fraction) + len(all) - len(digits),
	}
	if d.digits == "" {
		d.exponent = 0
	}
	return d
}

// clampedExponent is the value of an exponent, "" for none. One that no file could make up for with digits
// is as good as another.
func clampedExponent(s string) int {
	const bound = 1 << 30
	n, err := strconv.Atoi(s)
	switch {
	case s == "":
		return 0
	case err != nil && s[0] == '-':
		return -bound
	case err != nil:
		return bound
	default:
		return min(max(n, -bound), bound)
	}
}

// beyond is larger than every bound of the manifest, and is what stands for larger integers still.
const beyond = 1 << 40

// integer returns the value when it is integral, one beyond ±2^40 as ±2^40.
func (d decimal) integer() (int64, bool) {
	const fits = 12 // digits
	if d.exponent < 0 {
		return 0, false
	}
	n := int64(beyond)
	if len(d.digits)+d.exponent <= fits {
		v, err := strconv.ParseInt("0"+d.digits+strings.Repeat("0", d.exponent), 10, 64)
		n = min(v, beyond)
		if err != nil {
			return 0, false
		}
	}
	if d.negative {
		n = -n
	}
	return n, true
}

// Integer is the value of a number node that is integral, however it is written.
func (n *Node) Integer() (int64, bool) {
	if n == nil || n.Kind != NumberNode {
		return 0, false
	}
	return newDecimal(n.Text).integer()
}

// number is a number node for the schema validator. It keeps only what the rules look at, so that a literal
// of a million digits, or one that stands for as many, costs nothing there.
func (n *Node) number() json.Number {
	if i, ok := n.Integer(); ok {
		return json.Number(strconv.FormatInt(i, 10))
	}
	return "0.5"
}
