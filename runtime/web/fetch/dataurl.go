package fetch

import (
	"encoding/base64"
	"strings"

	"github.com/pages-toolchain/pages/runtime/web/mimetype"
	"github.com/pages-toolchain/pages/runtime/web/weburl"
)

// dataURL splits a data: URL into its media type and its decoded body (Fetch standard, 6).
func dataURL(u string) (kind, body string, ok bool) {
	u, _, _ = strings.Cut(strings.TrimPrefix(u, "data:"), "#")
	kind, body, ok = strings.Cut(u, ",")
	if !ok {
		return "", "", false
	}
	body = weburl.UnescapePercent(body)
	kind = strings.Trim(kind, " ")
	const suffix = "base64"
	if n := len(kind) - len(suffix); n >= 0 && strings.EqualFold(kind[n:], suffix) {
		if head, found := strings.CutSuffix(strings.TrimRight(kind[:n], " "), ";"); found {
			kind = head
			// The forgiving decode of the Infra standard: padding may be missing, but not wrong.
			body = strings.NewReplacer(" ", "", "\t", "", "\n", "", "\f", "", "\r", "").Replace(body)
			if len(body)%4 == 0 {
				body = strings.TrimSuffix(strings.TrimSuffix(body, "="), "=")
			}
			b, err := base64.RawStdEncoding.DecodeString(body)
			if err != nil {
				return "", "", false
			}
			body = string(b)
		}
	}
	if strings.HasPrefix(kind, ";") {
		kind = "text/plain" + kind
	}
	parsed, ok := mimetype.Parse(kind)
	if !ok {
		return "text/plain;charset=US-ASCII", body, true
	}
	return parsed.String(), body, true
}
