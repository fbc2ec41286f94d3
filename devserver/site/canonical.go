package site

import (
	"net/url"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// Path is the single path value of a request for the gate, the route table, the static lookup and the Worker's request. Make it with
// [Canonical].
type Path struct {
	decoded   string   // for routes and rules: "/café.html", NFC, dot segments resolved; an encoded slash stays "%2F"
	escaped   string   // the same, percent-encoded: "/caf%C3%A9.html"
	sent      string   // as the client sent it
	file      string   // for the static lookup: slashes decoded and merged; "" if no file can have the path
	readings  []string // further readings by other programs; nil for none
	query     string   // without "?", as sent
	hasQuery  bool     // distinguishes "/a?" from "/a"
	authority string   // of an absolute-form target, else ""
}

// String returns the decoded path, in Unicode NFC: "/café.html".
func (p Path) String() string { return p.decoded }

// Target returns the canonical request target: path and query.
func (p Path) Target() string { return p.withQuery(p.escaped) }

// Sent returns the request target as the client sent it: path and query.
func (p Path) Sent() string { return p.withQuery(p.sent) }

// sentURL returns the target as sent, for programs that serialize it again. They may encode characters that no URL may have.
func (p Path) sentURL() *url.URL {
	u := &url.URL{Path: p.sent, RawQuery: p.query, ForceQuery: p.hasQuery && p.query == ""}
	if u.EscapedPath() == p.sent {
		return u
	}
	u.Path, _ = unescape(p.sent) // which was checked
	u.RawPath = escapeBytes(p.sent, func(c byte) bool { return pathBytes[c] == encodeByte && c != '%' })
	return u
}

func (p Path) withQuery(path string) string {
	if !p.hasQuery {
		return path
	}
	return path + "?" + p.query
}

// Canonical reads a request target in origin form ("/a?b") or absolute form ("http://host/a?b"). Encoded slashes, "%25", empty segments and
// dot segments give the path further readings, of which the gate judges each. A target without a safe reading is an error: backslashes,
// controls, malformed escapes, bytes that are not UTF-8, and characters that look like slashes or dots. The error is a [*RefusalError] with
// status 400, or 414 for a target over 8 KiB.
func Canonical(requestURI string) (Path, error) {
	if len(requestURI) > maxPathBytes {
		return Path{}, refuse(414, "path_too_long", "the request target is longer than 8 KiB")
	}
	var p Path
	target := requestURI
	if !strings.HasPrefix(target, "/") {
		var ok bool
		if p.authority, target, ok = cutAbsolute(target); !ok {
			return Path{}, refusePath("the request target is not a path")
		}
	}
	p.sent, p.query, p.hasQuery = strings.Cut(target, "?")
	if strings.ContainsFunc(p.query, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' }) {
		return Path{}, refusePath("the query holds a control character, a space or a \"#\"")
	}
	if plainPath(p.sent) {
		p.decoded, p.escaped, p.file = p.sent, p.sent, p.sent
		return p, nil
	}
	err := p.read()
	return p, err
}

// read reads a path that is not plain.
func (p *Path) read() error {
	once, err := unescape(p.sent)
	if err != nil {
		return err
	}
	if fault := sitepath.PathFault(once); fault != "" {
		return refusePath(fault)
	}
	path, fault := sitepath.CanonicalPath(once)
	simple := fault == "" && !strings.ContainsAny(once, "?#") && !sitepath.HasLooseDots(path)
	if simple && strings.Count(path, "/") == strings.Count(p.sent, "/") { // no slash was encoded
		p.decoded, p.escaped, p.file = path, edgerules.EscapePath(path), path
		return nil
	}
	var ok bool
	if p.readings, ok = sitepath.Readings(p.sent); !ok {
		return refusePath("the path can be read in too many ways")
	}
	resolved := sitepath.ResolveDots(p.sent)
	p.decoded, p.escaped = segments(resolved)
	whole, _ := unescape(resolved) // which was checked
	if file, fault := sitepath.CanonicalFile(whole); fault == "" {
		p.file = file
	}
	return nil
}

const escapedSlash = "%2F"

// segments decodes and encodes a sent path, segment by segment. An encoded slash stays encoded, in capitals.
func segments(sent string) (decoded, escaped string) {
	var plain, encoded strings.Builder
	for at, segment := range strings.Split(sent, "/") {
		if at > 0 {
			plain.WriteByte('/')
			encoded.WriteByte('/')
		}
		segment, _ = unescape(segment) // which was checked
		for i, part := range strings.Split(segment, "/") {
			if i > 0 {
				plain.WriteString(escapedSlash)
				encoded.WriteString(escapedSlash)
			}
			part = norm.NFC.String(part)
			plain.WriteString(part)
			encoded.WriteString(edgerules.EscapePath(part))
		}
	}
	return plain.String(), encoded.String()
}

// cutAbsolute splits "http://host/path?query".
func cutAbsolute(target string) (authority, rest string, ok bool) {
	scheme, after, found := strings.Cut(target, "://")
	if !found || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return "", "", false
	}
	end := strings.IndexAny(after, "/?#\\")
	if end < 0 {
		return after, "/", after != ""
	}
	authority, rest = after[:end], after[end:]
	if strings.HasPrefix(rest, "?") {
		rest = "/" + rest
	}
	return authority, rest, authority != "" && strings.HasPrefix(rest, "/")
}

// plainPath reports whether a path is canonical already: unreserved ASCII characters, no dot segments, no empty segments. It is the common
// case, and allocates nothing.
func plainPath(raw string) bool {
	previous := byte(0)
	for i := range len(raw) {
		c := raw[i]
		if pathBytes[c] != plainByte || c == '/' && previous == '/' || c == '.' && previous == '/' {
			return false
		}
		previous = c
	}
	return true
}

// unescape decodes percent escapes once.
func unescape(raw string) (string, error) {
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case pathBytes[c] == badByte:
			return "", refusePath("the path holds a character that must be percent-encoded")
		case c != '%':
			b.WriteByte(c)
			continue
		}
		d, ok := sitepath.Unescaped(raw[i:])
		if !ok {
			return "", refusePath("the path holds a \"%\" without two hexadecimal digits")
		}
		b.WriteByte(d)
		i += 2
	}
	return b.String(), nil
}

// The kinds of bytes in a raw path.
const (
	badByte    = iota // refused
	encodeByte        // accepted, and encoded in the canonical form
	plainByte         // stands for itself
)

// pathBytes holds the kind of each byte: "pchar" of RFC 3986 and the slash are plain.
var pathBytes = func() (table [256]byte) {
	for c := '!'; c < 0x7f; c++ {
		table[c] = encodeByte
	}
	table['#'], table['\\'] = badByte, badByte
	for c := 'a'; c <= 'z'; c++ {
		table[c], table[c-'a'+'A'] = plainByte, plainByte
	}
	for _, c := range "0123456789-._~!$&'()*+,;=:@/" {
		table[c] = plainByte
	}
	return table
}()
