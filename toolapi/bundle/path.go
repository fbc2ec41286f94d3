package bundle

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/migrationfiles"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/toolapi"
)

// Codes of the path rules. They refuse a path that some file system, URL or archive would read
// differently. For a path that breaks several rules, the first code counts, in the order of the
// constants: down the left column of the protocol's table, then down the right one. A drive letter
// is in both, and counts as path_windows_char.
const (
	CodeNotUTF8     = "path_not_utf8"
	CodeEmpty       = "path_empty"
	CodeNUL         = "path_nul"
	CodeControl     = "path_control"
	CodeBackslash   = "path_backslash"
	CodeAbsolute    = "path_absolute"
	CodeTraversal   = "path_traversal"
	CodeNotNFC      = "path_not_nfc"
	CodeReserved    = "path_reserved"
	CodeSecret      = "path_secret"
	CodeWindowsName = "path_windows_name"
	CodeWindowsChar = "path_windows_char"
	CodeTrailing    = "path_trailing"
	CodeEncoded     = "path_encoded"
	CodeURLChar     = "path_url_char"
	CodeTooLong     = "path_too_long"
	CodeCollision   = "path_collision"
	CodeConflict    = "path_conflict"
)

// rules are the rules for a single path.
var rules = []struct {
	code   string
	broken func(string) bool
	reason string
}{
	{CodeNotUTF8, func(p string) bool { return !utf8.ValidString(p) || strings.ContainsRune(p, utf8.RuneError) }, "is not valid UTF-8"},
	{CodeEmpty, func(p string) bool {
		return p == "" || strings.HasSuffix(p, "/") || strings.Contains(strings.TrimLeft(p, "/"), "//")
	}, "is empty, or has an empty segment"},
	{CodeNUL, func(p string) bool { return strings.ContainsRune(p, 0) }, "has a NUL in it"},
	{CodeControl, func(p string) bool { // including direction marks and zero-width characters
		return strings.ContainsFunc(p, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) })
	}, "has an invisible or control character in it"},
	{CodeBackslash, func(p string) bool { return strings.Contains(p, `\`) }, "has a backslash in it"},
	{CodeAbsolute, func(p string) bool {
		return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~/")
	}, "is not relative to the bundle root"},
	{CodeTraversal, anySegment(func(s string) bool { return s == "." || s == ".." }), `has a segment "." or ".."`},
	{CodeNotNFC, func(p string) bool { return !norm.NFC.IsNormalString(p) }, "is not in Unicode normalization form C"},
	{CodeReserved, isReserved, "is reserved for the platform"},
	{CodeSecret, anySegment(publicfiles.SecretName), "is a usual name of a file with secrets"},
	{CodeWindowsName, anySegment(publicfiles.WindowsDevice), "has a name in it that Windows reserves for a device"},
	{CodeWindowsChar, func(p string) bool {
		return strings.ContainsAny(p, `<>:"|?*`)
	}, "has a character in it that Windows refuses in names"},
	{CodeTrailing, anySegment(func(s string) bool {
		return strings.HasPrefix(s, " ") || strings.HasSuffix(s, " ") || strings.HasSuffix(s, ".")
	}), "has a segment that starts or ends in a space, or ends in a dot"},
	{CodeEncoded, regexp.MustCompile(`%[0-9A-Fa-f]{2}`).MatchString, "looks percent-encoded"},
	{CodeURLChar, func(p string) bool { return strings.ContainsAny(p, "#?") }, `has "#" or "?" in it, which end a path in a URL`},
	{CodeTooLong, func(p string) bool {
		return len(p) > limits.MaxPathBytes || strings.Count(p, "/") >= limits.MaxPathSegments ||
			anySegment(func(s string) bool { return len(s) > limits.MaxSegmentBytes })(p)
	}, fmt.Sprintf("is longer than %d bytes, %d segments or %d bytes per segment",
		limits.MaxPathBytes, limits.MaxPathSegments, limits.MaxSegmentBytes)},
}

func anySegment(is func(string) bool) func(string) bool {
	return func(p string) bool {
		for segment := range strings.SplitSeq(p, "/") {
			if is(segment) {
				return true
			}
		}
		return false
	}
}

// isReserved reports whether a path belongs to the platform, in any case.
func isReserved(p string) bool {
	first, _, below := strings.Cut(strings.ToLower(p), "/")
	return !below && first == manifest.FileName ||
		first == sitepath.ReservedPreview || first == sitepath.ReservedPages || first == ".pages"
}

// CheckPath checks a path by itself. The error is a *FaultError.
func CheckPath(p string) error {
	if isPlain(p) {
		return nil
	}
	for _, r := range rules {
		if r.broken(p) {
			return fault(r.code, p, "The path %s %s.", quote(p), r.reason)
		}
	}
	return nil
}

// isPlain reports whether a path has the usual form, which breaks no rule: segments of letters,
// digits, "_" and "-", with single dots between them, and no forbidden name.
func isPlain(p string) bool {
	if p == "" || len(p) > limits.MaxSegmentBytes || strings.Count(p, "/") >= limits.MaxPathSegments {
		return false
	}
	before := byte('/')
	for i := range len(p) {
		c := p[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-':
		case c == '_', c == '.', c == '/':
			if before == '/' || before == '.' {
				return false
			}
		default:
			return false
		}
		before = c
	}
	if before == '/' || before == '.' {
		return false
	}
	for s := range strings.SplitSeq(strings.ToLower(p), "/") {
		switch {
		case publicfiles.WindowsDevice(s), s == manifest.FileName:
			return false
		case strings.HasPrefix(s, "id_"), slices.Contains([]string{".pem", ".key", ".p12", ".pfx"}, path.Ext(s)):
			if publicfiles.SecretName(s) {
				return false
			}
		}
	}
	return true
}

// checkPaths checks each path of the bundle, and conflicts between them.
func (b *Bundle) checkPaths() error {
	seen := make(map[string]string, len(b.Files)) // folded path -> path
	for _, f := range b.Files {
		if err := CheckPath(f.Path); err != nil {
			return err
		}
		if err := b.checkServed(f.Path); err != nil {
			return err
		}
		folded := publicfiles.FoldName(f.Path)
		if other, ok := seen[folded]; ok {
			return fault(CodeCollision, f.Path, "Many file systems treat the paths %s and %s as the same.", quote(other), quote(f.Path))
		}
		seen[folded] = f.Path
	}
	if err := b.checkMigrations(); err != nil {
		return err
	}
	folders := map[string]bool{} // checked, with all above them
	for folded, name := range seen {
		for dir := path.Dir(folded); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			if other, ok := seen[dir]; ok {
				return fault(CodeConflict, name, "%s cannot be both a file and the folder of %s.", quote(other), quote(name))
			}
			folders[dir] = true
		}
	}
	return nil
}

// checkMigrations applies the rules of every other command to the folder of the migrations.
func (b *Bundle) checkMigrations() error {
	d := b.Manifest.Bindings.Database
	if d == nil || d.Migrations == "" {
		return nil
	}
	dir, entries := path.Clean(d.Migrations), map[string]migrationfiles.Entry{}
	for _, f := range b.Files {
		name, inside := f.Path, dir == "."
		if !inside {
			name, inside = strings.CutPrefix(f.Path, dir+"/")
		}
		if !inside {
			continue
		}
		e := migrationfiles.Entry{Name: name, Size: f.Size}
		if folder, _, below := strings.Cut(name, "/"); below {
			e = migrationfiles.Entry{Name: folder, Type: fs.ModeDir}
		}
		entries[e.Name] = e
	}
	_, found := migrationfiles.Judge(dir, slices.SortedFunc(maps.Values(entries), func(a, b migrationfiles.Entry) int {
		return strings.Compare(a.Name, b.Name)
	}))
	for _, f := range found {
		if err := migrationFault(f); err != nil {
			return err
		}
	}
	return nil
}

// migrationFault returns the refusal of an upload for a finding; nil for a warning. Rules of paths have the codes of the
// upload.
func migrationFault(f migrationfiles.Finding) error {
	if f.Severity != diagnostic.Error {
		return nil
	}
	code := toolapi.CodeManifestInvalid
	switch {
	case f.Code == diagnostic.CodeMigrationTooLarge:
		code = toolapi.CodeFileTooLarge
	case strings.HasPrefix(f.Code, "path_") && f.Code != diagnostic.CodeNotRegular:
		code = f.Code
	}
	at := ""
	if f.Line > 0 {
		at = fmt.Sprintf(", line %d", f.Line)
	}
	return fault(code, f.Path, "The migration %s%s: %s; %s.", quote(f.Path), at, f.Msg, f.Fix)
}

func (b *Bundle) checkServed(name string) error {
	url, ok := b.Manifest.ServedPath(name)
	base := strings.ToLower(path.Base(name))
	switch {
	case !ok:
		return nil
	case b.Manifest.IsSource(name):
		return fault(CodeReserved, name, "The path %s is public, but is the Worker's entry or a migration.", quote(name))
	case isReserved(url) || strings.EqualFold(path.Base(url), manifest.FileName):
		return fault(CodeReserved, name, "The public path %s is reserved for the platform.", quote(name))
	case strings.Contains(base, ".sqlite") || strings.HasSuffix(base, ".db"):
		return fault(CodeSecret, name, "The public path %s is the name of a database.", quote(name))
	}
	return nil
}
