package edgerules

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// HeaderSecret returns the fault of a header whose value is, or is meant as, a secret: in lower case, without the value;
// "" for other headers. On Netlify "Basic-Auth" locks a folder. Here, as on Cloudflare, it only becomes a header of each
// response, and the path stays open.
func HeaderSecret(name, value string) string {
	folded := strings.ToLower(strings.TrimSpace(name))
	value = strings.TrimSpace(value)
	switch folded {
	case "basic-auth", "authorization", "proxy-authorization":
		return sourcetext.Quote(name) + " protects nothing here: every visitor gets it, with the password"
	case "set-cookie":
		if cookieSecret(value) {
			return sourcetext.Quote(name) + " gives every visitor the same session"
		}
		return ""
	}
	named := slices.ContainsFunc(
		[]string{"-token", "-secret", "-key", "apikey", "-password", "-auth", "-credential", "-credentials"},
		func(end string) bool { return strings.HasSuffix(folded, end) },
	) || folded == "token" || folded == "secret" || folded == "password"
	plain := strings.TrimPrefix(strings.TrimPrefix(value, "Bearer "), "Basic ")
	at := sourcetext.KeysIn(plain)
	marked := len(at) > 0 && at[0].Start == 0 && at[0].End == len(plain) // by the service that issued the key
	if named && keyLike(value) || marked {
		return sourcetext.Quote(name) + " looks like a key, and every visitor gets it"
	}
	return ""
}

// StarHeaders puts stars for the secret values in the lines of a file "_headers".
func StarHeaders(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		if HeaderSecret(name, value) == "" {
			b.WriteString(line)
			continue
		}
		secret := strings.TrimSpace(value)
		before, after, _ := strings.Cut(value, secret)
		b.WriteString(name + ":" + before + strings.Repeat("*", utf8.RuneCountInString(secret)) + after)
	}
	return b.String()
}

// keyLike reports whether a word of a value is a key.
func keyLike(value string) bool {
	for word := range strings.FieldsSeq(value) {
		if _, strong := secretscan.Strength(word); strong || sourcetext.LooksLikeKey(word) {
			return true
		}
	}
	return false
}

// cookieSecret reports whether a cookie identifies a client.
func cookieSecret(cookie string) bool {
	pair, _, _ := strings.Cut(cookie, ";")
	name, value, _ := strings.Cut(pair, "=")
	name = strings.ToLower(strings.TrimSpace(name))
	value = strings.Trim(strings.TrimSpace(value), `"`)
	for _, part := range [...]string{"sess", "sid", "auth", "token", "jwt", "secret", "password"} {
		if value != "" && strings.Contains(name, part) {
			return true
		}
	}
	return keyLike(value)
}

// HeaderSecretFix returns the fix for a header that holds a secret, for the path of its rule.
func HeaderSecretFix(path string) string {
	return fmt.Sprintf(`remove the line, and create a new secret if it was published; to let only members in, `+
		`guard the path in "routes": {"pattern": %s, "access": "members"}`, sourcetext.Quote(membersPattern(path)))
}

// membersPattern returns the pattern of a route for the paths of a rule of "_headers": up to its first star or placeholder.
func membersPattern(path string) string {
	if _, rest, found := strings.Cut(path, "://"); found {
		_, rest, _ = strings.Cut(rest, "/")
		path = "/" + rest
	}
	path, _, _ = strings.Cut(path, "?")
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, segment := range segments {
		if strings.ContainsAny(segment, "*:()") {
			return "/" + strings.Join(append(segments[:i:i], "*"), "/")
		}
	}
	return "/" + strings.Join(segments, "/")
}
