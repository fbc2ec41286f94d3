package devserver

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
)

func listenFree(t *testing.T) *Listeners {
	t.Helper()
	l, err := Listen(t.Context(), 0, false, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestListenOpensLoopbackOnly(t *testing.T) {
	l := listenFree(t)
	for _, each := range l.All() {
		addr, ok := each.Addr().(*net.TCPAddr)
		if !ok || !addr.IP.IsLoopback() || addr.Port != l.Port {
			t.Errorf("listens on %v, want a loopback address with port %d", each.Addr(), l.Port)
		}
	}
	if want := "http://127.0.0.1:" + strconv.Itoa(l.Port); l.URL != want {
		t.Errorf("URL = %q, want %q", l.URL, want)
	}
	if l.V6 == nil && hasIPv6(t.Context()) {
		t.Error("no socket on ::1")
	}
}

func TestListenTakenPort(t *testing.T) {
	taken := listenFree(t)
	next, err := Listen(t.Context(), taken.Port, false, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if next.Port <= taken.Port {
		t.Errorf("port %d after %d was taken", next.Port, taken.Port)
	}
	_, err = Listen(t.Context(), taken.Port, true, netip.Addr{})
	var portErr *PortError
	if !errors.As(err, &portErr) || portErr.Port != taken.Port || !strings.Contains(portErr.Fix, "--strict-port") {
		t.Errorf("strict: %v", err)
	}
}

// A program with the port on one of the addresses, or on all of the machine's, counts as its owner.
func TestListenPortTakenElsewhere(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0"} {
		other, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // a machine without IPv6
			continue
		}
		addr, ok := other.Addr().(*net.TCPAddr)
		if !ok {
			t.Fatalf("no TCP address: %v", other.Addr())
		}
		port := addr.Port
		if l, err := Listen(t.Context(), port, true, netip.Addr{}); err == nil {
			t.Errorf("%s is taken, and yet Listen opened %v", address, l.All())
			l.Close()
		}
		other.Close()
	}
}

func TestListenNoSuchPort(t *testing.T) {
	for _, port := range []int{-1, 65536} {
		var portErr *PortError
		if _, err := Listen(t.Context(), port, false, netip.Addr{}); !errors.As(err, &portErr) || portErr.Fix == "" {
			t.Errorf("port %d: %v", port, err)
		}
	}
}
