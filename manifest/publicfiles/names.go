package publicfiles

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// The rules for the names of public files and migrations are those of the upload, which refuses names that some file system,
// URL or archive would read differently. The platform document gives none.

var (
	secretFile = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`(?i)^(\.env|\.env\..*|\.dev\.vars.*|\.npmrc|\.netrc|\.git|\.ssh|.*\.(pem|key|p12|pfx)|id_rsa.*|id_ed25519.*)$`,
		)
	})
	windowsName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$) *(\.|$)`)
	})
)

// Names checks the names of one site's public files against the rules and against each other. The zero value is ready; it
// is not safe for concurrent use.
type Names struct {
	served map[string]string // folded path -> file
}

// Check adds the next public file: its name relative to the bundle root, and its path on the site, in form C and
// without a leading slash. It returns the error, and true, when the file cannot be served.
func (n *Names) Check(file, path string) (diagnostic.Diagnostic, bool) {
	code, reason := nameFault(path)
	if code == "" && long(file) { // with the folder it is in
		code, reason = diagnostic.CodeNameLong, reasonLong
	}
	if code != "" {
		return diagnostic.FileError(code, file, "rename it", "%q cannot be served: its path %s", file, reason), true
	}
	folded := FoldName(path)
	if other, ok := n.served[folded]; ok {
		first, second := sourcetext.QuoteBoth(other, file)
		return diagnostic.FileError(diagnostic.CodeNameCollision, file, "rename one of them",
			"%s and %s differ only in case or in the encoding of accents, and are the same file on many systems", first, second), true
	}
	if n.served == nil {
		n.served = map[string]string{}
	}
	n.served[folded] = file
	return diagnostic.Diagnostic{}, false
}

// UploadFault returns the code and the reason of the first rule that a file's name breaks; "" and "" when it breaks none. It
// is for files that are sent under their own name and never served, such as migrations. file is the whole name, relative to
// the bundle root.
func UploadFault(file string) (code, reason string) {
	name := path.Base(file)
	code, reason = nameFault(name)
	switch {
	case code != "":
	case !norm.NFC.IsNormalString(name):
		return diagnostic.CodeNameNFC, "is not in Unicode form C"
	case SecretName(name):
		return diagnostic.CodeNameSecret, "is a usual name of a file with secrets"
	case long(file):
		return diagnostic.CodeNameLong, reasonLong
	}
	return code, reason
}

// FolderFault returns the reason why no file of a folder can be uploaded, since each path begins with the folder's; "" when
// they can.
func FolderFault(dir string) string {
	first, _, _ := strings.Cut(dir, "/")
	switch {
	case dir == ".":
		return ""
	case !norm.NFC.IsNormalString(dir):
		return "is not in Unicode form C"
	case strings.EqualFold(first, ".pages"):
		return "is the folder of the local state"
	case anySegment(dir, SecretName):
		return "has a name in it that is usual for secrets"
	}
	_, reason := nameFault(dir)
	return reason
}

// nameFault returns the first rule that a path breaks, in the order of the upload's rules; "" and "" when it breaks none.
func nameFault(p string) (code, reason string) {
	if plainName(p) {
		return "", ""
	}
	return slowNameFault(p)
}

func slowNameFault(p string) (code, reason string) {
	switch {
	case !utf8.ValidString(p) || strings.ContainsRune(p, utf8.RuneError):
		return diagnostic.CodeNameUTF8, "is not valid UTF-8"
	case strings.ContainsRune(p, 0):
		return diagnostic.CodeNameNUL, "has a NUL in it"
	case strings.ContainsFunc(p, diagnostic.Invisible):
		return diagnostic.CodeNameControl, "has an invisible or control character in it"
	case strings.Contains(p, `\`):
		return diagnostic.CodeNameBackslash, "has a backslash in it"
	case reservedName(p) != "":
		return diagnostic.CodeNameReserved, `lies under "` + reservedName(p) + `", which the platform reserves`
	case anySegment(p, WindowsDevice):
		return diagnostic.CodeNameDevice, "has a name in it that Windows reserves for a device"
	case strings.ContainsAny(p, `<>:"|?*`):
		return diagnostic.CodeNameWindows, "has a character in it that Windows refuses in names"
	case anySegment(p, func(s string) bool { return strings.Trim(s, " ") != s || strings.HasSuffix(s, ".") }):
		return diagnostic.CodeNameTrailing, "has a segment that starts or ends in a space, or ends in a dot"
	case sitepath.PercentEncoded.MatchString(p):
		return diagnostic.CodeNameEncoded, "looks percent-encoded"
	case strings.Contains(p, "#"):
		return diagnostic.CodeNameURL, `has "#" in it, which ends a path in a URL`
	case long(p):
		return diagnostic.CodeNameLong, reasonLong
	case anySegment(p, func(s string) bool { return len(s) > limits.MaxSegmentBytes }):
		return diagnostic.CodeNameLong, fmt.Sprintf("has a segment longer than %d bytes", limits.MaxSegmentBytes)
	}
	return "", ""
}

var reasonLong = fmt.Sprintf("is longer than %d bytes or %d segments", limits.MaxPathBytes, limits.MaxPathSegments)

// long reports whether a path is over the limits of a whole one in form C.
func long(p string) bool {
	return (len(p) > limits.MaxPathBytes && len(norm.NFC.String(p)) > limits.MaxPathBytes) ||
		strings.Count(p, "/") >= limits.MaxPathSegments
}

// SecretName reports whether a segment of a path is a usual name of files with secrets, which uploads refuse.
func SecretName(segment string) bool { return secretFile().MatchString(segment) }

// plainName reports whether a path is of the usual kind, which breaks no rule: letters, digits and "-_." of ASCII, no dot at
// the end of a segment, no reserved name.
func plainName(p string) bool {
	if p == "" || p[0] == '_' || len(p) > limits.MaxSegmentBytes || strings.Count(p, "/") >= limits.MaxPathSegments {
		return false
	}
	from := 0 // start of the segment
	for i := range len(p) {
		switch c := p[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		case c == '/' && plainSegment(p[from:i]):
			from = i + 1
		default:
			return false
		}
	}
	return plainSegment(p[from:])
}

// plainSegment reports whether a segment neither ends in a dot nor is the name of a device.
func plainSegment(s string) bool {
	return s != "" && s[len(s)-1] != '.' && !WindowsDevice(s)
}

// WindowsDevice reports whether a segment of a path is a name that Windows keeps for devices, with anything after its first
// dot and the spaces before that.
func WindowsDevice(segment string) bool {
	const starts = "con prn aux nul com lpt"
	return len(segment) >= 3 && strings.Contains(starts, strings.ToLower(segment[:3])) && windowsName().MatchString(segment)
}

// reservedName returns the platform's own folder above a path, "" for none.
func reservedName(p string) string {
	first, _, _ := strings.Cut(p, "/")
	if folded := FoldName(first); folded == sitepath.ReservedPages || folded == sitepath.ReservedPreview {
		return folded
	}
	return ""
}

func anySegment(p string, is func(string) bool) bool {
	for segment := range strings.SplitSeq(p, "/") {
		if is(segment) {
			return true
		}
	}
	return false
}

// FoldName returns the same text for paths that a file system may treat as equal: paths that differ only in case or
// in the encoding of accents.
func FoldName(p string) string {
	if !strings.ContainsFunc(p, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(p)
	}
	return norm.NFC.String(cases.Fold().String(p))
}
