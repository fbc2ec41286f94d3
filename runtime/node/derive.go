package node

import (
	"context"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/rand"
	"math/big"

	"golang.org/x/crypto/scrypt"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// maxRounds bounds one derivation, in iterations of a hash: some seconds. The platform itself stops at 100,000 iterations.
const maxRounds = 10_000_000

func deriveOperations() map[string]operation {
	return map[string]operation{
		// random(view)
		"random": func(c *engine.Call) (any, error) {
			if err := needRequest(c); err != nil {
				return nil, err
			}
			_, _ = rand.Read(c.View(1)) // never fails
			return engine.Undefined, nil
		},
		// prime(bits, safe) -> bytes
		"prime": func(c *engine.Call) (any, error) {
			bits, safe := c.Int(1), c.Bool(2)
			ctx := c.Context()
			return c.Offload(func() (any, error) { return newPrime(ctx, bits, safe) })
		},
		// is_prime(bytes) -> boolean
		"is_prime": func(c *engine.Call) (any, error) {
			b := c.View(1)
			if len(b) > maxPrimeBytes {
				const format = "a candidate of %d bytes is over the %d that are tested"
				return nil, newError("RangeError", "ERR_OUT_OF_RANGE", format, len(b), maxPrimeBytes)
			}
			candidate := new(big.Int).SetBytes(b)
			return c.Offload(func() (any, error) { return candidate.ProbablyPrime(20), nil })
		},
		// hkdf(digest, key, salt, info, length) -> bytes
		"hkdf": func(c *engine.Call) (any, error) {
			h, err := newHash(c.String(1))
			if err != nil {
				return nil, err
			}
			key, salt, info, length := c.Bytes(2), c.Bytes(3), c.Bytes(4), c.Int(5)
			if length > int64(255*h().Size()) {
				return nil, newError("RangeError", "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length")
			}
			return c.Offload(func() (any, error) { return hkdf.Key(h, key, salt, string(info), int(length)) })
		},
		// pbkdf2(digest, password, salt, iterations, length, async) -> bytes
		"pbkdf2": func(c *engine.Call) (any, error) {
			h, err := newHash(c.String(1))
			if err != nil {
				return nil, err
			}
			password, salt, rounds, length := c.Bytes(2), c.Bytes(3), c.Int(4), c.Int(5)
			if size := int64(h().Size()); length > maxOutput || rounds*(1+(length-1)/size) > maxRounds {
				const format = "Pbkdf2 failed: %d iterations for %d bytes are more than is computed here (%d blocks)"
				return nil, newError("RangeError", "ERR_OUT_OF_RANGE", format, rounds, length, maxRounds)
			}
			async := c.Bool(6)
			if err := c.Reserve(length); err != nil {
				return nil, err
			}
			return offload(c, async, func() (any, error) { return pbkdf2.Key(h, string(password), salt, int(rounds), int(length)) })
		},
		// scrypt(password, salt, length, N, r, p, max memory, async) -> bytes
		"scrypt": deriveScrypt,
	}
}

func deriveScrypt(c *engine.Call) (any, error) {
	password, salt, length := c.Bytes(1), c.Bytes(2), c.Int(3)
	n, r, p, most := c.Int(4), c.Int(5), c.Int(6), c.Int(7)
	if n <= 1 || n&(n-1) != 0 || r <= 0 || p <= 0 || r > 1<<20 || p > 1<<20 || n > 1<<30 {
		return nil, newError("RangeError", "ERR_CRYPTO_INVALID_SCRYPT_PARAMS", "Invalid scrypt params")
	}
	if most = min(most, engine.DefaultMemoryLimit); 128*r*(n+p+2) > most {
		return nil, newError("RangeError", "ERR_CRYPTO_INVALID_SCRYPT_PARAMS", "Invalid scrypt params: memory limit exceeded")
	}
	if length > maxOutput || n*r*p > maxRounds {
		const format = "Scrypt failed: N*r*p of %d is over the %d that is computed here"
		return nil, newError("RangeError", "ERR_OUT_OF_RANGE", format, n*r*p, maxRounds)
	}
	async := c.Bool(8)
	if err := c.Reserve(128*r*(n+p+2) + length); err != nil {
		return nil, err
	}
	return offload(c, async, func() (any, error) {
		if length == 0 { // scrypt.Key would panic
			return []byte{}, nil
		}
		return scrypt.Key(password, salt, int(n), int(r), int(p), int(length))
	})
}

// offload runs work beside the isolate, and returns its result now or by a promise. In both cases its processor time counts as
// the turn's.
func offload(c *engine.Call, async bool, work func() (any, error)) (any, error) {
	value, err := c.Offload(work)
	if !async {
		return value, err
	}
	c.Drop()
	if b, ok := value.([]byte); ok {
		if err := c.Reserve(int64(len(b))); err != nil {
			return nil, err
		}
	}
	return engine.Async(func(context.Context) (any, error) { return value, err }), nil
}

const maxPrimeBytes = 512

// newPrime finds a prime, or a safe one, whose half is prime too.
func newPrime(ctx context.Context, bits int64, safe bool) ([]byte, error) {
	const most, mostSafe = 4096, 512
	if bits < 2 || bits > most || safe && bits > mostSafe {
		return nil, newError("RangeError", "ERR_OUT_OF_RANGE", "primes have 2 to %d bits here, safe ones up to %d", most, mostSafe)
	}
	for ctx.Err() == nil {
		p, err := rand.Prime(rand.Reader, int(bits))
		if err != nil {
			return nil, err
		}
		if half := new(big.Int).Rsh(p, 1); !safe || half.ProbablyPrime(20) {
			return p.FillBytes(make([]byte, (bits+7)/8)), nil
		}
	}
	return nil, ctx.Err()
}
