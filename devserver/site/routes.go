package site

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/manifest"
)

// rank says how specific a match is: the segments of the pattern, twice, and
// one more for a pattern without "/*". Zero is no match.
type rank int

// routeTable answers two questions about a path: which pattern covers it, and
// is it for members only.
type routeTable struct {
	listed  patterns // every route, by the path itself
	public  patterns // the public ones, by the path itself
	members patterns // the others, by the folded path
}

// patterns finds the most specific pattern for a path in one map look-up per segment.
type patterns struct {
	exact  map[string]string // path to pattern
	prefix map[string]string // "/x" to "/x/*"; "" to "/*"
}

func newRouteTable(routes []manifest.Route) *routeTable {
	var t routeTable
	for _, r := range routes {
		path := norm.NFC.String(r.Pattern) // as request paths are
		t.listed.add(path, r.Pattern)
		if r.Access == manifest.Members {
			for _, name := range names(r.Pattern) {
				t.members.add(foldPattern(name), r.Pattern)
			}
		} else {
			t.public.add(path, r.Pattern)
		}
	}
	return &t
}

// foldPattern folds the path of a pattern and keeps its "/*".
func foldPattern(pattern string) string {
	if path, ok := strings.CutSuffix(pattern, "/*"); ok {
		return fold(path+"/") + "/*"
	}
	return fold(pattern)
}

func (p *patterns) add(key, pattern string) {
	into := &p.exact
	if path, ok := strings.CutSuffix(key, "/*"); ok {
		into, key = &p.prefix, path
	}
	if *into == nil {
		*into = map[string]string{}
	}
	if _, taken := (*into)[key]; !taken {
		(*into)[key] = pattern
	}
}

// match returns the most specific pattern that covers a path. A pattern "/x/*" covers "/x" and "/x/".
func (p *patterns) match(path string) (pattern string, found rank) {
	if pattern, ok := p.exact[path]; ok {
		return pattern, 2*rank(segments(path)) + 2
	}
	if pattern, at, ok := p.under(path); ok {
		return pattern, 2*rank(segments(at)) + 1
	}
	return "", 0
}

// under returns the longest pattern "/x/*" that covers a path, and its "/x".
func (p *patterns) under(path string) (pattern, at string, ok bool) {
	if len(p.prefix) == 0 {
		return "", "", false
	}
	at = strings.TrimSuffix(path, "/")
	for {
		if pattern, ok := p.prefix[at]; ok {
			return pattern, at, true
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return "", "", false
		}
		at = at[:i]
	}
}

// covering returns all patterns that cover a path, the most specific first.
func (p *patterns) covering(path string) (all []string) {
	if pattern, ok := p.exact[path]; ok {
		all = append(all, pattern)
	}
	for {
		pattern, at, ok := p.under(path)
		if !ok {
			return all
		}
		all = append(all, pattern)
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return all
		}
		path = at[:i]
	}
}

// segments counts the non-empty segments of a path.
func segments(path string) int {
	return strings.Count(strings.TrimSuffix(path, "/"), "/")
}

// verdict is what the table says about one name of a resource. Several names
// are weighed by taking the higher rank on each side.
type verdict struct{ members, public rank }

// judge looks one decoded path up on both sides.
func (t *routeTable) judge(path string) (v verdict) {
	if t.members.empty() {
		return verdict{}
	}
	_, v.members = t.members.match(fold(path))
	_, v.public = t.public.match(path)
	return v
}

func (v verdict) or(w verdict) verdict {
	return verdict{members: max(v.members, w.members), public: max(v.public, w.public)}
}

// gated reports whether only members may pass: a members pattern covers one of
// the names, and no public pattern is more specific.
func (v verdict) gated() bool { return v.members > 0 && v.members >= v.public }

func (p *patterns) empty() bool { return len(p.exact) == 0 && len(p.prefix) == 0 }
