package sourcetext

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// This file recognizes secrets that were pasted into a file, which no output repeats: quotations use WithoutKeys, code frames
// and lists of diagnostics the masks of package diagnostic. Names of secrets stay.

// keyText matches the keys of services that mark theirs, the user and password of a URL, and the value of a variable whose
// name sounds like a secret.
var keyText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:[sr]k_(?:live|test)_|sk-|gh[opsu]_|github_pat_|glpat-|xox[abpr]-|AKIA|ASIA|AIza|eyJ|` +
		`whsec_|SG\.|npm_|-----BEGIN)[A-Za-z0-9_.+/=~ -]{10,}` +
		`|[A-Za-z][A-Za-z0-9+.-]*://([^\s"'<>/?#@:]*:[^\s"'<>]*|[^\s"'<>/?#@:]+)@` +
		`|(?i:(?:^|[^a-z])(?:api|auth|access|db)?(?:key|token|secret|passwd|password|pwd|dsn|credentials?))=([^\s"'<>]+)`)
})

// keyBegins are the prefixes of keys that keyText recognizes by their beginning.
var keyBegins = [...]string{
	"k_live_", "k_test_", "sk-", "gho_", "ghp_", "ghs_", "ghu_", "github_pat_", "glpat-", "xoxa-", "xoxb-", "xoxp-", "xoxr-",
	"AKIA", "ASIA", "AIza", "eyJ", "whsec_", "SG.", "npm_", "-----BEGIN",
}

// mayHoldKey reports whether keyText can match in a text, in a tenth of its time.
func mayHoldKey(s string) bool {
	if strings.ContainsAny(s, "=@") { // of an assignment, of a URL
		return true
	}
	for _, begin := range keyBegins {
		if strings.Contains(s, begin) {
			return true
		}
	}
	return false
}

// KeysIn returns the byte offsets of the keys in a text: of a URL its user and password only, of an assignment its value.
func KeysIn(s string) []Span {
	if !mayHoldKey(s) {
		return nil // as for nearly all words of a manifest
	}
	var list []Span
	for _, at := range keyText().FindAllStringSubmatchIndex(s, -1) {
		for group := len(at) - 2; group >= 0; group -= 2 {
			if at[group] >= 0 {
				list = append(list, Span{at[group], at[group+1]})
				break
			}
		}
	}
	return list
}

// SoundsSecret matches the keys of a document whose values are secrets.
var SoundsSecret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:secrets?|vars|variables|env|environment|tokens?|keys?|creds|credentials?|dsn|` +
		`pwd|pass|passwords?|passwd|passphrase)$` +
		`|(?i:[_.-](?:key|token|secret|password|passwd|passphrase|pwd|pass|dsn|credential)s?)$` +
		`|(?i:(?:api|auth|access|private|secret|signing|client)(?:key|token|secret)s?)$` +
		`|[a-z0-9](?:Key|Token|Secret|Password|Passwd|Passphrase|Dsn|DSN|Credential)s?$`)
})

// secretName matches the name of a secret in a Worker's environment.
var secretName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL_][\pL\pN_.-]*$`) })

// NamesSecret reports whether a string is the name of a secret and not its value.
func NamesSecret(s string) bool { return secretName().MatchString(s) && !LooksLikeSecret(s) }

// LooksLikeSecret guesses whether a string in the place of a secret's name is its value.
func LooksLikeSecret(s string) bool {
	return strings.ContainsAny(s, "=\n\r ") || strings.Contains(s, "://") || LooksLikeKey(s)
}

// LooksLikeKey guesses whether a string is a key, in any place.
func LooksLikeKey(s string) bool {
	if at := KeysIn(s); len(at) > 0 && at[0].Start == 0 {
		return true
	}
	var upper, lower, figures int
	for _, c := range s {
		switch {
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= '0' && c <= '9':
			figures++
		case c != '+' && c != '=' && c != '_' && c != '-':
			return false
		}
	}
	hex := len(s) >= 32 && strings.Trim(strings.ToLower(s), "0123456789abcdef") == "" && figures > 0
	return hex || len(s) >= 24 && upper > 0 && lower > 0 && figures > 2
}

// WithoutKeys puts stars for the keys in a text.
func WithoutKeys(s string) string {
	found := KeysIn(s)
	if len(found) == 0 {
		return s
	}
	var b strings.Builder
	last := 0
	for _, at := range found {
		b.WriteString(s[last:at.Start])
		b.WriteString(Stars(at.End - at.Start))
		last = at.End
	}
	return b.String() + s[last:]
}

// Stars returns stars for a text of that length, at most eight, which hide the length of a key.
func Stars(length int) string { return strings.Repeat("*", min(length, 8)) }

// StarKeys puts stars over the keys in a line, one for each character.
func StarKeys(line []rune) {
	text := string(line)
	for _, at := range KeysIn(text) {
		from := CountCharacters(text[:at.Start])
		Star(line, Span{from, from + CountCharacters(text[at.Start:at.End])})
	}
}

// Star puts stars over some characters of a line.
func Star(line []rune, at Span) {
	for i := max(at.Start, 0); i < min(at.End, len(line)); i++ {
		line[i] = '*'
	}
}

// MaskQuery puts stars for the values in a URL's query that look like secrets, or whose names sound like one. The rest stays.
func MaskQuery(query string) string {
	unescape := func(s string) string {
		if plain, err := url.QueryUnescape(s); err == nil {
			return plain
		}
		return s
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		plain := unescape(value)
		if value != "" && (SoundsSecret().MatchString(unescape(name)) || LooksLikeKey(plain) || len(KeysIn(plain)) > 0) {
			pairs[i] = name + "=" + Stars(len(value))
		}
	}
	return strings.Join(pairs, "&")
}
