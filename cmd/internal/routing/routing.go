// Package routing tells people which routes a site has, and what one request meets.
//
// In go the site's folder, or a question in words; out come a table, an explanation, and the errors of a manifest or of static files
// that were refused. No code is run and nothing is compiled. A Site is for one goroutine.
//
// It never decides what a route means: package site does, for the dev server too.
package routing

import (
	"context"
	"path/filepath"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
)

// Site is a site whose routes can be asked.
type Site struct {
	Manifest *manifest.Manifest
	Routing  *site.Routing
	unsure   map[string]bool // files that are no assets if the Worker imports them
}

// Load reads what decides the routes of the site that args name: the manifest and the names of the static files. rules is a choice
// of project.EdgeRules.
func Load(ctx context.Context, sites *project.Sites, args []string, rules string) (*Site, error) {
	dir, m, err := sites.LoadSite(args)
	if err != nil {
		return nil, err
	}
	files, diags := bundler.List(ctx, dir, m)
	if err := ctx.Err(); err != nil {
		return nil, err // the files are not at fault
	}
	if diags.HasErrors() {
		return nil, sites.Refusal(dir, diags)
	}
	if len(diags) > 0 && !sites.Terminal.Quiet && !sites.Terminal.JSON {
		sites.Terminal.PrintDiagnostics(sites.ReportOf(dir, diags), nil)
	}
	r := site.Revision{Manifest: m, Rules: project.EdgeRules(rules, dir, m)}
	unsure := map[string]bool{}
	for _, a := range files.Assets {
		rel, err := filepath.Rel(files.Dir, a.File)
		if err != nil {
			return nil, err
		}
		a.File = filepath.ToSlash(rel) // as people name it: nothing opens it
		unsure[a.File] = files.Unsure[a.Path]
		r.Assets = append(r.Assets, a)
	}
	return &Site{Routing: site.NewRouting(r), Manifest: m, unsure: unsure}, nil
}

// Explain says what a request meets, and adds what only a build could tell.
func (s *Site) Explain(q Question, who site.Visitor) site.Explanation {
	e := s.Routing.Explain(q.Method, q.Target, who)
	if s.unsure[e.File] {
		e.Why = append(e.Why, e.File+" is no static file if the Worker imports it: only a build can tell")
	}
	return e
}
