package deploy

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
)

// This file finds what others may see after a deploy than before. It asks the look-up
// that the front door serves by, so that what is said and what happens cannot differ.

// AccessChange is a path, or all paths of a route, that is guarded otherwise than now.
type AccessChange struct {
	// Path is a file's path, or a route's pattern.
	Path string          `json:"path"`
	Was  manifest.Access `json:"was"`
	Now  manifest.Access `json:"now"`
}

// anything stands for a segment that no manifest names.
const anything = "\u2026"

// gates compares who may see what under two manifests.
type gates struct {
	before, after *manifest.RouteTable
	now           *manifest.Manifest
	changes       []AccessChange
	seen          map[string]bool
}

// accessChanges compares the gates of two manifests at every pattern of either, and at
// every file that is to be served. What nothing answers any more does not become
// public. Where nothing is live, nothing changes.
func accessChanges(was, now *manifest.Manifest, known bool, files []string) []AccessChange {
	g := &gates{manifest.NewRouteTable(was.Routes), manifest.NewRouteTable(now.Routes), now, []AccessChange{}, map[string]bool{}}
	if !known {
		return g.changes
	}
	for _, path := range files {
		g.file(path)
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
	names := manifest.FileNames(path)
	if members, _ := g.before.Claims(names); n == manifest.Public && !g.guards(members.Pattern) {
		shown = members.Pattern
	}
	if members, _ := g.after.Claims(names); n == manifest.Members {
		shown = members.Pattern
	}
	g.add(shown, w, n)
}

// guards reports whether a pattern is a members route still.
func (g *gates) guards(pattern string) bool {
	return slices.ContainsFunc(g.now.Routes, func(r manifest.Route) bool { return r.Pattern == pattern && r.Access == manifest.Members })
}

// route tells of a path that a pattern covers, if the Worker answers there.
func (g *gates) route(pattern, path string) {
	w, n := guard(g.before.JudgeFile(path)), guard(g.after.JudgeFile(path))
	_, answers := g.after.Match(path)
	if w != n && (n == manifest.Members || answers > 0 && g.now.Entry != "") {
		g.add(pattern, w, n)
	}
}

func (g *gates) add(path string, was, now manifest.Access) {
	if !g.seen[path] {
		g.seen[path] = true
		g.changes = append(g.changes, AccessChange{path, was, now})
	}
}

func guard(v manifest.Verdict) manifest.Access {
	if v.Gated() {
		return manifest.Members
	}
	return manifest.Public
}

// equal compares what two manifests hold in one part, by its JSON.
func equal(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
