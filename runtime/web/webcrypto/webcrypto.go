// Package webcrypto is crypto: random values, crypto.subtle, and the platform's digest streams.
//
// In: the calls of JavaScript, as host functions; each call passes its keys, since JavaScript keeps
// them. Out: bytes and keys. Errors: the DOMExceptions that the Web Cryptography API names. The
// host functions are safe for concurrent use. All cryptography is Go's standard library's; the
// package keeps no key but parsed copies of recent ones.
package webcrypto

import (
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

// Funcs returns the host functions of crypto, for the isolates of one Worker.
func Funcs() map[string]engine.Func {
	keys := &keyCache{}
	all := map[string]engine.Func{
		// random_float() -> number in [0, 1); Math.random, which the platform allows while the
		// module is evaluated
		"random_float": func(*engine.Call) (any, error) {
			var b [8]byte
			fill(b[:])
			return float64(binary.LittleEndian.Uint64(b[:])>>11) / (1 << 53), nil
		},
		// random_id() -> 32 hexadecimal digits
		"random_id": func(*engine.Call) (any, error) {
			var b [16]byte
			fill(b[:])
			return hex.EncodeToString(b[:]), nil
		},
		// random_fill(view)
		"random_fill": func(c *engine.Call) (any, error) {
			if _, err := iocontext.Current(c); err != nil {
				return nil, err
			}
			fill(c.View(0))
			return engine.Undefined, nil
		},
		// random_uuid() -> a version 4 UUID (RFC 9562, 5.4)
		"random_uuid": func(c *engine.Call) (any, error) {
			if _, err := iocontext.Current(c); err != nil {
				return nil, err
			}
			var b [16]byte
			fill(b[:])
			b[6] = b[6]&0x0f | 0x40
			b[8] = b[8]&0x3f | 0x80
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
		},
		// crypto_equal(a, b) -> whether the bytes are the same, in constant time
		"crypto_equal": func(c *engine.Call) (any, error) {
			a, err := offload.Copy(c, c.View(0))
			if err != nil {
				return nil, err
			}
			b := c.View(1)
			same := subtle.ConstantTimeEq(int32(len(a)), int32(len(b)))
			if same == 1 {
				c.VM().InSteps(len(a), func(from, to int) { same &= subtle.ConstantTimeCompare(a[from:to], b[from:to]) })
			}
			return same == 1, nil
		},
	}
	maps.Copy(all, digestFuncs())
	maps.Copy(all, keyFuncs(keys))
	maps.Copy(all, useFuncs(keys))
	return all
}
