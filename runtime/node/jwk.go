package node

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"math/big"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file converts keys from and to JSON Web Keys (RFC 7517, 7518, 8037). JavaScript converts the bytes to and from base64url.

func toJWK(der []byte, private bool) (any, error) {
	var key any
	var err error
	if private {
		key, err = parsePrivate(der)
	} else {
		key, err = parsePublic(der)
	}
	if err != nil {
		return nil, err
	}
	switch k := key.(type) {
	case *rsa.PublicKey:
		return rsaJWK(k), nil
	case *rsa.PrivateKey:
		k.Precompute()
		fields := rsaJWK(&k.PublicKey)
		for i, n := range []*big.Int{k.D, k.Primes[0], k.Primes[1], k.Precomputed.Dp, k.Precomputed.Dq, k.Precomputed.Qinv} {
			fields = append(fields, []string{"d", "p", "q", "dp", "dq", "qi"}[i], n.Bytes())
		}
		return fields, nil
	case *ecdsa.PublicKey:
		return ecJWK(k)
	case *ecdsa.PrivateKey:
		fields, err := ecJWK(&k.PublicKey)
		if err != nil {
			return nil, err
		}
		d, err := k.Bytes()
		return append(fields, "d", d), err
	case ed25519.PublicKey:
		return okpJWK("Ed25519", k), nil
	case ed25519.PrivateKey:
		return okpJWK("Ed25519", k[ed25519.SeedSize:], "d", k.Seed()), nil
	case *ecdh.PublicKey:
		return okpJWK("X25519", k.Bytes()), nil
	case *ecdh.PrivateKey:
		return okpJWK("X25519", k.PublicKey().Bytes(), "d", k.Bytes()), nil
	}
	return nil, errUnsupported("the key has no JSON Web Key")
}

func rsaJWK(k *rsa.PublicKey) []any {
	return []any{"kty", "RSA", "n", k.N.Bytes(), "e", big.NewInt(int64(k.E)).Bytes()}
}

func ecJWK(k *ecdsa.PublicKey) ([]any, error) {
	point, err := k.Bytes()
	if err != nil {
		return nil, errUnsupported(err.Error())
	}
	half := len(point) / 2
	return []any{"kty", "EC", "x", point[1 : 1+half], "y", point[1+half:], "crv", k.Params().Name}, nil
}

func okpJWK(curve string, x []byte, more ...any) []any {
	return append(append([]any{"crv", curve, "x", x}, more...), "kty", "OKP")
}

func fromJWK(c *engine.Call) (any, error) {
	private, kind, curve := c.Bool(1), c.String(2), c.String(3)
	n, e, d, p, q, x, y := c.Bytes(4), c.Bytes(5), c.Bytes(6), c.Bytes(7), c.Bytes(8), c.Bytes(9), c.Bytes(10)
	var key crypto.PrivateKey
	var public crypto.PublicKey
	var err error
	switch {
	case kind == "RSA":
		key, public, err = rsaFromJWK(private, n, e, d, p, q)
	case kind == "EC":
		key, public, err = ecFromJWK(private, curve, d, x, y)
	case kind == "OKP" && curve == "Ed25519" && (private && len(d) == ed25519.SeedSize || !private && len(x) == ed25519.PublicKeySize):
		if private {
			key = ed25519.NewKeyFromSeed(d)
		}
		public = ed25519.PublicKey(x)
	case kind == "OKP" && curve == "X25519" && private:
		key, err = ecdh.X25519().NewPrivateKey(d)
	case kind == "OKP" && curve == "X25519":
		public, err = ecdh.X25519().NewPublicKey(x)
	default:
		return nil, errJWK
	}
	if err != nil {
		return nil, errJWK
	}
	if private {
		return describePrivate(key)
	}
	return describePublic(public)
}

var errJWK = newError("TypeError", "ERR_CRYPTO_INVALID_JWK", "Invalid JWK data")

func rsaFromJWK(private bool, n, e, d, p, q []byte) (crypto.PrivateKey, crypto.PublicKey, error) {
	exponent := new(big.Int).SetBytes(e)
	const mostBits, mostBytes = 31, 2048
	if exponent.BitLen() > mostBits || len(n) == 0 || len(n) > mostBytes {
		return nil, nil, errJWK
	}
	public := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}
	if !private {
		return nil, public, nil
	}
	key := &rsa.PrivateKey{
		PublicKey: *public, D: new(big.Int).SetBytes(d),
		Primes: []*big.Int{new(big.Int).SetBytes(p), new(big.Int).SetBytes(q)},
	}
	if err := key.Validate(); err != nil {
		return nil, nil, errJWK
	}
	key.Precompute()
	return key, public, nil
}

func ecFromJWK(private bool, name string, d, x, y []byte) (crypto.PrivateKey, crypto.PublicKey, error) {
	curve, err := curveOf(name)
	if err != nil {
		return nil, nil, err
	}
	if private {
		key, err := ecdsa.ParseRawPrivateKey(curve, padToCurve(d, curve))
		return key, nil, err
	}
	point := append([]byte{4}, append(padToCurve(x, curve), padToCurve(y, curve)...)...)
	public, err := ecdsa.ParseUncompressedPublicKey(curve, point)
	return nil, public, err
}

// padToCurve returns b with zeros before it, up to the size of the curve's numbers.
func padToCurve(b []byte, curve elliptic.Curve) []byte {
	return append(make([]byte, max(curveSize(curve)-len(b), 0)), b...)
}
