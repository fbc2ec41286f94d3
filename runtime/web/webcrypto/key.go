package webcrypto

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// cryptoKey is a key of JavaScript. JavaScript keeps it, as the array [algorithm, type, hash,
// curve, data], and passes it with each call: unlike a handle, it ends with its isolate and
// survives in the isolate's image.
type cryptoKey struct {
	alg  string // "RSA-PSS"
	kind string // "secret", "public" or "private"
	// hash and curve are those of the algorithm that have one; else empty.
	hash, curve string
	// data is the secret itself, a SubjectPublicKeyInfo or a PKCS #8 key.
	data []byte
	// parsed is the parsed form of data, for asymmetric keys: *rsa.PublicKey, *ecdsa.PublicKey,
	// ed25519.PublicKey, *ecdh.PublicKey, or the private ones.
	parsed any
	// bits is the number of bits of data that count; only for a new HMAC key.
	bits int
}

const (
	kindSecret  = "secret"
	kindPublic  = "public"
	kindPrivate = "private"
)

var errNoKey = errors.New("the argument is not a key")

// keyCache keeps parsed keys: parsing takes as long as using one. The zero value works; safe for
// concurrent use.
type keyCache struct {
	mu     sync.Mutex
	parsed map[string]any // by kind and data
}

const maxParsedKeys = 128

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
	if k.kind == kindPrivate {
		k.parsed, err = x509.ParsePKCS8PrivateKey(k.data)
	} else {
		k.parsed, err = x509.ParsePKIXPublicKey(k.data)
	}
	if err != nil {
		return nil, err
	}
	if kc.parsed == nil || len(kc.parsed) >= maxParsedKeys {
		kc.parsed = map[string]any{}
	}
	kc.parsed[name] = k.parsed
	return k, nil
}

// newKey writes a key of a pair as DER, with the algorithm of like.
func newKey(like cryptoKey, kind string, parsed any) (*cryptoKey, error) {
	like.kind, like.parsed = kind, parsed
	var err error
	if kind == kindPrivate {
		like.data, err = x509.MarshalPKCS8PrivateKey(parsed)
	} else {
		like.data, err = x509.MarshalPKIXPublicKey(parsed)
	}
	return &like, err
}

func newPair(like cryptoKey, private, public any) ([]*cryptoKey, error) {
	a, err := newKey(like, kindPrivate, private)
	if err != nil {
		return nil, err
	}
	b, err := newKey(like, kindPublic, public)
	return []*cryptoKey{a, b}, err
}

func errFormat(alg, format string) error {
	return domError("NotSupportedError", "keys for %s have no format %q", alg, format)
}

func needKind(k *cryptoKey, kind, format string) error {
	if k.kind == kind {
		return nil
	}
	return domError("InvalidAccessError", "a %s key cannot be exported as %q", k.kind, format)
}

type material struct {
	format      string // raw, pkcs8, spki or jwk
	alg         string
	params      params
	data        []byte // of all formats but jwk
	jwk         *webKey
	usages      []string
	extractable bool
}

// parse reads a key of a pair; webKey reads those in a JSON Web Key. A format that not every pair
// has, such as raw, is an *engine.Error, and the kind is public.
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

// parsePrivate reads the format "pkcs8" of an import: as on the platform, the older forms of one
// algorithm too, PKCS #1 and SEC 1, which openssl and GitHub give.
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

// checkWebKey checks the members that keys of all types have: kty, and use, if it is present.
func (m *material) checkWebKey(kty, use string) error {
	k := m.jwk
	switch {
	case k.Kty == nil || *k.Kty != kty:
		return domError("DataError", "the JSON Web Key is not of the type %q", kty)
	case len(m.usages) > 0 && k.Use != nil && *k.Use != use:
		return domError("DataError", "the JSON Web Key's use is %q, not %q", *k.Use, use)
	case k.Ext != nil && !*k.Ext && m.extractable:
		return domError("DataError", "the JSON Web Key is not extractable")
	case k.KeyOps == nil:
		return nil
	}
	for i, op := range k.KeyOps {
		if slices.Contains(k.KeyOps[:i], op) {
			return domError("DataError", "the JSON Web Key's key_ops have %q twice", op)
		}
	}
	for _, usage := range m.usages {
		if !slices.Contains(k.KeyOps, usage) {
			return domError("DataError", "the JSON Web Key's key_ops do not have %q", usage)
		}
	}
	return nil
}

// webKey is a JSON Web Key (RFC 7517), converted by js/jwk.js; nil is an absent member.
type webKey struct {
	Kty    *string  `json:"kty"`
	Use    *string  `json:"use"`
	KeyOps []string `json:"key_ops"`
	Alg    *string  `json:"alg"`
	Ext    *bool    `json:"ext"`
	Crv    *string  `json:"crv"`
	X      *string  `json:"x"`
	Y      *string  `json:"y"`
	D      *string  `json:"d"`
	N      *string  `json:"n"`
	E      *string  `json:"e"`
	P      *string  `json:"p"`
	Q      *string  `json:"q"`
	DP     *string  `json:"dp"`
	DQ     *string  `json:"dq"`
	QI     *string  `json:"qi"`
	Oth    []any    `json:"oth"`
	K      *string  `json:"k"`
}

func (k *webKey) checkAlg(allowed ...string) error {
	if k.Alg == nil || slices.Contains(allowed, *k.Alg) {
		return nil
	}
	return domError("DataError", "the JSON Web Key's alg is %q, not %q", *k.Alg, allowed[0])
}

func member(name string, value *string) ([]byte, error) {
	if value == nil {
		return nil, domError("DataError", "the JSON Web Key has no %s", name)
	}
	b, err := base64.RawURLEncoding.DecodeString(*value)
	if err != nil || strings.ContainsAny(*value, "\r\n") {
		return nil, domError("DataError", "the JSON Web Key's %s is not base64url", name)
	}
	return b, nil
}

func base64Field(name string, b []byte) engine.Field {
	return engine.Field{Name: name, Value: base64.RawURLEncoding.EncodeToString(b)}
}
