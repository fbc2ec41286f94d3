package webcrypto

import (
	"crypto"
	_ "crypto/md5" // registers the hash
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding"
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

func keyFuncs(keys *keyCache) map[string]engine.Func {
	return map[string]engine.Func{
		// crypto_generate(algorithm, params) -> [key], or [private key, public key]; a key is
		// [handle, algorithm]
		"crypto_generate": func(c *engine.Call) (any, error) {
			if _, err := iocontext.Current(c); err != nil {
				return nil, err
			}
			name, p := c.String(0), paramsIn(c, 1)
			return c.Offload(func() (any, error) {
				keys, err := algorithmOf(name).generate(name, p)
				if err != nil {
					return nil, err
				}
				all := make([]any, 0, 2)
				for _, k := range keys {
					all = append(all, made(k))
				}
				return all, nil
			})
		},
		// crypto_import(format, algorithm, params, bytes or JSON, usages, extractable) -> a key
		"crypto_import": func(c *engine.Call) (any, error) {
			m := &material{
				format: c.String(0), alg: c.String(1), params: paramsIn(c, 2), data: c.Bytes(3),
				usages: c.Strings(4), extractable: c.Bool(5),
			}
			if m.data == nil {
				m.jwk = &webKey{}
				if err := json.Unmarshal([]byte(c.String(3)), m.jwk); err != nil {
					return nil, domError("DataError", "the JSON Web Key cannot be read: %v", err)
				}
			}
			k, err := algorithmOf(m.alg).load(m)
			if err != nil {
				return nil, err
			}
			return made(k), nil
		},
		// crypto_export(format, handle) -> bytes, or the members of a JSON Web Key
		"crypto_export": func(c *engine.Call) (any, error) {
			k, err := keys.find(c.Value(1))
			if err != nil {
				return nil, err
			}
			switch format := c.String(0); {
			case format == "spki" && k.kind != kindSecret:
				return k.data, needKind(k, kindPublic, format)
			case format == "pkcs8" && k.kind != kindSecret:
				return k.data, needKind(k, kindPrivate, format)
			default:
				return algorithms[k.alg].export(k, format)
			}
		},
		// crypto_key_length(algorithm, params) -> bits or null
		"crypto_key_length": func(c *engine.Call) (any, error) {
			bits, err := algorithmOf(c.String(0)).length(paramsIn(c, 1))
			if err != nil || bits < 0 {
				return nil, err
			}
			return bits, nil
		},
	}
}

func useFuncs(keys *keyCache) map[string]engine.Func {
	return map[string]engine.Func{
		// crypto_transform(decrypt, handle, params, view) -> bytes
		"crypto_transform": keys.use(1, func(c *engine.Call, k *cryptoKey) (any, error) {
			decrypt, p := c.Bool(0), paramsIn(c, 2)
			return offload.View(c, c.View(3), func(b []byte) (any, error) { return algorithms[k.alg].transform(decrypt, k, p, b) })
		}),
		// crypto_cipher(decrypt, handle, params, size, view) -> the size of the result, which takes
		// the place of the first size bytes of view
		"crypto_cipher": keys.use(1, func(c *engine.Call, k *cryptoKey) (any, error) {
			decrypt, p, size := c.Bool(0), paramsIn(c, 2), int(c.Int(3))
			if size <= offload.Inline {
				return cipherInPlace(decrypt, k, p, c.View(4), size)
			}
			b, err := offload.Copy(c, c.View(4))
			if err != nil {
				return nil, err
			}
			n, err := c.Offload(func() (any, error) { return cipherInPlace(decrypt, k, p, b, size) })
			to := c.View(4)
			c.VM().InSteps(len(b), func(from, end int) { copy(to[from:end], b[from:end]) })
			return n, err
		}),
		// crypto_sign(handle, params, view) -> bytes
		"crypto_sign": keys.use(0, func(c *engine.Call, k *cryptoKey) (any, error) {
			p := paramsIn(c, 1)
			return offload.View(c, c.View(2), func(b []byte) (any, error) { return algorithms[k.alg].sign(k, p, b) })
		}),
		// crypto_verify(handle, params, signature, view) -> bool
		"crypto_verify": keys.use(0, func(c *engine.Call, k *cryptoKey) (any, error) {
			p, signature := paramsIn(c, 1), c.Bytes(2)
			return offload.View(c, c.View(3), func(b []byte) (any, error) { return algorithms[k.alg].verify(k, p, signature, b) })
		}),
		// crypto_derive(handle, params, bits or null) -> bytes
		"crypto_derive": keys.use(0, func(c *engine.Call, k *cryptoKey) (any, error) {
			bits := -1
			if !c.IsNullish(2) {
				bits = int(c.Int(2))
			}
			p := paramsIn(c, 1)
			if public, ok := p[0].([]any); ok {
				other, err := keys.find(public)
				if err != nil {
					return nil, err
				}
				p[0] = other
			}
			return c.Offload(func() (any, error) { return algorithms[k.alg].derive(k, p, bits) })
		}),
	}
}

// use returns a host function that gets the key of argument i.
func (kc *keyCache) use(i int, f func(*engine.Call, *cryptoKey) (any, error)) engine.Func {
	return func(c *engine.Call) (any, error) {
		k, err := kc.find(c.Value(i))
		if err != nil {
			return nil, err
		}
		return f(c, k)
	}
}

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

func domError(name, format string, args ...any) error {
	return &engine.Error{Name: name, Message: fmt.Sprintf(format, args...)}
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
