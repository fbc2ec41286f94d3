package webcrypto

import "github.com/pages-toolchain/pages/runtime/engine"

// algorithm is what can be done with keys of one algorithm; a function that is
// nil is an operation that js/algorithm.js does not let through.
type algorithm struct {
	generate func(alg string, p params) ([]*cryptoKey, error)
	load     func(m *material) (*cryptoKey, error)
	export   func(k *cryptoKey, format string) (any, error)
	// describe gives the members of the key's algorithm beside its name.
	describe func(k *cryptoKey) engine.Object
	// transform encrypts or decrypts.
	transform func(decrypt bool, k *cryptoKey, p params, data []byte) ([]byte, error)
	sign      func(k *cryptoKey, p params, data []byte) ([]byte, error)
	verify    func(k *cryptoKey, p params, signature, data []byte) (bool, error)
	// derive gives bits of a secret; -1 asks for all there are.
	derive func(k *cryptoKey, p params, bits int) ([]byte, error)
	// length is how many bits a key of these parameters takes of a secret; -1
	// is all there are.
	length func(p params) (int, error)
}

func describeNothing(*cryptoKey) engine.Object { return nil }
