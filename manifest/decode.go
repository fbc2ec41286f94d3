package manifest

import "github.com/pages-toolchain/pages/manifest/limits"

// decode turns an accepted document into a Manifest with every default filled in.
func decode(root *node) *Manifest {
	m := &Manifest{
		Entry:    cleanPath(root.get("entry").str()),
		Assets:   cleanPath(root.get("assets").str()),
		Bindings: decodeBindings(root.get("bindings")),
		Limits:   decodeLimits(root.get("limits")),
		Runtime: Runtime{
			CompatibilityFlags: decodeStrings(root.path("runtime", "compatibilityFlags")),
			CompatibilityDate:  root.path("runtime", "compatibilityDate").str(),
		},
	}
	for _, r := range root.get("routes").list() {
		access := Access(r.get("access").str())
		if access == "" {
			access = Public
		}
		m.Routes = append(m.Routes, Route{Pattern: r.get("pattern").str(), Access: access})
	}
	for _, f := range root.get("forms").list() {
		m.Forms = append(m.Forms, Form{Name: f.get("name").str(), Event: f.get("event").str()})
	}
	return m
}

func decodeBindings(n *node) Bindings {
	b := Bindings{
		ProjectDatabase: ProjectAccess(n.get("projectDatabase").str()),
		Secrets:         decodeStrings(n.get("secrets")),
		Submissions:     n.get("submissions").str(),
	}
	if b.ProjectDatabase == "" {
		b.ProjectDatabase = ProjectNone
	}
	if images := n.get("images"); images != nil {
		b.Images = images.text == "true"
	}
	if db := n.get("database"); db != nil {
		b.Database = &Database{
			Migrations: cleanPath(db.get("migrations").str()),
			Tables:     decodeStrings(db.get("tables")),
		}
	}
	if s := n.get("storage"); s != nil {
		b.Storage = &Storage{Name: decodeName(s, DefaultStorageName)}
	}
	if kv := n.get("kv"); kv != nil {
		b.KV = &KV{Name: decodeName(kv, DefaultKVName)}
	}
	return b
}

func decodeName(n *node, def string) string {
	if s := n.get("name").str(); s != "" {
		return s
	}
	return def
}

func decodeLimits(n *node) Limits {
	var all Limits
	for _, l := range limits.All() {
		l.Set(&all, l.Default)
		if i, ok := n.get(l.Key).integer(); ok {
			l.Set(&all, int(i))
		}
	}
	return all
}

func decodeStrings(n *node) []string {
	var list []string
	for _, item := range n.list() {
		list = append(list, item.str())
	}
	return list
}
