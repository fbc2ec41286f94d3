package manifest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// This file carries the rules for the names of public files and migrations. The platform document gives none:
// they are those of the upload, which refuses what some file system, URL or archive would read differently.

const (
	maxSegmentBytes = 255
	maxPathBytes    = 1024
	maxSegments     = 32
)

//nolint:gochecknoglobals // constants
var (
	percentEncoded = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	windowsName    = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$)(\.|$)`)
)

// AssetNames holds the names of one site's public files against the rules and against each other. The zero
// value is ready; it is not safe for concurrent use.
type AssetNames struct {
	served map[string]string // folded path -> file
}

// Check takes the next public file: its name relative to the bundle root, and the path it is served under, in
// form C and without a leading slash. It returns the error, and true, when the file cannot be served.
func (n *AssetNames) Check(file, path string) (Diagnostic, bool) {
	if code, reason := nameFault(path); code != "" {
		return refusal(code, file, "rename it", "%q cannot be served: its path %s", file, reason), true
	}
	folded := foldPath(path)
	if other, ok := n.served[folded]; ok {
		first, second := apart(other, file)
		return refusal(codeNameCollision, file, "rename one of them",
			"%s and %s differ only in case or accents' encoding, which many file systems take for one", first, second), true
	}
	if n.served == nil {
		n.served = map[string]string{}
	}
	n.served[folded] = file
	return Diagnostic{}, false
}

// CheckMigrationName returns the error, and true, when a file of the migrations folder has a name that no
// bundle can carry. file is the whole name, relative to the bundle root.
func CheckMigrationName(file string) (Diagnostic, bool) {
	code, reason := nameFault(file[strings.LastIndexByte(file, '/')+1:])
	if code == "" {
		return Diagnostic{}, false
	}
	return refusal(code, file, "rename it", "%q cannot be a migration: its name %s", file, reason), true
}

// refusal is an error about a whole file of the bundle.
func refusal(code, file, fix, format string, args ...any) Diagnostic {
	return Diagnostic{Severity: Error, Code: code, File: file, Fix: fix, Message: fmt.Sprintf(format, args...)}
}

// nameFault is the first rule that a path breaks, "" and "" when it breaks none.
func nameFault(p string) (code, reason string) {
	switch {
	case !utf8.ValidString(p) || strings.ContainsRune(p, utf8.RuneError):
		return codeNameUTF8, "is not valid UTF-8"
	case strings.ContainsFunc(p, hides):
		return codeNameControl, "has an invisible or control character in it"
	case strings.Contains(p, `\`):
		return codeNameBackslash, "has a backslash in it"
	case percentEncoded.MatchString(p):
		return codeNameEncoded, "looks percent-encoded"
	case strings.ContainsAny(p, "#?"):
		return codeNameURL, `has "#" or "?" in it, which end a path in a URL`
	case strings.ContainsAny(p, `<>:"|*`):
		return codeNameWindows, "has a character in it that Windows refuses in names"
	case len(p) > maxPathBytes || strings.Count(p, "/") >= maxSegments:
		return codeNameLong, "is longer than 1024 bytes or 32 segments"
	}
	first, _, _ := strings.Cut(p, "/")
	if folded := foldPath(first); folded == ReservedPages || folded == ReservedPreview {
		return codeNameReserved, `lies under "` + folded + `", which the platform keeps for itself`
	}
	for segment := range strings.SplitSeq(p, "/") {
		switch {
		case len(segment) > maxSegmentBytes:
			return codeNameLong, "has a segment longer than 255 bytes"
		case windowsName.MatchString(segment):
			return codeNameDevice, "has a name in it that Windows keeps for devices"
		case strings.HasPrefix(segment, " ") || strings.HasSuffix(segment, " ") || strings.HasSuffix(segment, "."):
			return codeNameTrailing, "has a segment that starts or ends in a space, or ends in a dot"
		}
	}
	return "", ""
}

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
