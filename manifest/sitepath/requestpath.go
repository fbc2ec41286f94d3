// Package sitepath handles paths of requests (one canonical form, and the folded form that gates compare), names of the
// platform's own files and folders, and paths of files in a bundle, whose symbolic links it follows by hand so that none
// leads out.
//
// In go paths and an fs.FS; out come paths or their faults. Errors are those of the file system, [ErrLinkOut] and
// [ErrLinkLoop]. All functions are safe for concurrent use. The package opens no pipe and no device, and writes nothing.
package sitepath

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// First path segments that the toolchain and the platform reserve, in any case. No route may be under them; the document
// names none.
const (
	ReservedPages   = "__pages"
	ReservedPreview = "__preview"
)

// ReservedPath returns the segment that keeps a path for the platform, [ReservedPages] or [ReservedPreview],
// whatever its spelling; "" when none does.
func ReservedPath(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(FoldPath(path), "/"), "/")
	if first == ReservedPages || first == ReservedPreview {
		return first
	}
	return ""
}

// CanonicalPath returns a decoded request path in Unicode form C, or for one that two programs could read in two ways its
// fault, such as "the path holds a dot segment": requests with such a path are refused.
func CanonicalPath(decoded string) (path, fault string) {
	switch {
	case !strings.HasPrefix(decoded, "/"):
		return "", "the path does not start with a slash"
	case !utf8.ValidString(decoded):
		return "", "the path is no UTF-8"
	}
	decoded = norm.NFC.String(decoded)
	for _, r := range decoded {
		if r == '\\' || r == '%' || unicode.IsControl(r) || r == utf8.RuneError {
			return "", "the path holds a backslash, a percent sign or a control character"
		}
	}
	if fault := segmentFault(decoded); fault != "" {
		return "", fault
	}
	// Compatibility characters such as "．．" or "／" become dots and slashes
	// in programs that normalise later than we do.
	if compat := norm.NFKC.String(decoded); compat != decoded {
		if strings.Count(compat, "/") != strings.Count(decoded, "/") || strings.ContainsAny(compat, "\\%") {
			return "", "the path holds a character that stands for a slash"
		}
		if fault := segmentFault(compat); fault != "" {
			return "", fault
		}
	}
	return decoded, ""
}

func segmentFault(path string) string {
	for rest, more := path[1:], true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		switch {
		case segment == "." || segment == "..":
			return "the path holds a dot segment"
		case segment == "" && more:
			return "the path holds an empty segment"
		}
	}
	return ""
}

// FoldPath reduces a decoded request path to the reading of the most forgiving program: NFKC, lower case, no ";…"
// parameters, no "::…" streams, no trailing dots and spaces, no invisible characters, slashes for all that looks like one, no
// empty segments, no slash at the end (the root is ""). Two paths that any file system or framework could take for the same
// have the same folded form. The members gate compares its patterns in it, so that a mistake can only close a page, never
// open one. A path that folds to itself allocates nothing.
func FoldPath(path string) string {
	if folded, ok := foldPlain(path); ok {
		return folded
	}
	visible := strings.Map(foldRune, norm.NFKC.String(path))
	var b strings.Builder
	b.Grow(len(visible))
	for segment := range strings.FieldsFuncSeq(visible, func(r rune) bool { return strings.ContainsRune("/\\⁄∕⧸∖⧵", r) }) {
		segment, _, _ = strings.Cut(segment, ";")
		segment, _, _ = strings.Cut(segment, "::")
		if segment = strings.TrimRight(segment, ". "); segment != "" {
			b.WriteByte('/')
			b.WriteString(segment)
		}
	}
	return b.String()
}

// foldPlain handles paths that fold to themselves, which are nearly all, without allocation.
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

// foldRune lowers the case of one character and drops the invisible ones. The first cases are letters that other programs
// take for the same and lower-casing does not.
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
