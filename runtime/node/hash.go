package node

import (
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // Node.js has it
	"crypto/sha1" //nolint:gosec // Node.js has it
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding"
	"hash"
	"strings"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// JavaScript keeps the state that a hash writes of itself: an isolate that starts over from its image has it, and Go frees
// nothing.

// maxOutput is the maximum number of bytes of a hash of any length or of a derivation.
const maxOutput = 64 << 20

var hashes = map[string]func() hash.Hash{ //nolint:gochecknoglobals // a table
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New,
	"sha384": sha512.New384, "sha512": sha512.New, "sha512-224": sha512.New512_224, "sha512-256": sha512.New512_256,
	"sha3-224":   func() hash.Hash { return sha3.New224() },
	"sha3-256":   func() hash.Hash { return sha3.New256() },
	"sha3-384":   func() hash.Hash { return sha3.New384() },
	"sha3-512":   func() hash.Hash { return sha3.New512() },
	"shake128":   func() hash.Hash { return &shake{SHAKE: sha3.NewSHAKE128(), size: 16} },
	"shake256":   func() hash.Hash { return &shake{SHAKE: sha3.NewSHAKE256(), size: 32} },
	"blake2b512": func() hash.Hash { return must(blake2b.New512(nil)) },
	"blake2s256": func() hash.Hash { return must(blake2s.New256(nil)) },
}

// must returns a hash whose constructor can only fail because of a key.
func must(h hash.Hash, err error) hash.Hash {
	if err != nil {
		panic(err)
	}
	return h
}

// shake is a hash of any length, with Node.js's default.
type shake struct {
	*sha3.SHAKE
	size int
}

// Sum implements hash.Hash.
func (s *shake) Sum(b []byte) []byte { return append(b, s.read(s.size)...) }

// Size implements hash.Hash.
func (s *shake) Size() int { return s.size }

func (s *shake) read(n int) []byte {
	out := make([]byte, n)
	_, _ = s.Read(out) // never fails
	return out
}

// hashName is the key in hashes of a name in any case; "RSA-SHA256" is "sha256".
func hashName(name string) string {
	name = strings.TrimPrefix(strings.ToLower(name), "rsa-")
	return strings.Replace(strings.Replace(name, "sha-", "sha", 1), "/", "-", 1)
}

func newHash(name string) (func() hash.Hash, error) {
	f, ok := hashes[hashName(name)]
	if !ok {
		return nil, newError("Error", "ERR_CRYPTO_INVALID_DIGEST", "Invalid digest: %s", name)
	}
	return f, nil
}

func hashOperations() map[string]operation {
	return map[string]operation{
		// hash_known(name) -> boolean
		"hash_known": func(c *engine.Call) (any, error) {
			_, err := newHash(c.String(1))
			return err == nil, nil
		},
		// hash_update(name, state or null, view) -> state
		"hash_update": func(c *engine.Call) (any, error) {
			h, err := resumeHash(c.String(1), c.Bytes(2))
			if err != nil {
				return nil, err
			}
			h.Write(c.View(3))
			return state(h)
		},
		// hash_final(name, state or null, view, length or -1) -> bytes
		"hash_final": func(c *engine.Call) (any, error) {
			h, err := resumeHash(c.String(1), c.Bytes(2))
			if err != nil {
				return nil, err
			}
			length := c.Int(4)
			h.Write(c.View(3))
			if err := c.Reserve(length); err != nil {
				return nil, err
			}
			if length < 0 || length == int64(h.Size()) {
				return h.Sum(nil), nil
			}
			s, ok := h.(*shake)
			if !ok || length > maxOutput {
				return nil, newError("Error", "ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH",
					"Unsupported state or unable to set the output length to %d", length)
			}
			return s.read(int(length)), nil
		},
		// hmac_begin(name, key) -> state
		"hmac_begin": func(c *engine.Call) (any, error) {
			h, err := newHash(c.String(1))
			if err != nil {
				return nil, err
			}
			inner := h()
			inner.Write(pad(h, c.Bytes(2), 0x36))
			return state(inner)
		},
		// hmac_final(name, key, state, view) -> bytes
		"hmac_final": func(c *engine.Call) (any, error) {
			inner, err := resumeHash(c.String(1), c.Bytes(3))
			if err != nil {
				return nil, err
			}
			h, _ := newHash(c.String(1)) // resumeHash knows it
			key := c.Bytes(2)
			inner.Write(c.View(4))
			outer := h()
			outer.Write(pad(h, key, 0x5c))
			outer.Write(inner.Sum(nil))
			return outer.Sum(nil), nil
		},
		// equal(a, b) -> whether the bytes are the same, in constant time
		"equal": func(c *engine.Call) (any, error) {
			a := c.Bytes(1)
			return hmac.Equal(a, c.View(2)), nil
		},
	}
}

// pad is the first block of HMAC (RFC 2104): the key, hashed if it is longer than a block, each byte xor x.
func pad(h func() hash.Hash, key []byte, x byte) []byte {
	block := make([]byte, h().BlockSize())
	if len(key) > len(block) {
		d := h()
		d.Write(key)
		key = d.Sum(nil)
	}
	copy(block, key)
	for i := range block {
		block[i] ^= x
	}
	return block
}

// resumeHash returns the hash in the state; nil is its beginning.
func resumeHash(name string, state []byte) (hash.Hash, error) {
	f, err := newHash(name)
	if err != nil {
		return nil, err
	}
	h := f()
	if state == nil {
		return h, nil
	}
	u, ok := h.(encoding.BinaryUnmarshaler)
	if !ok || u.UnmarshalBinary(state) != nil {
		return nil, newError("Error", "ERR_CRYPTO_HASH_FINALIZED", "The state of the digest is damaged")
	}
	return h, nil
}

func state(h hash.Hash) ([]byte, error) {
	m, ok := h.(encoding.BinaryMarshaler)
	if !ok {
		return nil, newError("Error", "ERR_CRYPTO_HASH_FINALIZED", "The digest has no state")
	}
	return m.MarshalBinary()
}
