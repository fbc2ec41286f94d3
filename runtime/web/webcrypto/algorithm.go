package webcrypto

import "github.com/pages-toolchain/pages/runtime/engine"

// algorithm lists the operations on keys of one algorithm; nil is an operation that js/algorithm.js
// does not let through.
type algorithm struct {
	generate func(alg string, p params) ([]*cryptoKey, error)
	load     func(m *material) (*cryptoKey, error)
	export   func(k *cryptoKey, format string) (any, error) // but "spki" and "pkcs8", which are the key's data
	// describe gives the members of the key's algorithm beside its name; nil for none.
	describe func(k *cryptoKey) engine.Object
	// transform encrypts or decrypts.
	transform func(decrypt bool, k *cryptoKey, p params, data []byte) ([]byte, error)
	sign      func(k *cryptoKey, p params, data []byte) ([]byte, error)
	verify    func(k *cryptoKey, p params, signature, data []byte) (bool, error)
	// derive gives bits of a secret; -1 asks for all there are.
	derive func(k *cryptoKey, p params, bits int) ([]byte, error)
	// length is how many bits a key of these parameters takes of a secret; -1 is all there are.
	length func(p params) (int, error)
}

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

// made is a new key as JavaScript takes it: [handle, algorithm].
func made(k *cryptoKey) []any {
	object := engine.Object{{Name: "name", Value: k.alg}}
	if describe := algorithms[k.alg].describe; describe != nil {
		object = append(object, describe(k)...)
	}
	return []any{[]any{k.alg, k.kind, k.hash, k.curve, k.data}, object}
}

// algorithmOf returns an algorithm whose operations without a key refuse what it does not have.
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

// params are the parameters of an algorithm, in the order of the table in js/algorithm.js; nil
// where there is none. JavaScript has checked their types.
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
