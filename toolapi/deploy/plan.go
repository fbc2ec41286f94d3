package deploy

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
)

// Plan lists the changes that visitors would see after a publish. Lists are sorted, and
// never null in JSON.
type Plan struct {
	Live           string                  `json:"live_revision"` // "" for none
	Known          bool                    `json:"live_known"`    // false when the service does not know the live revision
	Changes        bool                    `json:"changes"`       // the bundle differs from the live revision
	Added          []Change                `json:"added"`
	Changed        []Change                `json:"changed"`
	Removed        []Change                `json:"removed"`
	Unchanged      int                     `json:"unchanged"`
	Files          int                     `json:"files"`
	Bytes          int64                   `json:"bytes"`
	Access         []manifest.AccessChange `json:"access"`          // paths whose visibility changes
	AccessList     []manifest.Audience     `json:"access_list"`     // the audience of each path, once it is live
	SourceMaps     []string                `json:"source_maps"`     // new public files with the sources of scripts and style sheets
	LostRoutes     []string                `json:"lost_routes"`     // routes that the Worker serves now and would stop serving
	Migrations     []string                `json:"migrations"`      // migrations that the live revision lacks; the database may have some
	Provisions     []string                `json:"provisions"`      // bindings that the first publish makes
	Dropped        []string                `json:"dropped"`         // bindings that the Worker loses; their contents stay
	MissingSecrets []string                `json:"missing_secrets"` // declared, without a value on the site
	Limits         []LimitChange           `json:"limits"`
	Settings       []string                `json:"settings"` // other parts of the manifest that differ
	LeftOut        []sitefile.LeftOut      `json:"left_out"` // files among those of the site that are not served

	DataLoss  []toolapi.DataLoss `json:"data_loss"` // rows and values that the migrations remove
	Rehearsal toolapi.Rehearsal  `json:"rehearsal"` // their run on a copy of the page's database
}

// Change is one file that differs.
type Change struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Was    int64  `json:"was_bytes,omitempty"` // the former size of a changed file
	Served bool   `json:"served,omitempty"`    // of a removed file: it had a path on the site
}

// LimitChange is a limit that differs.
type LimitChange struct {
	Name string `json:"name"`
	Was  int    `json:"was"`
	Now  int    `json:"now"`
}

// Opens reports whether a path becomes public that only members may see now.
func (p *Plan) Opens() bool {
	return slices.ContainsFunc(p.Access, func(a manifest.AccessChange) bool { return a.Now == manifest.Public })
}

// Compare plans a bundle against the live revision.
func Compare(l Live, b Bundle) (Plan, error) {
	now, err := manifest.Accepted(b.Manifest)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{
		Live: l.Revision, Known: l.Known || l.Revision == "", Files: len(b.Files),
		Added: []Change{}, Changed: []Change{}, Removed: []Change{}, Migrations: []string{},
		LeftOut: append([]sitefile.LeftOut{}, b.LeftOut...),
		Access:  []manifest.AccessChange{}, SourceMaps: []string{}, MissingSecrets: []string{},

		DataLoss: []toolapi.DataLoss{}, Rehearsal: toolapi.NewRehearsal(toolapi.RehearsalNotNeeded, ""),
	}
	files := func(yield func(string) bool) {
		for _, f := range b.Files {
			if !yield(f.Path) {
				return
			}
		}
	}
	p.AccessList = manifest.AccessList(now, files)
	if l.Known {
		p.Access = manifest.AccessChanges(&l.Manifest, now, files)
	}
	p.compareFiles(l, b, now)
	p.compareBindings(&l.Manifest, now, l.Known)
	for _, name := range now.Bindings.Secrets {
		if !l.Secrets[name] {
			p.MissingSecrets = append(p.MissingSecrets, name)
		}
	}
	slices.Sort(p.MissingSecrets)
	p.Changes = !p.Known || l.Revision == "" || len(p.Added)+len(p.Changed)+len(p.Removed)+len(p.Settings) > 0
	return p, nil
}

func (p *Plan) compareFiles(l Live, b Bundle, now *manifest.Manifest) {
	left, routes := maps.Clone(l.Files), manifest.NewRouteTable(now.Routes)
	for _, f := range b.Files {
		p.Bytes += f.Size
		was, there := l.Files[f.Path]
		delete(left, f.Path)
		switch {
		case !there:
			p.Added = append(p.Added, Change{Path: f.Path, Bytes: f.Size})
			if now.IsMigration(f.Path) {
				p.Migrations = append(p.Migrations, path.Base(f.Path))
			}
			if path.Ext(f.Path) != ".map" {
				continue
			}
			if at, served := now.PublicPath(f.Path); served && !routes.JudgeFile(at).Gated() {
				p.SourceMaps = append(p.SourceMaps, f.Path)
			}
		case string(was.SHA256) != f.SHA256, was.ContentType != "" && string(was.ContentType) != f.ContentType:
			p.Changed = append(p.Changed, Change{Path: f.Path, Bytes: f.Size, Was: int64(was.Size)})
		default:
			p.Unchanged++
		}
	}
	for _, was := range left {
		_, served := l.Manifest.PublicPath(was.Path)
		p.Removed = append(p.Removed, Change{Path: was.Path, Bytes: int64(was.Size), Served: served})
	}
	slices.SortFunc(p.Removed, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
}

// compareBindings compares the manifests, except for files and their visibility.
func (p *Plan) compareBindings(was, now *manifest.Manifest, known bool) {
	p.Provisions, p.Dropped, p.Limits, p.Settings, p.LostRoutes = []string{}, []string{}, []LimitChange{}, []string{}, []string{}
	if !known {
		was = &manifest.Manifest{}
	}
	before, after := was.Provisions(), now.Provisions()
	for _, name := range after {
		if !slices.Contains(before, name) {
			p.Provisions = append(p.Provisions, name)
		}
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			p.Dropped = append(p.Dropped, name)
		}
	}
	if !known {
		return
	}
	for _, l := range limits.All() {
		if was, now := l.Of(was.Limits), l.Of(now.Limits); was != now {
			p.Limits = append(p.Limits, LimitChange{l.Key, was, now})
		}
	}
	if was.Entry != "" {
		for _, r := range was.Routes {
			if !slices.ContainsFunc(now.Routes, func(n manifest.Route) bool { return n.Pattern == r.Pattern }) || now.Entry == "" {
				p.LostRoutes = append(p.LostRoutes, r.Pattern)
			}
		}
	}
	p.Settings = manifest.Differences(was, now)
}
