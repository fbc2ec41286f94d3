package web

import (
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // the platform offers it as a checksum
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the Web Cryptography API has it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func (h *Host) cryptoFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// random_float() -> number in [0, 1); Math.random, which the platform
		// allows while the module is evaluated
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
			if _, err := current(c); err != nil {
				return nil, err
			}
			fill(c.View(0))
			return engine.Undefined, nil
		},
		// random_uuid() -> a version 4 UUID
		"random_uuid": func(c *engine.Call) (any, error) {
			if _, err := current(c); err != nil {
				return nil, err
			}
			return newUUID(), nil
		},
		// crypto_digest(hash, view) -> bytes
		"crypto_digest": func(c *engine.Call) (any, error) {
			newHash, err := hashOf(c.String(0))
			if err != nil {
				return nil, err
			}
			d := newHash()
			d.Write(c.View(1))
			return d.Sum(nil), nil
		},
		// crypto_hmac(hash, key, view) -> bytes
		"crypto_hmac": func(c *engine.Call) (any, error) {
			newHash, err := hashOf(c.String(0))
			if err != nil {
				return nil, err
			}
			mac := hmac.New(newHash, c.Bytes(1))
			mac.Write(c.View(2))
			return mac.Sum(nil), nil
		},
		// crypto_equal(a, b) -> whether the bytes are the same, in time that does
		// not tell where they differ
		"crypto_equal": func(c *engine.Call) (any, error) {
			a := c.Bytes(0)
			return subtle.ConstantTimeCompare(a, c.View(1)) == 1, nil
		},
	}
}

// fill fills b with random bytes. crypto/rand.Read never fails.
func fill(b []byte) { _, _ = rand.Read(b) }

// newUUID returns a random UUID (RFC 9562, 5.4).
func newUUID() string {
	var b [16]byte
	fill(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func hashOf(name string) (func() hash.Hash, error) {
	switch name {
	case "SHA-1":
		return sha1.New, nil
	case "SHA-256":
		return sha256.New, nil
	case "SHA-384":
		return sha512.New384, nil
	case "SHA-512":
		return sha512.New, nil
	case "MD5":
		return md5.New, nil
	}
	return nil, &engine.Error{Name: "NotSupportedError", Message: fmt.Sprintf("there is no hash %q", name)}
}
