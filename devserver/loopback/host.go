package loopback

import (
	"net"
	"strings"
)

// Name reports whether a host, in lower case without port, brackets and
// trailing dot, is one of the names that always mean this machine: "localhost"
// and the names below it, "127.0.0.1" and "::1".
func Name(host string) bool {
	switch host {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return strings.HasSuffix(host, ".localhost")
}

// BareHost takes port, brackets and trailing dot off a Host header, and lowers
// its case. It is false for what is no host: empty, with user information, with a bad port.
func BareHost(hostport string) (string, bool) {
	host := hostport
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 || !validPort(host[end+1:]) || net.ParseIP(host[1:end]) == nil {
			return "", false
		}
		return strings.ToLower(host[1:end]), true
	}
	if i := strings.IndexByte(host, ':'); i >= 0 {
		if !validPort(host[i:]) {
			return "", false
		}
		host = host[:i]
	}
	host = strings.TrimSuffix(host, ".")
	for i := range len(host) {
		c := host[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_') {
			return "", false
		}
	}
	return strings.ToLower(host), host != ""
}

// validPort accepts nothing or ":" and digits.
func validPort(port string) bool {
	if port == "" {
		return true
	}
	if port[0] != ':' || len(port) < 2 || len(port) > 6 {
		return false
	}
	for _, c := range port[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
