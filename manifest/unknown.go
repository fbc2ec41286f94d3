package manifest

import (
	"cmp"
	"fmt"
)

// This file explains keys the manifest does not have.

// explainUnknownKey reports a key at the key itself, with the object's pointer.
func (d *document) explainUnknownKey(p pointer, n *node, key string) {
	var at span
	for _, m := range n.members {
		if m.key == key {
			at = m.at
			break
		}
	}
	switch key {
	case "$schema":
		d.add(Error, codeSchemaKey, p, at, `the platform refuses the key "$schema"`,
			"remove it and let the editor map the schema to "+FileName+": pages init --editor vscode")
	case "stagedMigrationsPrefix":
		d.add(Error, codeStagedPrefix, p, at, `"stagedMigrationsPrefix" is written by the platform only`, "remove it")
	default:
		msg := fmt.Sprintf("%s has no key %s", objectName(p), quote(key))
		d.add(Error, codeUnknownKey, p, at, msg, unknownKeyFix(p, key))
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

// unknownKeyFix names the key that was meant: a near one of the same object, the same one elsewhere in the
// manifest, or this manifest's word for what another tool's config calls so.
func unknownKeyFix(p pointer, key string) string {
	root := described()
	here := root.at(p)
	if elsewhere := root.find(key); elsewhere != "" {
		return cmp.Or(didYouMean(key, here.keys()), fmt.Sprintf("did you mean %q?", elsewhere))
	}
	if p == "" {
		if fix, ok := foreignKey(key); ok {
			return fix
		}
	}
	return cmp.Or(didYouMean(key, here.keys()), "remove it")
}

// foreignKey translates top-level keys of wrangler's config.
func foreignKey(key string) (fix string, ok bool) {
	switch key {
	case "main":
		return `did you mean "entry"?`, true
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
