package webcrypto

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"

	"github.com/pages-toolchain/pages/runtime/engine"
)

type namedCurve struct {
	curve elliptic.Curve
	oid   asn1.ObjectIdentifier
	alg   string // of ECDSA keys, in a JSON Web Key
}

var namedCurves = map[string]namedCurve{ //nolint:gochecknoglobals // a table
	"P-256": {elliptic.P256(), asn1.ObjectIdentifier{1, 2, 840, 10045, 3, 1, 7}, "ES256"},
	"P-384": {elliptic.P384(), asn1.ObjectIdentifier{1, 3, 132, 0, 34}, "ES384"},
	"P-521": {elliptic.P521(), asn1.ObjectIdentifier{1, 3, 132, 0, 35}, "ES512"},
}

var oidPublicKeyEC = asn1.ObjectIdentifier{1, 2, 840, 10045, 2, 1} //nolint:gochecknoglobals // a constant

func curveOf(name string) (namedCurve, error) {
	if c, ok := namedCurves[name]; ok {
		return c, nil
	}
	return namedCurve{}, domError("NotSupportedError", "there is no curve %q; there are P-256, P-384 and P-521", name)
}

func (c namedCurve) size() int { return (c.curve.Params().BitSize + 7) / 8 }

func describeCurve(k *cryptoKey) engine.Object {
	return engine.Object{{Name: "namedCurve", Value: k.curve}}
}

func generateEC(alg string, p params) ([]*cryptoKey, error) {
	c, err := curveOf(p.text(0))
	if err != nil {
		return nil, err
	}
	private, err := ecdsa.GenerateKey(c.curve, rand.Reader)
	if err != nil {
		return nil, err
	}
	return newPair(cryptoKey{alg: alg, curve: p.text(0)}, private, &private.PublicKey)
}

func loadEC(m *material) (*cryptoKey, error) {
	name := m.params.text(0)
	c, err := curveOf(name)
	if err != nil {
		return nil, err
	}
	var parsed any
	kind := kindPublic
	switch m.format {
	case "raw":
		parsed, err = c.point(m.data)
	case "spki":
		parsed, err = c.parseSPKI(m.data)
	case "pkcs8":
		kind = kindPrivate
		if parsed, err = parsePrivate(m.data); err != nil {
			return nil, domError("DataError", "the key is not a PKCS #8 key: %v", err)
		}
		if key, ok := parsed.(*ecdsa.PrivateKey); !ok || key.Curve != c.curve {
			return nil, c.errOther()
		}
	case "jwk":
		kind, parsed, err = c.parseWebKey(m)
	default:
		return nil, errFormat(m.alg, m.format)
	}
	if err != nil {
		return nil, err
	}
	return newKey(cryptoKey{alg: m.alg, curve: name}, kind, parsed)
}

// point reads a point (SEC 1, 2.3.4), compressed or not.
func (c namedCurve) point(b []byte) (*ecdsa.PublicKey, error) {
	if len(b) == 1+c.size() {
		x, y := elliptic.UnmarshalCompressed(c.curve, b)
		if x == nil {
			return nil, domError("DataError", "the point is not on the curve")
		}
		b = elliptic.Marshal(c.curve, x, y) //nolint:staticcheck // for crypto/ecdh, which it recommends, takes no compressed points
	}
	key, err := ecdsa.ParseUncompressedPublicKey(c.curve, b)
	if err != nil {
		return nil, domError("DataError", "the point is not on the curve")
	}
	return key, nil
}

func (c namedCurve) parseSPKI(der []byte) (*ecdsa.PublicKey, error) {
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		PublicKey asn1.BitString
	}
	if rest, err := asn1.Unmarshal(der, &info); err != nil || len(rest) > 0 {
		return nil, domError("DataError", "the key is not a SubjectPublicKeyInfo")
	}
	if !info.Algorithm.Algorithm.Equal(oidPublicKeyEC) {
		return nil, domError("DataError", "the key is not of an elliptic curve")
	}
	var oid asn1.ObjectIdentifier
	if _, err := asn1.Unmarshal(info.Algorithm.Parameters.FullBytes, &oid); err != nil || !oid.Equal(c.oid) {
		return nil, c.errOther()
	}
	return c.point(info.PublicKey.RightAlign())
}

func (c namedCurve) errOther() error {
	return domError("DataError", "the key is not of the curve %s", c.curve.Params().Name)
}

func (c namedCurve) parseWebKey(m *material) (kind string, key any, err error) {
	use := "enc"
	if m.alg == "ECDSA" {
		use = "sig"
	}
	if err := m.checkWebKey("EC", use); err != nil {
		return "", nil, err
	}
	k := m.jwk
	if k.Crv == nil || *k.Crv != m.params.text(0) {
		return "", nil, c.errOther()
	}
	if m.alg == "ECDSA" {
		if err := k.checkAlg(c.alg); err != nil {
			return "", nil, err
		}
	}
	x, err := member("x", k.X)
	if err != nil {
		return "", nil, err
	}
	y, err := member("y", k.Y)
	if err != nil {
		return "", nil, err
	}
	if len(x) != c.size() || len(y) != c.size() {
		return "", nil, domError("DataError", "the JSON Web Key's x and y do not have %d bytes", c.size())
	}
	public, err := c.point(bytes.Join([][]byte{{4}, x, y}, nil))
	if err != nil || k.D == nil {
		return kindPublic, public, err
	}
	d, err := member("d", k.D)
	if err != nil {
		return "", nil, err
	}
	private, err := ecdsa.ParseRawPrivateKey(c.curve, d)
	if err != nil || !private.PublicKey.Equal(public) {
		return "", nil, domError("DataError", "the JSON Web Key's d is not the private key of its x and y")
	}
	return kindPrivate, private, nil
}

func exportEC(k *cryptoKey, format string) (any, error) {
	switch format {
	case "raw":
		if err := needKind(k, kindPublic, format); err != nil {
			return nil, err
		}
	case "jwk":
	default:
		return nil, errFormat(k.alg, format)
	}
	public, ok := k.parsed.(*ecdsa.PublicKey)
	private, isPrivate := k.parsed.(*ecdsa.PrivateKey)
	if isPrivate {
		public = &private.PublicKey
	} else if !ok {
		return nil, errNoKey
	}
	point, err := public.Bytes()
	if err != nil || format == "raw" {
		return point, err
	}
	size := (len(point) - 1) / 2
	key := engine.Object{
		{Name: "kty", Value: "EC"},
		{Name: "crv", Value: k.curve},
		base64Field("x", point[1:1+size]),
		base64Field("y", point[1+size:]),
	}
	if isPrivate {
		d, err := private.Bytes()
		if err != nil {
			return nil, err
		}
		key = append(key, base64Field("d", d))
	}
	return key, nil
}

func signECDSA(k *cryptoKey, p params, data []byte) ([]byte, error) {
	private, ok := k.parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errNoKey
	}
	digest, err := digest(p.text(0), data)
	if err != nil {
		return nil, err
	}
	r, s, err := ecdsa.Sign(rand.Reader, private, digest)
	if err != nil {
		return nil, domError("OperationError", "the data cannot be signed: %v", err)
	}
	size := namedCurves[k.curve].size()
	out := make([]byte, 2*size)
	r.FillBytes(out[:size])
	s.FillBytes(out[size:])
	return out, nil
}

func verifyECDSA(k *cryptoKey, p params, signature, data []byte) (bool, error) {
	public, ok := k.parsed.(*ecdsa.PublicKey)
	if !ok {
		return false, errNoKey
	}
	digest, err := digest(p.text(0), data)
	if err != nil {
		return false, err
	}
	size := namedCurves[k.curve].size()
	if len(signature) != 2*size {
		return false, nil
	}
	r, s := new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:])
	return ecdsa.Verify(public, digest, r, s), nil
}

func digest(name string, data []byte) ([]byte, error) {
	h, err := hashOf(name)
	if err != nil {
		return nil, err
	}
	d := h.New()
	d.Write(data)
	return d.Sum(nil), nil
}

// deriveECDH returns the first so many bits of the shared secret of two keys, of a NIST curve or X25519; -1 for all.
func deriveECDH(k *cryptoKey, p params, bits int) ([]byte, error) {
	other, ok := p[0].(*cryptoKey)
	switch {
	case !ok:
		return nil, errNoKey
	case k.kind != kindPrivate:
		return nil, domError("InvalidAccessError", "the base key is not a private key")
	case other.kind != kindPublic:
		return nil, domError("InvalidAccessError", "the algorithm's public is not a public key")
	case other.alg != k.alg, other.curve != k.curve:
		return nil, domError("InvalidAccessError", "the two keys are not of the same algorithm and curve")
	}
	private, _ := k.parsed.(*ecdh.PrivateKey)
	public, _ := other.parsed.(*ecdh.PublicKey)
	var err error
	if key, ok := k.parsed.(*ecdsa.PrivateKey); ok {
		if private, err = key.ECDH(); err != nil {
			return nil, err
		}
	}
	if key, ok := other.parsed.(*ecdsa.PublicKey); ok {
		if public, err = key.ECDH(); err != nil {
			return nil, err
		}
	}
	if private == nil || public == nil {
		return nil, errNoKey
	}
	secret, err := private.ECDH(public)
	switch {
	case err != nil:
		return nil, domError("OperationError", "no secret can be agreed on with this public key")
	case bits < 0:
		return secret, nil
	case bits > len(secret)*8:
		return nil, domError("OperationError", "the secret has %d bits, not %d", len(secret)*8, bits)
	}
	secret = secret[:(bits+7)/8]
	if rest := bits % 8; rest > 0 {
		secret[len(secret)-1] &= 0xff << (8 - rest)
	}
	return secret, nil
}
