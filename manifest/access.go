package manifest

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// This file finds what others may see under a manifest than under the one before. It asks the look-up that the
// front door serves by, so that what is said and what happens cannot differ.

// AccessChange is a path, or all paths of a route, that is guarded otherwise than before.
type AccessChange struct {
	// Path is a file's path, or a route's pattern.
	Path string `json:"path"`
	Was  Access `json:"was"`
	Now  Access `json:"now"`
}

// anything stands for a segment that no manifest names.
const anything = "\u2026"

// gates compares who may see what under two manifests.
type gates struct {
	before, after *RouteTable
	now           *Manifest
	changes       []AccessChange
	seen          map[string]bool
}

// AccessChanges compares the gates of two manifests at every pattern of either, and at every file of the bundle of
// the second that is served; files are paths in that bundle. What nothing answers any more does not become
// public. What becomes public comes first, each kind sorted by path; the list is never nil.
func AccessChanges(was, now *Manifest, files iter.Seq[string]) []AccessChange {
	g := &gates{NewRouteTable(was.Routes), NewRouteTable(now.Routes), now, []AccessChange{}, map[string]bool{}}
	for file := range files {
		if path, ok := now.PublicPath(file); ok {
			g.file(path)
		}
	}
	for _, r := range slices.Concat(was.Routes, now.Routes) {
		base, tree := strings.CutSuffix(r.Pattern, "/*")
		g.route(r.Pattern, cmp.Or(base, "/"))
		if tree {
			g.route(r.Pattern, base+"/"+anything)
		}
	}
	slices.SortFunc(g.changes, func(a, b AccessChange) int { return cmp.Or(cmp.Compare(b.Now, a.Now), cmp.Compare(a.Path, b.Path)) })
	return g.changes
}

// file tells of a file that is served. One that lost its guard is told of by the route
// that guarded it, if that is gone.
func (g *gates) file(path string) {
	w, n := guard(g.before.JudgeFile(path)), guard(g.after.JudgeFile(path))
	if w == n {
		return
	}
	shown := path
	names := FileNames(path)
	if members, _ := g.before.Claims(names); n == Public && !g.guards(members.Pattern) {
		shown = members.Pattern
	}
	if members, _ := g.after.Claims(names); n == Members {
		shown = members.Pattern
	}
	g.add(shown, w, n)
}

// guards reports whether a pattern is a members route still.
func (g *gates) guards(pattern string) bool {
	return slices.ContainsFunc(g.now.Routes, func(r Route) bool { return r.Pattern == pattern && r.Access == Members })
}

// route tells of a path that a pattern covers, if the Worker answers there.
func (g *gates) route(pattern, path string) {
	w, n := guard(g.before.JudgeFile(path)), guard(g.after.JudgeFile(path))
	_, answers := g.after.Match(path)
	if w != n && (n == Members || answers > 0 && g.now.Entry != "") {
		g.add(pattern, w, n)
	}
}

func (g *gates) add(path string, was, now Access) {
	if !g.seen[path] {
		g.seen[path] = true
		g.changes = append(g.changes, AccessChange{path, was, now})
	}
}

func guard(v Verdict) Access {
	if v.Gated() {
		return Members
	}
	return Public
}
