package node

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// textOperations are those of node:buffer.
func textOperations() map[string]operation {
	return map[string]operation{
		// encode(encoding, text) -> bytes
		"encode": func(c *engine.Call) (any, error) { return encode(c.String(1), c.String(2)) },
		// decode(encoding, view) -> text
		"decode": func(c *engine.Call) (any, error) {
			name := c.String(1)
			b := c.View(2)
			if name == "latin1" {
				return engine.Latin1(b), nil
			}
			if err := c.Reserve(2 * int64(len(b))); err != nil {
				return nil, err
			}
			return decode(name, b)
		},
		// utf8_length(text) -> bytes
		"utf8_length": func(c *engine.Call) (any, error) { return len(c.String(1)), nil },
		// write_utf8(text, view) -> bytes written, in whole characters
		"write_utf8": func(c *engine.Call) (any, error) {
			text := c.String(1)
			b := c.View(2)
			n := min(len(text), len(b))
			for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
				n--
			}
			return copy(b, text[:n]), nil
		},
		// compare(a, b) -> -1, 0, 1
		"compare": func(c *engine.Call) (any, error) {
			a := c.Bytes(1)
			return bytes.Compare(a, c.View(2)), nil
		},
		// index(view, bytes, offset, forward, in pairs) -> index or -1
		"index": func(c *engine.Call) (any, error) {
			sought, offset, forward, pairs := c.Bytes(2), int(c.Int(3)), c.Bool(4), c.Bool(5)
			b := c.View(1)
			if forward {
				return indexFrom(b, sought, offset, pairs), nil
			}
			return lastIndexFrom(b, sought, offset, pairs), nil
		},
		// fill(view, pattern)
		"fill": func(c *engine.Call) (any, error) {
			pattern := c.Bytes(2)
			b := c.View(1)
			for n := copy(b, pattern); n > 0 && n < len(b); n *= 2 {
				copy(b[n:], b[:n])
			}
			return engine.Undefined, nil
		},
		// swap(view, size)
		"swap": func(c *engine.Call) (any, error) {
			size := int(c.Int(2))
			b := c.View(1)
			for ; size > 1 && len(b) >= size; b = b[size:] {
				slices.Reverse(b[:size])
			}
			return engine.Undefined, nil
		},
		// is_utf8(view), is_ascii(view) -> boolean
		"is_utf8": func(c *engine.Call) (any, error) { return utf8.Valid(c.View(1)), nil },
		"is_ascii": func(c *engine.Call) (any, error) {
			return !slices.ContainsFunc(c.View(1), func(b byte) bool { return b >= utf8.RuneSelf }), nil
		},
	}
}

// encode returns the bytes of text. As in Node.js, an invalid digit ends the text or is skipped, by the encoding.
func encode(encoding, text string) ([]byte, error) {
	switch encoding {
	case "utf8":
		return []byte(text), nil
	case "latin1", "ascii":
		return latin1(text), nil
	case "hex":
		b := make([]byte, len(text)/2)
		n, _ := hex.Decode(b, []byte(text[:len(text)&^1])) // n counts the bytes before an invalid digit
		return b[:n], nil
	case "base64", "base64url":
		return decodeBase64(text), nil
	}
	return nil, fmt.Errorf("there is no encoding %q", encoding)
}

// latin1 is the lower byte of each UTF-16 unit.
func latin1(text string) []byte {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			b = append(b, byte(high), byte(low))
			continue
		}
		b = append(b, byte(r))
	}
	return b
}

// decodeBase64 takes both alphabets, skips other characters and ends at the first "=".
func decodeBase64(text string) []byte {
	text, _, _ = strings.Cut(text, "=")
	digits := make([]byte, 0, len(text))
	for _, c := range []byte(text) {
		switch {
		case c == '-':
			c = '+'
		case c == '_':
			c = '/'
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/':
		default:
			continue
		}
		digits = append(digits, c)
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	b := make([]byte, base64.RawStdEncoding.DecodedLen(len(digits)))
	n, _ := base64.RawStdEncoding.Decode(b, digits) // only digits are left
	return b[:n]
}

// decode returns b as text in encodings other than UTF-8, which the web's decoder reads.
func decode(encoding string, b []byte) (string, error) {
	switch encoding {
	case "ascii":
		var s strings.Builder
		s.Grow(len(b))
		for _, c := range b {
			s.WriteByte(c & 0x7f)
		}
		return s.String(), nil
	case "hex":
		return hex.EncodeToString(b), nil
	case "base64":
		return base64.StdEncoding.EncodeToString(b), nil
	case "base64url":
		return base64.RawURLEncoding.EncodeToString(b), nil
	}
	return "", fmt.Errorf("there is no encoding %q", encoding)
}

// indexFrom finds sought at offset or later. With pairs, only even distances from the start count.
func indexFrom(b, sought []byte, offset int, pairs bool) int {
	offset = max(offset, 0)
	if len(sought) == 0 {
		return min(offset, len(b))
	}
	for offset < len(b) {
		at := bytes.Index(b[offset:], sought)
		if at < 0 {
			return -1
		}
		if at += offset; !pairs || at%2 == 0 {
			return at
		}
		offset = at + 1
	}
	return -1
}

// lastIndexFrom finds sought at offset or earlier.
func lastIndexFrom(b, sought []byte, offset int, pairs bool) int {
	if offset < 0 {
		return -1
	}
	if len(sought) == 0 {
		return min(offset, len(b))
	}
	for end := min(offset+len(sought), len(b)); end >= len(sought); {
		at := bytes.LastIndex(b[:end], sought)
		if at < 0 || !pairs || at%2 == 0 {
			return at
		}
		end = at + len(sought) - 1
	}
	return -1
}
