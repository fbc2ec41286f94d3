package sourcetext

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const maxQuoted = 64 // bounds quotations of the author's file, in characters

// Quote puts the author's own word in quotes. Control and invisible characters come out escaped, so that a
// hostile file cannot drive a terminal or a log; keys of services come out as stars.
func Quote(s string) string { return strconv.Quote(Clip(WithoutKeys(s))) }

// Literal is [Quote] without clipping, for text that the author should write.
func Literal(s string) string { return strconv.Quote(WithoutKeys(s)) }

// QuoteAll puts the platform's words in quotes.
func QuoteAll(words []string) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = strconv.Quote(word)
	}
	return list
}

// OneOf lists the platform's words to choose from.
func OneOf(words []string) string { return strings.Join(QuoteAll(words), " or ") }

// QuoteBoth quotes two names so that a reader can tell them apart: of names that differ only in the encoding of accents, it
// escapes those not in the composed form.
func QuoteBoth(a, b string) (string, string) {
	if norm.NFC.String(a) != norm.NFC.String(b) {
		return strconv.Quote(a), strconv.Quote(b)
	}
	escape := func(name string) string {
		if norm.NFC.IsNormalString(name) {
			return strconv.Quote(name)
		}
		return strconv.QuoteToASCII(name)
	}
	return escape(a), escape(b)
}

// Clip shortens a long word.
func Clip(s string) string {
	if utf8.RuneCountInString(s) <= maxQuoted {
		return s
	}
	n := 0
	for i := range s {
		if n == maxQuoted {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
