package devserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

const (
	portTries = 100 // ports in a row, when the wanted one is taken
	// probeTime bounds the check whether a program listens on a port. Loopback connects at once.
	probeTime = 200 * time.Millisecond
)

// PortError says that no listening socket could be opened.
type PortError struct {
	Port int    // the wanted port
	Fix  string // the remedy
	Err  error  // the reason, of the first port tried
}

func (e *PortError) Error() string { return fmt.Sprintf("port %d: %v", e.Port, e.Err) }

// Unwrap returns the reason.
func (e *PortError) Unwrap() error { return e.Err }

// Listeners are the sockets of one dev server: the same port on both loopback addresses.
type Listeners struct {
	V4   net.Listener
	V6   net.Listener // nil on a machine without IPv6
	Port int
	URL  string // "http://127.0.0.1:8788", without a slash at the end
}

// All returns the listeners there are.
func (l *Listeners) All() []net.Listener {
	if l.V6 == nil {
		return []net.Listener{l.V4}
	}
	return []net.Listener{l.V4, l.V6}
}

// Close closes both sockets.
func (l *Listeners) Close() error {
	var errs []error
	for _, each := range l.All() {
		errs = append(errs, each.Close())
	}
	return errors.Join(errs...)
}

// Listen opens 127.0.0.1 and ::1, and nothing else, on one port. A taken port gives the next free one, or an error when
// strict; port 0 gives any free one. The error is a *[PortError].
func Listen(ctx context.Context, port int, strict bool) (*Listeners, error) {
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
		l, err := listenPair(ctx, next)
		if err == nil {
			return l, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
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

// listenPair opens one port on both addresses. A port that is free on one of them only counts as taken: "localhost" may
// mean either.
func listenPair(ctx context.Context, port int) (*Listeners, error) {
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
	v4, err := config.Listen(ctx, "tcp4", hostPort("127.0.0.1", port))
	if err != nil {
		return nil, err
	}
	addr, ok := v4.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(fmt.Errorf("unexpected address %v", v4.Addr()), v4.Close())
	}
	l := &Listeners{V4: v4, Port: addr.Port, URL: "http://" + hostPort("127.0.0.1", addr.Port)}
	v6, err := config.Listen(ctx, "tcp6", hostPort("::1", l.Port))
	switch {
	case err == nil:
		l.V6 = v6
	case hasIPv6(ctx):
		return nil, errors.Join(err, v4.Close())
	}
	return l, nil
}

// hasIPv6 reports whether ::1 exists, which tells "port taken" from "no such address" without the error numbers of each
// system.
func hasIPv6(ctx context.Context) bool {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
