package textcodec

import "unicode/utf8"

// The states of the ISO-2022-JP decoder (Encoding standard, 13.2.1) that an
// escape sequence sets.
const (
	jisASCII byte = iota
	jisRoman
	jisKatakana
	jisPair
)

const (
	escape = 0x1b
	// jisEscaped is set in a state whose escape sequence nothing has followed yet:
	// another one is an error.
	jisEscaped = 0x80
)

// decodeISO2022JP decodes b from a state on; what is left at its end belongs to
// the next piece, which goes on from the state that is returned.
func decodeISO2022JP(state byte, b []byte, last bool, o *output) (left []byte, next byte) {
	table := tableEUCJP()
	for len(b) > 0 {
		if b[0] == escape {
			n, mode, whole := escapeSequence(b)
			switch {
			case !whole && !last:
				return b, state
			case n == 0:
				o.fail()
				b = b[1:]
				state &^= jisEscaped
			default:
				if state&jisEscaped != 0 {
					o.fail()
				}
				state = mode | jisEscaped
				b = b[n:]
			}
			continue
		}
		if state&^jisEscaped != jisPair {
			state &^= jisEscaped
			o.single(jisSingle(state, b[0]))
			b = b[1:]
			continue
		}
		state &^= jisEscaped
		n := 1
		switch {
		case !between(b[0], 0x21, 0x7e):
			o.fail()
		case len(b) == 1:
			return o.cut(b, last), state
		default:
			n = o.jis0208(table, b)
		}
		b = b[n:]
	}
	return nil, state
}

// jis0208 puts the character of a pair whose first byte is one. The byte of an
// escape sequence is not the second one.
func (o *output) jis0208(table *pairTable, b []byte) int {
	if b[1] == escape {
		o.fail()
		return 1
	}
	if r := table.at(b[0]|0x80, b[1]|0x80); between(b[1], 0x21, 0x7e) && r != 0 {
		o.put(r)
	} else {
		o.fail()
	}
	return 2
}

func jisSingle(state, b byte) rune {
	switch {
	case state == jisKatakana:
		if between(b, 0x21, 0x5f) {
			return halfwidth(b + 0x80)
		}
		return utf8.RuneError
	case b >= utf8.RuneSelf, b == 0x0e, b == 0x0f:
		return utf8.RuneError
	case state == jisRoman && b == '\\':
		return '¥'
	case state == jisRoman && b == '~':
		return '‾'
	}
	return rune(b)
}

// escapeSequence reads one: n is 0 when it is none, whole is false when more
// bytes could make it one.
func escapeSequence(b []byte) (n int, mode byte, whole bool) {
	if len(b) == 1 {
		return 0, 0, false
	}
	if b[1] != '$' && b[1] != '(' {
		return 0, 0, true
	}
	if len(b) == 2 {
		return 0, 0, false
	}
	switch string(b[1:3]) {
	case "(B":
		return 3, jisASCII, true
	case "(J":
		return 3, jisRoman, true
	case "(I":
		return 3, jisKatakana, true
	case "$@", "$B":
		return 3, jisPair, true
	}
	return 0, 0, true
}
