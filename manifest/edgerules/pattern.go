package edgerules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

const splatName = "splat" // the placeholder for the text that the star matched

var placeholder = regexp.MustCompile(`:([A-Za-z]\w*)`) // ":name" in a pattern, a destination or a value

// edgePattern is the path of a rule. It is compared with the canonical escaped path, so that the text that a star or
// placeholder matched is safe wherever it is put.
type edgePattern struct {
	prefix string         // the prefix of every match; the whole path for a literal pattern
	names  []string       // of the placeholders, in order
	expr   *regexp.Regexp // nil for a literal pattern
	host   bool           // it begins with "https://host"

	reserved bool // for paths of the platform's own
	forms    bool // for the address of forms

	text    string   // as it was written
	samples []string // escaped paths that it matches; none of a pattern with a host
}

func (p *edgePattern) literal() bool { return p.expr == nil }

// match returns the texts that the placeholders matched, by name.
func (p *edgePattern) match(host, path string) (values map[string]string, ok bool) {
	subject := path
	if p.host {
		subject = "https://" + host + path
	}
	if p.literal() {
		return nil, subject == p.prefix
	}
	if !strings.HasPrefix(subject, p.prefix) {
		return nil, false
	}
	hit := p.expr.FindStringSubmatch(subject)
	if hit == nil {
		return nil, false
	}
	values = make(map[string]string, len(p.names))
	for i, name := range p.names {
		values[name] = hit[i+1]
	}
	return values, true
}

// fill replaces the placeholders in a text that have values; others stay.
func fill(text string, values map[string]string) string {
	if len(values) == 0 {
		return text
	}
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := values[name[1:]]; ok {
			return value
		}
		return name
	})
}

// edgeToken is a piece of a pattern: text, a placeholder, or the star.
type edgeToken struct {
	text string
	name string // "" for text
}

func edgeTokens(pattern string) []edgeToken {
	var list []edgeToken
	for pattern != "" {
		start, end, name := len(pattern), len(pattern), ""
		if at := placeholder.FindStringIndex(pattern); at != nil {
			start, end, name = at[0], at[1], pattern[at[0]+1:at[1]]
		}
		if star := strings.IndexByte(pattern, '*'); star >= 0 && star < start {
			start, end, name = star, star+1, splatName
		}
		if start > 0 {
			list = append(list, edgeToken{text: pattern[:start]})
		}
		if name != "" {
			list = append(list, edgeToken{text: pattern[start:end], name: name})
		}
		pattern = pattern[end:]
	}
	return list
}

const edgePathFix = "write the path as a browser shows it in its address" // for paths that no URL has

// formsPath is the address of forms, for which "_headers" lists the origins whose scripts may send them.
const formsPath = "/" + sitepath.ReservedPages + "/forms"

func (f *edgeFile) warnReserved(text string, at sourcetext.Span) {
	f.warn(diagnostic.CodeEdgeReserved, at,
		sourcetext.Quote(text)+" is under a path that the platform reserves, where no rule applies", "remove the rule")
}

// pattern reads the path of a rule at a place in the file; false when it was refused. Only headers may have hosts.
func (f *edgeFile) pattern(text string, at sourcetext.Span, hosts bool) (*edgePattern, bool) {
	p, host, path := &edgePattern{text: text}, "", text
	if rest, ok := strings.CutPrefix(text, "https://"); ok && hosts {
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			rest, slash = rest+"/", len(rest)
		}
		p.host, host, path = true, strings.ToLower(rest[:slash]), rest[slash:]
		plain := strings.Trim(placeholder.ReplaceAllString(host, "x"), "abcdefghijklmnopqrstuvwxyz0123456789-._*") == ""
		if host == "" || !plain {
			f.refuse(diagnostic.CodeEdgePath, at, sourcetext.Quote(text)+" has no host, or a host with a port",
				"write it as https://example.com/path; rules ignore the scheme and the port")
			return nil, false
		}
	}
	if !strings.HasPrefix(path, "/") {
		fix := `begin it with a slash`
		if hosts {
			fix += ` or with https://`
		}
		f.refuse(diagnostic.CodeEdgePath, at, sourcetext.Quote(text)+" is not a path of the site", fix)
		return nil, false
	}
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		msg := "rules are compared with paths alone: " + sourcetext.Quote(path[end:]) + " does not count"
		f.warn(diagnostic.CodeEdgePath, at, msg, "remove it")
		path = path[:end]
	}
	if fault := repeatedPlaceholder(append(edgeTokens(host), edgeTokens(path)...)); fault != "" {
		f.refuse(diagnostic.CodeEdgePath, at, sourcetext.Quote(text)+" "+fault,
			"keep one of them, and split the rule if it needs more")
		return nil, false
	}
	decoded, fault := edgeSample(path)
	if fault != "" {
		f.refuse(diagnostic.CodeEdgePath, at,
			fmt.Sprintf("no request can have the path %s: %s", sourcetext.Quote(path), fault), edgePathFix)
		return nil, false
	}
	p.reserved = sitepath.ReservedPath(decoded) != ""
	p.forms = strings.HasPrefix(decoded+"/", formsPath+"/")
	if p.reserved && !hosts {
		f.warnReserved(text, at)
	}
	p.compile(host, path)
	return p, true
}

// repeatedPlaceholder returns the fault of a pattern with two stars, or twice the same placeholder; "" for none.
func repeatedPlaceholder(tokens []edgeToken) string {
	seen := map[string]bool{}
	for _, t := range tokens {
		switch {
		case t.name == "":
			continue
		case seen[t.name] && t.name == splatName:
			return "has more than one star"
		case seen[t.name]:
			return fmt.Sprintf("has the placeholder %q twice", ":"+t.name)
		}
		seen[t.name] = true
	}
	return ""
}

// edgeSample decodes a path with "x" for the star and each placeholder, or returns the reason why no request can have it.
func edgeSample(path string) (decoded, fault string) {
	var b strings.Builder
	for _, t := range edgeTokens(path) {
		if t.name != "" {
			b.WriteByte('x')
			continue
		}
		text, fault := unescapeLiteral(t.text)
		if fault != "" {
			return "", fault
		}
		b.WriteString(text)
	}
	return sitepath.CanonicalPath(b.String())
}

// edgeSamples returns escaped paths that a checked one without a host matches: with one character for each star and
// placeholder, and with nothing for the star.
func edgeSamples(path string) (samples []string) {
	for _, splat := range []string{"x", ""} {
		var sample strings.Builder
		for _, t := range edgeTokens(path) {
			switch t.name {
			case "":
				decoded, _ := unescapeLiteral(t.text) // which was checked
				sample.WriteString(EscapePath(decoded))
			case splatName:
				sample.WriteString(splat)
			default:
				sample.WriteByte('x')
			}
		}
		if len(samples) == 0 || sample.String() != samples[0] {
			samples = append(samples, sample.String())
		}
	}
	return samples
}

// unescapeLiteral decodes percent escapes. Characters that requests escape may also occur unescaped.
func unescapeLiteral(text string) (decoded, fault string) {
	if !strings.Contains(text, "%") {
		return text, ""
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			b = append(b, text[i])
			continue
		}
		var c byte
		if i+3 > len(text) {
			return "", `it has a "%" without two hexadecimal digits`
		}
		if _, err := fmt.Sscanf(text[i+1:i+3], "%02x", &c); err != nil || !sitepath.PercentEncoded.MatchString(text[i:i+3]) {
			return "", `it has a "%" without two hexadecimal digits`
		}
		if c == '/' {
			return "", "it has an encoded slash"
		}
		b = append(b, c)
		i += 2
	}
	return string(b), ""
}

// compile makes the pattern of a checked host and path.
func (p *edgePattern) compile(host, path string) {
	var expr strings.Builder
	fixed := true // no star or placeholder so far
	literal := func(text string) {
		expr.WriteString(regexp.QuoteMeta(text))
		if fixed {
			p.prefix += text
		}
	}
	add := func(tokens []edgeToken, taken string, canonical func(string) string) {
		for _, t := range tokens {
			switch t.name {
			case "":
				literal(canonical(t.text))
				continue
			case splatName:
				expr.WriteString("(.*)")
			default:
				expr.WriteString("(" + taken + ")")
			}
			fixed = false
			p.names = append(p.names, t.name)
		}
	}
	if p.host {
		literal("https://")
		add(edgeTokens(host), "[^/.]+", func(text string) string { return text })
	}
	add(edgeTokens(path), "[^/]+", func(text string) string {
		decoded, _ := unescapeLiteral(text) // which was checked
		return EscapePath(decoded)
	})
	p.samples = edgeSamples(path)
	if len(p.names) > 0 {
		p.expr = regexp.MustCompile("^(?s:" + expr.String() + ")$")
	}
}

// EscapePath percent-encodes every byte of a decoded path that RFC 3986 does not allow in one.
func EscapePath(decoded string) string {
	first := strings.IndexFunc(decoded, func(r rune) bool { return !pathRune(r) })
	if first < 0 {
		return decoded
	}
	const digits = "0123456789ABCDEF"
	b := slices.Grow([]byte(decoded[:first]), len(decoded)+16)
	for i := first; i < len(decoded); i++ {
		if c := decoded[i]; pathRune(rune(c)) {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(b)
}

// pathRune reports whether a path may have a character without escaping it: RFC 3986 "pchar" and the slash.
func pathRune(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return true
	}
	return r < 0x80 && strings.ContainsRune("-._~!$&'()*+,;=:@/", r)
}
