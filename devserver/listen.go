package devserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	portTries = 100 // ports in a row, if the wanted one is taken
	// probeTime bounds the check whether a program listens on a port. Loopback connects at once.
	probeTime = 200 * time.Millisecond
)

// PortError means that no listening socket could be opened.
type PortError struct {
	Port int    // the wanted port
	Fix  string // the fix
	Err  error  // the reason, for the first port
}

func (e *PortError) Error() string { return fmt.Sprintf("port %d: %v", e.Port, e.Err) }

// Unwrap returns the reason.
func (e *PortError) Unwrap() error { return e.Err }

// Listeners are the sockets of one dev server: the same port on both loopback addresses, and on one of a network if there is one.
type Listeners struct {
	V4      net.Listener
	V6      net.Listener // nil on a machine without IPv6
	Network net.Listener // nil without an address of its own: none, or V4 and V6 have it
	Port    int
	URL     string   // "http://127.0.0.1:8788", without a slash at the end
	Beyond  []string // the same for other machines, addresses of private networks first
}

// All returns the open listeners.
func (l *Listeners) All() []net.Listener {
	all := []net.Listener{l.V4}
	for _, each := range []net.Listener{l.V6, l.Network} {
		if each != nil {
			all = append(all, each)
		}
	}
	return all
}

// Close closes both sockets.
func (l *Listeners) Close() error {
	var errs []error
	for _, each := range l.All() {
		errs = append(errs, each.Close())
	}
	return errors.Join(errs...)
}

// Listen opens 127.0.0.1 and ::1 on one port, and host, an address of this machine: 0.0.0.0 means all of IPv4, :: means all, and an invalid
// address means none. If the port is taken, it takes the next free one, or fails if strict is set; port 0 takes any free one. The error is
// a *[PortError].
func Listen(ctx context.Context, port int, strict bool, host netip.Addr) (*Listeners, error) {
	if port < 0 || port > 65535 {
		return nil, &PortError{Port: port, Err: errors.New("no such port"), Fix: "choose a port from 0 to 65535"}
	}
	var first error
	for try := range portTries {
		next := port
		if port != 0 {
			next += try
		}
		if next > 65535 || (strict && port != 0 && try > 0) {
			break
		}
		l, err := listenHost(ctx, next, host)
		if err == nil {
			return l, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if absent, ok := errors.AsType[*absentError](err); ok {
			return nil, &PortError{Port: port, Err: absent, Fix: absent.fix()}
		}
		if first == nil {
			first = err
		}
	}
	fix := "free a port, or choose another with --port"
	if strict {
		fix = "stop the program that listens there, choose another port with --port, or leave out --strict-port"
	}
	return nil, &PortError{Port: port, Err: first, Fix: fix}
}

// absentError means that no network of this machine has an address.
type absentError struct {
	host  netip.Addr
	known []netip.Addr
}

func (e *absentError) Error() string {
	return "this machine does not have the address " + e.host.String()
}

func (e *absentError) fix() string {
	names := make([]string, len(e.known))
	for i, each := range e.known {
		names[i] = each.String()
	}
	if len(names) == 0 {
		return "this machine is in no network: leave out --host"
	}
	return "pass --host 0.0.0.0 for all addresses of this machine, or one of them: " + strings.Join(names, ", ")
}

// listenHost opens one port on the loopback addresses and on host.
func listenHost(ctx context.Context, port int, host netip.Addr) (*Listeners, error) {
	v4, v6 := netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()
	switch {
	case !host.IsValid():
		return listenPair(ctx, port, v4, v6)
	case host.IsUnspecified():
		v4 = netip.IPv4Unspecified()
		if host.Is6() {
			v6 = host
		}
	case !slices.Contains(networkAddresses(), host):
		return nil, &absentError{host, networkAddresses()}
	}
	l, err := listenPair(ctx, port, v4, v6)
	if err != nil {
		return nil, err
	}
	beyond := []netip.Addr{host}
	if host.IsUnspecified() {
		beyond = slices.DeleteFunc(networkAddresses(), func(a netip.Addr) bool { return a.Is6() && host.Is4() })
	} else {
		l.Network, err = new(net.ListenConfig).Listen(ctx, "tcp", hostPort(host.String(), l.Port))
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	for _, each := range beyond {
		l.Beyond = append(l.Beyond, "http://"+hostPort(each.String(), l.Port))
	}
	return l, nil
}

// networkAddresses returns the addresses of this machine that others may reach, those of private networks first.
func networkAddresses() []netip.Addr {
	found, _ := net.InterfaceAddrs() // without them there are none
	var all []netip.Addr
	for _, each := range found {
		prefix, err := netip.ParsePrefix(each.String())
		address := prefix.Addr().Unmap()
		if err == nil && !address.IsLoopback() && !address.IsLinkLocalUnicast() {
			all = append(all, address)
		}
	}
	slices.SortStableFunc(all, func(a, b netip.Addr) int {
		return cmp.Compare(rank(a), rank(b))
	})
	return all
}

// rank orders addresses by the likelihood that another machine reaches them: IPv4 of a private network, other IPv4, IPv6.
func rank(a netip.Addr) int {
	switch {
	case a.Is4() && a.IsPrivate():
		return 0
	case a.Is4():
		return 1
	}
	return 2
}

// listenPair opens one port on both addresses. A port that is free on one of them only counts as taken: "localhost" may
// mean either.
func listenPair(ctx context.Context, port int, host4, host6 netip.Addr) (*Listeners, error) {
	// Some systems let a socket on one address shadow another program's wildcard socket, so binding alone does not prove
	// that the port is free.
	dialer := net.Dialer{Timeout: probeTime}
	if port != 0 {
		c, err := dialer.DialContext(ctx, "tcp4", hostPort("127.0.0.1", port))
		if err == nil && c.Close() == nil {
			return nil, errors.New("another program listens there")
		}
	}
	var config net.ListenConfig
	v4, err := config.Listen(ctx, "tcp4", hostPort(host4.String(), port))
	if err != nil {
		return nil, err
	}
	addr, ok := v4.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(fmt.Errorf("unexpected address %v", v4.Addr()), v4.Close())
	}
	l := &Listeners{V4: v4, Port: addr.Port, URL: "http://" + hostPort("127.0.0.1", addr.Port)}
	v6, err := config.Listen(ctx, "tcp6", hostPort(host6.String(), l.Port))
	switch {
	case err == nil:
		l.V6 = v6
	case hasIPv6(ctx):
		return nil, errors.Join(err, v4.Close())
	}
	return l, nil
}

// hasIPv6 reports whether ::1 exists. This distinguishes "port taken" from "no such address" without the error numbers of each system.
func hasIPv6(ctx context.Context) bool {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
