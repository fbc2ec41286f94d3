package webcrypto

import (
	"encoding/json"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

// algorithms are those of the table in js/algorithm.js, by name.
var algorithms = map[string]*algorithm{ //nolint:gochecknoglobals // a table
	"RSASSA-PKCS1-v1_5": algorithmRSA(nil),
	"RSA-PSS":           algorithmRSA(nil),
	"RSA-OAEP":          algorithmRSA(transformOAEP),
	"ECDSA": {
		generate: generateEC, load: loadEC, export: exportEC,
		describe: describeCurve, sign: signECDSA, verify: verifyECDSA,
	},
	"ECDH": {generate: generateEC, load: loadEC, export: exportEC, describe: describeCurve, derive: deriveECDH},
	"Ed25519": {
		generate: keysEd25519.generate, load: keysEd25519.load, export: exportOctets,
		sign: signEd25519, verify: verifyEd25519,
	},
	"NODE-ED25519": {
		generate: keysEd25519.generate, load: keysEd25519.load, export: exportOctets,
		describe: describeCurve, sign: signEd25519, verify: verifyEd25519,
	},
	"X25519":  {generate: keysX25519.generate, load: keysX25519.load, export: exportOctets, derive: deriveECDH},
	"AES-CTR": algorithmAES(nil),
	"AES-CBC": algorithmAES(nil),
	"AES-GCM": algorithmAES(nil),
	"AES-KW":  algorithmAES(wrapAES),
	"HMAC": {
		generate: generateHMAC, load: loadHMAC, export: exportSecret,
		length: lengthHMAC, sign: signHMAC, verify: verifyHMAC,
		describe: func(k *cryptoKey) engine.Object {
			return engine.Object{{Name: "hash", Value: describeHash(k.hash)}, {Name: "length", Value: k.bits}}
		},
	},
	"HKDF":   {load: loadSecret, length: lengthAll, derive: deriveHKDF},
	"PBKDF2": {load: loadSecret, length: lengthAll, derive: derivePBKDF2},
}

// keyValue is a new key as JavaScript takes it: [handle, algorithm].
func keyValue(k *cryptoKey) []any {
	object := engine.Object{{Name: "name", Value: k.alg}}
	if describe := algorithms[k.alg].describe; describe != nil {
		object = append(object, describe(k)...)
	}
	return []any{[]any{k.alg, k.kind, k.hash, k.curve, k.data}, object}
}

// algorithmOf returns an algorithm. Its missing operations without a key return an error.
func algorithmOf(name string) algorithm {
	var a algorithm
	if known, ok := algorithms[name]; ok {
		a = *known
	}
	err := domError("NotSupportedError", "%q does not do that", name)
	if a.generate == nil {
		a.generate = func(string, params) ([]*cryptoKey, error) { return nil, err }
	}
	if a.load == nil {
		a.load = func(*material) (*cryptoKey, error) { return nil, err }
	}
	if a.length == nil {
		a.length = func(params) (int, error) { return 0, err }
	}
	return a
}

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
					all = append(all, keyValue(k))
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
			return keyValue(k), nil
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
