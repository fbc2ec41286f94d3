// Package textcodec is TextEncoder and TextDecoder, with all encodings of the Encoding standard,
// and atob and btoa.
//
// In: bytes and the label of an encoding, or text. Out: text, or bytes. Errors: exceptions of JavaScript for unknown labels, for malformed
// text with the option fatal, and for invalid base64. All of it is safe for concurrent use. The package keeps no state: the caller gets the
// bytes that belong to the next piece of a stream.
package textcodec

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

// Flags of text_decode and text_decode_piece, as in js/encoding.js.
const (
	Fatal     = 1
	IgnoreBOM = 2
	Stream    = 4
	Carried   = 8 // the bytes begin with the rest of the piece before
)

// Funcs returns the host functions of TextEncoder, TextDecoder, atob and btoa.
func Funcs() map[string]engine.Func {
	return map[string]engine.Func{
		// text_encode(text) -> bytes
		"text_encode": func(c *engine.Call) (any, error) { return c.EncodedText(0) },
		// text_atob(text) -> text
		"text_atob": decodeBase64,
		// text_btoa(text) -> text
		"text_btoa": encodeBase64,
		// text_encode_into(text, view) -> [UTF-16 units read, bytes written]
		"text_encode_into": func(c *engine.Call) (any, error) {
			s, view := c.String(0), c.View(1)
			s = s[:wholePrefix(s, len(view))] // the rest cannot fit
			read, written := 0, 0
			c.VM().InSteps(len(s), func(_, to int) {
				for _, r := range s[written:wholePrefix(s, to)] { // as much as fits in whole characters
					size := utf8.RuneLen(r)
					if written+size > len(view) {
						break
					}
					utf8.EncodeRune(view[written:], r)
					written += size
					read += utf16.RuneLen(r)
				}
			})
			return []any{read, written}, nil
		},
		// text_label(label) -> the encoding's name
		"text_label": func(c *engine.Call) (any, error) { return EncodingName(c.String(0)) },
		// text_decode(encoding, view, flags) -> text
		"text_decode": func(c *engine.Call) (any, error) {
			name, flags := c.String(0), c.Int(2)
			view := c.View(1)
			if name == "utf-8" && c.IsText(view) {
				if flags&IgnoreBOM == 0 {
					view = bytes.TrimPrefix(view, []byte("\ufeff"))
				}
				return c.DecodedView(view)
			}
			return offload.View(c, view, func(b []byte) (any, error) {
				text, _, err := Decode(name, b, flags&^Stream)
				return text, err
			})
		},
		// text_decode_piece(encoding, view, flags) -> [text, the bytes that belong to the next
		// piece or null]
		"text_decode_piece": func(c *engine.Call) (any, error) {
			name, flags := c.String(0), c.Int(2)
			return offload.View(c, c.View(1), func(b []byte) (any, error) {
				text, rest, err := Decode(name, b, flags)
				if err != nil {
					return nil, err
				}
				if len(rest) == 0 {
					return []any{text, nil}, nil
				}
				return []any{text, rest}, nil
			})
		},
	}
}

// wholePrefix is the most of n bytes of s that end with a character.
func wholePrefix(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// Decode decodes b (Encoding standard, 6.1). With Stream, rest is an incomplete character at the end of b.
// A byte order mark is dropped unless IgnoreBOM.
func Decode(name string, b []byte, flags int64) (text string, rest []byte, err error) {
	stream, bad := flags&Stream != 0, false
	switch name {
	case "utf-8":
		if stream {
			b, rest = splitUTF8(b)
		}
		if flags&Fatal != 0 && !utf8.Valid(b) {
			return "", nil, errInvalidText(name)
		}
		text = engine.DecodeUTF8(b)
	case "utf-16le", "utf-16be":
		text, rest = decodeUTF16(b, name == "utf-16be", stream)
		bad = strings.ContainsRune(text, utf8.RuneError)
	default:
		text, rest, bad, err = decodeLegacy(name, b, stream, flags&Carried != 0)
		if err != nil {
			return "", nil, err
		}
	}
	if flags&Fatal != 0 && bad {
		return "", nil, errInvalidText(name)
	}
	if flags&IgnoreBOM == 0 && strings.HasPrefix(name, "utf-") {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	return text, rest, nil
}

func errInvalidText(name string) error {
	e := engine.TypeError("The encoded data was not valid for encoding %s", name)
	e.Props = []engine.Field{{Name: "code", Value: "ERR_ENCODING_INVALID_ENCODED_DATA"}}
	return e
}

// splitUTF8 cuts off an unfinished sequence at the end; the rest is a copy.
func splitUTF8(b []byte) (whole, rest []byte) {
	for back := 1; back <= 3 && back <= len(b); back++ {
		tail := b[len(b)-back:]
		if tail[0]&0xc0 == 0x80 {
			continue
		}
		if n, ok := engine.UTF8Sequence(tail); !ok && n == len(tail) && tail[0] >= 0xc2 && tail[0] <= 0xf4 {
			return b[:len(b)-back], bytes.Clone(tail)
		}
		break
	}
	return b, nil
}

// decodeUTF16 gives U+FFFD for a lone surrogate and for an odd byte, unless more may follow.
func decodeUTF16(b []byte, bigEndian, stream bool) (text string, rest []byte) {
	low, high := 0, 1
	if bigEndian {
		low, high = 1, 0
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, uint16(b[i+low])|uint16(b[i+high])<<8)
	}
	left := len(b) % 2
	if n := len(units); n > 0 && units[n-1] >= 0xd800 && units[n-1] <= 0xdbff && (stream || left > 0) {
		units = units[:n-1] // of the next piece, or one U+FFFD together with the odd byte
		if stream {
			left += 2
		}
	}
	text = string(utf16.Decode(units))
	if left > 0 && !stream {
		text += string(utf8.RuneError)
	} else if left > 0 {
		rest = append([]byte(nil), b[len(b)-left:]...)
	}
	return text, rest
}

// encodeBase64 is btoa (HTML standard, 8.3).
func encodeBase64(c *engine.Call) (any, error) {
	in, ok := c.Latin1(0)
	if !ok {
		return nil, &engine.Error{
			Name: "InvalidCharacterError", Message: "btoa: the string has a character above U+00FF; encode it with TextEncoder first",
		}
	}
	encode := func() (any, error) { return engine.Latin1(base64.StdEncoding.AppendEncode(nil, in)), nil }
	if len(in) <= offload.Inline {
		return encode()
	}
	return c.Offload(encode)
}

// decodeBase64 is atob, the forgiving-base64 decode of the Infra standard, section 7.
func decodeBase64(c *engine.Call) (any, error) {
	in, ok := c.Latin1(0)
	if !ok {
		return nil, errBase64
	}
	decode := func() (any, error) {
		out, ok := fromBase64(in)
		if !ok {
			return nil, errBase64
		}
		return engine.Latin1(out), nil
	}
	if len(in) <= offload.Inline {
		return decode()
	}
	return c.Offload(decode)
}

var errBase64 = &engine.Error{Name: "InvalidCharacterError", Message: "atob: the string is not base64"}

// fromBase64 may change in. Most text has no white space, which is looked for only when there must
// be some; the standard library passes over line feeds by itself, and could then accept a text that is too short.
func fromBase64(in []byte) (out []byte, ok bool) {
	if bytes.IndexByte(in, '\n') < 0 && bytes.IndexByte(in, '\r') < 0 {
		if digits, ok := trimPadding(in); ok {
			if out, err := base64.RawStdEncoding.AppendDecode(nil, digits); err == nil {
				return out, true
			}
		}
	}
	n := 0
	for _, b := range in {
		switch b {
		case '\t', '\n', '\f', '\r', ' ':
			continue
		}
		in[n] = b
		n++
	}
	digits, ok := trimPadding(in[:n])
	if !ok {
		return nil, false
	}
	out, err := base64.RawStdEncoding.AppendDecode(nil, digits)
	return out, err == nil
}

// trimPadding removes complete padding. ok is false when no base64 has as many digits.
func trimPadding(in []byte) (digits []byte, ok bool) {
	if len(in)%4 == 0 {
		in = bytes.TrimSuffix(bytes.TrimSuffix(in, []byte("=")), []byte("="))
	}
	return in, len(in)%4 != 1
}
