package secretscan

import (
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// strength rates the chance that a value occurs in a file by accident. A value is split at the usual separators of words. A
// word is letters, or a number; a token that mixes letters, digits and signs more often than words do is random, and counts
// by its alphabet: 4 bits a character for hexadecimal, 5.2 for lower case and digits, 6 for all letters and digits.
//
//	strong: 56 bits or more, with at least 8 different characters; or a UUID. A finding is an error.
//	weak:   anything else. A finding is a warning.
//	none:   under 8 characters; under 6 different ones; numbers, dates and addresses of machines; words of under 16
//	        characters together; paths, mail addresses and URLs of words without a password. Left out.
type strength int

const (
	none strength = iota
	weak
	strong
)

// The numbers of the rule.
const (
	minLength        = 8
	minDistinct      = 6
	strongDistinct   = 8
	strongBits       = 56
	shortWords       = 16
	usualNumber      = 20 // digits
	bitsOfUUID       = 122
	bitsOfHex        = 4
	longHex          = 16 // hexadecimal of this length is never a word
	wordsLengthCase  = 5  // letters a change of case, at most, in a random text
	wordsLengthDigit = 8  // the most characters per change in a random text with digits
	anyways          = 3  // any text this short counts as a word
)

var (
	uuid = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`^\{?[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\}?$`,
		)
	})
	mail = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`^(?:[^<>@]*<)?[^@\s:/<>]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+>?$`,
		)
	})
	local = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`^(?i:localhost|0\.0\.0\.0|127\.0\.0\.1|\[::1?\]|[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::[0-9]{1,5})?/?$`,
		)
	})
)

// Strength returns the number of random bits in a value, and whether they are too many for a coincidence.
func Strength(value string) (bits int, isStrong bool) {
	s, bits := judge(value)
	return bits, s == strong
}

func judge(value string) (s strength, bits int) {
	distinct := map[rune]bool{}
	for _, r := range value {
		distinct[r] = true
	}
	if utf8.RuneCountInString(value) < minLength || len(distinct) < minDistinct {
		return none, 0
	}
	if uuid().MatchString(value) && len(distinct) >= strongDistinct {
		return strong, bitsOfUUID
	}
	bits, words, digits := measure(value)
	switch {
	case bits >= strongBits && len(distinct) >= strongDistinct:
		return strong, bits
	case usual(value, words, digits):
		return none, bits
	}
	return weak, bits
}

// usual reports whether a value is of a kind that many files have.
func usual(value string, words bool, digits int) bool {
	letters := 0
	for _, r := range value {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	switch {
	case letters == 0:
		return digits < usualNumber
	case !words:
		_, err := netip.ParseAddr(value)
		return err == nil || letters <= 2 && digits < usualNumber // nearly all digits and signs, as of a time
	case utf8.RuneCountInString(value) < shortWords, mail().MatchString(value),
		local().MatchString(value) && strings.ContainsAny(value, ".:"):
		return true
	case strings.HasPrefix(value, "/"), strings.HasPrefix(value, "./"), strings.HasPrefix(value, "../"):
		return true
	}
	u, err := url.Parse(value)
	return err == nil && u.Scheme != "" && u.Host != "" && u.User == nil
}

// measure counts the bits of the random tokens of a value and its digits, and reports whether it consists of words.
func measure(value string) (bits int, words bool, digits int) {
	var sum float64
	words = true
	separates := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`-_./:,@=&?;|"'()[]{}<>`, r) }
	for token := range strings.FieldsFuncSeq(value, separates) {
		for _, r := range token {
			if r >= '0' && r <= '9' {
				digits++
			}
		}
		random, word, each := judgeToken(token)
		if random {
			sum += each * float64(utf8.RuneCountInString(token))
		}
		words = words && word
	}
	return int(math.Floor(sum)), words, digits
}

// The kinds of characters.
const (
	kindLower = iota
	kindUpper
	kindDigit
	kindSign
	kinds
)

func kindOf(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return kindDigit
	case unicode.IsUpper(r):
		return kindUpper
	case unicode.IsLetter(r):
		return kindLower
	}
	return kindSign
}

// judgeToken decides whether a token is random, with its bits per character, or a word. A capital before a small letter is not a change,
// since words begin that way.
func judgeToken(token string) (random, word bool, bits float64) {
	var has [kinds]bool
	changes, length, last := 0, 0, -1
	for _, r := range token {
		k := kindOf(r)
		if last >= 0 && k != last && !(last == kindUpper && k == kindLower) {
			changes++
		}
		has[k], last = true, k
		length++
	}
	mixed := has[kindDigit] && (has[kindLower] || has[kindUpper]) || has[kindSign]
	isHex := strings.Trim(token, "0123456789abcdefABCDEF") == "" && has[kindDigit] && (has[kindLower] != has[kindUpper])
	switch {
	case isHex && length >= longHex:
		random = true
	case mixed:
		random = changes >= 2 && changes*wordsLengthDigit >= length
	default:
		random = changes >= 2 && changes*wordsLengthCase >= length
	}
	word = length <= anyways || !mixed && !random
	if isHex {
		return random, word, bitsOfHex
	}
	alphabet := 0.0
	for kind, size := range [kinds]float64{26, 26, 10, 16} {
		if has[kind] {
			alphabet += size
		}
	}
	return random, word, math.Log2(alphabet)
}
