package edgerules

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// redirectRule is a line of "_redirects".
type redirectRule struct {
	from   *edgePattern
	to     string // in canonical form, placeholders as they were written
	status int
	line   int
	at     sourcetext.Span // of the destination
	// fallback marks a rule that applies only to paths without a file or another answer: see isFallback.
	fallback bool
}

// Redirect is the target of a path.
type Redirect struct {
	Status int // 301, 302, 303, 307, 308, or 200 for a response with the file of another path
	// Path is that other path, for 200: decoded and canonical.
	Path string
	Line int // the line of the rule in "_redirects"; 0 when no rule covers the path
	// Fallback marks a rule that counts after the files and the Worker.
	Fallback bool

	to string
}

// Refused reports whether the target is one of the platform's own paths, or no path.
func (r Redirect) Refused() bool { return r.Line > 0 && r.to == "" }

// Location returns the target for the query of a request: "/new?a=b" or "https://…". A query of the rule wins.
func (r Redirect) Location(query string) string {
	if query == "" {
		return r.to
	}
	to, fragment, _ := strings.Cut(r.to, "#")
	if !strings.Contains(to, "?") {
		to += "?" + query
	}
	if fragment != "" {
		to += "#" + fragment
	}
	return to
}

// next returns the escaped path on this site that a browser requests next, "" for none.
func (r Redirect) next() string {
	if r.Status == 200 || !strings.HasPrefix(r.to, "/") {
		return ""
	}
	path, _, _ := strings.Cut(r.to, "#")
	path, _, _ = strings.Cut(path, "?")
	decoded, _ := unescapeLiteral(path)
	return EscapePath(decoded)
}

// Fallback finds the first rule for an escaped path that neither another rule, nor a file, nor the Worker answers: the line
// "/* /index.html 200" of a single-page app.
func (r *Rules) Fallback(path string) Redirect {
	if r == nil {
		return Redirect{}
	}
	for _, i := range r.fallbacks {
		values, ok := r.redirects[i].from.match("", path)
		if !ok {
			continue
		}
		if d := r.redirects[i].target(fill(r.redirects[i].to, values)); !d.Refused() {
			d.Fallback = true
			return d
		}
	}
	return Redirect{}
}

// Fallback is a rule that serves one page for all paths below a folder that nothing else answers.
type Fallback struct {
	Folder string // decoded, without a slash at the end: "" for the whole site
	Page   string // decoded path
	Line   int
}

// Fallbacks lists those rules, in the order of the file. [Rules.Fallback] knows those with placeholders as well.
func (r *Rules) Fallbacks() (list []Fallback) {
	if r == nil {
		return nil
	}
	for _, i := range r.fallbacks {
		rule := &r.redirects[i]
		folder, ok := strings.CutSuffix(rule.from.prefix, "/")
		decoded, fault := unescapeLiteral(folder)
		target := rule.target(rule.to)
		if ok && fault == "" && len(rule.from.names) == 1 && !rule.varies() && !target.Refused() {
			list = append(list, Fallback{Folder: decoded, Page: target.Path, Line: rule.line})
		}
	}
	return list
}

// Redirect finds the first rule that covers an escaped path and counts before the files and the Worker.
func (r *Rules) Redirect(path string) Redirect {
	if r == nil {
		return Redirect{}
	}
	first, found := len(r.redirects), map[string]string(nil)
	if i, ok := r.exact[path]; ok {
		first = i
	}
	for _, i := range r.dynamic {
		if i > first {
			break
		}
		if values, ok := r.redirects[i].from.match("", path); ok {
			first, found = i, values
			break
		}
	}
	if first == len(r.redirects) {
		return Redirect{}
	}
	rule := &r.redirects[first]
	return rule.target(fill(rule.to, found))
}

var slashes = regexp.MustCompile(`/{2,}`)

// target returns the redirect of a rule for its destination with filled placeholders.
func (r *redirectRule) target(to string) Redirect {
	d := Redirect{Status: r.status, Line: r.line}
	if !strings.HasPrefix(r.to, "/") {
		d.to = to
		return d
	}
	end := len(to)
	if i := strings.IndexAny(to, "?#"); i >= 0 {
		end = i
	}
	path := slashes.ReplaceAllString(to[:end], "/") // an empty placeholder leaves two slashes
	decoded, fault := unescapeLiteral(path)
	if fault == "" {
		decoded, fault = sitepath.CanonicalPath(decoded)
	}
	switch {
	case fault != "" && (r.status == 200 || !mayLeadTo(path)), fault == "" && sitepath.ReservedPath(decoded) != "":
		return d
	case r.status == 200:
		d.Path = decoded
	}
	d.to = path + to[end:]
	return d
}

// mayLeadTo reports whether no reading of an escaped path is one of the platform's own: no file has such a path, and a browser
// may ask for it.
func mayLeadTo(path string) bool {
	all, ok := sitepath.Readings(path)
	return ok && !slices.ContainsFunc(all, func(reading string) bool { return sitepath.ReservedPath(reading) != "" })
}

// redirectRules reads the whole file.
func (f *edgeFile) redirectRules() []redirectRule {
	var rules []redirectRule
	seen := map[string]int{}
	static, dynamic := 0, 0
	for _, line := range f.ruleLines() {
		rule, from, ok := f.redirectLine(line)
		if !ok {
			continue
		}
		if dynamic == 0 && rule.from.literal() {
			static++
		} else {
			dynamic++
		}
		if static > maxStaticRedirects || dynamic > maxDynamicRedirects {
			f.refuse(diagnostic.CodeEdgeTooMany, line.span(),
				fmt.Sprintf("the file has more than %d rules, or more than %d from the first one with a star or a placeholder on",
					maxStaticRedirects, maxDynamicRedirects), "put rules without a star or a placeholder first")
			return rules
		}
		key := rule.from.prefix
		if !rule.from.literal() {
			key = "*" + rule.from.expr.String()
		}
		if before, twice := seen[key]; twice {
			f.warn(diagnostic.CodeEdgeDuplicate, from,
				fmt.Sprintf("the rule never applies: line %d has the same path", before), "remove one of them")
			continue
		}
		seen[key] = line.number
		rules = append(rules, rule)
	}
	return rules
}

// redirectLine reads "from to [status]".
func (f *edgeFile) redirectLine(line edgeLine) (rule redirectRule, from sourcetext.Span, ok bool) {
	words, at := line.fields()
	for i := 2; i < len(words); i++ {
		if strings.HasPrefix(words[i], "#") { // a comment after the rule
			words, at = words[:i], at[:i]
		}
	}
	if len(words) != 2 && len(words) != 3 {
		fix := `write "/from /to 301"; a space in a path is %20`
		conditional := slices.ContainsFunc(words[min(1, len(words)):], func(word string) bool { // Netlify's, "Country=de" or "id=:id"
			name, _, ok := strings.Cut(word, "=")
			return ok && name != "" && !strings.ContainsAny(name, "/?#:")
		})
		if conditional {
			fix = "remove the conditions: a rule matches the path alone; a Worker can look at the query, the " +
				"country, the language or a cookie"
		}
		f.refuse(diagnostic.CodeEdgeLine, line.span(), "the line is not a redirect", fix)
		return rule, from, false
	}
	rule.line, rule.status, rule.at = line.number, 302, at[1]
	if len(words) == 3 {
		status, err := strconv.Atoi(words[2])
		if err != nil || !slices.Contains([]int{200, 301, 302, 303, 307, 308}, status) {
			fix := "use 301, 302, 303, 307, 308, or 200 to answer with another file"
			switch plain, forced := strings.CutSuffix(words[2], "!"); { // as Netlify has it
			case forced:
				fix = "write " + sourcetext.Quote(plain) + ": a rule always applies before the files"
			case words[2] == "404":
				fix = "remove the line, and write a 404.html, in any folder: the site answers with it where nothing else does"
			}
			f.refuse(diagnostic.CodeEdgeLine, at[2], sourcetext.Quote(words[2])+" is not the status of a redirect", fix)
			return rule, from, false
		}
		rule.status = status
	}
	if rule.from, ok = f.pattern(words[0], at[0], false); !ok {
		return rule, from, false
	}
	if rule.to, ok = f.destination(words[1], at[1], rule); !ok {
		return rule, from, false
	}
	for _, name := range placeholder.FindAllString(rule.to, -1) {
		if !slices.Contains(rule.from.names, name[1:]) {
			f.warn(diagnostic.CodeEdgePath, at[1],
				sourcetext.Quote(name)+" is not in the path of the rule, and stays as it is",
				"add it to the path of the rule, or correct its name")
		}
	}
	rule.fallback = rule.isFallback(words[0])
	return rule, at[0], true
}

// isFallback reports whether a rule serves one page for all paths under from, under a name of the page that redirects back to the
// rule: "/* /index.html 200". Cloudflare ignores such a rule. Netlify applies it only to paths without a file, and so does this
// package.
func (r *redirectRule) isFallback(from string) bool {
	if r.status != 200 || !strings.HasSuffix(from, "/*") {
		return false
	}
	to, _, _ := strings.Cut(r.to, "#")
	to, _, _ = strings.Cut(to, "?")
	if strings.HasSuffix(to, "/index") || strings.HasSuffix(to, "/index.html") {
		return true
	}
	_, covered := r.from.match("", to)
	return covered && strings.HasSuffix(to, ".html") && !r.varies()
}

// varies reports whether the destination depends on the path.
func (r *redirectRule) varies() bool { return placeholder.MatchString(r.to) }

// destination reads the destination of a rule.
func (f *edgeFile) destination(text string, at sourcetext.Span, rule redirectRule) (to string, ok bool) {
	to, fault := escapeTarget(text)
	if fault != "" {
		f.refuse(diagnostic.CodeEdgePath, at, fmt.Sprintf("no rule can redirect to %s: %s", sourcetext.Quote(text), fault), edgePathFix)
		return "", false
	}
	if rest, absolute := strings.CutPrefix(to, "https://"); absolute {
		return f.otherSite(to, rest, at, rule)
	}
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		f.refuse(diagnostic.CodeEdgePath, at, sourcetext.Quote(text)+" is neither a path of the site nor an https:// address",
			`begin it with one slash, or with https://`)
		return "", false
	}
	end := len(to)
	if i := strings.IndexAny(to, "?#"); i >= 0 {
		end = i
	}
	decoded, fault := edgeSample(to[:end])
	switch {
	case fault != "":
		f.refuse(diagnostic.CodeEdgePath, at, fmt.Sprintf("no rule can redirect to %s: %s", sourcetext.Quote(text), fault), edgePathFix)
	case sitepath.ReservedPath(decoded) != "":
		f.refuse(diagnostic.CodeEdgeReserved, at,
			sourcetext.Quote(text)+" is under a path that the platform reserves, to which no rule may redirect",
			"redirect to a page of the site, or remove the rule")
	default:
		return to, true
	}
	return "", false
}

// otherSite checks an address of another site.
func (f *edgeFile) otherSite(to, rest string, at sourcetext.Span, rule redirectRule) (string, bool) {
	host := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	if u, err := url.Parse("https://" + placeholder.ReplaceAllString(host, "x")); err != nil || u.Hostname() == "" {
		f.refuse(diagnostic.CodeEdgePath, at, sourcetext.Quote(to)+" is not an address", "write it as https://example.com/path")
		return "", false
	}
	if rule.status == 200 {
		f.refuse(diagnostic.CodeEdgeLine, at, "only a file of this site can answer with status 200",
			"use 302 to redirect to another site, or fetch it in the Worker")
		return "", false
	}
	for _, name := range placeholder.FindAllString(host, -1) {
		if slices.Contains(rule.from.names, name[1:]) {
			f.warn(diagnostic.CodeEdgeOpen, at,
				"the author of a link chooses the site that "+sourcetext.Quote(to)+" leads to", "write the host out")
		}
	}
	return to, true
}

// escapeTarget percent-encodes the characters that no URL may have.
func escapeTarget(text string) (target, fault string) {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c < ' ' || c == 0x7f:
			return "", "it has a control character in it"
		case c == '\\':
			return "", "it has a backslash in it"
		case c == '%' && (i+3 > len(text) || !sitepath.PercentEncoded.MatchString(text[i:i+3])):
			return "", `it has a "%" without two hexadecimal digits`
		case c >= 0x80 || strings.IndexByte("\"<>^`{|}", c) >= 0:
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
