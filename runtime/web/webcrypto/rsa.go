package webcrypto

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"math/big"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// maxGeneratedRSA is the longest RSA key to generate, in bits: a longer one takes many seconds, in
// which the isolate cannot be stopped. maxRSA is the longest key to use, as on the platform.
const (
	maxGeneratedRSA = 4096
	maxRSA          = 16384
)

func algorithmRSA(transform func(bool, *cryptoKey, params, []byte) ([]byte, error)) *algorithm {
	a := &algorithm{
		generate: generateRSA, load: loadRSA, export: exportRSA, transform: transform,
		describe: func(k *cryptoKey) engine.Object {
			public := k.publicRSA()
			return engine.Object{
				{Name: "modulusLength", Value: public.N.BitLen()},
				{Name: "publicExponent", Value: exponentBytes(public.E)},
				{Name: "hash", Value: describeHash(k.hash)},
			}
		},
	}
	if transform == nil {
		a.sign, a.verify = signRSA, verifyRSA
	}
	return a
}

func (k *cryptoKey) publicRSA() *rsa.PublicKey {
	switch key := k.parsed.(type) {
	case *rsa.PublicKey:
		return key
	case *rsa.PrivateKey:
		return &key.PublicKey
	}
	return &rsa.PublicKey{N: new(big.Int)} // which no operation takes
}

func (k *cryptoKey) privateRSA() *rsa.PrivateKey {
	if key, ok := k.parsed.(*rsa.PrivateKey); ok {
		return key
	}
	return &rsa.PrivateKey{PublicKey: *k.publicRSA(), D: new(big.Int)}
}

func exponentBytes(e int) []byte { return big.NewInt(int64(e)).Bytes() }

func generateRSA(alg string, p params) ([]*cryptoKey, error) {
	bits, _ := p.int(0)
	if e := new(big.Int).SetBytes(p.bytes(1)); !e.IsInt64() || e.Int64() != 65537 {
		return nil, domError(
			"OperationError",
			"keys of the public exponent %v are not made here; 65537 (new Uint8Array([1, 0, 1])) is the usual one", e,
		)
	}
	if bits > maxGeneratedRSA {
		return nil, domError("OperationError", "RSA keys of more than %d bits are not made here", maxGeneratedRSA)
	}
	private, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, domError("OperationError", "no RSA key of %d bits can be made: %v", bits, err)
	}
	return newPair(cryptoKey{alg: alg, hash: p.text(2)}, private, &private.PublicKey)
}

func loadRSA(m *material) (*cryptoKey, error) {
	kind, parsed, err := m.parse(parseWebKeyRSA)
	if _, thrown := errors.AsType[*engine.Error](err); thrown {
		return nil, err
	}
	if err != nil {
		return nil, domError("DataError", "the RSA key cannot be read: %v", err)
	}
	var bits int
	switch key := parsed.(type) {
	case *rsa.PublicKey:
		bits = key.N.BitLen()
	case *rsa.PrivateKey:
		bits = key.N.BitLen()
	default:
		return nil, domError("DataError", "the key is not an RSA key")
	}
	if bits > maxRSA {
		return nil, domError("DataError", "the RSA key has %d bits, more than %d", bits, maxRSA)
	}
	return newKey(cryptoKey{alg: m.alg, hash: m.params.text(0)}, kind, parsed)
}

// algRSA names keys in a JSON Web Key: "RS256", "RSA-OAEP-256".
func algRSA(alg, hash string) string {
	bits := strings.TrimPrefix(hash, "SHA-")
	switch alg {
	case "RSA-PSS":
		return "PS" + bits
	case "RSA-OAEP":
		if bits == "1" {
			return alg
		}
		return alg + "-" + bits
	}
	return "RS" + bits
}

func parseWebKeyRSA(m *material) (any, error) {
	use := "sig"
	if m.alg == "RSA-OAEP" {
		use = "enc"
	}
	if err := m.checkWebKey("RSA", use); err != nil {
		return nil, err
	}
	k := m.jwk
	if err := k.checkAlg(algRSA(m.alg, m.params.text(0))); err != nil {
		return nil, err
	}
	n, err := integer("n", k.N)
	if err != nil {
		return nil, err
	}
	e, err := integer("e", k.E)
	if err != nil {
		return nil, err
	}
	if n.BitLen() > maxRSA || e.BitLen() > 31 {
		return nil, domError("DataError", "the JSON Web Key's n or e is too large")
	}
	public := rsa.PublicKey{N: n, E: int(e.Int64())}
	if k.D == nil {
		return &public, nil
	}
	if k.Oth != nil {
		return nil, domError("NotSupportedError", "RSA keys of more than two primes are not supported")
	}
	var numbers [6]*big.Int
	for i, part := range []struct {
		name  string
		value *string
	}{{"d", k.D}, {"p", k.P}, {"q", k.Q}, {"dp", k.DP}, {"dq", k.DQ}, {"qi", k.QI}} {
		n, err := integer(part.name, part.value)
		if err != nil {
			return nil, err
		}
		if n.BitLen() > maxRSA {
			return nil, domError("DataError", "the JSON Web Key's %s is too large", part.name)
		}
		numbers[i] = n
	}
	key := &rsa.PrivateKey{PublicKey: public, D: numbers[0], Primes: numbers[1:3]}
	key.Precompute()
	if err := key.Validate(); err != nil {
		return nil, domError("DataError", "the members of the JSON Web Key are not of one RSA key: %v", err)
	}
	c := &key.Precomputed
	if c.Dp.Cmp(numbers[3]) != 0 || c.Dq.Cmp(numbers[4]) != 0 || c.Qinv.Cmp(numbers[5]) != 0 {
		return nil, domError("DataError", "the JSON Web Key's dp, dq or qi does not fit its p and q")
	}
	return key, nil
}

// integer is a member of a JSON Web Key that is a number (RFC 7518, section 2).
func integer(name string, value *string) (*big.Int, error) {
	b, err := member(name, value)
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return nil, domError("DataError", "the JSON Web Key's %s is empty", name)
	}
	return new(big.Int).SetBytes(b), nil
}

func exportRSA(k *cryptoKey, format string) (any, error) {
	if format != "jwk" {
		return nil, errFormat(k.alg, format)
	}
	public := k.publicRSA()
	object := engine.Object{
		{Name: "kty", Value: "RSA"},
		{Name: "alg", Value: algRSA(k.alg, k.hash)},
		base64Field("n", public.N.Bytes()),
		base64Field("e", exponentBytes(public.E)),
	}
	if key, ok := k.parsed.(*rsa.PrivateKey); ok {
		c := &key.Precomputed
		for _, part := range []struct {
			name string
			n    *big.Int
		}{{"d", key.D}, {"p", key.Primes[0]}, {"q", key.Primes[1]}, {"dp", c.Dp}, {"dq", c.Dq}, {"qi", c.Qinv}} {
			object = append(object, base64Field(part.name, part.n.Bytes()))
		}
	}
	return object, nil
}

func signRSA(k *cryptoKey, p params, data []byte) (signature []byte, err error) {
	digest, err := digest(k.hash, data)
	if err != nil {
		return nil, err
	}
	if k.alg != "RSA-PSS" {
		signature, err = rsa.SignPKCS1v15(rand.Reader, k.privateRSA(), hashes[k.hash], digest)
	} else if salt, _ := p.int(0); salt == 0 {
		signature, err = signUnsalted(k.privateRSA(), k.hash, digest)
	} else {
		signature, err = rsa.SignPSS(rand.Reader, k.privateRSA(), hashes[k.hash], digest, &rsa.PSSOptions{SaltLength: salt})
	}
	if err != nil {
		return nil, domError("OperationError", "the data cannot be signed: %v", err)
	}
	return signature, nil
}

func verifyRSA(k *cryptoKey, p params, signature, data []byte) (bool, error) {
	digest, err := digest(k.hash, data)
	if err != nil {
		return false, err
	}
	if k.alg != "RSA-PSS" {
		return rsa.VerifyPKCS1v15(k.publicRSA(), hashes[k.hash], digest, signature) == nil, nil
	}
	salt, _ := p.int(0)
	if salt == 0 {
		return verifyUnsalted(k.publicRSA(), k.hash, digest, signature), nil
	}
	return rsa.VerifyPSS(k.publicRSA(), hashes[k.hash], digest, signature, &rsa.PSSOptions{SaltLength: salt}) == nil, nil
}

func transformOAEP(decrypt bool, k *cryptoKey, p params, data []byte) ([]byte, error) {
	h, err := hashOf(k.hash)
	if err != nil {
		return nil, err
	}
	if decrypt {
		plain, err := rsa.DecryptOAEP(h.New(), nil, k.privateRSA(), data, p.bytes(0))
		if err != nil {
			return nil, errCipher
		}
		return plain, nil
	}
	out, err := rsa.EncryptOAEP(h.New(), rand.Reader, k.publicRSA(), bytes.Clone(data), p.bytes(0))
	if err != nil {
		return nil, domError("OperationError", "the data cannot be encrypted: %v", err)
	}
	return out, nil
}

// encodeUnsalted is EMSA-PSS-ENCODE for a modulus of so many bits, of RSASSA-PSS without a salt
// (RFC 8017, 8.1 and 9.1), which crypto/rsa does not offer: there, a salt of 0 bytes means one of
// any length. Without a salt the encoded message is the same each time.
func encodeUnsalted(hash string, digest []byte, modulusBits int) ([]byte, error) {
	h, err := hashOf(hash)
	if err != nil {
		return nil, err
	}
	bits := modulusBits - 1
	size := (bits + 7) / 8
	if size < len(digest)+2 {
		return nil, errors.New("the key is too short for the hash")
	}
	d := h.New()
	d.Write(make([]byte, 8))
	d.Write(digest)
	sum := d.Sum(nil)
	masked := make([]byte, size-len(sum)-1)
	masked[len(masked)-1] = 1
	var counter [4]byte
	for at := 0; at < len(masked); at += len(sum) { // MGF1
		d.Reset()
		d.Write(sum)
		d.Write(counter[:])
		subtle.XORBytes(masked[at:], masked[at:], d.Sum(nil))
		binary.BigEndian.PutUint32(counter[:], binary.BigEndian.Uint32(counter[:])+1)
	}
	masked[0] &= 0xff >> (8*size - bits)
	return append(append(masked, sum...), 0xbc), nil
}

// signUnsalted is RSASP1 of the encoded message, blinded: math/big does not compute in constant
// time.
func signUnsalted(key *rsa.PrivateKey, hash string, digest []byte) ([]byte, error) {
	message, err := encodeUnsalted(hash, digest, key.N.BitLen())
	if err != nil {
		return nil, err
	}
	var blind, inverse *big.Int
	for inverse == nil {
		if blind, err = rand.Int(rand.Reader, key.N); err != nil {
			return nil, err
		}
		inverse = new(big.Int).ModInverse(blind, key.N)
	}
	n := new(big.Int).Exp(blind, big.NewInt(int64(key.E)), key.N)
	n.Mul(n, new(big.Int).SetBytes(message)).Mod(n, key.N)
	n.Exp(n, key.D, key.N)
	n.Mul(n, inverse).Mod(n, key.N)
	return n.FillBytes(make([]byte, key.Size())), nil
}

func verifyUnsalted(key *rsa.PublicKey, hash string, digest, signature []byte) bool {
	message, err := encodeUnsalted(hash, digest, key.N.BitLen())
	n := new(big.Int).SetBytes(signature)
	if err != nil || len(signature) != key.Size() || n.Cmp(key.N) >= 0 {
		return false
	}
	n.Exp(n, big.NewInt(int64(key.E)), key.N)
	return n.Cmp(new(big.Int).SetBytes(message)) == 0
}
