package node

import (
	"cmp"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"math/big"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// In JavaScript an asymmetric key is its DER: PKCS #8 for a private key, SubjectPublicKeyInfo for a public one.

// keyKind is the asymmetricKeyType and the asymmetricKeyDetails of a key.
func keyKind(key any) (kind string, details engine.Object) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return keyKind(&k.PublicKey)
	case *rsa.PublicKey:
		return "rsa", engine.Object{{Name: "modulusLength", Value: k.N.BitLen()}, {Name: "publicExponent", Value: k.E}}
	case *ecdsa.PrivateKey:
		return keyKind(&k.PublicKey)
	case *ecdsa.PublicKey:
		name := k.Params().Name
		return "ec", engine.Object{{Name: "namedCurve", Value: cmp.Or(opensslCurves[name], name)}}
	case ed25519.PrivateKey, ed25519.PublicKey:
		return "ed25519", nil
	case *ecdh.PrivateKey, *ecdh.PublicKey:
		return "x25519", nil
	}
	return "", nil
}

var opensslCurves = map[string]string{ //nolint:gochecknoglobals // a table
	"P-224": "secp224r1", "P-256": "prime256v1", "P-384": "secp384r1", "P-521": "secp521r1",
}

func curveOf(name string) (elliptic.Curve, error) {
	switch name {
	case "secp224r1", "P-224":
		return elliptic.P224(), nil
	case "prime256v1", "secp256r1", "P-256":
		return elliptic.P256(), nil
	case "secp384r1", "P-384":
		return elliptic.P384(), nil
	case "secp521r1", "P-521":
		return elliptic.P521(), nil
	}
	return nil, newError("TypeError", "ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name")
}

func errUnsupported(what string) error {
	return newError("Error", "ERR_OSSL_UNSUPPORTED", "error:1E08010C:DECODER routines::unsupported: %s", what)
}

// describeKey returns [DER, kind, details].
func describeKey(der []byte, key any) (any, error) {
	kind, details := keyKind(key)
	if kind == "" {
		return nil, errUnsupported(fmt.Sprintf("keys of type %T", key))
	}
	return []any{der, kind, details}, nil
}

func parsePrivate(der []byte) (crypto.PrivateKey, error) {
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return key, nil
	}
	return nil, errUnsupported("the private key is neither PKCS #8, PKCS #1 nor SEC 1, or of a kind that is not known")
}

func parsePublic(der []byte) (crypto.PublicKey, error) {
	if key, err := x509.ParsePKIXPublicKey(der); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PublicKey(der); err == nil {
		return key, nil
	}
	if cert, err := x509.ParseCertificate(der); err == nil {
		return cert.PublicKey, nil
	}
	return nil, errUnsupported("the public key is neither SPKI nor PKCS #1, or of a kind that is not known")
}

func publicOf(key crypto.PrivateKey) crypto.PublicKey {
	if k, ok := key.(interface{ Public() crypto.PublicKey }); ok {
		return k.Public()
	}
	return nil
}

func keyOperations() map[string]operation {
	return map[string]operation{
		// key_pem(text) -> [DER, label] of the first block that is a key or certificate
		"key_pem": readPEM,
		// key_private(DER) -> [PKCS #8, kind, details]
		"key_private": func(c *engine.Call) (any, error) {
			key, err := parsePrivate(c.Bytes(1))
			if err != nil {
				return nil, err
			}
			return describePrivate(key)
		},
		// key_public(DER, private) -> [SPKI, kind, details], of a private key its public half
		"key_public": func(c *engine.Call) (any, error) {
			if c.Bool(2) {
				key, err := parsePrivate(c.Bytes(1))
				if err != nil {
					return nil, err
				}
				return describePublic(publicOf(key))
			}
			key, err := parsePublic(c.Bytes(1))
			if err != nil {
				return nil, err
			}
			return describePublic(key)
		},
		// key_export(DER, private, type) -> DER as pkcs1, sec1, pkcs8 or spki
		"key_export": func(c *engine.Call) (any, error) { return exportKey(c.Bytes(1), c.Bool(2), c.String(3)) },
		// key_to_jwk(DER, private) -> [name, bytes or text, …]
		"key_to_jwk": func(c *engine.Call) (any, error) { return toJWK(c.Bytes(1), c.Bool(2)) },
		// key_from_jwk(private, kty, crv, bytes of n, e, d, p, q, x, y) -> [DER, kind, details]
		"key_from_jwk": fromJWK,
		// key_generate(kind, modulus length or curve, exponent, async) -> [[DER, kind, details], the same of the public key]
		"key_generate": func(c *engine.Call) (any, error) {
			if err := needRequest(c); err != nil {
				return nil, err
			}
			kind, curve, bits, exponent := c.String(1), c.String(2), c.Int(2), c.Int(3)
			return offload(c, c.Bool(4), func() (any, error) {
				key, err := newKey(kind, curve, bits, exponent)
				if err != nil {
					return nil, err
				}
				private, err := describePrivate(key)
				if err != nil {
					return nil, err
				}
				public, err := describePublic(publicOf(key))
				return []any{private, public}, err
			})
		},
		// key_agree(private DER, public DER) -> the shared secret
		"key_agree": func(c *engine.Call) (any, error) { return sharedSecret(c.Bytes(1), c.Bytes(2)) },
	}
}

func readPEM(c *engine.Call) (any, error) {
	for rest := []byte(c.String(1)); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errUnsupported("there is no PEM block in the text")
		}
		if block.Type == "EC PARAMETERS" {
			continue
		}
		if block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "" {
			return nil, errUnsupported("private keys with a passphrase are not read here: write the key without one, " +
				"and keep it in a secret")
		}
		return []any{block.Bytes, block.Type}, nil
	}
}

func describePrivate(key crypto.PrivateKey) (any, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, errUnsupported(err.Error())
	}
	return describeKey(der, key)
}

func describePublic(key crypto.PublicKey) (any, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, errUnsupported(err.Error())
	}
	return describeKey(der, key)
}

func exportKey(der []byte, private bool, form string) ([]byte, error) {
	incompatible := newError("Error", "ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS", "The selected key encoding %s does not support this key", form)
	if !private {
		if form == "spki" {
			return der, nil
		}
		key, err := parsePublic(der)
		if k, ok := key.(*rsa.PublicKey); err == nil && ok && form == "pkcs1" {
			return x509.MarshalPKCS1PublicKey(k), nil
		}
		return nil, incompatible
	}
	if form == "pkcs8" {
		return der, nil
	}
	key, err := parsePrivate(der)
	if err != nil {
		return nil, err
	}
	switch k := key.(type) {
	case *rsa.PrivateKey:
		if form == "pkcs1" {
			return x509.MarshalPKCS1PrivateKey(k), nil
		}
	case *ecdsa.PrivateKey:
		if form == "sec1" {
			return x509.MarshalECPrivateKey(k)
		}
	}
	return nil, incompatible
}

// maxModulus is the maximum number of bits of an RSA key that is generated: larger ones take minutes.
const maxModulus = 4096

func newKey(kind, curve string, bits, exponent int64) (crypto.PrivateKey, error) {
	switch kind {
	case "rsa", "rsa-pss":
		const smallest, usual = 1024, 65537
		if bits < smallest || bits > maxModulus || exponent != usual {
			return nil, newError(
				"RangeError", "ERR_OUT_OF_RANGE", "RSA keys are made with %d to %d bits and the exponent %d here",
				smallest, maxModulus, usual,
			)
		}
		return rsa.GenerateKey(rand.Reader, int(bits))
	case "ec":
		c, err := curveOf(curve)
		if err != nil {
			return nil, err
		}
		return ecdsa.GenerateKey(c, rand.Reader)
	case "ed25519":
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	case "x25519":
		return ecdh.X25519().GenerateKey(rand.Reader)
	}
	return nil, newError(
		"TypeError", "ERR_INVALID_ARG_VALUE",
		"The argument 'type' must be a supported key type. Received '%s'; here these are rsa, rsa-pss, ec, ed25519 and x25519",
		kind,
	)
}

func sharedSecret(privateDER, publicDER []byte) ([]byte, error) {
	private, err := parsePrivate(privateDER)
	if err != nil {
		return nil, err
	}
	public, err := parsePublic(publicDER)
	if err != nil {
		return nil, err
	}
	if k, ok := private.(*ecdsa.PrivateKey); ok {
		if private, err = k.ECDH(); err != nil {
			return nil, errUnsupported(err.Error())
		}
	}
	if k, ok := public.(*ecdsa.PublicKey); ok {
		if public, err = k.ECDH(); err != nil {
			return nil, errUnsupported(err.Error())
		}
	}
	a, okA := private.(*ecdh.PrivateKey)
	b, okB := public.(*ecdh.PublicKey)
	if !okA || !okB || a.Curve() != b.Curve() {
		return nil, newError("Error", "ERR_CRYPTO_INCOMPATIBLE_KEY", "Incompatible key types for Diffie-Hellman")
	}
	return a.ECDH(b)
}

// ecdsaRaw converts a signature from DER to r and s, each of the curve's size.
func ecdsaRaw(der []byte, size int) ([]byte, error) {
	var sig struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &sig); err != nil || len(rest) > 0 {
		return nil, errUnsupported("the signature is not DER")
	}
	if sig.R.Sign() < 0 || sig.S.Sign() < 0 || sig.R.BitLen() > 8*size || sig.S.BitLen() > 8*size {
		return nil, errUnsupported("the signature is too long")
	}
	out := make([]byte, 2*size)
	sig.R.FillBytes(out[:size])
	sig.S.FillBytes(out[size:])
	return out, nil
}

// ecdsaDER is the inverse of ecdsaRaw; nil when raw has another size.
func ecdsaDER(raw []byte, size int) []byte {
	if len(raw) != 2*size {
		return nil
	}
	der, err := asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(raw[:size]), new(big.Int).SetBytes(raw[size:])})
	if err != nil {
		return nil
	}
	return der
}
