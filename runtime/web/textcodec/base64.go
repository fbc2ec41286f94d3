package textcodec

import (
	"bytes"
	"encoding/base64"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

// This file is atob and btoa (HTML standard, 8.3) and the forgiving-base64
// decode of the Infra standard, section 7.

// encodeBase64 is of argument 0.
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

// decodeBase64 is of argument 0.
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

// fromBase64 may change in. Most text has no white space, which is looked for
// only when there must be some; the standard library passes over line feeds by
// itself, and could then take what is too short.
func fromBase64(in []byte) (out []byte, ok bool) {
	if bytes.IndexByte(in, '\n') < 0 && bytes.IndexByte(in, '\r') < 0 {
		if digits, ok := unpadded(in); ok {
			if out, err := base64.RawStdEncoding.AppendDecode(nil, digits); err == nil {
				return out, true
			}
		}
	}
	digits, ok := unpadded(withoutSpace(in))
	if !ok {
		return nil, false
	}
	out, err := base64.RawStdEncoding.AppendDecode(nil, digits)
	return out, err == nil
}

// withoutSpace removes white space, in place.
func withoutSpace(in []byte) []byte {
	n := 0
	for _, b := range in {
		switch b {
		case '\t', '\n', '\f', '\r', ' ':
			continue
		}
		in[n] = b
		n++
	}
	return in[:n]
}

// unpadded removes padding where it is complete; not ok when what is left cannot
// be digits for its length.
func unpadded(in []byte) (digits []byte, ok bool) {
	if len(in)%4 == 0 {
		in = bytes.TrimSuffix(bytes.TrimSuffix(in, []byte("=")), []byte("="))
	}
	return in, len(in)%4 != 1
}
