package textcodec

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// EncodingName returns the encoding of a label (Encoding standard, 4.2). An unknown one, and
// "replacement", is a RangeError.
func EncodingName(label string) (any, error) {
	trimmed := strings.Trim(label, "\t\n\f\r ")
	for i := range len(trimmed) {
		if trimmed[i] <= ' ' || trimmed[i] >= 0x7f {
			return nil, errLabel(label)
		}
	}
	trimmed = strings.ToLower(trimmed) // of ASCII, by now
	switch trimmed {
	case "utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8":
		return "utf-8", nil
	case "iso-8859-8-i", "csiso88598i", "logical":
		return "iso-8859-8-i", nil
	case "utf-16be", "unicodefffe":
		return "utf-16be", nil
	case "utf-16le", "utf-16", "csunicode", "iso-10646-ucs-2", "ucs-2", "unicode", "unicodefeff":
		return "utf-16le", nil
	}
	e, err := htmlindex.Get(trimmed)
	if err != nil {
		return nil, errLabel(label)
	}
	name, err := htmlindex.Name(e)
	if err != nil || name == "replacement" {
		return nil, errLabel(label)
	}
	return name, nil
}

func errLabel(label string) error {
	return &engine.Error{
		Name: "RangeError", Message: fmt.Sprintf("The encoding label %q is not known", label),
		Props: []engine.Field{{Name: "code", Value: "ERR_ENCODING_NOT_SUPPORTED"}},
	}
}

// decodeLegacy decodes the encodings other than UTF-8 and UTF-16. For an encoding with states, rest begins with the state, as does b when
// carried.
func decodeLegacy(name string, b []byte, stream, carried bool) (text string, rest []byte, bad bool, err error) {
	if decode, ok := multiByte[name]; ok {
		o := &output{text: make([]byte, 0, len(b)+len(b)/2)}
		left := decode(b, !stream, o)
		return o.string(), append([]byte(nil), left...), o.bad, nil
	}
	if name == "iso-2022-jp" {
		o := &output{text: make([]byte, 0, len(b)+len(b)/2)}
		state := jisASCII
		if carried {
			state, b = b[0], b[1:]
		}
		left, next := decodeISO2022JP(state, b, !stream, o)
		if stream {
			rest = append([]byte{next}, left...)
		}
		return o.string(), rest, o.bad, nil
	}
	index := name
	if name == "iso-8859-8-i" {
		index = "iso-8859-8"
	}
	e, err := htmlindex.Get(index)
	if err != nil {
		return "", nil, false, errLabel(name)
	}
	table, ok := e.(*charmap.Charmap)
	if !ok { // x-user-defined, in which each byte is one character
		decoded, err := e.NewDecoder().Bytes(b)
		return string(decoded), nil, false, err
	}
	text = decodeSingle(table, b)
	return text, nil, strings.ContainsRune(text, utf8.RuneError), nil
}

// decodeSingle decodes an encoding of one byte a character. Bytes from 0x80 to 0x9f that a table of
// golang.org/x/text lacks are the controls of the same number, as in all tables of the standard.
func decodeSingle(table *charmap.Charmap, b []byte) string {
	var runes [256]rune
	for c := range runes {
		runes[c] = table.DecodeByte(byte(c))
		if runes[c] == utf8.RuneError && c >= 0x80 && c <= 0x9f {
			runes[c] = rune(c)
		}
	}
	n := 0
	for _, c := range b {
		n += utf8.RuneLen(runes[c])
	}
	var out strings.Builder
	out.Grow(n)
	for _, c := range b {
		out.WriteRune(runes[c])
	}
	return out.String()
}

// The states of the ISO-2022-JP decoder (Encoding standard, 13.2.1) that an escape sequence sets.
const (
	jisASCII byte = iota
	jisRoman
	jisKatakana
	jisPair
)

const (
	escape = 0x1b
	// jisEscaped is set in a state whose escape sequence nothing has followed yet: another one is
	// an error.
	jisEscaped = 0x80
)

// decodeISO2022JP decodes b from a state on; left is its incomplete end, which belongs to the next piece. That piece starts with the
// returned state.
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
			return o.handleIncomplete(b, last), state
		case b[1] == escape: // which is not the second byte
			o.fail()
		default:
			n = 2
			if r := table.at(b[0]|0x80, b[1]|0x80); between(b[1], 0x21, 0x7e) && r != 0 {
				o.put(r)
			} else {
				o.fail()
			}
		}
		b = b[n:]
	}
	return nil, state
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

// escapeSequence reads one: n is 0 when it is none, whole is false when more bytes could make it
// one.
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
