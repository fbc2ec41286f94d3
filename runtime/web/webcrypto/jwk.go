package webcrypto

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// webKey is a JSON Web Key (RFC 7517), converted by js/jwk.js; nil is an absent
// member.
type webKey struct {
	Kty    *string  `json:"kty"`
	Use    *string  `json:"use"`
	KeyOps []string `json:"key_ops"`
	Alg    *string  `json:"alg"`
	Ext    *bool    `json:"ext"`
	Crv    *string  `json:"crv"`
	X      *string  `json:"x"`
	Y      *string  `json:"y"`
	D      *string  `json:"d"`
	N      *string  `json:"n"`
	E      *string  `json:"e"`
	P      *string  `json:"p"`
	Q      *string  `json:"q"`
	DP     *string  `json:"dp"`
	DQ     *string  `json:"dq"`
	QI     *string  `json:"qi"`
	Oth    []any    `json:"oth"`
	K      *string  `json:"k"`
}

// checkAlg checks alg, where there is one.
func (k *webKey) checkAlg(allowed ...string) error {
	if k.Alg == nil || slices.Contains(allowed, *k.Alg) {
		return nil
	}
	return domError("DataError", "the JSON Web Key's alg is %q, not %q", *k.Alg, allowed[0])
}

// member decodes one that must be there.
func member(name string, value *string) ([]byte, error) {
	if value == nil {
		return nil, domError("DataError", "the JSON Web Key has no %s", name)
	}
	b, err := base64.RawURLEncoding.DecodeString(*value)
	if err != nil || strings.ContainsAny(*value, "\r\n") {
		return nil, domError("DataError", "the JSON Web Key's %s is not base64url", name)
	}
	return b, nil
}

// encoded is a member of a JSON Web Key.
func encoded(name string, b []byte) engine.Field {
	return engine.Field{Name: name, Value: base64.RawURLEncoding.EncodeToString(b)}
}
