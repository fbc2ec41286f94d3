package site

import (
	"strings"

	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// Path is the one path value of a request: the gate, the route table, the static lookup and the Worker's request
// use it. Make it with [Canonical].
type Path struct {
	decoded   string // "/café.html": NFC, no dot segments, no empty ones except the last
	escaped   string // "/caf%C3%A9.html"
	query     string // without "?", as sent
	hasQuery  bool   // tells "/a?" from "/a"
	authority string // of an absolute-form target, else ""
}

// String returns the decoded path, in Unicode NFC: "/café.html".
func (p Path) String() string { return p.decoded }

// Target returns the canonical request target: path and query.
func (p Path) Target() string {
	if !p.hasQuery {
		return p.escaped
	}
	return p.escaped + "?" + p.query
}

// Canonical reads a request target in origin form ("/a?b") or absolute form ("http://host/a?b"). A target that two
// programs could read in two ways is an error: dot segments, empty segments, encoded slashes, backslashes, "%",
// controls, and bytes outside ASCII. The error is a [*RefusalError] with status 400, or 414 for a target over 8 KiB.
func Canonical(requestURI string) (Path, error) {
	if len(requestURI) > maxPathBytes {
		return Path{}, refuse(414, "path_too_long", "the request target is longer than 8 KiB")
	}
	var p Path
	target := requestURI
	if !strings.HasPrefix(target, "/") {
		var ok bool
		if p.authority, target, ok = cutAbsolute(target); !ok {
			return Path{}, refusePath("the request target is no path")
		}
	}
	var raw string
	raw, p.query, p.hasQuery = strings.Cut(target, "?")
	if strings.ContainsFunc(p.query, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' }) {
		return Path{}, refusePath("the query holds a control character, a space or a \"#\"")
	}
	if plainPath(raw) {
		p.decoded, p.escaped = raw, raw
		return p, nil
	}
	decoded, err := unescape(raw)
	if err != nil {
		return Path{}, err
	}
	path, fault := sitepath.CanonicalPath(decoded)
	if fault != "" {
		return Path{}, refusePath(fault)
	}
	p.decoded, p.escaped = path, edgerules.EscapePath(path)
	return p, nil
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

// plainPath reports whether a path is canonical as it stands: unreserved ASCII characters, no dot segments, no
// empty segments. It is the common case, and allocates nothing.
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

// unescape decodes percent escapes once. An escaped slash is an error: the decoded path could not tell it from a
// real one.
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
		case i+2 >= len(raw) || hexValue(raw[i+1]) < 0 || hexValue(raw[i+2]) < 0:
			return "", refusePath("the path holds a \"%\" without two hexadecimal digits")
		}
		d := byte(hexValue(raw[i+1])<<4 | hexValue(raw[i+2]))
		if d == '/' {
			return "", refusePath("the path holds an encoded slash")
		}
		b.WriteByte(d)
		i += 2
	}
	return b.String(), nil
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
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
