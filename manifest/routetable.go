package manifest

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// RouteTable looks up the route of a request path, and whether members routes guard it. The front door and the rules of
// "routes" both use it, so that messages about a site agree with its behaviour. Paths are decoded, in Unicode form C, and
// start with a slash ([sitepath.CanonicalPath]). Make one with [NewRouteTable]; it never changes.
type RouteTable struct {
	listed  patterns // every route, by the path itself
	public  patterns // the public ones, by the path itself
	members patterns // the others, by the folded path
	unused  string   // a segment that no pattern has
}

// Rank is the specificity of a match: the segments of the pattern, twice, and one more for a pattern
// without "/*". Zero is no match.
type Rank int

// NewRouteTable makes the table of a manifest's routes. If two routes match the same paths, the first one counts.
func NewRouteTable(routes []Route) *RouteTable {
	t := RouteTable{unused: unusedSegment(routes)}
	for _, r := range routes {
		path := norm.NFC.String(r.Pattern) // as request paths are
		t.listed.add(path, r.Pattern)
		if r.Access != Members {
			t.public.add(path, r.Pattern)
			continue
		}
		for _, name := range FileNames(r.Pattern) {
			t.members.add(foldPattern(name), r.Pattern)
		}
	}
	return &t
}

// unusedSegment returns a segment that no pattern has, in any spelling.
func unusedSegment(routes []Route) string {
	taken := map[int]bool{} // lengths of the segments that are like it
	for _, r := range routes {
		for segment := range strings.SplitSeq(sitepath.FoldPath(r.Pattern), "/") {
			if segment = strings.TrimSuffix(segment, ".html"); strings.Trim(segment, "x") == "" {
				taken[len(segment)] = true
			}
		}
	}
	n := 1
	for taken[n] {
		n++
	}
	return strings.Repeat("x", n)
}

// Match returns the most specific pattern that covers a path, "" and 0 when none does. A pattern "/x/*" covers
// "/x" and "/x/", too.
func (t *RouteTable) Match(path string) (pattern string, found Rank) { return t.listed.match(path, "") }

// Covering returns all patterns that cover a path, the most specific first.
func (t *RouteTable) Covering(path string) (all []string) {
	if pattern, ok := t.listed.exact[path]; ok {
		all = append(all, pattern)
	}
	for {
		pattern, at, ok := t.listed.under(path)
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

// Guarding returns the members patterns that cover any of the files served at some paths, regardless of other routes.
func (t *RouteTable) Guarding(files iter.Seq[string]) func(pattern string) bool {
	covered := map[string]bool{} // keys of the table; those of trees end in "/*"
	for file := range files {
		for _, name := range FileNames(file) {
			folded := sitepath.FoldPath(name)
			if _, ok := t.members.exact[folded]; ok {
				covered[folded] = true
			}
			for at := folded; ; {
				_, tree, ok := t.members.under(at)
				if !ok || covered[tree+"/*"] { // and with it its parents
					break
				}
				covered[tree+"/*"] = true
				i := strings.LastIndexByte(tree, '/')
				if i < 0 {
					break
				}
				at = tree[:i]
			}
		}
	}
	return func(pattern string) bool {
		return slices.ContainsFunc(FileNames(pattern), func(name string) bool { return covered[foldPattern(name)] })
	}
}

// foldPattern is the key of a members pattern.
func foldPattern(pattern string) string {
	if base, tree := strings.CutSuffix(pattern, "/*"); tree {
		return sitepath.FoldPath(base+"/") + "/*"
	}
	return sitepath.FoldPath(pattern)
}

// HasMembers reports whether any route is for members.
func (t *RouteTable) HasMembers() bool { return !t.members.empty() }

// Verdict holds the ranks of the best members and public patterns for one name of a resource. Several names are weighed by
// taking the higher rank on each side. It allocates nothing.
type Verdict struct{ Members, Public Rank }

// Judge looks a path up on both sides.
func (t *RouteTable) Judge(path string) Verdict {
	if t.members.empty() {
		return Verdict{}
	}
	return t.judge(path, "")
}

// judge is Judge without the pattern but.
func (t *RouteTable) judge(path, but string) (v Verdict) {
	_, v.Members = t.members.match(sitepath.FoldPath(path), but)
	_, v.Public = t.public.match(path, but)
	return v
}

// JudgeFile looks up every name of the file that is served at a path.
func (t *RouteTable) JudgeFile(path string) (v Verdict) {
	for _, name := range FileNames(path) {
		v = v.Or(t.Judge(name))
	}
	return v
}

// Or returns the verdict on a resource with the names of both.
func (v Verdict) Or(w Verdict) Verdict {
	return Verdict{Members: max(v.Members, w.Members), Public: max(v.Public, w.Public)}
}

// Gated reports whether only members may pass: a members pattern covers one of the names, and no public pattern
// is more specific.
func (v Verdict) Gated() bool { return v.Members > 0 && v.Members >= v.Public }

// Claim is the most specific pattern of one side, and the name of the resource that it covers.
type Claim struct {
	Pattern, Name string
	Rank          Rank
}

// Claims returns the two patterns that decide about a resource with these names.
func (t *RouteTable) Claims(names []string) (members, public Claim) {
	for _, name := range names {
		if pattern, r := t.members.match(sitepath.FoldPath(name), ""); r > members.Rank {
			members = Claim{pattern, name, r}
		}
		if pattern, r := t.public.match(name, ""); r > public.Rank {
			public = Claim{pattern, name, r}
		}
	}
	return members, public
}

// FileNames lists all paths of the file served at a path. The gate looks at all of them: an author who guards "/report"
// also means report.html, and the reverse.
func FileNames(path string) []string {
	short, ok := strings.CutSuffix(path, ".html")
	if !ok {
		return []string{path}
	}
	if dir, ok := strings.CutSuffix(short, "/index"); ok {
		return []string{path, short, dir + "/", cmp.Or(dir, "/")}
	}
	return []string{path, short}
}

// Specificity is the rank with which a pattern matches.
func Specificity(pattern string) Rank {
	if base, isTree := strings.CutSuffix(pattern, "/*"); isTree {
		return 2*Rank(segments(base)) + 1
	}
	return 2*Rank(segments(pattern)) + 2
}

// patterns finds the most specific pattern for a path in one map look-up per segment.
type patterns struct {
	exact  map[string]string // path to pattern
	prefix map[string]string // "/x" to "/x/*"; "" to "/*"
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

// match returns the most specific pattern, other than but, that covers a path.
func (p *patterns) match(path, but string) (pattern string, found Rank) {
	if pattern, ok := p.exact[path]; ok && pattern != but {
		return pattern, 2*Rank(segments(path)) + 2
	}
	for {
		pattern, at, ok := p.under(path)
		if !ok {
			return "", 0
		}
		if pattern != but {
			return pattern, 2*Rank(segments(at)) + 1
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return "", 0
		}
		path = at[:i]
	}
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

// segments counts the non-empty segments of a path.
func segments(path string) int {
	return strings.Count(strings.TrimSuffix(path, "/"), "/")
}

func (p *patterns) empty() bool { return len(p.exact) == 0 && len(p.prefix) == 0 }

// Reach describes the effect of a route on its requests.
type Reach struct {
	Path  string // a request path whose most specific route this one is; empty when there is none
	Twin  string // the pattern, declared before, that matches the same paths instead
	Guard string // the members pattern that guards every path of a public route
}

// Reach looks up an example path of a pattern: the path itself, or for "/x/*" a path under "/x/" that no other pattern
// names.
func (t *RouteTable) Reach(pattern string) Reach {
	path := pattern
	if base, isTree := strings.CutSuffix(pattern, "/*"); isTree {
		path = base + "/" + t.unused
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

// widerThan returns a wider pattern with the same effect on every path, which makes this one redundant; "" for none.
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
