package sourcetext

import (
	"regexp"
	"strings"
)

// This file decides what a secret is, and keeps those that were pasted into a file out of what is written:
// whatever quotes a file goes through withoutKeys, whatever shows its lines through masks, and every finished
// list of diagnostics through redact. Names stay; values under keys that sound like secrets do not.

// keyText matches the keys of services that mark theirs, the user and password of an address, and what is
// assigned to a variable that sounds like a secret.
//
//nolint:gochecknoglobals // a constant
var keyText = regexp.MustCompile(`(?:[sr]k_(?:live|test)_|sk-|gh[opsu]_|github_pat_|glpat-|xox[abpr]-|AKIA|ASIA|AIza|eyJ|` +
	`whsec_|SG\.|npm_|-----BEGIN)[A-Za-z0-9_.+/=~ -]{10,}` +
	`|[A-Za-z][A-Za-z0-9+.-]*://([^\s"'<>/?#@:]*:[^\s"'<>]*|[^\s"'<>/?#@:]+)@` +
	`|(?i:(?:^|[^a-z])(?:api|auth|access|db)?(?:key|token|secret|passwd|password|pwd|dsn|credentials?))=([^\s"'<>]+)`)

// shortestKey is the length of the shortest marked key that keyText matches, "SG." and ten characters.
const shortestKey = 13

// KeysIn returns where a text has keys, as byte offsets: of an address its user and password only, of an
// assignment its value.
func KeysIn(s string) []Span {
	if len(s) < shortestKey && !strings.ContainsAny(s, "=@") {
		return nil // as nearly all words of a manifest are
	}
	var list []Span
	for _, at := range keyText.FindAllStringSubmatchIndex(s, -1) {
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
//
//nolint:gochecknoglobals // a constant
var SoundsSecret = regexp.MustCompile(`^(?i:secrets?|vars|variables|env|environment|tokens?|keys?|creds|credentials?|dsn|` +
	`pwd|pass|passwords?|passwd|passphrase)$` +
	`|(?i:[_.-](?:key|token|secret|password|passwd|passphrase|pwd|pass|dsn|credential)s?)$` +
	`|(?i:(?:api|auth|access|private|secret|signing|client)(?:key|token|secret)s?)$` +
	`|[a-z0-9](?:Key|Token|Secret|Password|Passwd|Passphrase|Dsn|DSN|Credential)s?$`)

// secretName matches what names a secret, as a Worker reads it from its environment.
//
//nolint:gochecknoglobals // a constant
var secretName = regexp.MustCompile(`^[\pL_][\pL\pN_.-]*$`)

// NamesSecret tells the name of a secret from its value.
func NamesSecret(s string) bool { return secretName.MatchString(s) && !LooksLikeSecret(s) }

// LooksLikeSecret guesses whether a string where the name of a key belongs is the key itself.
func LooksLikeSecret(s string) bool {
	return strings.ContainsAny(s, "=\n\r ") || strings.Contains(s, "://") || LooksLikeKey(s)
}

// LooksLikeKey guesses whether a string is a key, wherever it stands.
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

// Stars stand for a text of that length. They do not tell how long a key is.
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
