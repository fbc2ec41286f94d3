package intl

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// decimal is an exact decimal number, an Intl mathematical value of JavaScript: 0.d1d2d3… × 10^point.
type decimal struct {
	negative bool
	infinite bool
	nan      bool
	digits   string // without leading and trailing zeros; "" is zero
	point    int
}

// maxExponent bounds the numbers that a text may name: their digits are written out.
const maxExponent = 1 << 12

// float is the shortest decimal that reads back as f, as in ICU.
func float(f float64) decimal {
	switch {
	case math.IsNaN(f):
		return decimal{nan: true}
	case math.IsInf(f, 0):
		return decimal{infinite: true, negative: f < 0}
	}
	d, _ := parseDecimal(strconv.FormatFloat(f, 'e', -1, 64))
	return d
}

// parseDecimal reads StringNumericLiteral (ECMA-262, 7.1.4.1); other texts are NaN. ok is false when the number is beyond
// maxExponent.
func parseDecimal(text string) (d decimal, ok bool) {
	text = strings.TrimFunc(text, isSpace)
	if len(text) > 2 && text[0] == '0' {
		if base, radix := map[byte]int{'x': 16, 'o': 8, 'b': 2}[text[1]|0x20]; radix {
			n, good := new(big.Int).SetString(text[2:], base)
			if !good || strings.ContainsAny(text, "+-_") {
				return decimal{nan: true}, true
			}
			text = n.String()
		}
	}
	rest, negative := text, false
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		negative, rest = rest[0] == '-', rest[1:]
	}
	if rest == "Infinity" {
		return decimal{infinite: true, negative: negative}, true
	}
	if text == "" {
		return decimal{}, true
	}
	mantissa, exponent, power, err := rest, "", 0, error(nil)
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		mantissa, exponent = rest[:at], rest[at+1:]
		power, err = strconv.Atoi(exponent)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !every("0"+whole+fraction, isDigit) || err != nil && !every(strings.TrimLeft(exponent, "+-"), isDigit) {
		return decimal{nan: true}, true
	}
	d = decimal{negative: negative, digits: whole + fraction, point: len(whole) + power}.trim()
	return d, err == nil && (d.digits == "" || max(d.point, len(d.digits)-d.point, -d.point) <= maxExponent)
}

// isSpace reports whether JavaScript trims r.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}

func (d decimal) trim() decimal {
	n := len(d.digits)
	d.digits = strings.TrimLeft(d.digits, "0")
	d.point -= n - len(d.digits)
	d.digits = strings.TrimRight(d.digits, "0")
	if d.digits == "" {
		d.point = 0
	}
	return d
}

func (d decimal) finite() bool { return !d.infinite && !d.nan }
func (d decimal) zero() bool   { return d.finite() && d.digits == "" }

// magnitude is the power of ten of the first digit; 0 for zero.
func (d decimal) magnitude() int {
	if d.digits == "" {
		return 0
	}
	return d.point - 1
}

func (d decimal) shift(by int) decimal {
	if d.digits != "" {
		d.point += by
	}
	return d
}

// split returns the digits before and after the decimal point, at least one before it.
func (d decimal) split() (whole, fraction string) {
	switch n := len(d.digits); {
	case d.digits == "":
		return "0", ""
	case d.point <= 0:
		return "0", strings.Repeat("0", -d.point) + d.digits
	case d.point >= n:
		return d.digits + strings.Repeat("0", d.point-n), ""
	}
	return d.digits[:d.point], d.digits[d.point:]
}

// roundTo rounds to a multiple of increment × 10^at.
func (d decimal) roundTo(at, increment int, mode string) decimal {
	keep := d.point - at // how many digits stay
	if d.digits == "" || increment <= 1 && keep >= len(d.digits) {
		return d
	}
	if increment > 1 {
		return d.roundBy(at, increment, mode)
	}
	head, tail := "", d.digits
	if keep > 0 {
		head, tail = d.digits[:keep], d.digits[keep:]
	}
	half := -1 // comparison of the tail with one half
	if keep >= 0 {
		half = strings.Compare(tail, "5")
	}
	odd := head != "" && (head[len(head)-1]-'0')%2 == 1
	if roundsUp(mode, d.negative, half, odd) {
		head = increase(head)
	}
	out := decimal{negative: d.negative, digits: head, point: at + len(head)}
	return out.trim()
}

// roundBy is roundTo for increments other than one.
func (d decimal) roundBy(at, increment int, mode string) decimal {
	exact := len(d.digits) - d.point // digits after the point
	scale := max(exact, -at)         // work in units of 10^-scale
	value, _ := new(big.Int).SetString(d.digits+strings.Repeat("0", scale-exact), 10)
	step := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale+at)), nil)
	step.Mul(step, big.NewInt(int64(increment)))
	quotient, rest := new(big.Int).QuoRem(value, step, new(big.Int))
	if rest.Sign() != 0 {
		half := rest.Lsh(rest, 1).Cmp(step)
		if roundsUp(mode, d.negative, half, quotient.Bit(0) == 1) {
			quotient.Add(quotient, big.NewInt(1))
		}
	}
	digits := quotient.Mul(quotient, step).String()
	return decimal{negative: d.negative, digits: digits, point: len(digits) - scale}.trim()
}

// roundsUp reports whether the digits cut off, which are not all zero, make the rest greater in magnitude; half compares them
// with one half.
func roundsUp(mode string, negative bool, half int, odd bool) bool {
	switch mode {
	case "ceil":
		return !negative
	case "floor":
		return negative
	case "expand":
		return true
	case "trunc":
		return false
	}
	if half != 0 {
		return half > 0
	}
	switch mode {
	case "halfCeil":
		return !negative
	case "halfFloor":
		return negative
	case "halfTrunc":
		return false
	case "halfEven":
		return odd
	}
	return true // halfExpand
}

func increase(digits string) string {
	out := []byte(digits)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] < '9' {
			out[i]++
			return string(out)
		}
		out[i] = '0'
	}
	return "1" + string(out)
}
