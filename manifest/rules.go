package manifest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// This file holds the rules of the manifest beside those of its routes.

// checkPaths holds "entry", "assets" and "migrations" to paths relative to the bundle root.
func (d *document) checkPaths() {
	for _, p := range [...]pointer{"/entry", "/assets", "/bindings/database/migrations"} {
		s, ok := d.str(p)
		if !ok {
			continue
		}
		if code, why, fix := pathFault(s); code != "" {
			d.refuse(code, p, fmt.Sprintf("%s %s: %s", p.label(), why, quote(s)), fix)
		}
	}
}

// pathFault is what keeps a string from being a path inside the bundle, "" when nothing does.
func pathFault(s string) (code, why, fix string) {
	switch {
	case hasScheme(s) && strings.Contains(s, "://"):
		return codePathAbsolute, "is a full address", "write the path of a file of the site, relative to the folder of " + FileName
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "~/"), hasScheme(s):
		return codePathAbsolute, "is an absolute path", "write it relative to the folder of " + FileName
	case strings.Contains(s, `\`):
		fix = "separate folders with /"
		if slashed := strings.ReplaceAll(s, `\`, "/"); isPath(slashed) {
			fix = "write " + literal(slashed)
		}
		return codePathInvalid, "has a backslash", fix
	case strings.ContainsFunc(s, isControl):
		return codePathInvalid, "has a control character", "remove it"
	case !slices.Contains(strings.Split(s, "/"), ".."):
		return "", "", ""
	}
	fix = "the site's files must be inside the folder of " + FileName
	if clean := path.Clean(s); clean != ".." && !strings.HasPrefix(clean, "../") && isPath(clean) {
		fix = "write " + literal(clean)
	}
	return codePathEscape, `has a ".." segment`, fix
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
func (d *document) checkRuntime() {
	seen := map[string]bool{}
	for _, f := range d.strings("/runtime/compatibilityFlags") {
		if seen[f.text] {
			d.warn(codeFlagDuplicate, f.at, fmt.Sprintf("the flag %s is listed twice", quote(f.text)), "remove one of them")
		}
		seen[f.text] = true
	}
	const at = pointer("/runtime/compatibilityDate")
	if date, ok := d.str(at); ok && date <= PinDate {
		msg := fmt.Sprintf("compatibilityDate %s is ignored: it is not newer than the platform's own, %s", quote(date), PinDate)
		d.warn(codeDateIgnored, at, msg, "remove it, or set a later date")
	}
}

// checkEnvironment looks at the names the Worker will find in its environment.
func (d *document) checkEnvironment() {
	const secrets = pointer("/bindings/secrets")
	taken := map[string]located{}
	for _, b := range d.environment() {
		if owner, clash := taken[b.text]; clash && !looksLikeSecret(b.text) {
			msg, fix := fmt.Sprintf("%s is the environment name of %s already", quote(b.text), owner.owner()), "give each its own name"
			if list, _ := owner.at.parent(); list == secrets {
				fix = "remove one of them"
			}
			d.warn(codeEnvClash, b.at, msg, fix)
			continue
		}
		taken[b.text] = b
	}
	for i, n := range d.root.resolve(secrets).list() {
		if at := secrets.index(i); looksLikeSecret(n.str()) {
			d.warn(codeSecretPasted, at, at.label()+" looks like a secret's value, not its name",
				"write the name the Worker reads, set the value on the site, and replace the value: it was in a file")
		}
	}
	const submissions = pointer("/bindings/submissions")
	if _, ok := d.str(submissions); ok && !d.has("/bindings/database") {
		d.warn(codeSubmissions, submissions, "submissions names a table, but the site has no database", `declare "bindings.database"`)
	}
}

// environment lists the names of the Worker's environment, those nobody can rename first.
func (d *document) environment() []located {
	var list []located
	if d.has("/bindings/database") {
		list = append(list, located{"/bindings/database", DatabaseName})
	}
	if access, ok := d.str("/bindings/projectDatabase"); ok && ProjectAccess(access) != ProjectNone {
		list = append(list, located{"/bindings/projectDatabase", ProjectDatabaseName})
	}
	if n := d.root.path("bindings", "images"); n != nil && n.text == "true" {
		list = append(list, located{"/bindings/images", ImagesName})
	}
	if d.has("/assets") {
		list = append(list, located{"/assets", AssetsName})
	}
	list = append(list, d.named("/bindings/storage", DefaultStorageName)...)
	list = append(list, d.named("/bindings/kv", DefaultKVName)...)
	return append(list, d.strings("/bindings/secrets")...)
}

// owner is how messages name the binding that has a name.
func (l located) owner() string {
	parent, last := l.at.parent()
	if last == "name" {
		return parent.label()
	}
	return l.at.label()
}

// named returns the name of a binding that can be renamed, if it is declared.
func (d *document) named(p pointer, def string) []located {
	if !d.has(p) {
		return nil
	}
	if name, ok := d.str(p.key("name")); ok {
		return []located{{p.key("name"), name}}
	}
	return []located{{p, def}}
}

// checkForms warns of forms declared twice.
func (d *document) checkForms() {
	first := map[string]pointer{}
	for _, p := range d.objects("/forms") {
		at := p.key("name")
		name, ok := d.str(at)
		if !ok {
			continue
		}
		if before, twice := first[name]; twice {
			line, _ := d.lines.at(d.at(before).start)
			d.warn(codeFormDuplicate, at, fmt.Sprintf("the form %s is declared on line %d already, and its event there is the one raised", quote(name), line), "remove one of them")
			continue
		}
		first[name] = at
	}
}

// nameFix is a form's name with its letters lowered and what cannot stand there replaced, "" if that is none.
func nameFix(s string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		case r == ' ', r == '.', r == '/':
			return '-'
		default:
			return -1
		}
	}, strings.ToLower(strings.TrimSpace(s)))
	if name == "" {
		return ""
	}
	return "write " + literal(name)
}

// eventFix proposes an event near the one that was refused.
func eventFix(s string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
			return r
		case r == '-', r == ' ', r == '.', r == ':':
			return '_'
		default:
			return -1
		}
	}, strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), "custom"))
	name = strings.TrimLeft(name, "0123456789_")
	if name == "" || len("custom.")+len(name) > maxEvent {
		return `start it with "custom.", and go on with a name that starts with a letter`
	}
	return "write " + literal("custom."+name)
}
