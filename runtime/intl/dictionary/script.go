package dictionary

import (
	"unicode"
	"unicode/utf8"
)

// script divides the texts of a script, or of scripts that are used together.
type script struct {
	// begin starts to divide the text at a place, in the memory that the breaks have for it.
	begin func(b *breaks, text string, at int) (run, error)
}

// run is a text that is being divided.
type run interface {
	// more adds the ends of further words, except for the end of the text, and reports whether more may follow. The work of one call is
	// bounded.
	more(b *breaks) bool
}

// breaks are ends of words, and memory reused for each text.
type breaks struct {
	ends     []int
	division division
	cheapest cheapest
}

//nolint:gochecknoglobals // the scripts, each with its dictionary
var (
	thai = spacelessScript(spaceless{
		file: "thaidict.dict", least: 5, shortWord: 3, shortPrefix: 3, begins: thaiBegin, ends: thaiEnd, suffixes: true,
	})
	lao = spacelessScript(spaceless{
		file: "laodict.dict", least: 4, shortWord: 3, shortPrefix: 3, begins: laoBegin, ends: laoEnd,
	})
	khmer = spacelessScript(spaceless{ // as in Chromium; ICU's own has 3 and 3
		file: "khmerdict.dict", least: 4, shortWord: 10, shortPrefix: 5, begins: khmerBegin, ends: khmerEnd,
	})
	burmese = spacelessScript(spaceless{
		file: "burmesedict.dict", least: 4, shortWord: 3, shortPrefix: 3, begins: burmeseBegin, ends: burmeseEnd,
	})
	hanKana = &script{begin: beginHanKana}
)

// scriptOf returns the script of a character for dictionaries, nil for one that has no dictionary, such as Hangul.
func scriptOf(c rune) *script {
	switch {
	case c < 0x0e00:
		return nil
	case c < 0x0e80:
		return thai
	case c < 0x0f00:
		return lao
	case c < 0x10a0:
		return burmese
	case c < 0x1780:
		return nil
	case c < 0x1800:
		return khmer
	case c < 0x2e80:
		return nil
	case c >= 0x4e00 && c < 0xa000, c >= 0x1aff0: // most ideographs; kana supplements and all further ideographs
		return hanKana
	case 0xa9e0 <= c && c < 0xaa00, 0xaa60 <= c && c < 0xaa80:
		return burmese
	case prolonged(c), sounding(c), unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return hanKana
	default:
		return nil
	}
}

// prolonged reports whether c is the sign of a long vowel, which belongs to no script.
func prolonged(c rune) bool { return c == 0x30fc || c == 0xff70 }

// sounding reports whether c is a halfwidth mark of a voiced sound, which the rules keep with any character.
func sounding(c rune) bool { return c == 0xff9e || c == 0xff9f }

// decode is the character that s begins with.
func decode(s string) (rune, int) { return utf8.DecodeRuneInString(s) }
