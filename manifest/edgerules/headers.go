package edgerules

import (
	"fmt"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// headerRule is a block of "_headers": a path, and its changes.
type headerRule struct {
	path  *edgePattern
	unset []string
	set   []headerValue

	refused bool // a line of it was refused
}

// headerValue is one header of a rule; lines of one name are joined.
type headerValue struct{ name, value string }

// HeaderChange is a change of a rule to the headers of a response.
type HeaderChange struct {
	Name string // in canonical form
	// Value replaces the header's value, or with Append follows that of an earlier rule.
	Value  string
	Append bool
	Unset  bool // removes the header, and Value is empty
}

// Headers lists the changes of the rules to the response of a static file at an escaped path, in order. The host is
// without port.
func (r *Rules) Headers(host, path string) []HeaderChange {
	if r == nil {
		return nil
	}
	var changes []HeaderChange
	for i := range r.headers {
		rule := &r.headers[i]
		took, ok := rule.path.match(host, path)
		if !ok {
			continue
		}
		for _, name := range rule.unset {
			changes = append(changes, HeaderChange{Name: name, Unset: true})
		}
		for _, v := range rule.set {
			before := slices.ContainsFunc(changes, func(c HeaderChange) bool { return c.Name == v.name && !c.Unset })
			changes = append(changes, HeaderChange{Name: v.name, Value: fill(v.value, took), Append: before})
		}
	}
	return changes
}

var (
	edgeSourceLine = regexp.MustCompile(`^(/|[^\s:]+://)`)
	headerName     = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

// ownedHeader reports whether only the server may set a header: framing, validators, the target of a redirect.
func ownedHeader(name string) bool {
	switch name {
	case "Connection", "Content-Encoding", "Content-Length", "Content-Range", "Date", "Etag", "Keep-Alive", "Last-Modified",
		"Location", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return strings.HasPrefix(name, "X-Pages-")
}

// headerRules reads the whole file.
func (f *edgeFile) headerRules() []headerRule {
	var rules []headerRule
	var block edgeLine // the path line of the last rule
	open := -1         // the index of the rule that gets the next header lines, -1 without one
	closeRule := func() {
		if open >= 0 {
			f.checkReserved(&rules[open], block)
		}
		if open >= 0 && len(rules[open].set)+len(rules[open].unset) == 0 && !rules[open].refused {
			f.refuse(diagnostic.CodeEdgeLine, block.span(), "the rule has no headers", `write them below it: "  Name: value"`)
		}
	}
	for _, line := range f.ruleLines() {
		if !edgeSourceLine.MatchString(line.text) {
			if open >= 0 {
				f.headerLine(line, block.text, &rules[open])
			} else if block.number == 0 { // otherwise the path of the rule was refused
				f.refuse(diagnostic.CodeEdgeLine, line.span(), "the header has no path above it",
					`put a line with a path above it, such as "/*"`)
			}
			continue
		}
		closeRule()
		if len(rules) == maxHeaderRules {
			f.refuse(diagnostic.CodeEdgeTooMany, line.span(),
				fmt.Sprintf("the file has more than %d rules", maxHeaderRules), `join rules with "*" or ":name"`)
			return rules
		}
		open, block = -1, line
		if p, ok := f.pattern(line.text, line.span(), true); ok {
			rules = append(rules, headerRule{path: p})
			open = len(rules) - 1
		}
	}
	closeRule()
	return rules
}

// checkReserved warns of a rule for a reserved path, unless the rule lists the origins whose scripts may send forms.
func (f *edgeFile) checkReserved(rule *headerRule, block edgeLine) {
	if !rule.path.reserved {
		return
	}
	if !rule.path.forms {
		f.warnReserved(block.text, block.span())
		return
	}
	counts := func(name string) bool {
		return name == "Access-Control-Allow-Origin" || name == "Access-Control-Allow-Credentials"
	}
	others := slices.Clone(rule.unset)
	for _, v := range rule.set {
		if !counts(v.name) {
			others = append(others, v.name)
		}
	}
	if len(others) > 0 {
		f.warn(diagnostic.CodeEdgeReserved, block.span(),
			fmt.Sprintf("at the address of forms Access-Control-Allow-Origin and Access-Control-Allow-Credentials apply, and not %s",
				sourcetext.Quote(others[0])), "remove its line")
	}
}

// headerLine reads "Name: value" or "! Name" of the rule for a path.
func (f *edgeFile) headerLine(line edgeLine, path string, rule *headerRule) {
	name, value, pair := strings.Cut(line.text, ":")
	rest, unset := strings.CutPrefix(line.text, "!")
	if unset && !pair {
		name, value = rest, ""
	}
	name = strings.TrimSpace(name)
	value = strings.TrimSpace(value)
	canonical, before := textproto.CanonicalMIMEHeaderKey(name), len(f.found)
	defer func() { rule.refused = rule.refused || len(f.found) > before }()
	switch {
	case !pair && !unset:
		f.refuse(diagnostic.CodeEdgeLine, line.span(), "the line is neither a path nor a header",
			`write "Name: value", or "! Name" to leave a header out`)
	case !headerName.MatchString(name):
		f.refuse(diagnostic.CodeEdgeLine, line.span(), sourcetext.Quote(name)+" is not a header name",
			`write a name of letters, digits and -, then a colon and the value`)
	case ownedHeader(canonical):
		f.refuse(diagnostic.CodeEdgeHeader, line.span(), sourcetext.Quote(name)+" is reserved for the server", "remove the line")
	case HeaderSecret(name, value) != "":
		f.refuse(diagnostic.CodeEdgeSecret, line.span(), HeaderSecret(name, value), HeaderSecretFix(path))
		last := &f.found[len(f.found)-1]
		last.Source = StarHeaders(last.Source)
	case !pair:
		rule.unset = append(rule.unset, canonical)
	case value == "":
		f.refuse(diagnostic.CodeEdgeLine, line.span(), "the header has no value", `write "! `+name+`" to leave it out`)
	case strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }):
		f.refuse(diagnostic.CodeEdgeHeader, line.span(), "the value has a control character in it", "remove it")
	default:
		at := slices.IndexFunc(rule.set, func(v headerValue) bool { return v.name == canonical })
		if at < 0 || canonical == "Set-Cookie" { // cookies cannot be joined (RFC 6265, section 3)
			rule.set = append(rule.set, headerValue{canonical, value})
		} else {
			rule.set[at].value += ", " + value
		}
	}
}
