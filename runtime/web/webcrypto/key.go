package webcrypto

import (
	"crypto/x509"
	"errors"
	"sync"
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

func errFormat(alg, format string) error {
	return domError("NotSupportedError", "keys for %s have no format %q", alg, format)
}

// needKind checks that a key is of the kind that a format is for.
func needKind(k *cryptoKey, kind, format string) error {
	if k.kind == kind {
		return nil
	}
	return domError("InvalidAccessError", "a %s key cannot be exported as %q", k.kind, format)
}
