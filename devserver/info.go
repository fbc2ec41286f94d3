package devserver

import (
	"cmp"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/limits"
)

// Info describes a site on the dashboard, in addition to its traffic.
type Info struct {
	// Name is usually the name of the folder.
	Name string `json:"name"`
	// Dir is the site's folder.
	Dir      string    `json:"dir,omitempty"`
	Routes   []Route   `json:"routes"`
	Bindings []Binding `json:"bindings"`
	Limits   []Limit   `json:"limits"`
	Forms    []Form    `json:"forms"`
	Flags    []string  `json:"flags"`
	// Engine names the engine of the Worker: "built-in", or another one with its version.
	Engine string `json:"engine,omitempty"`
}

// Route is one line of the route table.
type Route struct {
	Pattern string `json:"pattern"`
	Access  string `json:"access"`
	// Target is "worker" or "static".
	Target string `json:"target"`
}

// Binding is one binding in the Worker's env.
type Binding struct {
	Name string `json:"name"` // "DB"
	Kind string `json:"kind"` // "database"
	// Detail is a location or a problem: ".pages/state/site.db". Never a secret's value.
	Detail string `json:"detail,omitempty"`
}

// Limit is one bound on each request of the Worker.
type Limit struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Form is a form whose leads raise their own event.
type Form struct {
	Name  string `json:"name"`
	Event string `json:"event"`
}

func orEmpty[T any](some []T) []T {
	if some == nil {
		return []T{}
	}
	return some
}

// Describe returns the Info of a manifest. It names bindings as the platform does by default (DB, PROJECT_DB, IMAGES,
// ASSETS), since a manifest names only the bucket and the key-value namespace.
func Describe(m *manifest.Manifest) Info {
	var info Info
	if m == nil {
		return info.withLists()
	}
	target := "static"
	if m.Entry != "" {
		target = "worker"
		for _, l := range limits.All() {
			if n := l.Of(m.Limits); n > 0 {
				info.Limits = append(info.Limits, Limit{Name: l.Title, Value: l.Amount(n)})
			}
		}
	}
	for _, r := range m.Routes {
		access := cmp.Or(r.Access, manifest.Public)
		info.Routes = append(info.Routes, Route{Pattern: r.Pattern, Access: string(access), Target: target})
	}
	info.Bindings = bindings(m)
	for _, f := range m.Forms {
		info.Forms = append(info.Forms, Form{Name: f.Name, Event: f.Event})
	}
	info.Flags = m.Runtime.CompatibilityFlags
	return info.withLists()
}

// withLists makes missing lists empty: JSON has [] for them, never null.
func (i Info) withLists() Info {
	i.Routes = orEmpty(i.Routes)
	i.Bindings = orEmpty(i.Bindings)
	i.Limits = orEmpty(i.Limits)
	i.Forms = orEmpty(i.Forms)
	i.Flags = orEmpty(i.Flags)
	return i
}

func bindings(m *manifest.Manifest) []Binding {
	var out []Binding
	add := func(name, kind, detail string) { out = append(out, Binding{Name: name, Kind: kind, Detail: detail}) }
	b := m.Bindings
	if b.Database != nil {
		detail := strings.Join(b.Database.Tables, ", ")
		if detail != "" {
			detail = "tables " + detail
		}
		add(manifest.DatabaseName, "database", detail)
	}
	if b.ProjectDatabase != "" && b.ProjectDatabase != manifest.ProjectNone {
		add(manifest.ProjectDatabaseName, "project database", string(b.ProjectDatabase))
	}
	if b.Storage != nil {
		add(b.Storage.Name, "storage", "")
	}
	if b.KV != nil {
		add(b.KV.Name, "key-value", "")
	}
	if b.Images {
		add(manifest.ImagesName, "images", "")
	}
	if m.Assets != "" {
		add(manifest.AssetsName, "assets", m.Assets)
	}
	for _, name := range b.Secrets {
		add(name, "secret", "")
	}
	if b.Submissions != "" {
		add(b.Submissions, "submissions table", "")
	}
	return out
}
