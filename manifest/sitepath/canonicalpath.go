// Package sitepath says what paths mean: paths of requests (one canonical form, the folded form that gates compare), names of
// the platform's own files and folders, and paths of files in a bundle, whose symbolic links it follows by hand so that none
// leads out.
//
// In go paths and an fs.FS; out come paths, or why there is none. Errors are those of the file system, [ErrLinkOut] and
// [ErrLinkLoop]. All functions are safe for concurrent use. The package opens no pipe and no device, and writes nothing.
package sitepath

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// First path segments that the toolchain and the platform keep for themselves, in any case. No route may be
// under them; the document names none.
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

// CanonicalPath returns a decoded request path in Unicode form C. Where two programs could read it in two ways,
// it returns what is wrong with it instead, such as "the path holds a dot segment": requests with such a path
// are refused.
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
	rest := path[1:]
	for {
		segment, after, more := strings.Cut(rest, "/")
		switch {
		case segment == "." || segment == "..":
			return "the path holds a dot segment"
		case segment == "" && more:
			return "the path holds an empty segment"
		case !more:
			return ""
		}
		rest = after
	}
}
