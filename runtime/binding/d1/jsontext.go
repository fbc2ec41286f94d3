package d1

import (
	"context"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
)

const (
	// maxResultBytes bounds the JSON of one result, and of all results of a batch.
	maxResultBytes = 64 << 20
	// jsonSpill is from how many bytes on JSON goes to a Buffer.
	jsonSpill = 64 << 10
	// jsonPiece is how many bytes of a value are written between two looks at that.
	jsonPiece = 16 << 10
)

// jsonText is the JSON of a call's results. What is long lies in a Buffer, which counts
// each step of its growth before it is taken: many results at once are refused while they
// grow, and not when they are there.
type jsonText struct {
	b      []byte         // what was written last
	long   *engine.Buffer // what stands before it; nil as long as there is little
	buffer func() *engine.Buffer
}

// bufferOf makes buffers for the results of an Async, whose context ctx is.
func bufferOf(ctx context.Context) func() *engine.Buffer {
	return func() *engine.Buffer { return engine.NewBuffer(ctx, maxResultBytes, errResultSize) }
}

// spill moves what was written to the Buffer once that is worth it.
func (t *jsonText) spill() error {
	if len(t.b) < jsonSpill {
		return nil
	}
	return t.move()
}

func (t *jsonText) move() error {
	if t.long == nil {
		t.long = t.buffer()
	}
	_, err := t.long.Write(t.b)
	t.b = t.b[:0]
	return err
}

// text writes s as a string.
func (t *jsonText) text(s []byte) error {
	t.b = append(t.b, '"')
	for len(s) > 0 {
		n := characters(s, jsonPiece)
		t.b = hostcall.AppendJSONChars(t.b, s[:n])
		if err := t.spill(); err != nil {
			return err
		}
		s = s[n:]
	}
	t.b = append(t.b, '"')
	return nil
}

// characters is about n, and where a character of s begins or s ends.
func characters(s []byte, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for back := range utf8.UTFMax {
		if utf8.RuneStart(s[n-back]) {
			return n - back
		}
	}
	return n
}

// numbers writes an array of bytes.
func (t *jsonText) numbers(all []byte) error {
	t.b = append(t.b, '[')
	for i, v := range all {
		t.b = strconv.AppendUint(hostcall.AppendComma(t.b, i), uint64(v), 10)
		if i%jsonPiece == jsonPiece-1 {
			if err := t.spill(); err != nil {
				return err
			}
		}
	}
	t.b = append(t.b, ']')
	return t.spill()
}

// done is the text that is whole, or D1's error of err; then it holds nothing any more.
func (t *jsonText) done(err error) (*jsonText, error) {
	if err == nil && t.long != nil {
		err = t.move()
	}
	if err == nil {
		return t, nil
	}
	if t.long != nil {
		t.long.Free()
	}
	return nil, d1Error(err)
}

// value is what JavaScript gets of the text; nil is no text.
func (t *jsonText) value() any {
	switch {
	case t == nil:
		return nil
	case t.long != nil:
		return engine.JSONBuffer{Buffer: t.long}
	default:
		return json.RawMessage(t.b)
	}
}

// bytes is the text, until JavaScript gets it.
func (t *jsonText) bytes() []byte {
	switch {
	case t == nil:
		return nil
	case t.long != nil:
		return t.long.Bytes()
	default:
		return t.b
	}
}
