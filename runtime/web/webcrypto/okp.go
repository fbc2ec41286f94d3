package webcrypto

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file is Ed25519 and X25519: octet key pairs (RFC 8037). NODE-ED25519 is the platform's older
// name of Ed25519.

// octetKeys are the two algorithms' ways to read and write keys.
type octetKeys struct {
	crv, use string
	algs     []string // of a JSON Web Key; none is any
	// public and private read 32 bytes; private takes the seed.
	public  func([]byte) (any, error)
	private func([]byte) (key, public any, err error)
	// is reports whether a key read from DER is one of these.
	is func(any) bool
}

var (
	keysEd25519 = &octetKeys{ //nolint:gochecknoglobals // a table
		crv: "Ed25519", use: "sig", algs: []string{"EdDSA"},
		public: func(b []byte) (any, error) { return ed25519.PublicKey(b), nil },
		private: func(seed []byte) (any, any, error) {
			key := ed25519.NewKeyFromSeed(seed)
			return key, key.Public(), nil
		},
		is: func(key any) bool {
			switch key.(type) {
			case ed25519.PublicKey, ed25519.PrivateKey:
				return true
			}
			return false
		},
	}
	keysX25519 = &octetKeys{ //nolint:gochecknoglobals // a table
		crv: "X25519", use: "enc",
		public: func(b []byte) (any, error) { return ecdh.X25519().NewPublicKey(b) },
		private: func(b []byte) (any, any, error) {
			key, err := ecdh.X25519().NewPrivateKey(b)
			if err != nil {
				return nil, nil, err
			}
			return key, key.PublicKey(), nil
		},
		is: func(key any) bool {
			switch k := key.(type) {
			case *ecdh.PublicKey:
				return k.Curve() == ecdh.X25519()
			case *ecdh.PrivateKey:
				return k.Curve() == ecdh.X25519()
			}
			return false
		},
	}
)

const octetKeySize = 32

func (o *octetKeys) generate(alg string, p params) ([]*cryptoKey, error) {
	curve, err := nodeCurve(alg, p)
	if err != nil {
		return nil, err
	}
	seed := make([]byte, octetKeySize)
	fill(seed)
	key, public, err := o.private(seed)
	if err != nil {
		return nil, err
	}
	return newPair(cryptoKey{alg: alg, curve: curve}, key, public)
}

func (o *octetKeys) load(m *material) (*cryptoKey, error) {
	curve, err := nodeCurve(m.alg, m.params)
	if err != nil {
		return nil, err
	}
	kind, parsed, err := m.parse(o.parseWebKey)
	if m.format == "raw" {
		parsed, err = o.point(m.data)
	}
	if _, thrown := errors.AsType[*engine.Error](err); thrown {
		return nil, err
	}
	if err != nil || !o.is(parsed) {
		return nil, domError("DataError", "the key is not a key for %s", o.crv)
	}
	return newKey(cryptoKey{alg: m.alg, curve: curve}, kind, parsed)
}

func (o *octetKeys) point(b []byte) (any, error) {
	if len(b) != octetKeySize {
		return nil, domError("DataError", "the key has %d bytes, not %d", len(b), octetKeySize)
	}
	return o.public(b)
}

func (o *octetKeys) parseWebKey(m *material) (any, error) {
	if err := m.checkWebKey("OKP", o.use); err != nil {
		return nil, err
	}
	k := m.jwk
	if k.Crv == nil || *k.Crv != o.crv {
		return nil, domError("DataError", "the JSON Web Key's crv is not %s", o.crv)
	}
	if o.algs != nil {
		if err := k.checkAlg(o.algs...); err != nil {
			return nil, err
		}
	}
	x, err := member("x", k.X)
	if err != nil {
		return nil, err
	}
	public, err := o.point(x)
	if err != nil || k.D == nil {
		return public, err
	}
	d, err := member("d", k.D)
	if err != nil {
		return nil, err
	}
	if len(d) != octetKeySize {
		return nil, domError("DataError", "the JSON Web Key's d has %d bytes, not %d", len(d), octetKeySize)
	}
	private, own, err := o.private(d)
	if err != nil {
		return nil, err
	}
	if string(octetsOf(own)) != string(x) {
		return nil, domError("DataError", "the JSON Web Key's d is not the private key of its x")
	}
	return private, nil
}

func octetsOf(public any) []byte {
	switch k := public.(type) {
	case ed25519.PublicKey:
		return k
	case *ecdh.PublicKey:
		return k.Bytes()
	}
	return nil
}

func exportOctets(k *cryptoKey, format string) (any, error) {
	public, crv, seed := k.parsed, "Ed25519", []byte(nil)
	switch key := k.parsed.(type) {
	case ed25519.PrivateKey:
		public, seed = key.Public(), key.Seed()
	case *ecdh.PrivateKey:
		public, seed = key.PublicKey(), key.Bytes()
	}
	if _, ok := public.(*ecdh.PublicKey); ok {
		crv = "X25519"
	}
	switch format {
	case "raw":
		return octetsOf(public), needKind(k, kindPublic, format)
	case "jwk":
		object := engine.Object{{Name: "kty", Value: "OKP"}, {Name: "crv", Value: crv}, base64Field("x", octetsOf(public))}
		if seed != nil {
			object = append(object, base64Field("d", seed))
		}
		if crv == "Ed25519" {
			object = append(object, engine.Field{Name: "alg", Value: "EdDSA"})
		}
		return object, nil
	}
	return nil, errFormat(k.alg, format)
}

// nodeCurve is the curve that NODE-ED25519 must name; the others have none.
func nodeCurve(alg string, p params) (string, error) {
	if alg != "NODE-ED25519" {
		return "", nil
	}
	if p.text(0) != alg {
		return "", domError("NotSupportedError", "the curve of %s is %q, not %q", alg, alg, p.text(0))
	}
	return alg, nil
}

func signEd25519(k *cryptoKey, _ params, data []byte) ([]byte, error) {
	private, ok := k.parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errNoKey
	}
	return private.Sign(rand.Reader, data, &ed25519.Options{})
}

// smallOrder are the encodings of the points of small order, the last bit of each cleared. The
// standard refuses them as keys and in signatures, crypto/ed25519 does not.
var smallOrder = map[string]bool{ //nolint:gochecknoglobals // a table
	"0000000000000000000000000000000000000000000000000000000000000000": true,
	"0100000000000000000000000000000000000000000000000000000000000000": true,
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05": true,
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a": true,
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f": true,
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f": true,
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f": true,
}

func isSmallOrder(point []byte) bool {
	p := append([]byte(nil), point...)
	p[len(p)-1] &= 0x7f
	return smallOrder[hex.EncodeToString(p)]
}

func verifyEd25519(k *cryptoKey, _ params, signature, data []byte) (bool, error) {
	public, ok := k.parsed.(ed25519.PublicKey)
	if !ok {
		return false, errNoKey
	}
	if len(signature) != ed25519.SignatureSize || isSmallOrder(public) || isSmallOrder(signature[:octetKeySize]) {
		return false, nil
	}
	return ed25519.Verify(public, data, signature), nil
}
