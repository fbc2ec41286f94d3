package manifest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// checkPaths holds "entry", "assets" and "migrations" to paths relative to the bundle root.
func (d *Document) checkPaths() {
	for _, p := range [...]jsontree.Pointer{"/entry", "/assets", "/bindings/database/migrations"} {
		s, ok := d.Str(p)
		if !ok {
			continue
		}
		if code, why, fix := pathFault(s); code != "" {
			d.Refuse(code, p, fmt.Sprintf("%s %s: %s", p.Label(), why, sourcetext.Quote(s)), fix)
		}
	}
}

// pathFault returns the fault of a path that is not inside the bundle, "" for a good one.
func pathFault(s string) (code, why, fix string) {
	switch {
	case hasScheme(s) && strings.Contains(s, "://"):
		return diagnostic.CodePathAbsolute, "is a full address",
			"write the path of a file of the site, relative to the folder of " + FileName
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "~/"), hasScheme(s):
		return diagnostic.CodePathAbsolute, "is an absolute path", "write it relative to the folder of " + FileName
	case strings.Contains(s, `\`):
		fix = "separate folders with /"
		if slashed := strings.ReplaceAll(s, `\`, "/"); isPath(slashed) {
			fix = "write " + sourcetext.Literal(slashed)
		}
		return diagnostic.CodePathInvalid, "has a backslash", fix
	case strings.ContainsFunc(s, isControl):
		return diagnostic.CodePathInvalid, "has a control character", "remove it"
	case !slices.Contains(strings.Split(s, "/"), ".."):
		return "", "", ""
	}
	fix = "the site's files must be inside the folder of " + FileName
	if clean := path.Clean(s); clean != ".." && !strings.HasPrefix(clean, "../") && isPath(clean) {
		fix = "write " + sourcetext.Literal(clean)
	}
	return diagnostic.CodePathEscape, `has a ".." segment`, fix
}

func isPath(s string) bool {
	code, _, _ := pathFault(s)
	return code == ""
}

// hasScheme reports whether a path starts with a drive of Windows or the scheme of a URL.
func hasScheme(s string) bool {
	i := strings.IndexByte(s, ':')
	if i < 1 || i+1 == len(s) || s[i+1] != '/' && (i > 1 || s[i+1] != '\\') {
		return false
	}
	for j := range i {
		letter, other := s[j]|0x20 >= 'a' && s[j]|0x20 <= 'z', s[j] >= '0' && s[j] <= '9' || strings.IndexByte("+-.", s[j]) >= 0
		if !letter && (j == 0 || !other) {
			return false
		}
	}
	return true
}

// checkRuntime warns of flags and dates that change nothing.
func (d *Document) checkRuntime() {
	seen := map[string]bool{}
	for _, f := range d.Strings("/runtime/compatibilityFlags") {
		if seen[f.Text] {
			msg := fmt.Sprintf("the flag %s is listed twice", sourcetext.Quote(f.Text))
			d.Warn(diagnostic.CodeFlagDuplicate, f.At, msg, "remove one of them")
		}
		seen[f.Text] = true
	}
	const at = jsontree.Pointer("/runtime/compatibilityDate")
	if date, ok := d.Str(at); ok && date <= PinDate {
		msg := fmt.Sprintf("compatibilityDate %s is ignored: it is not newer than the platform's own, %s", sourcetext.Quote(date), PinDate)
		d.Warn(diagnostic.CodeDateIgnored, at, msg, "remove it, or set a later date")
	}
}

// checkEnvironment checks the names of the Worker's environment.
func (d *Document) checkEnvironment() {
	const secrets = jsontree.Pointer("/bindings/secrets")
	taken := map[string]Located{}
	for _, b := range d.environment() {
		owner, clash := taken[b.Text]
		if !clash || sourcetext.LooksLikeSecret(b.Text) {
			taken[b.Text] = b
			continue
		}
		label, fix := owner.At.Label(), "give each its own name"
		switch parent, last := owner.At.Parent(); {
		case last == "name":
			label = parent.Label()
		case parent == secrets:
			fix = "remove one of them"
		}
		d.Warn(diagnostic.CodeEnvClash, b.At, fmt.Sprintf("%s is already the environment name of %s", sourcetext.Quote(b.Text), label), fix)
	}
	for i, n := range d.Root.Resolve(secrets).List() {
		if at := secrets.Index(i); sourcetext.LooksLikeSecret(n.Str()) {
			d.Warn(diagnostic.CodeSecretPasted, at, at.Label()+" looks like a secret's value, not its name",
				"write the name the Worker reads, set the value on the site, and replace the value, since it was in a file")
		}
	}
	const submissions = jsontree.Pointer("/bindings/submissions")
	if _, ok := d.Str(submissions); ok && !d.Has("/bindings/database") {
		msg := "submissions names a table, but the site has no database"
		d.Warn(diagnostic.CodeSubmissions, submissions, msg, `declare "bindings.database"`)
	}
}

// environment lists the names of the Worker's environment, the fixed ones first.
func (d *Document) environment() []Located {
	var list []Located
	if d.Has("/bindings/database") {
		list = append(list, Located{"/bindings/database", DatabaseName})
	}
	if access, ok := d.Str("/bindings/projectDatabase"); ok && ProjectAccess(access) != ProjectNone {
		list = append(list, Located{"/bindings/projectDatabase", ProjectDatabaseName})
	}
	if n := d.Root.Path("bindings", "images"); n != nil && n.Text == "true" {
		list = append(list, Located{"/bindings/images", ImagesName})
	}
	if d.Has("/assets") {
		list = append(list, Located{"/assets", AssetsName})
	}
	for _, b := range []Located{{"/bindings/storage", DefaultStorageName}, {"/bindings/kv", DefaultKVName}} {
		if !d.Has(b.At) {
			continue
		}
		if name, ok := d.Str(b.At.Key("name")); ok {
			b = Located{b.At.Key("name"), name}
		}
		list = append(list, b)
	}
	return append(list, d.Strings("/bindings/secrets")...)
}

// checkForms warns of forms declared twice.
func (d *Document) checkForms() {
	first := map[string]jsontree.Pointer{}
	for _, p := range d.Objects("/forms") {
		at := p.Key("name")
		name, ok := d.Str(at)
		if !ok {
			continue
		}
		if before, twice := first[name]; twice {
			line, _ := d.lines.At(d.at(before).Start)
			msg := fmt.Sprintf("the form %s is already declared on line %d, and raises the event there",
				sourcetext.Quote(name), line)
			d.Warn(diagnostic.CodeFormDuplicate, at, msg, "remove one of them")
			continue
		}
		first[name] = at
	}
}

// NameFix proposes a form's name in lower case with other characters replaced, "" if nothing is left of it.
func NameFix(s string) string {
	if name := respell(strings.ToLower(strings.TrimSpace(s)), "_-", " ./", '-'); name != "" {
		return "write " + sourcetext.Literal(name)
	}
	return ""
}

// EventFix proposes an event near the one that was refused.
func EventFix(s string) string {
	name := respell(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), "custom"), "_", "- .:", '_')
	name = strings.TrimLeft(name, "0123456789_")
	if name == "" || len("custom.")+len(name) > maxEvent {
		return `start it with "custom.", followed by a name that starts with a letter`
	}
	return "write " + sourcetext.Literal("custom."+name)
}

// respell keeps lowercase letters, digits and the characters of kept, and writes replacement for each of replaced.
func respell(s, kept, replaced string, replacement rune) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', strings.ContainsRune(kept, r):
			return r
		case strings.ContainsRune(replaced, r):
			return replacement
		default:
			return -1
		}
	}, s)
}
