package engine

import (
	"context"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// DecodeUTF8 decodes UTF-8 by the Encoding standard: one U+FFFD for each maximal part of an ill-formed sequence, where Go's
// own conversion has one for each byte.
func DecodeUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	out.Grow(decodedLength(b))
	for len(b) > 0 {
		n, ok := UTF8Sequence(b)
		if ok {
			out.Write(b[:n])
		} else {
			out.WriteRune(utf8.RuneError)
		}
		b = b[n:]
	}
	return out.String()
}

// DecodeOwned is DecodeUTF8 of bytes that are not written any more: well-formed ones are not copied, and the copy of others
// is reserved before it is made.
func DecodeOwned(ctx context.Context, b []byte) (string, error) {
	if utf8.Valid(b) {
		return unsafe.String(unsafe.SliceData(b), len(b)), nil
	}
	if err := Reserve(ctx, int64(decodedLength(b))); err != nil {
		return "", err
	}
	return DecodeUTF8(b), nil
}

// decodedLength returns the number of bytes that DecodeUTF8 makes of b, which saves copies of a growing buffer.
func decodedLength(b []byte) (size int) {
	for len(b) > 0 {
		n, ok := UTF8Sequence(b)
		if size += n; !ok {
			size += utf8.RuneLen(utf8.RuneError) - n
		}
		b = b[n:]
	}
	return size
}

// UTF8Sequence returns the length of the first sequence of b or, if it is ill-formed, of the part that one U+FFFD replaces
// (Encoding standard, 8.1.1).
func UTF8Sequence(b []byte) (n int, ok bool) {
	need := 0
	switch c := b[0]; {
	case c < 0x80:
		return 1, true
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
	case c >= 0xf0 && c <= 0xf4:
		need = 3
	default:
		return 1, false
	}
	lower, upper := byte(0x80), byte(0xbf) // of the byte that follows
	switch b[0] {
	case 0xe0:
		lower = 0xa0
	case 0xed:
		upper = 0x9f
	case 0xf0:
		lower = 0x90
	case 0xf4:
		upper = 0x8f
	}
	for i := 1; i <= need; i++ {
		if i >= len(b) || b[i] < lower || b[i] > upper {
			return i, false
		}
		lower, upper = 0x80, 0xbf
	}
	return need + 1, true
}
