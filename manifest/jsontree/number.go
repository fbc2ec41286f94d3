package jsontree

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Integer returns the value of a number node whose exact decimal value is integral, in any notation. It returns ±2^40 for
// larger values, which exceeds every bound of the manifest. The time is linear in the length of the literal.
func (n *Node) Integer() (int64, bool) {
	if n == nil || n.Kind != NumberNode {
		return 0, false
	}
	literal, negative := strings.CutPrefix(n.Text, "-")
	mantissa, exponentText := literal, ""
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa, exponentText = literal[:i], literal[i+1:]
	}
	// The value is digits × 10^exponent, without zeros at either end of the digits.
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	trimmed := strings.TrimRight(all, "0")
	digits := strings.TrimLeft(trimmed, "0")
	if digits == "" {
		return 0, true
	}
	exponent := clampedExponent(exponentText) - len(fraction) + len(all) - len(trimmed)
	if exponent < 0 {
		return 0, false
	}
	const (
		fits    = 12 // digits
		largest = 1 << 40
	)
	value := int64(largest)
	if len(digits)+exponent <= fits {
		v, err := strconv.ParseInt(digits+strings.Repeat("0", exponent), 10, 64)
		if err != nil {
			return 0, false
		}
		value = min(v, largest)
	}
	if negative {
		value = -value
	}
	return value, true
}

// clampedExponent returns the value of an exponent, "" for none. The bounds exceed the number of digits that a file can hold.
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

// literalFault returns the fault of a word other than true, false or null; an empty message means that it is a number.
func literalFault(word string) (msg, fix string) {
	if isNumber(word) {
		return "", ""
	}
	quoted, digits := sourcetext.Quote(word), strings.TrimPrefix(word, "-")
	const fixNumber = "write the number in plain decimal digits"
	switch name := strings.ToLower(strings.TrimLeft(word, "+-")); name {
	case "true", "false", "null":
		return quoted + " is not a JSON value", "write " + name
	case "none", "nil", "undefined":
		return quoted + " is not a JSON value", "remove the key: every field is optional"
	case "nan", "infinity", "inf":
		return quoted + " is not a JSON number", "write the number in digits"
	}
	switch first := strings.TrimLeft(word, "+-."); {
	case first != "" && (first[0] < '0' || first[0] > '9'):
		return fmt.Sprintf("unexpected %s where a value was expected", quoted), "put text in double quotes"
	case word[0] == '+':
		return fmt.Sprintf("the number %s starts with a plus sign", quoted), fixNumber
	case len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9':
		return fmt.Sprintf("the number %s starts with a zero", quoted), fixNumber
	case digits != "" && digits[0] == '.':
		return fmt.Sprintf("the number %s has no digit before the point", quoted), fixNumber
	case strings.HasSuffix(word, "."):
		return fmt.Sprintf("the number %s has no digit after the point", quoted), fixNumber
	}
	return quoted + " is not a JSON number", fixNumber
}

// isNumber reports whether s matches the number grammar of RFC 8259.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := digits(s)
		if n == 0 {
			return false
		}
		s = s[n:]
	}
	return s == ""
}

// digits counts the leading decimal digits of s.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
