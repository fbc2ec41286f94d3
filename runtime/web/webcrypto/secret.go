package webcrypto

import (
	"crypto"
	"crypto/aes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/pbkdf2"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func algorithmAES(transform func(bool, *cryptoKey, params, []byte) ([]byte, error)) *algorithm {
	return &algorithm{
		generate: generateAES, load: loadAES, export: exportSecret, length: lengthAES, transform: transform,
		describe: func(k *cryptoKey) engine.Object { return engine.Object{{Name: "length", Value: len(k.data) * 8}} },
	}
}

// secretOf returns the bytes of a secret; alg is its name in a JSON Web Key, by their number.
func secretOf(m *material, use string, alg func(bytes int) string) ([]byte, error) {
	switch m.format {
	case "raw":
		return m.data, nil
	case "jwk":
		if err := m.checkWebKey("oct", use); err != nil {
			return nil, err
		}
		b, err := member("k", m.jwk.K)
		if err != nil {
			return nil, err
		}
		return b, m.jwk.checkAlg(alg(len(b)))
	}
	return nil, errFormat(m.alg, m.format)
}

func loadSecret(m *material) (*cryptoKey, error) {
	if m.format != "raw" {
		return nil, errFormat(m.alg, m.format)
	}
	return &cryptoKey{alg: m.alg, kind: kindSecret, data: m.data}, nil
}

func exportSecret(k *cryptoKey, format string) (any, error) {
	switch format {
	case "raw":
		return k.data, nil
	case "jwk":
		name := algAES(k.alg)
		if k.alg == "HMAC" {
			name = func(int) string { return algHMAC(k.hash) }
		}
		return engine.Object{{Name: "kty", Value: "oct"}, base64Field("k", k.data), {Name: "alg", Value: name(len(k.data))}}, nil
	}
	return nil, errFormat(k.alg, format)
}

func lengthAll(params) (int, error) { return -1, nil }

// algAES names keys in a JSON Web Key: "A256GCM".
func algAES(alg string) func(bytes int) string {
	return func(bytes int) string { return fmt.Sprintf("A%d%s", bytes*8, strings.TrimPrefix(alg, "AES-")) }
}

func lengthAES(p params) (int, error) {
	bits, _ := p.int(0)
	switch bits {
	case 128, 192, 256:
		return bits, nil
	}
	return 0, domError("OperationError", "an AES key has 128, 192 or 256 bits, not %d", bits)
}

func generateAES(alg string, p params) ([]*cryptoKey, error) {
	bits, err := lengthAES(p)
	if err != nil {
		return nil, err
	}
	k := &cryptoKey{alg: alg, kind: kindSecret, data: make([]byte, bits/8)}
	fill(k.data)
	return []*cryptoKey{k}, nil
}

func loadAES(m *material) (*cryptoKey, error) {
	b, err := secretOf(m, "enc", algAES(m.alg))
	if err != nil {
		return nil, err
	}
	if _, err := aes.NewCipher(b); err != nil {
		return nil, domError("DataError", "an AES key has 128, 192 or 256 bits, not %d", len(b)*8)
	}
	return &cryptoKey{alg: m.alg, kind: kindSecret, data: b}, nil
}

// algHMAC names keys in a JSON Web Key: "HS256".
func algHMAC(hash string) string { return "HS" + strings.TrimPrefix(hash, "SHA-") }

func describeHash(name string) engine.Object { return engine.Object{{Name: "name", Value: name}} }

// keyHMAC is the key of the first so many bits of b.
func keyHMAC(hash string, b []byte, bits int) *cryptoKey {
	if unused := len(b)*8 - bits; unused > 0 {
		b[len(b)-1] &= 0xff << unused
	}
	return &cryptoKey{alg: "HMAC", kind: kindSecret, hash: hash, data: b, bits: bits}
}

func lengthHMAC(p params) (int, error) {
	if bits, ok := p.int(1); ok {
		if bits == 0 {
			return 0, engine.TypeError("an HMAC key of no bits")
		}
		return bits, nil
	}
	h, err := hashOf(p.text(0))
	if err != nil {
		return 0, err
	}
	return h.New().BlockSize() * 8, nil
}

const maxHMACBits = 1 << 20

func generateHMAC(_ string, p params) ([]*cryptoKey, error) {
	bits, err := lengthHMAC(p)
	if err != nil || bits > maxHMACBits {
		return nil, domError("OperationError", "an HMAC key has from 1 to %d bits", maxHMACBits)
	}
	b := make([]byte, (bits+7)/8)
	fill(b)
	return []*cryptoKey{keyHMAC(p.text(0), b, bits)}, nil
}

func loadHMAC(m *material) (*cryptoKey, error) {
	hash := m.params.text(0)
	b, err := secretOf(m, "sig", func(int) string { return algHMAC(hash) })
	if err != nil {
		return nil, err
	}
	bits := len(b) * 8
	if bits == 0 {
		return nil, domError("DataError", "the key is empty")
	}
	if wanted, ok := m.params.int(1); ok {
		if wanted > bits || wanted <= bits-8 {
			return nil, domError("DataError", "the key has %d bits, not %d", bits, wanted)
		}
		bits = wanted
	}
	return keyHMAC(hash, b, bits), nil
}

func signHMAC(k *cryptoKey, _ params, data []byte) ([]byte, error) {
	h, err := hashOf(k.hash)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(h.New, k.data)
	mac.Write(data)
	return mac.Sum(nil), nil
}

func verifyHMAC(k *cryptoKey, p params, signature, data []byte) (bool, error) {
	mac, err := signHMAC(k, p, data)
	return err == nil && hmac.Equal(mac, signature), err
}

// maxDerivation is the most iterations times blocks of one derivation, some seconds: a running one
// cannot be stopped.
const maxDerivation = 20_000_000

// maxDerived is the maximum number of bytes of a result: an isolate could not hold many more.
const maxDerived = 64 << 20

// derivation checks the length in bits and the hash of a derivation, its first parameter.
func derivation(p params, bits int) (size int, h crypto.Hash, err error) {
	switch {
	case bits < 0 || bits%8 != 0:
		return 0, 0, domError("OperationError", "the length must be a multiple of 8 bits")
	case bits/8 > maxDerived:
		return 0, 0, domError("OperationError", "no more than %d MiB are derived, and not %d bits", maxDerived>>20, bits)
	}
	h, err = hashOf(p.text(0))
	return bits / 8, h, err
}

// deriveHKDF is RFC 5869.
func deriveHKDF(k *cryptoKey, p params, bits int) ([]byte, error) {
	size, h, err := derivation(p, bits)
	if err != nil {
		return nil, err
	}
	out, err := hkdf.Key(h.New, k.data, p.bytes(2), string(p.bytes(1)), size)
	if err != nil {
		return nil, domError("OperationError", "HKDF cannot derive %d bits: %v", bits, err)
	}
	return out, nil
}

// derivePBKDF2 is RFC 8018, section 5.2.
func derivePBKDF2(k *cryptoKey, p params, bits int) ([]byte, error) {
	size, h, err := derivation(p, bits)
	if err != nil {
		return nil, err
	}
	iterations, _ := p.int(1)
	switch {
	case iterations == 0:
		return nil, domError("OperationError", "PBKDF2 needs an iteration at least")
	case size == 0:
		return []byte{}, nil
	case (size/h.Size()+1)*iterations > maxDerivation:
		return nil, domError(
			"OperationError", "PBKDF2 cannot derive %d bits with %d iterations: that would take many seconds", bits,
			iterations,
		)
	}
	out, err := pbkdf2.Key(h.New, string(k.data), p.bytes(2), iterations, size)
	if err != nil {
		return nil, domError("OperationError", "PBKDF2 cannot derive %d bits: %v", bits, err)
	}
	return out, nil
}
