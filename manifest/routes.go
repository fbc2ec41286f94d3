package manifest

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// checkPatterns refuses patterns that the schema alone lets through.
func (d *Document) checkPatterns() {
	for _, p := range d.Objects("/routes") {
		at := p.Key("pattern")
		s, ok := d.Str(at)
		if !ok {
			continue
		}
		if code, _, _ := patternFault(s); code != "" {
			d.explainPattern(at, s)
		}
	}
}

// explainPattern returns the rule of section 2.9 that a refused pattern breaks.
func (d *Document) explainPattern(p jsontree.Pointer, s string) {
	code, why, fix := patternFault(s)
	if code == "" {
		code, why, fix = diagnostic.CodeRouteInvalid, "is not a site-root-relative path", `write a path such as "/api/*"`
	}
	d.Refuse(code, p, fmt.Sprintf("the pattern %s %s", sourcetext.Quote(s), why), fix)
}

// patternFault returns the first rule a pattern breaks, "" when it breaks none.
func patternFault(s string) (code, why, fix string) {
	scheme, rest, isURL := strings.Cut(s, "://")
	switch {
	case isURL && !strings.ContainsAny(scheme, "/?#"):
		_, site, _ := strings.Cut(rest, "/")
		return diagnostic.CodeRouteInvalid, "is a full address", writePattern("write the path only: ", "/"+site)
	case hostPrefix.MatchString(s):
		return diagnostic.CodeRouteInvalid, "begins with a host", writePattern("write the path only: ", s[strings.Index(s, "/"):])
	case !strings.HasPrefix(s, "/"):
		return diagnostic.CodeRouteInvalid, `does not start with "/"`, writePattern("write ", "/"+strings.TrimPrefix(s, "./"))
	case strings.Contains(s, "//"):
		return diagnostic.CodeRouteInvalid, "has an empty segment", `keep one "/" between segments`
	case strings.Contains(s, `\`):
		return diagnostic.CodeRouteInvalid, "has a backslash", "separate segments with /"
	case strings.Contains(s, "?"):
		return diagnostic.CodeRouteInvalid, "has a query", "remove it: a pattern is matched against the path alone"
	case strings.Contains(s, "#"):
		return diagnostic.CodeRouteInvalid, "has a fragment", "remove it: a pattern is matched against the path alone"
	case strings.Contains(s, "%"):
		fix = "write the decoded path"
		if plain, err := url.PathUnescape(s); err == nil && plain != s {
			fix = writePattern(fix+": ", plain)
		}
		return diagnostic.CodeRouteInvalid, "has a percent-encoding", fix
	case strings.ContainsFunc(s, isControl):
		return diagnostic.CodeRouteInvalid, "has a control character", "remove it"
	case slices.ContainsFunc(strings.Split(s, "/"), func(segment string) bool { return segment == "." || segment == ".." }):
		return diagnostic.CodeRouteInvalid, `has a "." or ".." segment`, writePattern("write ", path.Clean(s))
	case strings.Contains(strings.TrimSuffix(s, "/*"), "*"):
		return diagnostic.CodeRouteWildcard, `has a "*" that is not in a trailing "/*"`, wildcardFix(s)
	}
	first, _, _ := strings.Cut(s[1:], "/")
	for _, reserved := range [...]string{sitepath.ReservedPages, sitepath.ReservedPreview} {
		if strings.EqualFold(first, reserved) {
			return diagnostic.CodeRouteReserved, "is under " + sourcetext.Quote("/"+reserved) + ", which is reserved", "choose another path"
		}
	}
	if reserved := sitepath.ReservedPath(s); reserved != "" {
		why = "can be mistaken for a path under " + sourcetext.Quote("/"+reserved) + ", which is reserved"
		return diagnostic.CodeRouteReservedLike, why, "choose another path"
	}
	return "", "", ""
}

// hostPrefix matches the host that a route of wrangler's begins with.
var hostPrefix = regexp.MustCompile(`^(\*\.)?([a-z0-9-]+\.)+[a-z]{2,}/`)

// wildcardFix makes "/api/*" of "/api*", and of "/api/(.*)" and "/api/:path*" of other tools.
func wildcardFix(s string) string {
	before, _, _ := strings.Cut(s, "*")
	if last := strings.LastIndexByte(before, '/'); last >= 0 && strings.ContainsAny(before[last:], ":([{") {
		before = before[:last]
	}
	return writePattern("write ", strings.TrimRight(before, "/")+"/*")
}

// writePattern proposes a pattern; for one that would be refused, its own fix or an example.
func writePattern(verb, s string) string {
	code, _, fix := patternFault(s)
	switch {
	case code == "":
		return verb + sourcetext.Literal(s)
	case strings.HasPrefix(fix, "write "):
		return fix
	default:
		return `write a path such as "/api/*"`
	}
}

// routeOf writes the route for a bare pattern, and corrects a pattern that would be refused.
func routeOf(s string) string {
	pattern := `"/api/*"`
	longest := described().at("/routes/*/pattern").MaxLength
	if fix := writePattern("write ", s); strings.Contains(fix, `"`) && utf8.RuneCountInString(s) <= longest {
		pattern = fix[strings.IndexByte(fix, '"'):]
	}
	return `{"pattern": ` + pattern + "}"
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

// DeclaredRoute is an accepted route of the document.
type DeclaredRoute struct {
	At      jsontree.Pointer // of the pattern
	Pattern string
	Access  Access
}

// Routes lists the routes without an error.
func (d *Document) Routes() []DeclaredRoute {
	const all = jsontree.Pointer("/routes")
	nodes := d.Root.Resolve(all).List()
	list := make([]DeclaredRoute, 0, len(nodes))
	for i, n := range nodes {
		pattern, access := n.Get("pattern"), n.Get("access")
		if pattern == nil || pattern.Kind != jsontree.StringNode {
			continue
		}
		at := all.Index(i)
		r := DeclaredRoute{at.Key("pattern"), pattern.Text, Public}
		if access == nil && saysAccess(n) { // a refused key was meant to set the access
			continue
		}
		if access != nil {
			if access.Kind != jsontree.StringNode || d.refused[at.Key("access")] {
				continue
			}
			r.Access = Access(access.Text)
		}
		if !d.refused[r.At] {
			list = append(list, r)
		}
	}
	return list
}

// checkStaticRoutes refuses public routes of a site without a Worker to answer them.
func (d *Document) checkStaticRoutes() {
	if d.Has("/entry") {
		return
	}
	for _, r := range d.Routes() {
		if r.Access == Members {
			continue
		}
		at := r.At
		if parent, _ := at.Parent(); d.Has(parent.Key("access")) {
			at = parent.Key("access")
		}
		msg := fmt.Sprintf("the route %s is public, but only members routes are allowed on a site without "+
			"entry", sourcetext.Quote(r.Pattern))
		d.Refuse(diagnostic.CodeRouteStatic, at, msg,
			`set its access to "members", declare "entry", or remove it: static files need no route`)
	}
}

// checkRoutes compares the routes with each other.
func (d *Document) checkRoutes() {
	all := d.Routes()
	first := make(map[string]DeclaredRoute, len(all))
	for _, r := range all {
		d.checkParameter(r)
		before, twice := first[r.Pattern]
		if !twice {
			first[r.Pattern] = r
			continue
		}
		line, _ := d.lines.At(d.at(before.At).Start)
		if before.Access == r.Access {
			msg := fmt.Sprintf("the route %s is already declared on line %d", sourcetext.Quote(r.Pattern), line)
			d.Warn(diagnostic.CodeRouteDuplicate, r.At, msg, "remove one of them")
			continue
		}
		msg := fmt.Sprintf("the pattern %s is %s here and %s on line %d", sourcetext.Quote(r.Pattern), r.Access, before.Access, line)
		d.Refuse(diagnostic.CodeRouteConflict, r.At, msg, "keep one of them")
	}
	table := d.RouteTable(all)
	for _, r := range all {
		if first[r.Pattern].At == r.At {
			d.checkReach(r, table, first)
		}
	}
}

// RouteTable is the front door's look-up of the routes.
func (d *Document) RouteTable(all []DeclaredRoute) *RouteTable {
	list := make([]Route, len(all))
	for i, r := range all {
		list[i] = Route{Pattern: r.Pattern, Access: r.Access}
	}
	return NewRouteTable(list)
}

// checkReach warns of a route that no request reaches, that is public in name only, or that changes nothing.
func (d *Document) checkReach(r DeclaredRoute, table *RouteTable, all map[string]DeclaredRoute) {
	reach := table.Reach(r.Pattern)
	quoted := func() string { return sourcetext.Quote(r.Pattern) }
	line := func(pattern string) int {
		line, _ := d.lines.At(d.at(all[pattern].At).Start)
		return line
	}
	switch {
	case reach.Twin != "":
		msg := fmt.Sprintf("the route %s is never reached: line %d has the same path in another Unicode form", quoted(), line(reach.Twin))
		d.Warn(diagnostic.CodeRouteUnreached, r.At, msg, "remove one of them")
	case reach.Path == "":
		msg := fmt.Sprintf("the route %s is never reached: requests with such a path are refused", quoted())
		d.Warn(diagnostic.CodeRouteUnreached, r.At, msg, "choose another path, or remove it")
	case reach.Guard == r.Pattern: // the guarding route has an error
	case reach.Guard != "":
		msg := fmt.Sprintf("the public route %s admits only members: %s on line %d guards all of its paths",
			quoted(), sourcetext.Quote(reach.Guard), line(reach.Guard))
		fix := `remove it, or choose a path that differs by more than case, a slash at the end or ".html"`
		d.Warn(diagnostic.CodeRouteGuarded, r.At, msg, fix)
	default:
		if wider := table.widerThan(r.Pattern); wider != "" {
			msg := fmt.Sprintf("the route %s changes nothing: %s covers it with the same access", quoted(), sourcetext.Quote(wider))
			d.Warn(diagnostic.CodeRouteShadowed, r.At, msg, "remove it")
		}
	}
}

// checkParameter warns of ":id", "[id]" and "{id}", which other routers read as parameters.
func (d *Document) checkParameter(r DeclaredRoute) {
	before := 0 // bytes in front of the segment, without its "/"
	for seg := range strings.SplitSeq(r.Pattern[1:], "/") {
		bracketed := len(seg) > 2 && (seg[0] == '[' && seg[len(seg)-1] == ']' || seg[0] == '{' && seg[len(seg)-1] == '}')
		if bracketed || len(seg) > 1 && seg[0] == ':' {
			msg := fmt.Sprintf("the segment %s of the pattern is matched literally, not as a parameter", sourcetext.Quote(seg))
			d.Warn(diagnostic.CodeRouteParameter, r.At, msg, "write "+sourcetext.Literal(r.Pattern[:before]+"/*")+
				" and read the rest of the path in the Worker")
			return
		}
		before += len("/") + len(seg)
	}
}
