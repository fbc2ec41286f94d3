package weburl

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// This file reads the most frequent URLs: absolute ones with a host, and URLs relative to these. For these, the steps of the URL standard
// (4.4) amount to splitting the URL and checking each byte. The package whatwg-url reads URLs with credentials or an unusual spelling of
// the host or port, and all others; its time grows with the square of a path's segments. A fuzzer compares the results of both.

// specialPort is the default port of a scheme whose URLs have a host. The scheme file is missing: its
// URLs have drive letters.
func specialPort(scheme string) (port string, special bool) {
	switch scheme {
	case "http", "ws":
		return "80", true
	case "https", "wss":
		return "443", true
	case "ftp":
		return "21", true
	}
	return "", false
}

// The parts in which a byte may be unescaped.
const (
	inHost = 1 << iota
	inPath
	inQuery
	inFragment
)

// urlBytes are the bytes outside of the percent-encode sets (URL standard, 1.3), and those of plain
// hosts.
var urlBytes = func() (table [256]byte) {
	for c := byte('!'); c <= '~'; c++ {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._", c) >= 0 {
			table[c] |= inHost
		}
		for part, encoded := range map[byte]string{inPath: "\"#<>?^`{}\\", inQuery: "\"#<>'", inFragment: "\"<>`"} {
			if strings.IndexByte(encoded, c) < 0 {
				table[c] |= part
			}
		}
	}
	return table
}()

// span is the number of bytes at the start of s that a part may contain.
func span(s string, part byte) int {
	for i := range len(s) {
		if urlBytes[s[i]]&part == 0 {
			return i
		}
	}
	return len(s)
}

// encodePart is a path, a query or a fragment with its forbidden characters encoded. A backslash in
// a path is a slash.
func encodePart(s string, part byte) string {
	n := span(s, part)
	if n == len(s) {
		return s
	}
	out := append(make([]byte, 0, len(s)+len(s)/4+8), s[:n]...)
	for _, c := range []byte(s[n:]) {
		switch {
		case urlBytes[c]&part != 0:
			out = append(out, c)
		case c == '\\':
			out = append(out, '/')
		default:
			const digits = "0123456789ABCDEF"
			out = append(out, '%', digits[c>>4], digits[c&0xf])
		}
	}
	return string(out)
}

// stripControls returns a URL's text without the characters that the parser removes first.
func stripControls(s string) string {
	return withoutBreaks(strings.TrimFunc(s, func(r rune) bool { return r <= ' ' }))
}

func withoutBreaks(s string) string {
	if strings.ContainsAny(s, "\t\n\r") {
		return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	}
	return s
}

// specialURL reads s; ok is true only for absolute URLs with a special scheme.
func specialURL(s string) (u urlMembers, ok bool) {
	if p, ok := readPlain(s, nil); ok {
		return p.members(), true
	}
	scheme, rest, found := strings.Cut(stripControls(s), "://")
	scheme = strings.ToLower(scheme)
	if _, special := specialPort(scheme); !found || !special || !utf8.ValidString(rest) {
		return u, false
	}
	n := strings.IndexAny(rest, `/\?#`)
	if n < 0 {
		n = len(rest)
	}
	authority, rest := rest[:n], rest[n:]
	var query, fragment string
	if at := strings.IndexByte(rest, '#'); at >= 0 {
		rest, fragment = rest[:at], "#"+encodePart(rest[at+1:], inFragment)
	}
	if at := strings.IndexByte(rest, '?'); at >= 0 {
		rest, query = rest[:at], "?"+encodePart(rest[at+1:], inQuery)
	}
	path := withoutDots(encodePart(rest, inPath))
	if p, ok := readPlain(scheme+"://"+authority+path+query+fragment, nil); ok {
		return p.members(), true
	}
	u.protocol = scheme + ":"
	if !u.readAuthority(authority) {
		return u, false
	}
	credentials := u.username
	if u.password != "" {
		credentials += ":" + u.password
	}
	if credentials != "" {
		credentials += "@"
	}
	u.href = u.protocol + "//" + credentials + u.host + path + query + fragment
	u.pathname, u.search, u.hash = path, markedPart(query), markedPart(fragment)
	return u, true
}

// markedPart is the value of the member search or hash: empty if the URL has only the mark.
func markedPart(part string) string {
	if len(part) == 1 {
		return ""
	}
	return part
}

// plainURL is a URL of a special scheme without credentials: its href, and where its parts begin there.
type plainURL struct {
	href                              string
	host, hostEnd, path, search, hash int
}

// readPlain reads, in one pass, a URL that stays unchanged except for dot segments of its path. The href is s itself, or is
// written to room.
func readPlain(s string, room []byte) (u plainURL, ok bool) {
	n := strings.IndexByte(s, ':')
	if n < 0 || !strings.HasPrefix(s[n:], "://") {
		return u, false
	}
	standardPort, special := specialPort(s[:n])
	if !special {
		return u, false
	}
	host := n + len("://")
	name := host + span(s[host:], inHost)
	path := name
	if path < len(s) && s[path] == ':' {
		path++
		for path < len(s) && s[path] >= '0' && s[path] <= '9' {
			path++
		}
		if !isPlainPort(s[name+1:path], standardPort) {
			return u, false
		}
	}
	tail := path + span(s[path:], inPath)
	if path < tail && s[path] != '/' || !isPlainHost(s[host:name]) {
		return u, false
	}
	hash := tail
	if tail < len(s) && s[tail] == '?' {
		hash += 1 + span(s[tail+1:], inQuery)
	}
	end := hash
	if hash < len(s) && s[hash] == '#' {
		end += 1 + span(s[hash+1:], inFragment)
	}
	if end < len(s) {
		return u, false
	}
	if path < tail && !hasDots(s[path:tail]) {
		return plainURL{s, host, name, path, tail, hash}, true
	}
	room = appendWithoutDots(append(room[:0], s[:path]...), s[path:tail])
	moved := len(room) - tail
	room = append(room, s[tail:]...)
	return plainURL{unsafe.String(unsafe.SliceData(room), len(room)), host, name, path, tail + moved, hash + moved}, true
}

// members are those of the URL, as parts of its href.
func (u plainURL) members() urlMembers {
	return urlMembers{
		href: u.href, protocol: u.href[:u.host-len("//")], host: u.href[u.host:u.path], hostname: u.href[u.host:u.hostEnd],
		port:     strings.TrimPrefix(u.href[u.hostEnd:u.path], ":"),
		pathname: u.href[u.path:u.search], search: markedPart(u.href[u.search:u.hash]), hash: markedPart(u.href[u.hash:]),
		origin: u.href[:u.path],
	}
}

// appendPacked is that of its members.
func (u plainURL) appendPacked(out []byte) []byte {
	port, search, hash := [2]int{u.hostEnd + 1, u.path}, [2]int{u.search, u.hash}, [2]int{u.hash, len(u.href)}
	if u.hostEnd == u.path {
		port = [2]int{}
	}
	for _, part := range []*[2]int{&search, &hash} {
		if part[1]-part[0] <= 1 {
			*part = [2]int{}
		}
	}
	p := urlPacker{href: u.href, marks: [urlMarks]int{
		0, len(u.href), 0, u.host - len("//"), 0, 0, 0, 0, u.host, u.path, u.host, u.hostEnd, port[0], port[1], u.path, u.search,
		search[0], search[1], hash[0], hash[1], 0, u.path,
	}}
	return p.appendText(out)
}

// specialRef reads ref relative to base; not ok if base is not a special URL, or if ref is neither one nor a path, a query or a fragment.
func specialRef(base, ref string) (u urlMembers, ok bool) {
	b, ok := specialURL(base)
	if !ok {
		return u, false
	}
	if u, ok := specialURL(ref); ok {
		return u, true
	}
	path := b.tail() - len(b.pathname)
	switch ref = stripControls(ref); {
	case ref == "" || ref[0] == '#':
		kept, _, _ := strings.Cut(b.href, "#")
		return specialURL(kept + ref)
	case ref[0] == '?':
		return specialURL(b.href[:b.tail()] + ref)
	case strings.HasPrefix(strings.ReplaceAll(ref[:min(2, len(ref))], `\`, "/"), "//") || strings.Contains(ref, ":"):
		return u, false // of another host, or scheme
	case ref[0] == '/' || ref[0] == '\\':
		return specialURL(b.href[:path] + ref)
	}
	return specialURL(b.href[:path] + b.pathname[:strings.LastIndexByte(b.pathname, '/')+1] + ref)
}

// specialWith returns a URL with another path, query or fragment; not ok for a URL that is not
// special, and for another part.
func specialWith(href, part, value string) (u urlMembers, ok bool) {
	if u, ok = specialURL(href); !ok || !utf8.ValidString(value) {
		return u, false
	}
	tail := u.tail()
	before, fragment := u.href, ""
	if at := strings.IndexByte(u.href, '#'); at >= 0 {
		before, fragment = u.href[:at], u.href[at:]
	}
	switch part {
	case "pathname":
		if value = withoutBreaks(value); value == "" || value[0] != '/' && value[0] != '\\' {
			value = "/" + value
		}
		return specialURL(u.href[:tail-len(u.pathname)] + encodePart(value, inPath) + u.href[tail:])
	case "search":
		return specialURL(u.href[:tail] + encodeMarked("?", value, inQuery) + fragment)
	case "hash":
		return specialURL(before + encodeMarked("#", value, inFragment))
	}
	return u, false
}

// encodeMarked is a query or a fragment, with its mark or without; nothing without any.
func encodeMarked(mark, value string, part byte) string {
	if value == "" {
		return ""
	}
	return mark + encodePart(withoutBreaks(strings.TrimPrefix(value, mark)), part)
}

// isPlainPort reports whether digits are a port that stays unchanged.
func isPlainPort(digits, standard string) bool {
	if digits == "" || digits[0] == '0' || digits == standard {
		return false
	}
	_, err := strconv.ParseUint(digits, 10, 16)
	return err == nil
}

// readAuthority reads an authority in another spelling, or with credentials.
func (u *urlMembers) readAuthority(authority string) bool {
	if authority == "" || strings.ContainsFunc(authority, func(r rune) bool { return r <= ' ' }) {
		return false // too many slashes, or characters that would be trimmed
	}
	parsed, err := Parser.Parse(u.protocol + "//" + authority)
	if err != nil {
		return false
	}
	*u = partsOf(parsed)
	return true
}

// isPlainHost reports whether a host stays unchanged: an IPv4 address as written out, or a
// domain whose last label begins with a letter and that has no label in Punycode.
func isPlainHost(host string) bool {
	if host == "" || host[0] == '.' || strings.Contains(host, "..") || strings.Contains(host, "xn--") {
		return false
	}
	switch last := host[strings.LastIndexByte(host, '.')+1:]; {
	case last == "" || last[0] == '-':
		return false
	case last[0] < '0' || last[0] > '9':
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Is4()
}

// hasDots reports whether a path may have dot segments.
func hasDots(path string) bool { return strings.Contains(path, "/.") || strings.Contains(path, "/%2") }

// withoutDots removes the dot segments of a path. A path that is not empty begins with a slash.
func withoutDots(path string) string {
	if path != "" && !hasDots(path) {
		return path
	}
	return string(appendWithoutDots(make([]byte, 0, len(path)+1), path))
}

func appendWithoutDots(out []byte, path string) []byte {
	if path == "" {
		return append(out, '/')
	}
	start := len(out)
	for rest := path; rest != ""; {
		end := strings.IndexByte(rest[1:], '/') + 1
		if end == 0 {
			end = len(rest)
		}
		segment := rest[:end] // with the slash before it
		rest = rest[end:]
		switch dots(segment[1:]) {
		case 2:
			out = out[:start+max(0, bytes.LastIndexByte(out[start:], '/'))]
		case 1:
		default:
			out = append(out, segment...)
			continue
		}
		if rest == "" {
			out = append(out, '/')
		}
	}
	return out
}

// dots returns the number of dots, plain or encoded, that form a segment; 0 for more than two, and
// for other segments.
func dots(segment string) int {
	n := 0
	for ; segment != "" && n < 3; n++ {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && strings.EqualFold(segment[:3], "%2e"):
			segment = segment[3:]
		default:
			return 0
		}
	}
	return n % 3
}
