package bundler

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/manifest"
)

// This file carries the rules for the paths that a site serves. The platform
// document gives none: they are those of the upload, which refuses what some
// file system, URL or archive would read differently. First failing rule wins.

const (
	maxSegmentBytes = 255
	maxPathBytes    = 1024
	maxSegments     = 32
)

var (
	percentEncoded = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	windowsName    = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$)(\.|$)`)
)

// pathRefusal says why a site cannot serve a file under this path, in form C,
// without a leading slash. "" and "" when it can.
func pathRefusal(p string) (code, reason string) {
	switch {
	case !utf8.ValidString(p) || strings.ContainsRune(p, utf8.RuneError):
		return "path-not-utf8", "is not valid UTF-8"
	case strings.ContainsFunc(p, invisible):
		return "path-control", "has an invisible or control character in it"
	case strings.Contains(p, `\`):
		return "path-backslash", "has a backslash in it"
	case percentEncoded.MatchString(p):
		return "path-encoded", "looks percent-encoded"
	case strings.ContainsAny(p, "#?"):
		return "path-url-char", `has "#" or "?" in it, which end a path in a URL`
	case strings.ContainsAny(p, `<>:"|*`):
		return "path-windows-char", "has a character in it that Windows refuses in names"
	case len(p) > maxPathBytes || strings.Count(p, "/") >= maxSegments:
		return "path-too-long", "is longer than 1024 bytes or 32 segments"
	}
	first, _, _ := strings.Cut(p, "/")
	if folded := foldPath(first); folded == manifest.ReservedPages || folded == manifest.ReservedPreview {
		return "path-reserved", `lies under "` + folded + `", which the platform keeps for itself`
	}
	for segment := range strings.SplitSeq(p, "/") {
		switch {
		case len(segment) > maxSegmentBytes:
			return "path-too-long", "has a segment longer than 255 bytes"
		case windowsName.MatchString(segment):
			return "path-windows-name", "has a name in it that Windows keeps for devices"
		case strings.HasPrefix(segment, " ") || strings.HasSuffix(segment, " ") || strings.HasSuffix(segment, "."):
			return "path-trailing", "has a segment that starts or ends in a space, or ends in a dot"
		}
	}
	return "", ""
}

// invisible characters are controls and the format characters that hide or
// reorder others.
func invisible(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// composed is the path in Unicode normalization form C.
func composed(p string) string { return norm.NFC.String(p) }

// foldPath is equal for paths that a file system may take for one.
func foldPath(p string) string {
	if isASCII(p) {
		return strings.ToLower(p)
	}
	return norm.NFC.String(cases.Fold().String(p))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// secretName reports whether files of this name usually hold keys or data that
// nobody means to publish.
func secretName(name string) bool {
	name = strings.ToLower(name)
	switch path.Ext(name) {
	case ".pem", ".key", ".p12", ".pfx", ".db":
		return true
	}
	for _, prefix := range []string{".env", ".dev.vars", ".npmrc", ".netrc", "id_rsa", "id_ed25519"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.Contains(name, ".sqlite")
}
