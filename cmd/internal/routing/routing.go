// Package routing lists the routes of a site, and explains how it handles a request.
//
// Input: the site's folder, or a question in words. Output: a table, an explanation, and the errors of a manifest or of static files that
// were refused. It runs no code and compiles nothing. A Site is for one goroutine.
//
// It never decides what a route means: package site does, for the dev server too.
package routing

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
)

// Site is a site with the inputs of its routes.
type Site struct {
	Manifest *manifest.Manifest
	Routing  *site.Routing
	unsure   map[string]bool // files that are not assets if the Worker imports them
}

// Load reads the inputs of the routes of the site that args name: the manifest and the names of the static files.
func Load(ctx context.Context, sites *project.Sites, args []string) (*Site, error) {
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
	r := site.Revision{Manifest: m, Rules: sites.LoadEdgeRules(dir, m)}
	unsure := map[string]bool{}
	for _, a := range files.Assets {
		rel, err := filepath.Rel(files.Dir, a.File)
		if err != nil {
			return nil, err
		}
		a.File = filepath.ToSlash(rel) // for people: pages does not open it
		unsure[a.File] = files.Unsure[a.Path]
		r.Assets = append(r.Assets, a)
	}
	return &Site{Routing: site.NewRouting(r), Manifest: m, unsure: unsure}, nil
}

// Explain describes how the site handles a request, and notes the points that only a build can settle.
func (s *Site) Explain(q Question, who site.Visitor) site.Explanation {
	e := s.Routing.Explain(q.Method, q.Target, who)
	if s.unsure[e.File] {
		e.Why = append(e.Why, e.File+" is not a static file if the Worker imports it: only a build can tell")
	}
	return e
}

// Question is a request to explain, and the site it is for.
type Question struct {
	Method, Target string
	Dir            []string // none or one
}

// ReadQuestion sorts the arguments of `pages routes explain`: the first one that looks like a target is the target; a method comes before
// it, or has a name of HTTP; a folder comes after.
func ReadQuestion(args []string) (Question, error) {
	at := slices.IndexFunc(args, func(arg string) bool {
		lower := strings.ToLower(arg)
		return strings.HasPrefix(arg, "/") || strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
	})
	isMethod := func(arg string) bool { // at any place
		return slices.Contains([]string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
			http.MethodOptions, http.MethodTrace, http.MethodConnect,
		}, arg)
	}
	switch {
	case len(args) == 0:
		return Question{}, failure.Usage("no path is given; write: pages routes explain GET /path")
	case at < 0:
		return Question{}, failure.Usage("%s: a path starts with \"/\", a URL with http:// or https://", wording.QuoteAll(args))
	}
	q := Question{Method: http.MethodGet, Target: args[at]}
	given := false
	for i, arg := range args {
		switch {
		case i == at:
		case !given && (i < at && isWord(arg) || isMethod(arg)):
			q.Method, given = strings.ToUpper(arg), true
		case i > at && q.Dir == nil:
			q.Dir = []string{arg}
		default:
			return Question{}, failure.Usage("%q is one argument too many, or out of place: the order is [METHOD] PATH-or-URL [DIR]", arg)
		}
	}
	return q, nil
}

func isWord(arg string) bool {
	return arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' })
}
