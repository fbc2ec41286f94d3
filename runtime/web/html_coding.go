package web

import (
	"bytes"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file lets HTMLRewriter work on documents that are not UTF-8: the rewriter
// sees them as UTF-8, and what it writes is encoded as the document was.

// htmlCoding is how a document is encoded. Text that its encoding has no
// character for is written as a numeric reference.
type htmlCoding struct {
	decoded, encoded bytes.Buffer
	decode, encode   *transform.Writer
}

// codingOf returns how a document of a content type is encoded, nil for UTF-8.
// As on the platform, an encoding is refused that is unknown or that does not
// have ASCII in it.
func codingOf(contentType string) (*htmlCoding, error) {
	kind, _ := parseMIME(contentType)
	label, given := kind.param("charset")
	if !given {
		return nil, nil //nolint:nilnil // UTF-8
	}
	name, err := encodingName(label)
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
	c := &htmlCoding{}
	c.decode = transform.NewWriter(&c.decoded, known.NewDecoder())
	c.encode = transform.NewWriter(&c.encoded, encoding.HTMLEscapeUnsupported(known.NewEncoder()))
	return c, nil
}

// take gives the rewriter more of the document as it came.
func (r *rewriter) take(b []byte) error {
	if r.coding == nil {
		r.write(b)
		return nil
	}
	return r.decoded(func(c *htmlCoding) error {
		_, err := c.decode.Write(b)
		return err
	})
}

// close says that the document is complete.
func (r *rewriter) close() error {
	var err error
	if r.coding != nil {
		err = r.decoded(func(c *htmlCoding) error { return c.decode.Close() })
	}
	r.final, r.stuck = true, false
	return err
}

func (r *rewriter) decoded(more func(c *htmlCoding) error) error {
	err := more(r.coding)
	if r.coding.decoded.Len() > 0 {
		r.write(r.coding.decoded.Bytes())
		r.coding.decoded.Reset()
	}
	return err
}

// encodedAs makes what is passed on of what step or JavaScript gave: bytes in the
// document's encoding, all else as it is.
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
