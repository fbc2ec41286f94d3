package htmlrewriter

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/mimetype"
	"github.com/pages-toolchain/pages/runtime/web/textcodec"
)

// documentCoding is the encoding of a document that is not UTF-8. The rewriter gets it as UTF-8,
// decoded as by TextDecoder, and its output is encoded again; characters that the encoding lacks
// become numeric references.
type documentCoding struct {
	name    string
	rest    []byte // of the document: the beginning of a character
	encoded bytes.Buffer
	encode  *transform.Writer
}

// codingOf returns the encoding of documents of a content type, nil for UTF-8. As on the platform,
// an unknown encoding is refused, and one without ASCII.
func codingOf(contentType string) (*documentCoding, error) {
	kind, _ := mimetype.Parse(contentType)
	label, given := kind.Param("charset")
	if !given {
		return nil, nil //nolint:nilnil // UTF-8
	}
	name, err := textcodec.EncodingName(label)
	if err != nil {
		return nil, engine.TypeError("Parser error: Unknown character encoding has been provided.")
	}
	switch name {
	case "utf-8":
		return nil, nil //nolint:nilnil // UTF-8
	case "utf-16le", "utf-16be", "iso-2022-jp":
		return nil, engine.TypeError("Parser error: A non-ASCII-compatible character encoding has been provided.")
	}
	text, _ := name.(string)
	known, err := htmlindex.Get(text)
	if err != nil {
		return nil, engine.TypeError("Parser error: Unknown character encoding has been provided.")
	}
	c := &documentCoding{name: text}
	var encode transform.Transformer = encoding.HTMLEscapeUnsupported(known.NewEncoder())
	if table, ok := known.(*charmap.Charmap); ok {
		encode = singleEncoder{table: table}
	}
	c.encode = transform.NewWriter(&c.encoded, encode)
	return c, nil
}

// singleEncoder is the inverse of textcodec's decoding of encodings of one byte a character.
type singleEncoder struct {
	transform.NopResetter
	table *charmap.Charmap
}

// Transform is that of transform.Transformer.
func (e singleEncoder) Transform(dst, src []byte, atEOF bool) (written, read int, err error) {
	for read < len(src) {
		if !atEOF && !utf8.FullRune(src[read:]) {
			return written, read, transform.ErrShortSrc
		}
		r, n := utf8.DecodeRune(src[read:])
		var out []byte
		if c, ok := e.table.EncodeRune(r); ok {
			out = []byte{c}
		} else if c := byte(r); 0x80 <= r && r <= 0x9f && e.table.DecodeByte(c) == utf8.RuneError {
			out = []byte{c}
		} else {
			out = fmt.Appendf(nil, "&#%d;", r)
		}
		if len(out) > len(dst)-written {
			return written, read, transform.ErrShortDst
		}
		written += copy(dst[written:], out)
		read += n
	}
	return written, read, nil
}

// writeEncoded passes more of the document to the rewriter, still encoded.
func (r *rewriter) writeEncoded(b []byte) error {
	if r.coding == nil {
		r.write(b)
		return nil
	}
	return r.decode(b, textcodec.Stream)
}

func (r *rewriter) decode(b []byte, flags int64) error {
	text, rest, err := textcodec.Decode(r.coding.name, append(r.coding.rest, b...), flags)
	r.coding.rest = rest
	if text != "" {
		r.write([]byte(text))
	}
	return err
}

// encodedAs encodes the output of step or of JavaScript: bytes in the document's encoding; other
// values stay.
func (r *rewriter) encodedAs(value any, err error) (any, error) {
	b, ok := value.([]byte)
	if r.coding == nil || !ok || err != nil {
		return value, err
	}
	if _, err := r.coding.encode.Write(b); err != nil {
		return nil, engine.TypeError("Parser error: %v", err)
	}
	out := bytes.Clone(r.coding.encoded.Bytes())
	r.coding.encoded.Reset()
	return out, nil
}
