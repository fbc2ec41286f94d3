package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/pages-toolchain/pages/runtime/web/weburl"
)

// This file keeps a Worker's fetch away from the machine and the network it runs in. It checks the
// address of a connection, after the name was resolved and immediately before the first packet: no
// spelling of a host and no change of a DNS record gets around it.

// denied are the addresses that a Worker never reaches: the IANA special-purpose registries, and
// the ranges that embed an IPv4 address.
var denied = []struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this machine"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private network"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a carrier's private network"},
	{netip.MustParsePrefix("127.0.0.0/8"), "this machine"},
	{netip.MustParsePrefix("169.254.0.0/16"), "the local link"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private network"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved range"},
	{netip.MustParsePrefix("192.0.2.0/24"), "a documentation range"},
	{netip.MustParsePrefix("192.31.196.0/24"), "a reserved range"},
	{netip.MustParsePrefix("192.52.193.0/24"), "a reserved range"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a reserved range"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private network"},
	{netip.MustParsePrefix("192.175.48.0/24"), "a reserved range"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a benchmark range"},
	{netip.MustParsePrefix("198.51.100.0/24"), "a documentation range"},
	{netip.MustParsePrefix("203.0.113.0/24"), "a documentation range"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved range"},
	{netip.MustParsePrefix("::1/128"), "this machine"},
	{netip.MustParsePrefix("::/96"), "a reserved range"},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), "a translation of an IPv4 address"},
	{netip.MustParsePrefix("64:ff9b::/96"), "a translation of an IPv4 address"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "a translation of an IPv4 address"},
	{netip.MustParsePrefix("100::/64"), "a reserved range"},
	{netip.MustParsePrefix("2001::/23"), "a reserved range"},
	{netip.MustParsePrefix("2001:db8::/32"), "a documentation range"},
	{netip.MustParsePrefix("2002::/16"), "a translation of an IPv4 address"},
	{netip.MustParsePrefix("3fff::/20"), "a documentation range"},
	{netip.MustParsePrefix("5f00::/16"), "a reserved range"},
	{netip.MustParsePrefix("fc00::/7"), "a private network"},
	{netip.MustParsePrefix("fe80::/10"), "the local link"},
	{netip.MustParsePrefix("fec0::/10"), "a private network"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

// badPorts are the ports that fetch never uses (Fetch standard, 2.9), and 0.
var badPorts = map[string]bool{
	"0": true, "1": true, "7": true, "9": true, "11": true, "13": true, "15": true, "17": true, "19": true, "20": true,
	"21": true, "22": true, "23": true, "25": true, "37": true, "42": true, "43": true, "53": true, "69": true, "77": true,
	"79": true, "87": true, "95": true, "101": true, "102": true, "103": true, "104": true, "109": true, "110": true,
	"111": true, "113": true, "115": true, "117": true, "119": true, "123": true, "135": true, "137": true, "139": true,
	"143": true, "161": true, "179": true, "389": true, "427": true, "465": true, "512": true, "513": true, "514": true,
	"515": true, "526": true, "530": true, "531": true, "532": true, "540": true, "548": true, "554": true, "556": true,
	"563": true, "587": true, "601": true, "636": true, "989": true, "990": true, "993": true, "995": true, "1719": true,
	"1720": true, "1723": true, "2049": true, "3659": true, "4045": true, "4190": true, "5060": true, "5061": true,
	"6000": true, "6379": true, "6566": true, "6665": true, "6666": true, "6667": true, "6668": true, "6669": true,
	"6679": true, "6697": true, "10080": true,
}

// refusal is the error of an address that a Worker may not reach.
type refusal struct{ host, reason string }

func (r *refusal) Error() string {
	return fmt.Sprintf("fetch to %q is refused: %s; --allow-fetch %s would allow it", r.host, r.reason, r.host)
}

// checkAddress returns the reason why a Worker may not reach an address; "" if it may.
func checkAddress(ip netip.Addr) string {
	if !ip.IsValid() {
		return "it has no address"
	}
	if ip.Zone() != "" {
		return fmt.Sprintf("its address %s is on the local link", ip)
	}
	ip = ip.Unmap()
	for _, d := range denied {
		if d.prefix.Contains(ip) {
			return fmt.Sprintf("its address %s belongs to %s", ip, d.what)
		}
	}
	return ""
}

type guard struct {
	allowed  map[string]bool // "host" or "host:port", as in a URL
	check    func(netip.Addr) string
	resolver *net.Resolver
}

func newGuard(allow []string) *guard {
	g := &guard{allowed: map[string]bool{}, check: checkAddress}
	for _, given := range allow {
		host, port := splitHost(strings.TrimSpace(given))
		g.allowed[canonicalHost(host)+port] = true
	}
	return g
}

// splitHost splits a port, with its colon, off a host.
func splitHost(given string) (host, port string) {
	at := strings.LastIndexByte(given, ':')
	if at < 0 || strings.Contains(given[at:], "]") || strings.Count(given, ":") > 1 && !strings.HasPrefix(given, "[") {
		return given, ""
	}
	return given[:at], given[at:]
}

// canonicalHost is a host as the URL of a fetch has it: in lower case, with Punycode, an address in
// its one spelling, without a dot at the end.
func canonicalHost(host string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]"
	}
	host = strings.TrimSuffix(host, ".")
	if u, err := weburl.Parser.Parse("http://" + host + "/"); err == nil && !strings.ContainsAny(host, `/\?#@`) {
		return u.Hostname()
	}
	return strings.ToLower(host)
}

// isAllowed reports whether the user has allowed a host, and whether with exactly this port.
func (g *guard) isAllowed(host, port string) (allowed, named bool) {
	host = canonicalHost(host)
	named = g.allowed[host+":"+port]
	return named || g.allowed[host], named
}

func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Resolver: g.resolver}
	allowed, named := g.isAllowed(host, port)
	if badPorts[port] && !named {
		return nil, &refusal{host: address, reason: "port " + port + " is blocked"}
	}
	if allowed {
		return dialer.DialContext(ctx, network, address)
	}
	// RFC 6761, 6.3: such a name means this machine, even if DNS disagrees.
	if name := strings.ToLower(strings.TrimSuffix(host, ".")); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return nil, &refusal{host: address, reason: "its address belongs to this machine"}
	}
	dialer.ControlContext = func(_ context.Context, _, to string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(to)
		if err != nil {
			return &refusal{host: address, reason: "its address is malformed"}
		}
		if reason := g.check(at.Addr()); reason != "" {
			return &refusal{host: address, reason: reason}
		}
		return nil
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if refused, ok := errors.AsType[*refusal](err); ok {
		return nil, refused
	}
	return conn, err
}
