package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// explainUnknownKey reports a key that the manifest does not have, at the key itself, with the object's pointer.
func (d *Document) explainUnknownKey(p jsontree.Pointer, n *jsontree.Node, key string) {
	var at sourcetext.Span
	if i, ok := n.Find(key); ok {
		at = n.Members[i.First].At
	}
	switch key {
	case "$schema":
		d.Add(diagnostic.Error, diagnostic.CodeSchemaKey, p, at, `the platform refuses the key "$schema"`,
			"remove it: pages init --editor NAME lets the editor map the schema to "+FileName)
	case "stagedMigrationsPrefix":
		if p == "/bindings/database" { // the schema knows and forbids the key here
			p = p.Key(key)
		}
		d.Add(diagnostic.Error, diagnostic.CodeStagedPrefix, p, at, `only the platform writes "stagedMigrationsPrefix"`, "remove it")
	default:
		msg := fmt.Sprintf("%s has no key %s", objectName(p), sourcetext.Quote(key))
		d.Add(diagnostic.Error, diagnostic.CodeUnknownKey, p, at, msg, unknownKeyFix(p, n, key))
	}
}

// objectName names an object in messages.
func objectName(p jsontree.Pointer) string {
	switch p.Kind() {
	case "":
		return "the manifest"
	case "/routes/*":
		return "a route"
	case "/forms/*":
		return "a form"
	default:
		_, last := p.Parent()
		return `"` + last + `"`
	}
}

// unknownKeyFix proposes a key: the manifest's word for another tool's, a near one of the same object, or the same one
// elsewhere in the manifest. It never proposes one that the object has.
func unknownKeyFix(p jsontree.Pointer, n *jsontree.Node, key string) string {
	if p.Kind() == "/routes/*" {
		if fix := accessFix(n, key); fix != "" {
			return fix
		}
	}
	if fix := foreignFix(p, key); fix != "" {
		for _, known := range n.Members {
			if fix == "did you mean "+strconv.Quote(known.Key)+"?" {
				return "remove it: " + strconv.Quote(known.Key) + " is already there"
			}
		}
		return fix
	}
	root := described()
	present := func(k string) bool { return n.Get(k) != nil }
	if fix := diagnostic.DidYouMean(key, slices.DeleteFunc(root.at(p).keys(), present)); fix != "" {
		return fix
	}
	pattern := []string{"path", "route", "src", "source", "url", "match", "glob", "from"} // of a route, in other tools
	if missing := slices.DeleteFunc(slices.Clone(root.at(p).Required), present); len(missing) == 1 && slices.Contains(pattern, key) {
		return fmt.Sprintf("did you mean %q?", missing[0])
	}
	if elsewhere := root.find(key); len(elsewhere) == 1 {
		return fmt.Sprintf("did you mean %q?", elsewhere[0])
	}
	return "remove it"
}

// foreignFix is the fix for a key of another tool's configuration, or a beginner's; "" for other keys.
func foreignFix(p jsontree.Pointer, key string) string {
	binding, isSecret := foreignBinding(key)
	switch {
	case p == "" && binding != "":
		return fmt.Sprintf(`did you mean "bindings.%s"?`, binding)
	case p == "/bindings" && binding != "":
		return fmt.Sprintf("did you mean %q?", binding)
	case (p == "" || p == "/bindings") && isSecret:
		return `remove it: declare names in "bindings.secrets" and set their values on the site`
	case (p == "" || p == "/bindings") && otherBindings[key]:
		return "remove it: the platform has no such binding"
	case p == "":
		return foreignTopLevelFix(key)
	case (p == "/bindings/kv" || p == "/bindings/storage") && key == "binding", p.Kind() == "/forms/*" && key == "form":
		return `did you mean "name"?`
	case p == "/bindings/database" && (key == "binding" || key == "name"):
		return "remove it: it is env." + DatabaseName
	default:
		return ""
	}
}

// membersKeys are keys with which other tools and beginners restrict a path to some people, in lower case and without "_" and
// "-".
var membersKeys = map[string]bool{
	"auth": true, "authenticated": true, "authentication": true, "authorization": true, "authorize": true, "authrequired": true,
	"guard": true, "guarded": true, "login": true, "loginrequired": true, "member": true, "members": true, "membersonly": true,
	"permission": true, "permissions": true, "private": true, "protect": true, "protected": true, "requireauth": true,
	"requirelogin": true, "requiremembers": true, "requiresauth": true, "requireslogin": true, "restricted": true, "role": true,
	"roles": true, "secure": true, "secured": true, "session": true, "signedin": true, "signin": true, "users": true,
	"visibility": true,
}

// publicKeys are keys that open a path to everyone.
var publicKeys = map[string]bool{"anonymous": true, "open": true, "public": true}

// saysAccess reports whether a route tries to restrict its visitors by a key other than "access".
func saysAccess(n *jsontree.Node) bool {
	for _, m := range n.Members {
		if accessFix(n, m.Key) != "" {
			return true
		}
	}
	return false
}

// accessFix is the fix for a key of a route that is meant to say who may see it; "" for another key. Removing the key would open the
// paths that it was meant to guard.
func accessFix(n *jsontree.Node, key string) string {
	folded := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
	isMembers, isPublic := membersKeys[folded], publicKeys[folded]
	if !isMembers && !isPublic {
		return ""
	}
	if n.Get("access") != nil {
		return `remove it: "access" already says who may see the route`
	}
	switch v := n.Get(key); {
	case v == nil:
	case v.Kind == jsontree.BoolNode && v.Text == "false", v.Kind == jsontree.NullNode:
		isMembers = !isMembers
	case v.Kind == jsontree.StringNode && (publicKeys[strings.ToLower(v.Text)] || strings.EqualFold(v.Text, "everyone")):
		isMembers = false
	}
	if isMembers {
		return `write "access": "members"`
	}
	return `write "access": "public"`
}

// otherBindings are keys of wrangler's configuration that the platform has no binding for.
var otherBindings = map[string]bool{
	"ai": true, "analytics_engine_datasets": true, "browser": true, "durable_objects": true, "hyperdrive": true, "queues": true,
	"send_email": true, "services": true, "vectorize": true, "workflows": true,
}

// foreignBinding translates other tools' names of bindings. Variables are secrets here.
func foreignBinding(key string) (binding string, isSecret bool) {
	switch strings.ToLower(key) {
	case "db", "d1", "d1_databases", "databases", "sql", "sqlite", "postgres":
		return "database", false
	case "bucket", "buckets", "r2", "r2_bucket", "r2_buckets", "s3", "blob", "blobs":
		return "storage", false
	case "kvs", "kv_namespace", "kv_namespaces", "keyvalue", "key_value":
		return "kv", false
	case "vars", "env", "environment", "variables":
		return "", true
	default:
		return "", false
	}
}

// foreignTopLevelFix is the fix for a top-level key of another tool's configuration.
func foreignTopLevelFix(key string) string {
	switch key {
	case "main", "entrypoint", "entryPoint", "worker", "script":
		return `did you mean "entry"?`
	case "public", "publish", "static", "dist", "directory", "outputDirectory", "outDir", "pages_build_output_dir":
		return `did you mean "assets"?`
	case "compatibility_date":
		return `did you mean "runtime.compatibilityDate"?`
	case "compatibility_flags":
		return `did you mean "runtime.compatibilityFlags"?`
	case "members", "auth", "protected", "private":
		return `list the paths in "routes", such as {"pattern": "/members/*", "access": "members"}`
	case "name", "account_id", "workers_dev":
		return "remove it: you choose the site when you deploy"
	case "hosting":
		return `remove it: "assets" names the folder of the public files`
	case "redirects", "rewrites":
		return `remove it: write redirects into a file "_redirects" in the assets folder`
	case "headers":
		return `remove it: write headers into a file "_headers" in the assets folder`
	case "functions":
		return `remove it: one Worker answers all routes, and "entry" names its file`
	case "build", "buildCommand", "command", "framework", "installCommand":
		return `remove it: build with your framework first, and name its output in "assets" and "entry"`
	case "crons", "triggers":
		return "remove it: the platform has no cron triggers"
	default:
		return ""
	}
}
