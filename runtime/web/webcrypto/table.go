package webcrypto

import "github.com/pages-toolchain/pages/runtime/engine"

// algorithms are those of the table in js/algorithm.js, by name.
var algorithms = map[string]*algorithm{ //nolint:gochecknoglobals // a table
	"RSASSA-PKCS1-v1_5": rsaAlgorithm(signPKCS1, verifyPKCS1, nil),
	"RSA-PSS":           rsaAlgorithm(signPSS, verifyPSS, nil),
	"RSA-OAEP":          rsaAlgorithm(nil, nil, transformOAEP),
	"ECDSA": {
		generate: generateEC, load: loadEC, export: exportEC,
		describe: describeCurve, sign: signECDSA, verify: verifyECDSA,
	},
	"ECDH": {generate: generateEC, load: loadEC, export: exportEC, describe: describeCurve, derive: deriveECDH},
	"Ed25519": {
		generate: generateEd25519, load: loadEd25519, export: exportOctets,
		describe: describeNothing, sign: signEd25519, verify: verifyEd25519,
	},
	"NODE-ED25519": {
		generate: generateEd25519, load: loadEd25519, export: exportOctets,
		describe: describeCurve, sign: signEd25519, verify: verifyEd25519,
	},
	"X25519": {
		generate: generateX25519, load: loadX25519, export: exportOctets,
		describe: describeNothing, derive: deriveX25519,
	},
	"AES-CTR": {generate: generateAES, load: loadAES, export: exportSecret, describe: describeLength, length: lengthAES},
	"AES-CBC": {generate: generateAES, load: loadAES, export: exportSecret, describe: describeLength, length: lengthAES},
	"AES-GCM": {generate: generateAES, load: loadAES, export: exportSecret, describe: describeLength, length: lengthAES},
	"AES-KW": {
		generate: generateAES, load: loadAES, export: exportSecret,
		describe: describeLength, length: lengthAES, transform: wrapAES,
	},
	"HMAC": {
		generate: generateHMAC, load: loadHMAC, export: exportSecret,
		describe: describeHMAC, length: lengthHMAC, sign: signHMAC, verify: verifyHMAC,
	},
	"HKDF":   {load: loadSecret, describe: describeNothing, length: lengthAll, derive: deriveHKDF},
	"PBKDF2": {load: loadSecret, describe: describeNothing, length: lengthAll, derive: derivePBKDF2},
}

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
