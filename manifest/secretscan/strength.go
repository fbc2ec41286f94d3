package secretscan

import (
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file judges whether a value can stand in a file by chance. It splits a value at what usually separates words.
// A word is letters, or a number; what mixes letters, digits and signs more often than words do is random, and counts
// by its alphabet: 4 bits a character for hexadecimal, 5.2 for lower case and digits, 6 for all letters and digits.
//
//	strong: 56 bits or more, with at least 8 different characters; or a UUID. Found, it is an error.
//	weak:   anything else. Found, it is a warning.
//	none:   under 8 characters; under 6 different ones; numbers, dates and addresses of machines; words of under 16
//	        characters together; paths, mail addresses and URLs of words without a password. Never looked for.

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
	longHex          = 16 // from here on hexadecimal is no word, however its characters come
	wordsLengthCase  = 5  // letters a change of case, at most, in what is no word
	wordsLengthDigit = 8  // characters a change, at most, in what has digits and is no word
	anyways          = 3  // so short, anything counts as a word
)

var (
	uuid = regexp.MustCompile( //nolint:gochecknoglobals // a constant
		`^\{?[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\}?$`,
	)
	mail = regexp.MustCompile( //nolint:gochecknoglobals // a constant
		`^(?:[^<>@]*<)?[^@\s:/<>]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+>?$`,
	)
	local = regexp.MustCompile( //nolint:gochecknoglobals // a constant
		`^(?i:localhost|0\.0\.0\.0|127\.0\.0\.1|\[::1?\]|[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::[0-9]{1,5})?/?$`,
	)
)

// Strength judges a value: how many bits of it are no words, and whether that many never stand anywhere by chance.
func Strength(value string) (bits int, isStrong bool) {
	s, bits := judge(value)
	return bits, s == strong
}

func judge(value string) (s strength, bits int) {
	different := distinct(value)
	if utf8.RuneCountInString(value) < minLength || different < minDistinct {
		return none, 0
	}
	if uuid.MatchString(value) && different >= strongDistinct {
		return strong, bitsOfUUID
	}
	bits, words, digits := measure(value)
	switch {
	case bits >= strongBits && different >= strongDistinct:
		return strong, bits
	case usual(value, words, digits):
		return none, bits
	}
	return weak, bits
}

// distinct counts the different characters.
func distinct(value string) int {
	seen := map[rune]bool{}
	for _, r := range value {
		seen[r] = true
	}
	return len(seen)
}

// usual reports whether a value is one that stands in many files.
func usual(value string, words bool, digits int) bool {
	letters := strings.ContainsFunc(value, unicode.IsLetter)
	switch {
	case !letters:
		return digits < usualNumber
	case !words:
		if _, err := netip.ParseAddr(value); err == nil {
			return true
		}
		return dated(value, digits)
	case utf8.RuneCountInString(value) < shortWords, mail.MatchString(value), local.MatchString(value) && strings.ContainsAny(value, ".:"):
		return true
	case strings.HasPrefix(value, "/"), strings.HasPrefix(value, "./"), strings.HasPrefix(value, "../"):
		return true
	}
	u, err := url.Parse(value)
	return err == nil && u.Scheme != "" && u.Host != "" && u.User == nil
}

// dated reports whether nearly all of a value is digits and signs, as of a time.
func dated(value string, digits int) bool {
	letters := 0
	for _, r := range value {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters <= 2 && digits < usualNumber
}

// measure counts the bits of what is random in a value, and its digits, and says whether it is words alone.
func measure(value string) (bits int, words bool, digits int) {
	var sum float64
	words = true
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

func separates(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(`-_./:,@=&?;|"'()[]{}<>`, r)
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

// judgeToken says whether a token is random, with how many bits a character, or a word. A capital before a small
// letter is no change: words begin so.
func judgeToken(token string) (random, word bool, each float64) {
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
	return random, word, bitsOf(isHex, has)
}

func bitsOf(isHex bool, has [kinds]bool) float64 {
	if isHex {
		return bitsOfHex
	}
	size := 0.0
	for kind, many := range [kinds]float64{26, 26, 10, 16} {
		if has[kind] {
			size += many
		}
	}
	return math.Log2(size)
}
