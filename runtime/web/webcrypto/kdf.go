package webcrypto

import (
	"crypto/hkdf"
	"crypto/pbkdf2"
)

// maxDerivation is the most iterations times blocks of one derivation: nothing
// can stop it once it runs, for some seconds.
const maxDerivation = 20_000_000

// maxDerived is the most bytes that are derived: an isolate could not hold many more.
const maxDerived = 64 << 20

// derivedSize is how many bytes are derived.
func derivedSize(bits int) (int, error) {
	switch {
	case bits < 0 || bits%8 != 0:
		return 0, domError("OperationError", "the length is to be a multiple of 8 bits")
	case bits/8 > maxDerived:
		return 0, domError("OperationError", "no more than %d MiB are derived, and not %d bits", maxDerived>>20, bits)
	}
	return bits / 8, nil
}

// deriveHKDF is RFC 5869.
func deriveHKDF(k *cryptoKey, p params, bits int) ([]byte, error) {
	size, err := derivedSize(bits)
	if err != nil {
		return nil, err
	}
	h, err := hashOf(p.text(0))
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
	size, err := derivedSize(bits)
	if err != nil {
		return nil, err
	}
	h, err := hashOf(p.text(0))
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
