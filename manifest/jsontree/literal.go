package jsontree

import (
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// literalFault says why a word that is not true, false or null cannot be read as a JSON value; an empty
// message means that it is a number.
func literalFault(word string) (msg, fix string) {
	if isNumber(word) {
		return "", ""
	}
	switch strings.ToLower(strings.TrimLeft(word, "+-")) {
	case "true", "false", "null":
		return fmt.Sprintf("%s is not a JSON value", sourcetext.Quote(word)), "write " + strings.ToLower(strings.TrimLeft(word, "+-"))
	case "none", "nil", "undefined":
		return fmt.Sprintf("%s is not a JSON value", sourcetext.Quote(word)), "remove the key: every field is optional"
	case "nan", "infinity", "inf":
		return fmt.Sprintf("%s is not a JSON number", sourcetext.Quote(word)), "write the number in digits"
	}
	if c := strings.TrimLeft(word, "+-."); c != "" && (c[0] < '0' || c[0] > '9') {
		return fmt.Sprintf("unexpected %s where a value was expected", sourcetext.Quote(word)), "put text in double quotes"
	}
	return numberFault(word), "write the number in plain decimal digits"
}

// numberFault names what keeps a word of digits from being a JSON number.
func numberFault(word string) string {
	digits := strings.TrimPrefix(word, "-")
	switch {
	case word[0] == '+':
		return fmt.Sprintf("the number %s starts with a plus sign", sourcetext.Quote(word))
	case len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9':
		return fmt.Sprintf("the number %s starts with a zero", sourcetext.Quote(word))
	case digits != "" && digits[0] == '.':
		return fmt.Sprintf("the number %s has no digit before the point", sourcetext.Quote(word))
	case strings.HasSuffix(word, "."):
		return fmt.Sprintf("the number %s has no digit after the point", sourcetext.Quote(word))
	default:
		return fmt.Sprintf("%s is not a JSON number", sourcetext.Quote(word))
	}
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
