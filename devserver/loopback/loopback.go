// Package loopback tells requests of this machine from those that come from beyond it: under another name, over a
// network, or through a tunnel or a proxy.
//
// Input: a request as the server read it. Output: an [External] for one from beyond, and nil for one of this machine. A request is of this
// machine if the requested host, both addresses of the connection, and the headers of tunnels and proxies all say so. A proxy on this
// machine, such as that of a framework's dev server, adds the address of its client: if each of these is a loopback address, the request is
// of this machine.
//
// A tunnel that requests "localhost" and adds no headers looks like a local browser.
//
// The package holds no state, refuses nothing and is safe for concurrent use.
package loopback

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// External describes a request from beyond this machine.
type External struct {
	// Host is the host that the client requested, with its port: from a tunnel's header if it forwards to another host, else the Host of
	// the request.
	Host string
	// Secure is true if cookies are for https alone: the tunnel reports that the client used https, for a host that is not this machine.
	Secure bool
	// Client is the address of the client from the nearest proxy; invalid if unknown.
	Client netip.Addr
}

type externalKey struct{}

// With returns a context that carries the External of a request.
func With(ctx context.Context, v *External) context.Context {
	return context.WithValue(ctx, externalKey{}, v)
}

// ExternalOf returns the External that [With] put into the context; nil for this machine.
func ExternalOf(ctx context.Context) *External {
	v, _ := ctx.Value(externalKey{}).(*External)
	return v
}

// Classify returns an External for a request from beyond this machine, and nil for one of this machine. A request whose
// addresses are unknown is from beyond.
func Classify(r *http.Request) *External {
	// A client on this machine may connect over the address of a network: both ends count.
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if hostHere(r.Host) && (r.URL.Host == "" || hostHere(r.URL.Host)) &&
		ok && local.IP.IsLoopback() && addressHere(r.RemoteAddr) && forwardedHere(r.Header) {
		return nil
	}
	host := requestedHost(r)
	scheme, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	secure := r.TLS != nil || strings.EqualFold(strings.TrimSpace(scheme), "https") ||
		strings.Contains(strings.ToLower(r.Header.Get("Forwarded")), "proto=https")
	return &External{Host: host, Secure: secure && !hostHere(host), Client: clientOf(r)}
}

func hostHere(hostport string) bool {
	host, ok := BareHost(hostport)
	if !ok {
		return false
	}
	address, err := netip.ParseAddr(host)
	return Name(host) || err == nil && address.Unmap().IsLoopback()
}

func addressHere(text string) bool {
	address, ok := parseAddress(text)
	return ok && address.IsLoopback()
}

// parseAddress reads an address with or without a port, as in the headers of proxies.
func parseAddress(text string) (netip.Addr, bool) {
	text = strings.Trim(text, " \t\"")
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap(), true
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return address.Unmap(), err == nil
}

// requestedHost returns the host that the client requested. A proxy that requests another one adds it in a header.
func requestedHost(r *http.Request) string {
	const most = 253 + len(":65535") // bytes of a name in DNS, and a port
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Host"), ",")
	first = strings.TrimSpace(first)
	if _, ok := BareHost(first); !ok || len(first) > most {
		return r.Host
	}
	return first
}

// clientOf returns the last address on the way here that is not on this machine. The client may have forged the addresses before it in the
// list.
func clientOf(r *http.Request) netip.Addr {
	for _, name := range []string{"X-Forwarded-For", "Cf-Connecting-Ip", "X-Real-Ip"} {
		list := strings.Split(strings.Join(r.Header.Values(name), ","), ",")
		for _, text := range slices.Backward(list) {
			address, ok := parseAddress(text)
			if !ok {
				break
			}
			if !address.IsLoopback() {
				return address.WithZone("")
			}
		}
	}
	if address, ok := parseAddress(r.RemoteAddr); ok && !address.IsLoopback() {
		return address.WithZone("")
	}
	return netip.Addr{}
}

// ClientAddress returns the address of a request's client; not valid when unknown, as for a program on this machine. It reads the headers
// of proxies only on a connection from a proxy: from this machine or a private network. Any other client can forge them.
func ClientAddress(r *http.Request) netip.Addr {
	if address, ok := parseAddress(r.RemoteAddr); ok && !address.IsLoopback() && !address.IsPrivate() {
		return address.WithZone("")
	}
	return clientOf(r)
}

// Name reports whether a host, in lower case without port, brackets and trailing dot, always means this machine:
// "localhost" and the names below it, "127.0.0.1" and "::1".
func Name(host string) bool {
	switch host {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return strings.HasSuffix(host, ".localhost")
}

// BareHost removes port, brackets and trailing dot from a Host header, and converts it to lower case. It returns false for an invalid host:
// empty, with user information, with a bad port.
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

// validPort accepts "", or ":" and digits.
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
