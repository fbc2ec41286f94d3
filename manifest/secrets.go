package manifest

import (
	"regexp"
	"sort"
	"strings"
	"unicode"
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

// keysIn returns where a text has keys, as byte offsets: of an address its user and password only, of an
// assignment its value.
func keysIn(s string) []span {
	if len(s) < shortestKey && !strings.ContainsAny(s, "=@") {
		return nil // as nearly all words of a manifest are
	}
	var list []span
	for _, at := range keyText.FindAllStringSubmatchIndex(s, -1) {
		for group := len(at) - 2; group >= 0; group -= 2 {
			if at[group] >= 0 {
				list = append(list, span{at[group], at[group+1]})
				break
			}
		}
	}
	return list
}

// soundsSecret matches the keys of a document whose values are secrets.
//
//nolint:gochecknoglobals // a constant
var soundsSecret = regexp.MustCompile(`^(?i:secrets?|vars|variables|env|environment|tokens?|keys?|creds|` +
	`credentials?|dsn|pwd|pass|passwords?|passwd|passphrase)$` +
	`|(?i:[_.-](?:key|token|secret|password|passwd|passphrase|pwd|pass|dsn|credential)s?)$` +
	`|(?i:(?:api|auth|access|private|secret|signing|client)(?:key|token|secret)s?)$` +
	`|[a-z0-9](?:Key|Token|Secret|Password|Passwd|Passphrase|Dsn|DSN|Credential)s?$`)

// secretName matches what names a secret, as a Worker reads it from its environment.
//
//nolint:gochecknoglobals // a constant
var secretName = regexp.MustCompile(`^[\pL_][\pL\pN_.-]*$`)

// namesSecret tells the name of a secret from its value.
func namesSecret(s string) bool { return secretName.MatchString(s) && !looksLikeSecret(s) }

// looksLikeSecret guesses whether a string where the name of a key belongs is the key itself.
func looksLikeSecret(s string) bool {
	return strings.ContainsAny(s, "=\n\r ") || strings.Contains(s, "://") || looksLikeKey(s)
}

// looksLikeKey guesses whether a string is a key, wherever it stands.
func looksLikeKey(s string) bool {
	if at := keysIn(s); len(at) > 0 && at[0].start == 0 {
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

// withoutKeys puts stars for the keys in a text.
func withoutKeys(s string) string {
	found := keysIn(s)
	if len(found) == 0 {
		return s
	}
	var b strings.Builder
	last := 0
	for _, at := range found {
		b.WriteString(s[last:at.start])
		b.WriteString(stars(at.end - at.start))
		last = at.end
	}
	return b.String() + s[last:]
}

// stars stand for a text of that length. They do not tell how long a key is.
func stars(length int) string { return strings.Repeat("*", min(length, 8)) }

// starKeys puts stars over the keys in a line, one for each character.
func starKeys(line []rune) {
	text := string(line)
	for _, at := range keysIn(text) {
		from := countCharacters(text[:at.start])
		star(line, span{from, from + countCharacters(text[at.start:at.end])})
	}
}

// star puts stars over some characters of a line.
func star(line []rune, at span) {
	for i := max(at.start, 0); i < min(at.end, len(line)); i++ {
		line[i] = '*'
	}
}

// masks are, by line and in order, the values that nothing may show.
type masks map[int][]mask

// mask is one such value within a line.
type mask struct {
	columns span   // from 0
	text    string // as the file has it
}

// newMasks looks for secrets in the text of a manifest, or of another config like it, well-formed or not.
func newMasks(l *lines) masks {
	m := masks{}
	for _, at := range secretsIn(l.src) {
		line, column := l.at(at.start)
		text := l.src[at.start:at.end]
		m[line] = append(m[line], mask{span{column - 1, column - 1 + countCharacters(text)}, text})
	}
	return m
}

// hide puts stars over what a line may not show.
func (m masks) hide(number int, line []rune) {
	for _, hidden := range m[number] {
		star(line, hidden.columns)
	}
}

// redact takes out of what diagnostics say whatever they quote of a value that may not be shown. A message
// quotes the file only at its own span.
func (m masks) redact(diags Diagnostics) {
	for i, d := range diags {
		if d.File != "" || d.EndLine != d.Line {
			continue
		}
		list := m[d.Line]
		next := sort.Search(len(list), func(k int) bool { return list[k].columns.end+1 >= d.EndColumn-1 })
		if next == len(list) || d.Column < list[next].columns.start { // the span may have the quotes, too
			continue
		}
		diags[i].Message, diags[i].Fix = unquoted(d.Message, list[next].text), unquoted(d.Fix, list[next].text)
	}
}

// quotedText matches what quote and literal write.
//
//nolint:gochecknoglobals // a constant
var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// unquoted puts stars for what a message quotes of a value. Of a value with escapes nothing can be told, so
// every quotation goes.
func unquoted(msg, value string) string {
	return quotedText.ReplaceAllStringFunc(msg, func(quotation string) string {
		inner := strings.TrimSuffix(quotation[1:len(quotation)-1], "…")
		if letters := strings.ContainsFunc(inner, isWordRune); !letters {
			return quotation // a bracket or a colon
		}
		if strings.ContainsAny(value+inner, `\`) || strings.Contains(value, inner) || strings.Contains(inner, value) {
			return `"` + stars(len(inner)) + `"`
		}
		return quotation
	})
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
