package web

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// encodingName returns the encoding of a label (Encoding standard, 4.2). An
// unknown one, and "replacement", is a RangeError.
func encodingName(label string) (any, error) {
	trimmed := strings.ToLower(strings.Trim(label, "\t\n\f\r "))
	for i := range len(trimmed) {
		if trimmed[i] <= ' ' || trimmed[i] >= 0x7f {
			return nil, errLabel(label)
		}
	}
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

// decodeLegacy decodes with the tables of golang.org/x/text.
func decodeLegacy(name string, b []byte, stream bool) (text string, rest []byte, err error) {
	index := name
	if name == "iso-8859-8-i" {
		index = "iso-8859-8"
	}
	e, err := htmlindex.Get(index)
	if err != nil {
		return "", nil, errLabel(name)
	}
	if table, ok := e.(*charmap.Charmap); ok {
		return decodeSingle(table, b), nil, nil
	}
	decoder := e.NewDecoder()
	var out bytes.Buffer
	dst := make([]byte, 4096)
	left := b
	for {
		n, used, err := decoder.Transform(dst, left, !stream)
		out.Write(dst[:n])
		left = left[used:]
		if errors.Is(err, transform.ErrShortDst) {
			continue
		}
		break // done, or ErrShortSrc: what is left belongs to the next piece
	}
	if !stream {
		return out.String(), nil, nil
	}
	return out.String(), carry(name, b[:len(b)-len(left)], left), nil
}

// decodeSingle decodes an encoding of one byte a character. The bytes 0x80 to
// 0x9f that a table has nothing for are the controls of the same number in all
// tables of the standard, which golang.org/x/text leaves out.
func decodeSingle(table *charmap.Charmap, b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	for _, c := range b {
		r := table.DecodeByte(c)
		if r == utf8.RuneError && c >= 0x80 && c <= 0x9f {
			r = rune(c)
		}
		out.WriteRune(r)
	}
	return out.String()
}

// carry is what the next piece must begin with: the bytes left over and, where
// the encoding has modes, the escape that set the present one.
func carry(name string, done, left []byte) []byte {
	rest := append([]byte(nil), left...)
	if name != "iso-2022-jp" {
		return rest
	}
	const escapeLength = 3
	if at := bytes.LastIndexByte(done, 0x1b); at >= 0 && at+escapeLength <= len(done) {
		rest = append(append([]byte(nil), done[at:at+escapeLength]...), left...)
	}
	return rest
}
