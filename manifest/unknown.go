package manifest

import (
	"fmt"
	"slices"
	"strconv"
)

// This file explains keys the manifest does not have.

// explainUnknownKey reports a key at the key itself, with the object's pointer.
func (d *document) explainUnknownKey(p pointer, n *node, key string) {
	var at span
	if i, ok := n.find(key); ok {
		at = n.members[i.first].at
	}
	switch key {
	case "$schema":
		d.add(Error, codeSchemaKey, p, at, `the platform refuses the key "$schema"`,
			"remove it: pages init --editor NAME lets the editor map the schema to "+FileName)
	case "stagedMigrationsPrefix":
		d.add(Error, codeStagedPrefix, p, at, `"stagedMigrationsPrefix" is written by the platform only`, "remove it")
	default:
		msg := fmt.Sprintf("%s has no key %s", objectName(p), quote(key))
		d.add(Error, codeUnknownKey, p, at, msg, unknownKeyFix(p, n, key))
	}
}

// objectName is how messages name an object by its pointer.
func objectName(p pointer) string {
	switch p.kind() {
	case "":
		return "the manifest"
	case "/routes/*":
		return "a route"
	case "/forms/*":
		return "a form"
	default:
		_, last := p.parent()
		return `"` + last + `"`
	}
}

// unknownKeyFix names the key that was meant: this manifest's word for what another tool's config calls so,
// a near one of the same object, or the same one elsewhere in the manifest. Keys that are there already are not
// what was meant.
func unknownKeyFix(p pointer, n *node, key string) string {
	if fix, ok := foreignKey(key); ok && p == "" {
		for _, known := range n.members {
			if fix == "did you mean "+strconv.Quote(known.key)+"?" {
				return "remove it: " + strconv.Quote(known.key) + " is there already"
			}
		}
		return fix
	}
	root := described()
	absent := slices.DeleteFunc(root.at(p).keys(), func(k string) bool { return n.get(k) != nil })
	if fix := didYouMean(key, absent); fix != "" {
		return fix
	}
	if required := root.at(p).missing(n); len(required) == 1 && namesThePath(key) {
		return fmt.Sprintf("did you mean %q?", required[0])
	}
	if elsewhere := root.find(key); len(elsewhere) == 1 {
		return fmt.Sprintf("did you mean %q?", elsewhere[0])
	}
	return "remove it"
}

// namesThePath reports whether other tools call the pattern of a route so.
func namesThePath(key string) bool {
	return slices.Contains([]string{"path", "route", "src", "source", "url", "match", "glob", "from"}, key)
}

// foreignKey translates top-level keys of other tools' configs.
func foreignKey(key string) (fix string, ok bool) {
	switch key {
	case "main", "entrypoint", "entryPoint", "worker", "script":
		return `did you mean "entry"?`, true
	case "public", "static", "dist", "directory", "outputDirectory":
		return `did you mean "assets"?`, true
	case "compatibility_date":
		return `did you mean "runtime.compatibilityDate"?`, true
	case "compatibility_flags":
		return `did you mean "runtime.compatibilityFlags"?`, true
	case "d1_databases":
		return `did you mean "bindings.database"?`, true
	case "kv_namespaces":
		return `did you mean "bindings.kv"?`, true
	case "r2_buckets":
		return `did you mean "bindings.storage"?`, true
	case "vars":
		return `remove it: declare names in "bindings.secrets" and set their values on the site`, true
	case "name", "account_id", "workers_dev":
		return "remove it: the site is chosen when it is deployed", true
	default:
		return "", false
	}
}
