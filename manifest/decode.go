package manifest

import (
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// decode turns an accepted document into a Manifest with every default filled in.
func decode(root *jsontree.Node) *Manifest {
	m := &Manifest{
		Entry:    sitepath.CleanPath(root.Get("entry").Str()),
		Assets:   sitepath.CleanPath(root.Get("assets").Str()),
		Bindings: decodeBindings(root.Get("bindings")),
		Limits:   decodeLimits(root.Get("limits")),
		Runtime: Runtime{
			CompatibilityFlags: decodeStrings(root.Path("runtime", "compatibilityFlags")),
			CompatibilityDate:  root.Path("runtime", "compatibilityDate").Str(),
		},
	}
	for _, r := range root.Get("routes").List() {
		access := Access(r.Get("access").Str())
		if access == "" {
			access = Public
		}
		m.Routes = append(m.Routes, Route{Pattern: r.Get("pattern").Str(), Access: access})
	}
	for _, f := range root.Get("forms").List() {
		m.Forms = append(m.Forms, Form{Name: f.Get("name").Str(), Event: f.Get("event").Str()})
	}
	return m
}

func decodeBindings(n *jsontree.Node) Bindings {
	b := Bindings{
		ProjectDatabase: ProjectAccess(n.Get("projectDatabase").Str()),
		Secrets:         decodeStrings(n.Get("secrets")),
		Submissions:     n.Get("submissions").Str(),
	}
	if b.ProjectDatabase == "" {
		b.ProjectDatabase = ProjectNone
	}
	if images := n.Get("images"); images != nil {
		b.Images = images.Text == "true"
	}
	if db := n.Get("database"); db != nil {
		b.Database = &Database{
			Migrations: sitepath.CleanPath(db.Get("migrations").Str()),
			Tables:     decodeStrings(db.Get("tables")),
		}
	}
	if s := n.Get("storage"); s != nil {
		b.Storage = &Storage{Name: decodeName(s, DefaultStorageName)}
	}
	if kv := n.Get("kv"); kv != nil {
		b.KV = &KV{Name: decodeName(kv, DefaultKVName)}
	}
	return b
}

func decodeName(n *jsontree.Node, def string) string {
	if s := n.Get("name").Str(); s != "" {
		return s
	}
	return def
}

func decodeLimits(n *jsontree.Node) Limits {
	var all Limits
	for _, l := range limits.All() {
		l.Set(&all, l.Default)
		if i, ok := n.Get(l.Key).Integer(); ok {
			l.Set(&all, int(i))
		}
	}
	return all
}

func decodeStrings(n *jsontree.Node) []string {
	var list []string
	for _, item := range n.List() {
		list = append(list, item.Str())
	}
	return list
}
