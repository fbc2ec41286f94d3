package fetch

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"slices"
	"strings"
)

// checkIntegrity reports whether content is what an integrity names (Subresource
// Integrity, 3.3.5): of the digests of the strongest algorithm one must fit. An
// integrity without a digest that is understood is none.
func checkIntegrity(integrity string, content []byte) bool {
	strongest, want := 0, [][]byte{}
	for item := range strings.FieldsSeq(integrity) {
		item, _, _ = strings.Cut(item, "?") // options mean nothing yet
		algorithm, text, _ := strings.Cut(item, "-")
		strength := slices.Index([]string{"sha256", "sha384", "sha512"}, strings.ToLower(algorithm))
		text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
		digest, err := base64.RawStdEncoding.DecodeString(text)
		if strength < 0 || strength+1 < strongest {
			continue
		}
		if strength+1 > strongest {
			strongest, want = strength+1, nil
		}
		if err == nil { // what is no base64 fits nothing
			want = append(want, digest)
		}
	}
	var got []byte
	switch strongest {
	case 0:
		return true
	case 1:
		sum := sha256.Sum256(content)
		got = sum[:]
	case 2:
		sum := sha512.Sum384(content)
		got = sum[:]
	default:
		sum := sha512.Sum512(content)
		got = sum[:]
	}
	return slices.ContainsFunc(want, func(digest []byte) bool { return string(digest) == string(got) })
}
