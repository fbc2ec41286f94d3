package manifest

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// AccessChange is a path, or all paths of a route, whose access differs between two manifests.
type AccessChange struct {
	Path string `json:"path"` // a file's path, or a route's pattern
	Was  Access `json:"was"`
	Now  Access `json:"now"`
}

// AccessChanges compares the access of two manifests at every pattern of either, and at every served file of the second's
// bundle; files are paths in that bundle. A path without an answer under the second does not become public. It asks the
// [RouteTable] that the front door serves by. What becomes public comes first, each kind sorted by path; the list is never nil.
func AccessChanges(was, now *Manifest, files iter.Seq[string]) []AccessChange {
	before, after := NewRouteTable(was.Routes), NewRouteTable(now.Routes)
	changes, seen := []AccessChange{}, map[string]bool{}
	add := func(path string, from, to Access) {
		if !seen[path] {
			seen[path] = true
			changes = append(changes, AccessChange{path, from, to})
		}
	}
	for file := range files {
		path, ok := now.PublicPath(file)
		from, to := before.access(path), after.access(path)
		if !ok || from == to {
			continue
		}
		// The route that guards a file now stands for it, or the one that did and is gone.
		table := before
		if to == Members {
			table = after
		}
		members, _ := table.Claims(FileNames(path))
		if to == Members || !slices.Contains(now.Routes, Route{members.Pattern, Members}) {
			path = members.Pattern
		}
		add(path, from, to)
	}
	for _, r := range slices.Concat(was.Routes, now.Routes) {
		base, tree := strings.CutSuffix(r.Pattern, "/*")
		paths := []string{cmp.Or(base, "/")}
		if tree {
			paths = append(paths, base+"/\u2026") // a segment that no manifest names
		}
		for _, path := range paths {
			from, to := before.access(path), after.access(path)
			_, rank := after.Match(path)
			if from != to && (to == Members || rank > 0 && now.Entry != "") {
				add(r.Pattern, from, to)
			}
		}
	}
	slices.SortFunc(changes, func(a, b AccessChange) int { return cmp.Or(cmp.Compare(b.Now, a.Now), cmp.Compare(a.Path, b.Path)) })
	return changes
}

// access says who may see the file at a path.
func (t *RouteTable) access(path string) Access {
	if t.JudgeFile(path).Gated() {
		return Members
	}
	return Public
}
