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

// accessChanges compares the gates of two manifests at every pattern of either, and at
// every file that is to be served. Where nothing is live, nothing changes.
func accessChanges(was, now *manifest.Manifest, known bool, files []string) []AccessChange {
	changes := []AccessChange{}
	if !known {
		return changes
	}
	before, after := manifest.NewRouteTable(was.Routes), manifest.NewRouteTable(now.Routes)
	seen := map[string]bool{}
	at := func(shown, path string) {
		w, n := guard(before.JudgeFile(path)), guard(after.JudgeFile(path))
		if w != n && !seen[shown] {
			seen[shown] = true
			changes = append(changes, AccessChange{shown, w, n})
		}
	}
	for _, r := range slices.Concat(was.Routes, now.Routes) {
		base, tree := strings.CutSuffix(r.Pattern, "/*")
		at(r.Pattern, cmp.Or(base, "/"))
		if tree {
			at(r.Pattern, base+"/"+anything)
		}
	}
	for _, path := range files {
		if !seen[path] && !covered(changes, path) {
			at(path, path)
		}
	}
	slices.SortFunc(changes, func(a, b AccessChange) int { return cmp.Or(cmp.Compare(a.Now, b.Now)*-1, cmp.Compare(a.Path, b.Path)) })
	return changes
}

func guard(v manifest.Verdict) manifest.Access {
	if v.Gated() {
		return manifest.Members
	}
	return manifest.Public
}

// covered reports whether a path lies under a pattern that is told of already.
func covered(changes []AccessChange, path string) bool {
	return slices.ContainsFunc(changes, func(c AccessChange) bool {
		base, tree := strings.CutSuffix(c.Path, "/*")
		return tree && strings.HasPrefix(path, base+"/")
	})
}

// equal compares what two manifests hold in one part, by its JSON.
func equal(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
