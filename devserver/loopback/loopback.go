// Package loopback tells requests that somebody makes on this machine from those that come
// from beyond it: under another name, over a network, or through a tunnel or a proxy.
//
// In goes a request as the server read it; out comes a [Visit] for one from beyond, and nil
// for one of this machine. Three things must say "this machine", and one that says otherwise
// is enough: the host that was asked for, both addresses of the connection, and what tunnels
// and proxies add to a request. A proxy on this machine, such as that of a framework's dev
// server, adds the address of who asked it: where each of these is a loopback address, the
// request is of this machine.
//
// A tunnel that asks for "localhost" and adds nothing cannot be told from a local browser.
//
// The package keeps no state, refuses nothing and is safe for concurrent use.
package loopback

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Visit is what is known of a request from beyond this machine.
type Visit struct {
	// Host is the host that the visitor asked for, with its port: what a tunnel that asks for
	// another one says of it, else the Host of the request.
	Host string
	// Secure is true where cookies are for https alone: the visitor came so, as a tunnel says,
	// and to a host that is not this machine.
	Secure bool
	// Client is the address of the visitor, as the nearest proxy says; not valid when unknown.
	Client netip.Addr
}

type visitKey struct{}

// With returns a context that carries the visit that a request belongs to.
func With(ctx context.Context, v *Visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// VisitOf returns the visit that [With] put into the context; nil for this machine.
func VisitOf(ctx context.Context) *Visit {
	v, _ := ctx.Value(visitKey{}).(*Visit)
	return v
}

// Judge returns the visit that a request makes from beyond this machine, and nil for a
// request of this machine. A request whose addresses are not known is from beyond.
func Judge(r *http.Request) *Visit {
	if asksHere(r) && connectedHere(r) && forwardedHere(r.Header) {
		return nil
	}
	host := visitedHost(r)
	return &Visit{Host: host, Secure: !hostHere(host) && (r.TLS != nil || saysHTTPS(r.Header)), Client: clientOf(r)}
}

// asksHere reports whether each host that a request names is this machine.
func asksHere(r *http.Request) bool {
	return hostHere(r.Host) && (r.URL.Host == "" || hostHere(r.URL.Host))
}

func hostHere(hostport string) bool {
	host, ok := BareHost(hostport)
	if !ok {
		return false
	}
	address, err := netip.ParseAddr(host)
	return Name(host) || err == nil && address.Unmap().IsLoopback()
}

// connectedHere reports whether both ends of the connection are on this machine: who asks
// from here may do so over the address of a network.
func connectedHere(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback() && addressHere(r.RemoteAddr)
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

// visitedHost is the host that a visitor typed. Who asks for another one in their place says
// which one that was.
func visitedHost(r *http.Request) string {
	const most = 253 + len(":65535") // bytes of a name in DNS, and a port
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Host"), ",")
	first = strings.TrimSpace(first)
	if _, ok := BareHost(first); !ok || len(first) > most {
		return r.Host
	}
	return first
}

func saysHTTPS(h http.Header) bool {
	first, _, _ := strings.Cut(h.Get("X-Forwarded-Proto"), ",")
	return strings.EqualFold(strings.TrimSpace(first), "https") || strings.Contains(strings.ToLower(h.Get("Forwarded")), "proto=https")
}

// clientOf is the last address on the way here that is not on this machine. What comes
// before it in the list, the visitor may have written.
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
