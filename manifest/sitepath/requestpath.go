// Package sitepath handles paths of requests (one canonical form, and the folded form that gates compare), names of the
// platform's own files and folders, and paths of files in a bundle, whose symbolic links it follows by hand so that none
// leads out.
//
// Input: paths and an fs.FS. Output: paths or their faults. Errors are those of the file system, [ErrLinkOut] and
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

// ReservedPath returns the segment that reserves a path for the platform in any spelling, [ReservedPages] or [ReservedPreview]; "" for
// none.
func ReservedPath(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(FoldPath(path), "/"), "/")
	if first == ReservedPages || first == ReservedPreview {
		return first
	}
	return ""
}

// CanonicalPath returns a decoded path in Unicode form C, or for one that programs could read in several ways its fault,
// such as "the path holds a dot segment". Patterns of routes and paths of rules never have such a fault.
func CanonicalPath(decoded string) (path, fault string) {
	if fault := PathFault(decoded); fault != "" {
		return "", fault
	}
	decoded = norm.NFC.String(decoded)
	if strings.Contains(decoded, "%") {
		return "", "the path holds a percent sign"
	}
	return decoded, segmentFault(decoded)
}

// CanonicalFile returns the path of the file for a decoded path, in Unicode form C with its slashes merged, or the fault
// of the path.
func CanonicalFile(decoded string) (path, fault string) {
	if fault := PathFault(decoded); fault != "" {
		return "", fault
	}
	path = mergeSlashes(norm.NFC.String(decoded))
	return path, segmentFault(path)
}

// PathFault returns the fault of a decoded request path that no reading can hold, "" for any other: one that is not UTF-8, or has a
// backslash, a control character, or encoded slashes, percent signs or dot segments.
func PathFault(decoded string) string {
	switch {
	case !strings.HasPrefix(decoded, "/"):
		return "the path does not start with a slash"
	case !utf8.ValidString(decoded):
		return "the path is not UTF-8"
	}
	decoded = norm.NFC.String(decoded)
	for _, r := range decoded {
		if r == '\\' || unicode.IsControl(r) || r == utf8.RuneError {
			return "the path holds a backslash or a control character"
		}
	}
	// Compatibility characters such as "．．" or "／" become dots and slashes
	// in programs that normalise later than we do.
	compat := norm.NFKC.String(decoded)
	if compat == decoded {
		return ""
	}
	for _, sign := range []string{"/", "\\", "%"} {
		if strings.Count(compat, sign) != strings.Count(decoded, sign) {
			return "the path holds a character that stands for a slash"
		}
	}
	if dotSegments(compat) != dotSegments(decoded) {
		return "the path holds characters that stand for a dot segment"
	}
	return ""
}

func dotSegments(path string) (n int) {
	for segment := range strings.SplitSeq(path, "/") {
		if isDots(segment) > 0 {
			n++
		}
	}
	return n
}

func segmentFault(path string) string {
	for rest, more := path[1:], true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		switch {
		case isDots(segment) > 0:
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
	for segment := range strings.FieldsFuncSeq(visible, func(r rune) bool { return strings.ContainsRune(slashes, r) }) {
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
	case invisible(r):
		return -1
	}
	return unicode.ToLower(r)
}

// BrowserURL returns a URL as a browser reads it: without white space around it or line ends in it, and with slashes for
// backslashes before the query.
func BrowserURL(s string) string {
	s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(strings.TrimFunc(s, func(r rune) bool { return r <= ' ' }))
	i := strings.IndexAny(s, "?#")
	if i < 0 {
		i = len(s)
	}
	return strings.ReplaceAll(s[:i], `\`, "/") + s[i:]
}
