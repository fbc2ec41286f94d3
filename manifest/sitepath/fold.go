package sitepath

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// FoldPath reduces a decoded request path to what the most forgiving program might make of
// it: NFKC, lower case, no ";…" parameters, no "::…" streams, no trailing dots
// and spaces, no invisible characters, whatever looks like a slash taken for
// one, no empty segments, no slash at the end (the root is ""). Two paths that any file system or framework could
// take for the same have the same folded form. The members gate compares its patterns in it, so that a mistake can
// only close a page, never open one. A path that folds to itself costs no memory.
func FoldPath(path string) string {
	if folded, ok := foldPlain(path); ok {
		return folded
	}
	visible := strings.Map(foldRune, norm.NFKC.String(path))
	var b strings.Builder
	b.Grow(len(visible))
	for segment := range strings.FieldsFuncSeq(visible, isSlash) {
		segment, _, _ = strings.Cut(segment, ";")
		segment, _, _ = strings.Cut(segment, "::")
		if segment = strings.TrimRight(segment, ". "); segment != "" {
			b.WriteByte('/')
			b.WriteString(segment)
		}
	}
	return b.String()
}

func isSlash(r rune) bool { return strings.ContainsRune("/\\⁄∕⧸∖⧵", r) }

// foldPlain answers for paths that fold to themselves, which are nearly all, without memory.
func foldPlain(path string) (string, bool) {
	path = strings.TrimSuffix(path, "/")
	previous := byte('/')
	for i := range len(path) {
		c := path[i]
		if c == '/' && i > 0 && (previous == '/' || previous == '.' || previous == ' ') {
			return "", false
		}
		if c >= 0x7f || c < ' ' || c == ';' || c == ':' && previous == ':' || c == '\\' || 'A' <= c && c <= 'Z' {
			return "", false
		}
		previous = c
	}
	return path, previous != '.' && previous != ' '
}

// foldRune lowers the case of one character and drops the invisible ones. The
// first cases are letters that lower-casing leaves apart and other programs do not.
func foldRune(r rune) rune {
	switch {
	case r == 'ı' || r == 'İ':
		return 'i'
	case r == 'ς':
		return 'σ'
	case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return -1
	}
	return unicode.ToLower(r)
}
