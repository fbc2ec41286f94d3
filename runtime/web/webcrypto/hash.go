package webcrypto

import (
	"crypto"
	_ "crypto/md5" // registers the hash
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// hashes are the hash functions by the names that JavaScript gives them. MD5 is the platform's own,
// for checksums.
var hashes = map[string]crypto.Hash{ //nolint:gochecknoglobals // a table
	"MD5": crypto.MD5, "SHA-1": crypto.SHA1, "SHA-256": crypto.SHA256, "SHA-384": crypto.SHA384, "SHA-512": crypto.SHA512,
}

func hashOf(name string) (crypto.Hash, error) {
	if h, ok := hashes[name]; ok {
		return h, nil
	}
	return 0, domError("NotSupportedError", "there is no hash %q", name)
}

// checksums are further digests of a DigestStream: no hashes for cryptography.
var checksums = map[string]func() hash.Hash{ //nolint:gochecknoglobals // a table
	"crc32":     func() hash.Hash { return crc32.NewIEEE() },
	"crc32c":    func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	"crc64nvme": func() hash.Hash { return crc64.New(crc64.MakeTable(nvme)) },
}

// nvme is the polynomial of the NVM Express specification, in Go's order of bits.
const nvme = 0x9a6c9329ac4bc9b5

func newDigest(name string) (hash.Hash, error) {
	if begin, ok := checksums[name]; ok {
		return begin(), nil
	}
	h, err := hashOf(name)
	if err != nil {
		return nil, err
	}
	return h.New(), nil
}

func digestFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// crypto_digest(hash, view) -> bytes
		"crypto_digest": func(c *engine.Call) (any, error) {
			h, err := hashOf(c.String(0))
			if err != nil {
				return nil, err
			}
			d, view := h.New(), c.View(1)
			c.VM().InSteps(len(view), func(from, to int) { d.Write(view[from:to]) })
			return d.Sum(nil), nil
		},
		// crypto_hash(hash) -> the state of a hash of nothing yet, as bytes
		"crypto_hash": func(c *engine.Call) (any, error) {
			d, err := newDigest(c.String(0))
			if err != nil {
				return nil, err
			}
			return marshalHash(d)
		},
		// crypto_hash_write(hash, state, view) -> the state after these bytes
		"crypto_hash_write": func(c *engine.Call) (any, error) {
			d, err := unmarshalHash(c.String(0), c.Bytes(1))
			if err != nil {
				return nil, err
			}
			view := c.View(2)
			c.VM().InSteps(len(view), func(from, to int) { d.Write(view[from:to]) })
			return marshalHash(d)
		},
		// crypto_hash_sum(hash, state) -> bytes
		"crypto_hash_sum": func(c *engine.Call) (any, error) {
			d, err := unmarshalHash(c.String(0), c.Bytes(1))
			if err != nil {
				return nil, err
			}
			return d.Sum(nil), nil
		},
	}
}

// marshalHash returns the state of a hash as bytes; every hash of the standard library has one.
func marshalHash(d hash.Hash) ([]byte, error) {
	m, ok := d.(encoding.BinaryMarshaler)
	if !ok {
		return nil, fmt.Errorf("the state of a %T cannot be kept", d)
	}
	return m.MarshalBinary()
}

func unmarshalHash(name string, state []byte) (hash.Hash, error) {
	d, err := newDigest(name)
	if err != nil {
		return nil, err
	}
	u, ok := d.(encoding.BinaryUnmarshaler)
	if !ok {
		return nil, fmt.Errorf("the state of a %T cannot be kept", d)
	}
	return d, u.UnmarshalBinary(state)
}
