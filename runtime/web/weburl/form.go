package weburl

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// decodeForm parses application/x-www-form-urlencoded (URL standard, 5.1) into names and values in
// turn.
func decodeForm(s string) []string {
	out := []string{}
	for pair := range strings.SplitSeq(s, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		out = append(out, percentDecode(name), percentDecode(value))
	}
	return out
}

func percentDecode(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return engine.DecodeUTF8([]byte(s))
	}
	return engine.DecodeUTF8([]byte(UnescapePercent(strings.ReplaceAll(s, "+", " "))))
}

// encodeForm is the inverse of decodeForm (URL standard, 5.2).
func encodeForm(list []string) string {
	var b strings.Builder
	for i := 0; i+1 < len(list); i += 2 {
		if i > 0 {
			b.WriteByte('&')
		}
		percentEncode(&b, list[i])
		b.WriteByte('=')
		percentEncode(&b, list[i+1])
	}
	return b.String()
}

func percentEncode(b *strings.Builder, s string) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			b.WriteByte('+')
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("*-._", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(b, "%%%02X", c)
		}
	}
}

// UnescapePercent decodes %XX and leaves other text.
func UnescapePercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	var octet [1]byte
	for i := 0; i < len(s); i++ {
		octet[0] = s[i]
		if s[i] == '%' && i+2 < len(s) {
			if _, err := hex.Decode(octet[:], []byte(s[i+1:i+3])); err == nil {
				i += 2
			} else {
				octet[0] = '%'
			}
		}
		b = append(b, octet[0])
	}
	return string(b)
}
