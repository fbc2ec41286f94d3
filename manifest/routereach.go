package manifest

import (
	"strings"

	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// Reach is what the requests that a route is meant for meet.
type Reach struct {
	// Path is a request path that has the route for its most specific one; empty when there is none.
	Path string
	// Twin is the pattern, declared before, that matches the same paths instead.
	Twin string
	// Guard is the members pattern that guards every path of a public route.
	Guard string
}

// Reach looks up what a pattern of the table is meant for: the path itself, or of "/x/*" a path under "/x/" that
// no other pattern names.
func (t *RouteTable) Reach(pattern string) Reach {
	path := pattern
	if base, isTree := strings.CutSuffix(pattern, "/*"); isTree {
		path = base + "/" + t.unnamed
	}
	path, fault := sitepath.CanonicalPath(path)
	if fault != "" || sitepath.ReservedPath(path) != "" {
		return Reach{}
	}
	found, _ := t.Match(path)
	if found != pattern {
		return Reach{Twin: found}
	}
	r := Reach{Path: path}
	if members, public := t.Claims([]string{path}); public.Pattern == pattern && (Verdict{members.Rank, public.Rank}).Gated() {
		r.Guard = members.Pattern
	}
	return r
}

// widerThan returns the pattern that says the same of every path of a pattern, so that this one changes nothing;
// "" when there is none.
func (t *RouteTable) widerThan(pattern string) string {
	path := t.Reach(pattern).Path
	wider, _ := t.listed.match(path, pattern)
	if path == "" || wider == "" {
		return ""
	}
	public, _ := t.public.match(path, "")
	publicToo, _ := t.public.match(path, pattern)
	if (public == pattern) != (publicToo == wider) {
		return "" // they differ in access
	}
	base, _ := strings.CutSuffix(pattern, "/*")
	for _, names := range [][]string{{path}, FileNames(base), FileNames(base + ".html"), FileNames(base + "/index.html")} {
		var with, without Verdict
		for _, name := range names {
			with, without = with.Or(t.judge(name, "")), without.Or(t.judge(name, pattern))
		}
		if with.Gated() != without.Gated() {
			return ""
		}
	}
	return wider
}
