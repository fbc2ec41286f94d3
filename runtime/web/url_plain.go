package web

import (
	"net/netip"
	"strconv"
	"strings"
)

// This file reads URLs as nearly all are: absolute, http or https, a host in
// lower case, nothing to encode. For these the steps of the URL standard (4.4)
// come down to one look at each byte. All others go to the package that knows
// every case, and a fuzzer holds the two to the same result.

// urlMembers is a URL as JavaScript sees it: the members of URL.
type urlMembers struct {
	href, protocol, username, password, host, hostname, port, pathname, search, hash, origin string
}

// Where a byte may stand as it is.
const (
	inHost = 1 << iota
	inPath
	inQuery
	inFragment
)

var urlBytes = func() (table [256]byte) {
	for c := range 128 {
		switch b := byte(c); {
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', strings.IndexByte("-._", b) >= 0:
			table[c] = inHost | inPath | inQuery | inFragment
		case 'A' <= b && b <= 'Z', strings.IndexByte("~!$&()*+,;=:@/%|[]", b) >= 0:
			table[c] = inPath | inQuery | inFragment
		case b == '\'':
			table[c] = inPath | inFragment
		case b == '?':
			table[c] = inQuery | inFragment
		}
	}
	return table
}()

// span is how many bytes at the start of s may stand in a part.
func span(s string, part byte) int {
	for i := range len(s) {
		if urlBytes[s[i]]&part == 0 {
			return i
		}
	}
	return len(s)
}

// longestPlain bounds what is read without a look at the budget.
const longestPlain = 16 << 10

// plainURL reads s; not ok when it is no plain URL, which says nothing about
// whether it is a URL.
func plainURL(s string) (u urlMembers, ok bool) {
	if len(s) > longestPlain {
		return u, false
	}
	scheme, rest, found := strings.Cut(s, "://")
	if !found || scheme != "https" && scheme != "http" {
		return u, false
	}
	n := span(rest, inHost)
	u.protocol, u.hostname, rest = s[:len(scheme)+1], rest[:n], rest[n:]
	if !isPlainHost(u.hostname) {
		return u, false
	}
	u.host = u.hostname
	if strings.HasPrefix(rest, ":") {
		n = 1 + digits(rest[1:])
		if !isPlainPort(rest[1:n], scheme) {
			return u, false
		}
		u.port, u.host, rest = rest[1:n], u.hostname+rest[:n], rest[n:]
	}
	u.origin = u.protocol + "//" + u.host
	n = span(rest, inPath)
	if n > 0 && rest[0] != '/' {
		return u, false
	}
	path := rest[:n]
	if u.pathname, ok = plainPath(path); !ok {
		return u, false
	}
	tail := rest[n:]
	if rest = tail; strings.HasPrefix(rest, "?") {
		n = 1 + span(rest[1:], inQuery)
		u.search, rest = rest[:n], rest[n:]
	}
	if strings.HasPrefix(rest, "#") {
		n = 1 + span(rest[1:], inFragment)
		u.hash, rest = rest[:n], rest[n:]
	}
	if rest != "" {
		return u, false
	}
	if u.href = s; u.pathname != path {
		u.href = u.origin + u.pathname + tail
	}
	u.search, u.hash = unlessBare(u.search), unlessBare(u.hash)
	return u, true
}

// unlessBare is a query or fragment, nothing when it is but its mark.
func unlessBare(s string) string {
	if len(s) == 1 {
		return ""
	}
	return s
}

// isPlainHost reports whether a host stays as it is: an IPv4 address as it is
// written out, or a domain whose last label begins with a letter and that has no
// label in Punycode.
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

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// isPlainPort reports whether a port stays as it is.
func isPlainPort(port, scheme string) bool {
	if port == "" || port[0] == '0' {
		return false
	}
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil && port != map[string]string{"http": "80", "https": "443"}[scheme]
}

// plainPath takes the dots out of a path; not ok when some are encoded.
func plainPath(path string) (clean string, ok bool) {
	if path == "" {
		return "/", true
	}
	if strings.Contains(path, "%2e") || strings.Contains(path, "%2E") {
		return "", false
	}
	if !strings.Contains(path, "/.") {
		return path, true
	}
	out := make([]byte, 0, len(path))
	for rest := path; rest != ""; {
		end := strings.IndexByte(rest[1:], '/') + 1
		if end == 0 {
			end = len(rest)
		}
		segment := rest[:end] // with the slash before it
		rest = rest[end:]
		switch segment {
		case "/..":
			out = out[:max(0, strings.LastIndexByte(string(out), '/'))]
		case "/.":
		default:
			out = append(out, segment...)
			continue
		}
		if rest == "" {
			out = append(out, '/')
		}
	}
	return string(out), true
}
