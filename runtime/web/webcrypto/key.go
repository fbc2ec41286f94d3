package webcrypto

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

// cryptoKey is a key of JavaScript. JavaScript keeps it, as the array [algorithm,
// type, hash, curve, data], and gives it back with each call: so it ends with its
// isolate and survives the isolate's image, and a handle would do neither.
type cryptoKey struct {
	alg  string // "RSA-PSS"
	kind string // "secret", "public" or "private"
	// hash and curve are those of the algorithm that have one; else empty.
	hash, curve string
	// data is the secret itself, a SubjectPublicKeyInfo or a PKCS #8 key.
	data []byte
	// parsed is what data holds, for keys that are no secret: *rsa.PublicKey,
	// *ecdsa.PublicKey, ed25519.PublicKey, *ecdh.PublicKey, or the private ones.
	parsed any
	// bits is how many bits of data count; of a new HMAC key only.
	bits int
}

func (k *cryptoKey) handle() []any { return []any{k.alg, k.kind, k.hash, k.curve, k.data} }

const (
	kindSecret  = "secret"
	kindPublic  = "public"
	kindPrivate = "private"
)

var errNoKey = errors.New("the argument is no key")

// keyCache keeps parsed keys: parsing takes as long as using one. The zero value
// works; safe for concurrent use.
type keyCache struct {
	mu     sync.Mutex
	parsed map[string]any // by kind and data
}

const maxParsedKeys = 128

// find returns the key of a handle.
func (kc *keyCache) find(handle any) (*cryptoKey, error) {
	a, ok := handle.([]any)
	if !ok || len(a) != 5 {
		return nil, errNoKey
	}
	k := &cryptoKey{}
	for i, field := range []*string{&k.alg, &k.kind, &k.hash, &k.curve} {
		*field, _ = a[i].(string)
	}
	k.data, ok = a[4].([]byte)
	if !ok {
		return nil, errNoKey
	}
	if k.kind == kindSecret {
		return k, nil
	}
	name := k.kind + string(k.data)
	kc.mu.Lock()
	defer kc.mu.Unlock()
	if k.parsed, ok = kc.parsed[name]; ok {
		return k, nil
	}
	var err error
	if k.parsed, err = parseDER(k.kind, k.data); err != nil {
		return nil, err
	}
	if kc.parsed == nil || len(kc.parsed) >= maxParsedKeys {
		kc.parsed = map[string]any{}
	}
	kc.parsed[name] = k.parsed
	return k, nil
}

func parseDER(kind string, der []byte) (any, error) {
	if kind == kindPrivate {
		return x509.ParsePKCS8PrivateKey(der)
	}
	return x509.ParsePKIXPublicKey(der)
}

// newKey returns the key of alg that parsed is. DER cannot fail to be written
// for the types that cryptoKey lists.
func newKey(alg, kind string, parsed any) (*cryptoKey, error) {
	k := &cryptoKey{alg: alg, kind: kind, parsed: parsed}
	var err error
	if kind == kindPrivate {
		k.data, err = x509.MarshalPKCS8PrivateKey(parsed)
	} else {
		k.data, err = x509.MarshalPKIXPublicKey(parsed)
	}
	return k, err
}

// params are the parameters of an algorithm, in the order of the table in
// js/algorithm.js; nil where there is none. JavaScript has checked their types.
type params []any

func (p params) bytes(i int) []byte {
	b, _ := p[i].([]byte)
	return b
}

func (p params) text(i int) string {
	s, _ := p[i].(string)
	return s
}

// int is a number; ok is false where there is none.
func (p params) int(i int) (n int, ok bool) {
	f, ok := p[i].(float64)
	return int(f), ok
}

func paramsIn(c *engine.Call, i int) params {
	p, _ := c.Value(i).([]any)
	return p
}

// material is what a key is imported from.
type material struct {
	format      string // raw, pkcs8, spki or jwk
	alg         string
	params      params
	data        []byte // of all formats but jwk
	jwk         *webKey
	usages      []string
	extractable bool
}

// parse reads a key of a pair; one in a JSON Web Key is read by webKey. A format that
// not every pair has, such as raw, is an *engine.Error, and the kind is public.
func (m *material) parse(webKey func(*material) (any, error)) (kind string, key any, err error) {
	kind = kindPublic
	switch m.format {
	case "spki":
		key, err = x509.ParsePKIXPublicKey(m.data)
	case "pkcs8":
		kind = kindPrivate
		key, err = parsePrivate(m.data)
	case "jwk":
		if m.jwk.D != nil {
			kind = kindPrivate
		}
		key, err = webKey(m)
	default:
		err = errFormat(m.alg, m.format)
	}
	return kind, key, err
}

// parsePrivate reads what an import calls "pkcs8": as on the platform, the older forms
// of one algorithm too, PKCS #1 and SEC 1, which openssl and GitHub give.
func parsePrivate(der []byte) (any, error) {
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return key, nil
	}
	return nil, err
}

// algorithm is what can be done with keys of one algorithm; a function that is
// nil is an operation that js/algorithm.js does not let through.
type algorithm struct {
	generate func(alg string, p params) ([]*cryptoKey, error)
	load     func(m *material) (*cryptoKey, error)
	export   func(k *cryptoKey, format string) (any, error)
	// describe gives the members of the key's algorithm beside its name.
	describe func(k *cryptoKey) engine.Object
	// transform encrypts or decrypts.
	transform func(decrypt bool, k *cryptoKey, p params, data []byte) ([]byte, error)
	sign      func(k *cryptoKey, p params, data []byte) ([]byte, error)
	verify    func(k *cryptoKey, p params, signature, data []byte) (bool, error)
	// derive gives bits of a secret; -1 asks for all there are.
	derive func(k *cryptoKey, p params, bits int) ([]byte, error)
	// length is how many bits a key of these parameters takes of a secret; -1
	// is all there are.
	length func(p params) (int, error)
}

var algorithms = map[string]*algorithm{ //nolint:gochecknoglobals // a table
	"RSASSA-PKCS1-v1_5": rsaAlgorithm(signPKCS1, verifyPKCS1, nil),
	"RSA-PSS":           rsaAlgorithm(signPSS, verifyPSS, nil),
	"RSA-OAEP":          rsaAlgorithm(nil, nil, transformOAEP),
	"ECDSA":             {generate: generateEC, load: loadEC, export: exportEC, describe: describeCurve, sign: signECDSA, verify: verifyECDSA},
	"ECDH":              {generate: generateEC, load: loadEC, export: exportEC, describe: describeCurve, derive: deriveECDH},
	"Ed25519":           {generate: generateEd25519, load: loadEd25519, export: exportOctets, describe: describeNothing, sign: signEd25519, verify: verifyEd25519},
	"NODE-ED25519":      {generate: generateEd25519, load: loadEd25519, export: exportOctets, describe: describeCurve, sign: signEd25519, verify: verifyEd25519},
	"X25519":            {generate: generateX25519, load: loadX25519, export: exportOctets, describe: describeNothing, derive: deriveX25519},
	"AES-CTR":           {generate: generateAES, load: loadAES, export: exportSecret, describe: describeLength, length: lengthAES},
	"AES-CBC":           {generate: generateAES, load: loadAES, export: exportSecret, describe: describeLength, length: lengthAES},
	"AES-GCM":           {generate: generateAES, load: loadAES, export: exportSecret, describe: describeLength, length: lengthAES},
	"AES-KW":            {generate: generateAES, load: loadAES, export: exportSecret, describe: describeLength, length: lengthAES, transform: wrapAES},
	"HMAC":              {generate: generateHMAC, load: loadHMAC, export: exportSecret, describe: describeHMAC, length: lengthHMAC, sign: signHMAC, verify: verifyHMAC},
	"HKDF":              {load: loadSecret, describe: describeNothing, length: lengthAll, derive: deriveHKDF},
	"PBKDF2":            {load: loadSecret, describe: describeNothing, length: lengthAll, derive: derivePBKDF2},
}

func describeNothing(*cryptoKey) engine.Object { return nil }

// made is a new key as JavaScript takes it: [handle, algorithm].
func made(k *cryptoKey) []any {
	object := engine.Object{{Name: "name", Value: k.alg}}
	return []any{k.handle(), append(object, algorithms[k.alg].describe(k)...)}
}

// algorithmOf is the algorithm of a name that comes from JavaScript: what has no
// key yet is refused where the algorithm does not have it.
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

// keyFuncs are the host functions that make, read and write keys.
func keyFuncs(keys *keyCache) map[string]engine.Func {
	return map[string]engine.Func{
		// crypto_generate(algorithm, params) -> [key], or [private key, public key];
		// a key is [handle, algorithm]
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
		// crypto_import(format, algorithm, params, bytes or JSON, usages,
		// extractable) -> a key
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
			return algorithms[k.alg].export(k, c.String(0))
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

// useFuncs are the host functions that use a key.
func useFuncs(keys *keyCache) map[string]engine.Func {
	return map[string]engine.Func{
		// crypto_transform(decrypt, handle, params, view) -> bytes
		"crypto_transform": keys.use(1, func(c *engine.Call, k *cryptoKey) (any, error) {
			decrypt, p := c.Bool(0), paramsIn(c, 2)
			return offload.View(c, c.View(3), func(b []byte) (any, error) { return algorithms[k.alg].transform(decrypt, k, p, b) })
		}),
		// crypto_cipher(decrypt, handle, params, size, view) -> the size of the
		// result, which takes the place of the first size bytes of view
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

// use returns a host function that is told the key of argument i.
func (kc *keyCache) use(i int, f func(*engine.Call, *cryptoKey) (any, error)) engine.Func {
	return func(c *engine.Call) (any, error) {
		k, err := kc.find(c.Value(i))
		if err != nil {
			return nil, err
		}
		return f(c, k)
	}
}
