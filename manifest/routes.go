package manifest

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// This file holds the rules of "routes".

// checkPatterns refuses what the schema alone lets through.
func (d *document) checkPatterns() {
	for _, p := range d.objects("/routes") {
		at := p.key("pattern")
		s, ok := d.str(at)
		if !ok {
			continue
		}
		if code, _, _ := patternFault(s); code != "" {
			d.explainPattern(at, s)
		}
	}
}

// explainPattern says which rule of section 2.9 a refused pattern breaks.
func (d *document) explainPattern(p pointer, s string) {
	code, why, fix := patternFault(s)
	if code == "" {
		code, why, fix = codeRouteInvalid, "is not a site-root-relative path", `write a path such as "/api/*"`
	}
	d.refuse(code, p, fmt.Sprintf("the pattern %s %s", quote(s), why), fix)
}

// patternFault is the first rule a pattern breaks, "" when it breaks none.
func patternFault(s string) (code, why, fix string) {
	scheme, rest, isURL := strings.Cut(s, "://")
	switch {
	case isURL && !strings.ContainsAny(scheme, "/?#"):
		_, site, _ := strings.Cut(rest, "/")
		return codeRouteInvalid, "is a full address", writePattern("write the path only: ", "/"+site)
	case ofHost.MatchString(s):
		return codeRouteInvalid, "begins with a host", writePattern("write the path only: ", s[strings.Index(s, "/"):])
	case !strings.HasPrefix(s, "/"):
		return codeRouteInvalid, `does not start with "/"`, writePattern("write ", "/"+strings.TrimPrefix(s, "./"))
	case strings.Contains(s, "//"):
		return codeRouteInvalid, "has an empty segment", `keep one "/" between segments`
	case strings.Contains(s, `\`):
		return codeRouteInvalid, "has a backslash", "separate segments with /"
	case strings.Contains(s, "?"):
		return codeRouteInvalid, "has a query", "remove it: a pattern is matched against the path alone"
	case strings.Contains(s, "#"):
		return codeRouteInvalid, "has a fragment", "remove it: a pattern is matched against the path alone"
	case strings.Contains(s, "%"):
		return codeRouteInvalid, "has a percent-encoding", percentFix(s)
	case strings.ContainsFunc(s, isControl):
		return codeRouteInvalid, "has a control character", "remove it"
	case hasDotSegment(s):
		return codeRouteInvalid, `has a "." or ".." segment`, writePattern("write ", path.Clean(s))
	case strings.Contains(strings.TrimSuffix(s, "/*"), "*"):
		return codeRouteWildcard, `has a "*" elsewhere than as a trailing "/*"`, wildcardFix(s)
	}
	first, _, _ := strings.Cut(s[1:], "/")
	for _, reserved := range [...]string{ReservedPages, ReservedPreview} {
		if strings.EqualFold(first, reserved) {
			return codeRouteReserved, "is under " + quote("/"+reserved) + ", which is reserved", "choose another path"
		}
	}
	if reserved := ReservedPath(s); reserved != "" {
		return codeRouteReservedLike, "could be taken for a path under " + quote("/"+reserved) + ", which is reserved", "choose another path"
	}
	return "", "", ""
}

func percentFix(s string) string {
	if plain, err := url.PathUnescape(s); err == nil && plain != s {
		return writePattern("write the decoded path: ", plain)
	}
	return "write the decoded path"
}

// ofHost matches a route of wrangler's, which begins with the host it is for.
var ofHost = regexp.MustCompile(`^(\*\.)?([a-z0-9-]+\.)+[a-z]{2,}/`)

// wildcardFix proposes the pattern that covers what was probably meant: "/api*" becomes "/api/*", and so do
// "/api/(.*)" and "/api/:path*" of other tools.
func wildcardFix(s string) string {
	before, _, _ := strings.Cut(s, "*")
	if last := strings.LastIndexByte(before, '/'); last >= 0 && strings.ContainsAny(before[last:], ":([{") {
		before = before[:last]
	}
	return writePattern("write ", strings.TrimRight(before, "/")+"/*")
}

// writePattern proposes a pattern; when it would be refused too, what is proposed for that, or any that is right.
func writePattern(verb, s string) string {
	code, _, fix := patternFault(s)
	switch {
	case code == "":
		return verb + literal(s)
	case strings.HasPrefix(fix, "write "):
		return fix
	default:
		return `write a path such as "/api/*"`
	}
}

// routeOf is a pattern alone as the route that it should have been, in the form that is right.
func routeOf(s string) string {
	pattern := `"/api/*"`
	if fix := writePattern("write ", s); strings.Contains(fix, `"`) && utf8.RuneCountInString(s) <= described().at("/routes/*/pattern").MaxLength {
		pattern = fix[strings.IndexByte(fix, '"'):]
	}
	return `{"pattern": ` + pattern + "}"
}

func hasDotSegment(s string) bool {
	for seg := range strings.SplitSeq(s, "/") {
		if seg == "." || seg == ".." {
			return true
		}
	}
	return false
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

// route is an accepted route of the document.
type route struct {
	at      pointer // of the pattern
	pattern string
	access  Access
}

// routes lists the routes that no error stands at.
func (d *document) routes() []route {
	const all = pointer("/routes")
	nodes := d.root.resolve(all).list()
	list := make([]route, 0, len(nodes))
	for i, n := range nodes {
		pattern, access := n.get("pattern"), n.get("access")
		if pattern == nil || pattern.kind != stringNode {
			continue
		}
		at := all.index(i)
		r := route{at.key("pattern"), pattern.text, Public}
		if access != nil {
			if access.kind != stringNode || d.refused[at.key("access")] {
				continue
			}
			r.access = Access(access.text)
		}
		if !d.refused[r.at] {
			list = append(list, r)
		}
	}
	return list
}

// checkStaticRoutes refuses public routes of a site without a Worker to answer them.
func (d *document) checkStaticRoutes() {
	if d.has("/entry") {
		return
	}
	for _, r := range d.routes() {
		if r.access == Members {
			continue
		}
		at := r.at
		if parent, _ := at.parent(); d.has(parent.key("access")) {
			at = parent.key("access")
		}
		msg := fmt.Sprintf("the route %s is public, but a site without entry may declare only members routes", quote(r.pattern))
		d.refuse(codeRouteStatic, at, msg, `set its access to "members", declare "entry", or remove it: static files need no route`)
	}
}

// checkRoutes compares the routes with each other.
func (d *document) checkRoutes() {
	all := d.routes()
	first := make(map[string]route, len(all))
	for _, r := range all {
		d.checkParameter(r)
		before, twice := first[r.pattern]
		if !twice {
			first[r.pattern] = r
			continue
		}
		line, _ := d.lines.at(d.at(before.at).start)
		if before.access == r.access {
			d.warn(codeRouteDuplicate, r.at, fmt.Sprintf("the route %s is declared on line %d already", quote(r.pattern), line), "remove one of them")
			continue
		}
		msg := fmt.Sprintf("the pattern %s is %s here and %s on line %d", quote(r.pattern), r.access, before.access, line)
		d.refuse(codeRouteConflict, r.at, msg, "keep one of them")
	}
	table := d.routeTable(all)
	for _, r := range all {
		if first[r.pattern].at == r.at {
			d.checkReach(r, table, first)
		}
	}
}

// routeTable is the front door's look-up of the routes.
func (d *document) routeTable(all []route) *RouteTable {
	list := make([]Route, len(all))
	for i, r := range all {
		list[i] = Route{Pattern: r.pattern, Access: r.access}
	}
	return NewRouteTable(list)
}

// checkReach warns of a route that no request meets, that is public in name only, or that changes nothing.
func (d *document) checkReach(r route, table *RouteTable, all map[string]route) {
	reach := table.Reach(r.pattern)
	line := func(pattern string) int {
		line, _ := d.lines.at(d.at(all[pattern].at).start)
		return line
	}
	switch {
	case reach.Twin != "":
		msg := fmt.Sprintf("the route %s is never reached: line %d has the same path in another Unicode form", quote(r.pattern), line(reach.Twin))
		d.warn(codeRouteUnreached, r.at, msg, "remove one of them")
	case reach.Path == "":
		d.warn(codeRouteUnreached, r.at, fmt.Sprintf("the route %s is never reached: requests with such a path are refused", quote(r.pattern)), "choose another path, or remove it")
	case reach.Guard == r.pattern: // an error stands at the other one
	case reach.Guard != "":
		msg := fmt.Sprintf("the public route %s is for members all the same: %s on line %d guards every path of it", quote(r.pattern), quote(reach.Guard), line(reach.Guard))
		d.warn(codeRouteGuarded, r.at, msg, `remove it, or choose a path that differs in more than case, a slash at the end or ".html"`)
	default:
		d.checkShadow(r, table)
	}
}

// checkShadow warns of a route whose paths meet the same without it.
func (d *document) checkShadow(r route, table *RouteTable) {
	wider := table.widerThan(r.pattern)
	if wider == "" {
		return
	}
	msg := fmt.Sprintf("the route %s changes nothing: %s covers it with the same access", quote(r.pattern), quote(wider))
	d.warn(codeRouteShadowed, r.at, msg, "remove it")
}

// checkParameter warns of ":id", "[id]" and "{id}", which other routers read as parameters.
func (d *document) checkParameter(r route) {
	before := 0 // bytes in front of the segment, without its "/"
	for seg := range strings.SplitSeq(r.pattern[1:], "/") {
		bracketed := len(seg) > 2 && (seg[0] == '[' && seg[len(seg)-1] == ']' || seg[0] == '{' && seg[len(seg)-1] == '}')
		if bracketed || len(seg) > 1 && seg[0] == ':' {
			msg := fmt.Sprintf("the segment %s of the pattern is matched literally, not as a parameter", quote(seg))
			d.warn(codeRouteParameter, r.at, msg, "write "+literal(r.pattern[:before]+"/*")+" and let the Worker read the rest")
			return
		}
		before += len("/") + len(seg)
	}
}
