package node

import (
	"crypto/ecdh"
	"crypto/elliptic"
	"crypto/rand"
	"math/big"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func curveOperations() map[string]operation {
	return map[string]operation{
		// ec_check(curve)
		"ec_check": func(c *engine.Call) (any, error) {
			_, _, err := exchangeCurve(c.String(1))
			return engine.Undefined, err
		},
		// ec_generate(curve) -> [private, public]
		"ec_generate": func(c *engine.Call) (any, error) {
			curve, _, err := exchangeCurve(c.String(1))
			if err != nil {
				return nil, err
			}
			if err := needRequest(c); err != nil {
				return nil, err
			}
			key, err := curve.GenerateKey(rand.Reader)
			if err != nil {
				return nil, err
			}
			return []any{key.Bytes(), key.PublicKey().Bytes()}, nil
		},
		// ec_private(curve, bytes) -> [private, public]
		"ec_private": func(c *engine.Call) (any, error) {
			curve, points, err := exchangeCurve(c.String(1))
			if err != nil {
				return nil, err
			}
			key, err := curve.NewPrivateKey(padToCurve(c.Bytes(2), points))
			if err != nil {
				return nil, newError("Error", "ERR_CRYPTO_INVALID_KEYPAIR", "Private key is not valid for specified curve.")
			}
			return []any{key.Bytes(), key.PublicKey().Bytes()}, nil
		},
		// ec_secret(curve, private, other public) -> bytes
		"ec_secret": curveSecret,
		// ec_point(curve, public, format) -> the public key as compressed, uncompressed or hybrid
		"ec_point": func(c *engine.Call) (any, error) {
			_, points, err := exchangeCurve(c.String(1))
			if err != nil {
				return nil, err
			}
			return point(points, c.Bytes(2), c.String(3))
		},
	}
}

func curveSecret(c *engine.Call) (any, error) {
	curve, points, err := exchangeCurve(c.String(1))
	if err != nil {
		return nil, err
	}
	private, err := curve.NewPrivateKey(c.Bytes(2))
	if err != nil {
		return nil, newError("Error", "ERR_CRYPTO_INVALID_KEYPAIR", "Invalid key pair")
	}
	point, err := point(points, c.Bytes(3), "uncompressed")
	if err != nil {
		return nil, err
	}
	public, err := curve.NewPublicKey(point)
	if err != nil {
		return nil, errPoint
	}
	return private.ECDH(public)
}

func groupOperations() map[string]operation {
	return map[string]operation{
		// dh_private(prime) -> a random exponent below it
		"dh_private": func(c *engine.Call) (any, error) {
			if err := needRequest(c); err != nil {
				return nil, err
			}
			prime := new(big.Int).SetBytes(c.View(1))
			if prime.BitLen() < 2 {
				return nil, errPrime
			}
			exponent, err := rand.Int(rand.Reader, new(big.Int).Sub(prime, big.NewInt(1)))
			if err != nil {
				return nil, err
			}
			return exponent.Add(exponent, big.NewInt(1)).Bytes(), nil
		},
		// dh_power(prime, base, exponent) -> base^exponent modulo prime, of the prime's size
		"dh_power": func(c *engine.Call) (any, error) {
			prime, base, exponent := c.Bytes(1), c.Bytes(2), c.Bytes(3)
			const most = 1024
			if len(prime) > most || len(base) > most || len(exponent) > most {
				return nil, errPrime
			}
			p := new(big.Int).SetBytes(prime)
			if p.BitLen() < 2 {
				return nil, errPrime
			}
			return new(big.Int).Exp(
				new(big.Int).SetBytes(base), new(big.Int).SetBytes(exponent), p,
			).FillBytes(make([]byte, (p.BitLen()+7)/8)), nil
		},
	}
}

var (
	errPrime = newError("RangeError", "ERR_OUT_OF_RANGE", "the prime, the generator and the keys have 2 to 8192 bits here")
	errPoint = newError("Error", "ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY", "Public key is not valid for specified curve")
)

// exchangeCurve is a curve in the two packages of the standard library.
func exchangeCurve(name string) (ecdh.Curve, elliptic.Curve, error) {
	points, err := curveOf(name)
	if err != nil {
		return nil, nil, err
	}
	curves := map[string]ecdh.Curve{"P-256": ecdh.P256(), "P-384": ecdh.P384(), "P-521": ecdh.P521()}
	if curve, ok := curves[points.Params().Name]; ok {
		return curve, points, nil
	}
	return nil, nil, newError(
		"TypeError", "ERR_CRYPTO_INVALID_CURVE",
		"Invalid EC curve name: prime256v1, secp384r1 and secp521r1 are known here",
	)
}

// point reads a public key in any form and writes it in the one asked for.
func point(curve elliptic.Curve, b []byte, format string) ([]byte, error) {
	const compressedEven, compressedOdd, uncompressed, hybridEven, hybridOdd = 2, 3, 4, 6, 7
	if len(b) == 0 {
		return nil, errPoint
	}
	if b[0] == compressedEven || b[0] == compressedOdd {
		x, y := elliptic.UnmarshalCompressed(curve, b)
		if x == nil {
			return nil, errPoint
		}
		b = elliptic.Marshal(curve, x, y) //nolint:staticcheck // crypto/ecdh reads no compressed points
	}
	if len(b) != 1+2*curveSize(curve) || b[0] != uncompressed && b[0] != hybridEven && b[0] != hybridOdd {
		return nil, errPoint
	}
	odd := b[len(b)-1] & 1
	switch format {
	case "compressed":
		return append([]byte{compressedEven + odd}, b[1:1+curveSize(curve)]...), nil
	case "hybrid":
		return append([]byte{hybridEven + odd}, b[1:]...), nil
	}
	return append([]byte{uncompressed}, b[1:]...), nil
}
