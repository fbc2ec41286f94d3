package webcrypto

import (
	"crypto/rand"
	"fmt"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// algorithm lists the operations on keys of one algorithm; nil is an operation that js/algorithm.js
// does not let through.
type algorithm struct {
	generate func(alg string, p params) ([]*cryptoKey, error)
	load     func(m *material) (*cryptoKey, error)
	export   func(k *cryptoKey, format string) (any, error) // but "spki" and "pkcs8", which are the key's data
	// describe returns the members of the key's algorithm other than its name; nil for none.
	describe func(k *cryptoKey) engine.Object
	// transform encrypts or decrypts.
	transform func(decrypt bool, k *cryptoKey, p params, data []byte) ([]byte, error)
	sign      func(k *cryptoKey, p params, data []byte) ([]byte, error)
	verify    func(k *cryptoKey, p params, signature, data []byte) (bool, error)
	// derive gives bits of a secret; -1 asks for all there are.
	derive func(k *cryptoKey, p params, bits int) ([]byte, error)
	// length is the number of bits that a key with these parameters takes from a secret; -1 means all.
	length func(p params) (int, error)
}

// params are the parameters of an algorithm, in the order of the table in js/algorithm.js; nil for a missing one. JavaScript has checked
// their types.
type params []any

func (p params) bytes(i int) []byte {
	b, _ := p[i].([]byte)
	return b
}

func (p params) text(i int) string {
	s, _ := p[i].(string)
	return s
}

// int returns a number; ok is false if it is missing.
func (p params) int(i int) (n int, ok bool) {
	f, ok := p[i].(float64)
	return int(f), ok
}

func paramsIn(c *engine.Call, i int) params {
	p, _ := c.Value(i).([]any)
	return p
}

func domError(name, format string, args ...any) error {
	return &engine.Error{Name: name, Message: fmt.Sprintf(format, args...)}
}

// fill fills b with random bytes. crypto/rand.Read never fails.
func fill(b []byte) { _, _ = rand.Read(b) }
