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
	"hash"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Paddings of RSA, as in OpenSSL.
const (
	paddingPKCS1 = 1
	paddingNone  = 3
	paddingOAEP  = 4
	paddingPSS   = 6
)

var signHashes = map[string]crypto.Hash{ //nolint:gochecknoglobals // a table
	"md5": crypto.MD5, "sha1": crypto.SHA1, "sha224": crypto.SHA224, "sha256": crypto.SHA256, "sha384": crypto.SHA384,
	"sha512":     crypto.SHA512,
	"sha512-224": crypto.SHA512_224, "sha512-256": crypto.SHA512_256,
	"sha3-224": crypto.SHA3_224, "sha3-256": crypto.SHA3_256, "sha3-384": crypto.SHA3_384, "sha3-512": crypto.SHA3_512,
}

func signOperations() map[string]operation {
	return map[string]operation{
		// sign(digest or "", PKCS #8, data, padding, salt length, "der" or "ieee-p1363") -> signature
		"sign": sign,
		// verify(digest or "", SPKI, data, padding, salt length, encoding, signature) -> boolean
		"verify": verify,
		// rsa_encrypt(SPKI, data, padding, OAEP's hash, label) -> bytes
		"rsa_encrypt": rsaEncrypt,
		// rsa_decrypt(PKCS #8, data, padding, OAEP's hash, label) -> bytes
		"rsa_decrypt": rsaDecrypt,
	}
}

// rsaOptions are the padding, 0 for the default, and the length of PSS's salt: -1 the hash's, -2 the longest or, to verify, any.
type rsaOptions struct {
	padding int64
	salt    int
}

func (o rsaOptions) pss(h crypto.Hash) *rsa.PSSOptions {
	salt := o.salt
	switch {
	case salt == -1:
		salt = rsa.PSSSaltLengthEqualsHash
	case salt < 0:
		salt = rsa.PSSSaltLengthAuto
	}
	return &rsa.PSSOptions{SaltLength: salt, Hash: h}
}

// digestFor hashes data with the hash of a name.
func digestFor(name string, data []byte) (sum []byte, id crypto.Hash, err error) {
	f, err := newHash(name)
	if err != nil {
		return nil, 0, err
	}
	id, ok := signHashes[hashName(name)]
	if !ok {
		return nil, 0, newError("Error", "ERR_CRYPTO_INVALID_DIGEST", "Invalid digest: %s", name)
	}
	h := f()
	h.Write(data)
	return h.Sum(nil), id, nil
}

func curveSize(c elliptic.Curve) int { return (c.Params().BitSize + 7) / 8 }

func sign(c *engine.Call) (any, error) {
	key, err := parsePrivate(c.Bytes(2))
	if err != nil {
		return nil, err
	}
	name, data := c.String(1), c.Bytes(3)
	switch k := key.(type) {
	case ed25519.PrivateKey:
		if name != "" {
			return nil, errUnsupported("Ed25519 signs without a digest")
		}
		return ed25519.Sign(k, data), nil
	case *ecdh.PrivateKey:
		return nil, errKeyType
	}
	sum, id, err := digestFor(cmp.Or(name, "sha256"), data)
	if err != nil {
		return nil, err
	}
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return signRSA(k, id, sum, rsaOptions{c.Int(4), int(c.Int(5))})
	case *ecdsa.PrivateKey:
		sig, err := ecdsa.SignASN1(rand.Reader, k, sum)
		if err == nil && c.String(6) == "ieee-p1363" {
			return ecdsaRaw(sig, curveSize(k.Curve))
		}
		return sig, err
	}
	return nil, errUnsupported("the key cannot sign")
}

func signRSA(k *rsa.PrivateKey, id crypto.Hash, sum []byte, o rsaOptions) (sig []byte, err error) {
	switch o.padding {
	case 0, paddingPKCS1:
		sig, err = rsa.SignPKCS1v15(rand.Reader, k, id, sum)
	case paddingPSS:
		sig, err = rsa.SignPSS(rand.Reader, k, id, sum, o.pss(id))
	default:
		return nil, newError("Error", "ERR_OSSL_RSA_INVALID_PADDING", "illegal or unsupported padding mode")
	}
	if err != nil {
		return nil, newError("Error", "ERR_OSSL_RSA_DIGEST_TOO_BIG_FOR_RSA_KEY", "the key cannot sign this: %v", err)
	}
	return sig, nil
}

func verify(c *engine.Call) (any, error) {
	key, err := parsePublic(c.Bytes(2))
	if err != nil {
		return nil, err
	}
	name, data, sig := c.String(1), c.Bytes(3), c.Bytes(7)
	if k, ok := key.(ed25519.PublicKey); ok {
		if name != "" {
			return nil, errUnsupported("Ed25519 verifies without a digest")
		}
		return ed25519.Verify(k, data, sig), nil
	}
	sum, id, err := digestFor(cmp.Or(name, "sha256"), data)
	if err != nil {
		return nil, err
	}
	switch k := key.(type) {
	case *rsa.PublicKey:
		o := rsaOptions{c.Int(4), int(c.Int(5))}
		switch o.padding {
		case 0, paddingPKCS1:
			return rsa.VerifyPKCS1v15(k, id, sum, sig) == nil, nil
		case paddingPSS:
			return rsa.VerifyPSS(k, id, sum, sig, o.pss(id)) == nil, nil
		}
		return nil, newError("Error", "ERR_OSSL_RSA_INVALID_PADDING", "illegal or unsupported padding mode")
	case *ecdsa.PublicKey:
		if c.String(6) == "ieee-p1363" {
			sig = ecdsaDER(sig, curveSize(k.Curve))
		}
		return ecdsa.VerifyASN1(k, sum, sig), nil
	}
	return nil, errKeyType
}

var errKeyType = newError("Error", "ERR_OSSL_EVP_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE", "operation not supported for this keytype")

func rsaEncrypt(c *engine.Call) (any, error) {
	parsed, err := parsePublic(c.Bytes(1))
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, errKeyType
	}
	return rsaCrypt(c, newError("Error", "ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_KEY_SIZE", "data too large for key size"),
		func(data []byte) ([]byte, error) { return rsa.EncryptPKCS1v15(rand.Reader, key, data) }, //nolint:staticcheck // Node.js offers it
		func(h hash.Hash, data, label []byte) ([]byte, error) {
			return rsa.EncryptOAEP(h, rand.Reader, key, data, label)
		})
}

func rsaDecrypt(c *engine.Call) (any, error) {
	parsed, err := parsePrivate(c.Bytes(1))
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, errKeyType
	}
	return rsaCrypt(c, newError("Error", "ERR_OSSL_RSA_OAEP_DECODING_ERROR", "error:02000079:rsa routines::oaep decoding error"),
		func(data []byte) ([]byte, error) { return rsa.DecryptPKCS1v15(rand.Reader, key, data) }, //nolint:staticcheck // Node.js offers it
		func(h hash.Hash, data, label []byte) ([]byte, error) {
			return rsa.DecryptOAEP(h, rand.Reader, key, data, label)
		})
}

// rsaCrypt encrypts or decrypts by the padding of a call (argument 3): data is argument 2, OAEP's digest 4 and label 5. Its
// error is refused.
func rsaCrypt(
	c *engine.Call, refused error, pkcs1 func(data []byte) ([]byte, error),
	oaep func(h hash.Hash, data, label []byte) ([]byte, error),
) (any, error) {
	var out []byte
	var err error
	switch c.Int(3) {
	case paddingPKCS1:
		out, err = pkcs1(c.Bytes(2))
	case paddingOAEP:
		h, bad := newHash(c.String(4))
		if bad != nil {
			return nil, bad
		}
		out, err = oaep(h(), c.Bytes(2), c.Bytes(5))
	default:
		return nil, newError(
			"Error", "ERR_OSSL_RSA_UNKNOWN_PADDING_TYPE",
			"unknown padding type: RSA_PKCS1_PADDING and RSA_PKCS1_OAEP_PADDING are known here",
		)
	}
	if err != nil {
		return nil, refused
	}
	return out, nil
}
