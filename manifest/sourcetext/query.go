package sourcetext

import (
	"net/url"
	"strings"
)

// MaskQuery puts stars for the values in a URL's query that look like secrets, or
// whose names sound like one's. The rest stays as it was written.
func MaskQuery(query string) string {
	if query == "" {
		return ""
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		if found && isSecretPair(name, value) {
			pairs[i] = name + "=" + Stars(len(value))
		}
	}
	return strings.Join(pairs, "&")
}

func isSecretPair(name, value string) bool {
	if value == "" {
		return false
	}
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	if plain, err := url.QueryUnescape(value); err == nil {
		value = plain
	}
	return SoundsSecret.MatchString(name) || LooksLikeKey(value) || len(KeysIn(value)) > 0
}
