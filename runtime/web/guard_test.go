package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// last is the last address of a prefix.
func last(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	ip, _ := netip.AddrFromSlice(b)
	return ip
}

func TestEveryDeniedPrefix(t *testing.T) {
	for _, d := range denied {
		first := d.prefix.Masked().Addr()
		for _, ip := range []netip.Addr{first, first.Next(), last(d.prefix)} {
			if checkAddress(ip) == "" {
				t.Errorf("%s of %s may be reached", ip, d.prefix)
			}
			if ip.Is4() && checkAddress(netip.AddrFrom16(ip.As16())) == "" {
				t.Errorf("::ffff:%s may be reached", ip)
			}
		}
	}
}

func TestCheckAddress(t *testing.T) {
	for address, public := range map[string]bool{
		"1.1.1.1": true, "8.8.8.8": true, "9.255.255.255": true, "11.0.0.0": true, "100.63.255.255": true, "100.128.0.0": true,
		"126.255.255.255": true, "128.0.0.0": true, "172.15.255.255": true, "172.32.0.0": true, "198.17.255.255": true, "198.20.0.0": true,
		"223.255.255.255": true, "2606:4700::1111": true, "2001:200::1": true, "::ffff:1.1.1.1": true, "2003::": true,
		"0.0.0.0": false, "127.0.0.1": false, "::": false, "::1": false, "255.255.255.255": false, "::ffff:10.0.0.1": false,
		"fe80::1%eth0": false, "2606:4700::1111%lo": false, "64:ff9b::808:808": false, "::7f00:1": false,
	} {
		if got := checkAddress(netip.MustParseAddr(address)) == ""; got != public {
			t.Errorf("%s: public %v", address, got)
		}
	}
	if checkAddress(netip.Addr{}) == "" {
		t.Error("no address may be reached")
	}
}

func TestAllowFetch(t *testing.T) {
	g := newGuard([]string{"api.test", "Other.Test:81", "127.0.0.1:9", "[::1]", "[fe80::2]:5"})
	for address, want := range map[string]bool{
		"api.test:80": true, "API.TEST.:443": true, "other.test:81": true, "other.test:80": false, "127.0.0.1:9": true,
		"127.0.0.1:8": false, "[::1]:80": true, "[fe80::2]:5": true, "[fe80::2]:6": false, "x.api.test:80": false,
	} {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.isAllowed(host, port); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// nameServer answers each question for an A record with the next list of
// addresses, and none for other types.
func nameServer(t *testing.T, answers ...[]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		asked := 0
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				for _, ip := range answers[min(asked, len(answers)-1)] {
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
						Body:   &dnsmessage.AResource{A: netip.MustParseAddr(ip).As4()},
					})
				}
				asked++
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// A name is judged by the addresses it has when the connection is made.
func TestNamesOfPrivateAddresses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	hit := make(chan struct{}, 1)
	go func() {
		if c, err := listener.Accept(); err == nil {
			c.Close()
			hit <- struct{}{}
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, answers := range [][][]string{
		{{"127.0.0.1"}},
		{{"127.0.0.1", "10.0.0.1", "169.254.169.254"}},
		{{"0.0.0.0"}, {"127.0.0.1"}},
	} {
		g := newGuard(nil)
		g.resolver = nameServer(t, answers...)
		for range 20 {
			_, err := g.dial(t.Context(), "tcp", fmt.Sprintf("evil.test.:%s", port))
			var refused *refusal
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), "--allow-fetch evil.test.:"+port) {
				t.Fatalf("%v: %v", answers, err)
			}
		}
	}
	select {
	case <-hit:
		t.Error("a private address was reached")
	default:
	}
	g := newGuard([]string{"evil.test"})
	g.resolver = nameServer(t, []string{"127.0.0.1"})
	conn, err := g.dial(t.Context(), "tcp", "evil.test.:"+port)
	if err != nil {
		t.Fatal("an allowed host is refused:", err)
	}
	conn.Close()
}

func TestTransportHasNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:1")
	if newTransport(newGuard(nil)).Proxy != nil {
		t.Error("the transport asks for a proxy")
	}
}
