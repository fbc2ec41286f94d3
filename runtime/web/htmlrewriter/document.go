package htmlrewriter

import (
	"bytes"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/textcodec"
)

// take gives the rewriter more of the document as it came.
func (r *rewriter) take(b []byte) error {
	if r.coding == nil {
		r.write(b)
		return nil
	}
	return r.decode(b, textcodec.Stream)
}

// close says that the document is complete.
func (r *rewriter) close() error {
	var err error
	if r.coding != nil {
		err = r.decode(nil, 0)
	}
	r.final, r.stuck = true, false
	return err
}

func (r *rewriter) decode(b []byte, flags int64) error {
	text, rest, err := textcodec.Decode(r.coding.name, append(r.coding.rest, b...), flags)
	r.coding.rest = rest
	if text != "" {
		r.write([]byte(text))
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
