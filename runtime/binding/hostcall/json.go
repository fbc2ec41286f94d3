package hostcall

import (
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// AppendComma appends the comma before element i of a list.
func AppendComma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// AppendJSONString writes s as a JSON string; what is not UTF-8 becomes
// U+FFFD, as engine.DecodeUTF8 counts them.
func AppendJSONString[T string | []byte](b []byte, s T) []byte {
	return append(AppendJSONChars(append(b, '"'), s), '"')
}

// AppendJSONChars is appendJSONString without the quotes.
func AppendJSONChars[T string | []byte](b []byte, s T) []byte {
	const hex = "0123456789abcdef"
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			sequence := []byte(s[i:min(i+utf8.UTFMax, len(s))])
			n, ok := engine.UTF8Sequence(sequence)
			if ok {
				b = append(b, sequence[:n]...)
			} else {
				b = utf8.AppendRune(b, utf8.RuneError)
			}
			i += n
			continue
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	return b
}
