package manifest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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
	path, fault := CanonicalPath(path)
	if fault != "" || ReservedPath(path) != "" {
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

// ReservedPath returns the segment that keeps a path for the platform, [ReservedPages] or [ReservedPreview],
// whatever its spelling; "" when none does.
func ReservedPath(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(FoldPath(path), "/"), "/")
	if first == ReservedPages || first == ReservedPreview {
		return first
	}
	return ""
}

// CanonicalPath returns a decoded request path in Unicode form C. Where two programs could read it in two ways,
// it returns what is wrong with it instead, such as "the path holds a dot segment": requests with such a path
// are refused.
func CanonicalPath(decoded string) (path, fault string) {
	switch {
	case !strings.HasPrefix(decoded, "/"):
		return "", "the path does not start with a slash"
	case !utf8.ValidString(decoded):
		return "", "the path is no UTF-8"
	}
	decoded = norm.NFC.String(decoded)
	for _, r := range decoded {
		if r == '\\' || r == '%' || unicode.IsControl(r) || r == utf8.RuneError {
			return "", "the path holds a backslash, a percent sign or a control character"
		}
	}
	if fault := segmentFault(decoded); fault != "" {
		return "", fault
	}
	// Compatibility characters such as "．．" or "／" become dots and slashes
	// in programs that normalise later than we do.
	if compat := norm.NFKC.String(decoded); compat != decoded {
		if strings.Count(compat, "/") != strings.Count(decoded, "/") || strings.ContainsAny(compat, "\\%") {
			return "", "the path holds a character that stands for a slash"
		}
		if fault := segmentFault(compat); fault != "" {
			return "", fault
		}
	}
	return decoded, ""
}

func segmentFault(path string) string {
	rest := path[1:]
	for {
		segment, after, more := strings.Cut(rest, "/")
		switch {
		case segment == "." || segment == "..":
			return "the path holds a dot segment"
		case segment == "" && more:
			return "the path holds an empty segment"
		case !more:
			return ""
		}
		rest = after
	}
}
