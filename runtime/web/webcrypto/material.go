package webcrypto

import (
	"crypto/x509"
	"slices"
)

// material is what a key is imported from.
type material struct {
	format      string // raw, pkcs8, spki or jwk
	alg         string
	params      params
	data        []byte // of all formats but jwk
	jwk         *webKey
	usages      []string
	extractable bool
}

// parse reads a key of a pair; one in a JSON Web Key is read by webKey. A format that
// not every pair has, such as raw, is an *engine.Error, and the kind is public.
func (m *material) parse(webKey func(*material) (any, error)) (kind string, key any, err error) {
	kind = kindPublic
	switch m.format {
	case "spki":
		key, err = x509.ParsePKIXPublicKey(m.data)
	case "pkcs8":
		kind = kindPrivate
		key, err = parsePrivate(m.data)
	case "jwk":
		if m.jwk.D != nil {
			kind = kindPrivate
		}
		key, err = webKey(m)
	default:
		err = errFormat(m.alg, m.format)
	}
	return kind, key, err
}

// parsePrivate reads what an import calls "pkcs8": as on the platform, the older forms
// of one algorithm too, PKCS #1 and SEC 1, which openssl and GitHub give.
func parsePrivate(der []byte) (any, error) {
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return key, nil
	}
	return nil, err
}

// checkWebKey checks the members that keys of all types have: kty must be so,
// and use, where there is one.
func (m *material) checkWebKey(kty, use string) error {
	k := m.jwk
	switch {
	case k.Kty == nil || *k.Kty != kty:
		return domError("DataError", "the JSON Web Key is not of the type %q", kty)
	case len(m.usages) > 0 && k.Use != nil && *k.Use != use:
		return domError("DataError", "the JSON Web Key's use is %q, not %q", *k.Use, use)
	case k.Ext != nil && !*k.Ext && m.extractable:
		return domError("DataError", "the JSON Web Key says that it is not extractable")
	case k.KeyOps == nil:
		return nil
	}
	for i, op := range k.KeyOps {
		if slices.Contains(k.KeyOps[:i], op) {
			return domError("DataError", "the JSON Web Key's key_ops have %q twice", op)
		}
	}
	for _, usage := range m.usages {
		if !slices.Contains(k.KeyOps, usage) {
			return domError("DataError", "the JSON Web Key's key_ops do not have %q", usage)
		}
	}
	return nil
}
