package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
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
		t.Run(address, func(t *testing.T) {
			if got := checkAddress(netip.MustParseAddr(address)) == ""; got != public {
				t.Errorf("%s: public %v", address, got)
			}
		})
	}
	if checkAddress(netip.Addr{}) == "" {
		t.Error("no address may be reached")
	}
}

func TestAllowFetch(t *testing.T) {
	g := newGuard([]string{
		"api.test", "Other.Test:81", "127.0.0.1:9", "[::1]", "[fe80::2]:5", " dotted.test. ", "bücher.test:80", "127.2:7", "::2", "*",
		"*.wild.test",
		"http://scheme.test", "path.test/x", "", "mail.test:25",
	})
	for address, want := range map[string]bool{
		"api.test:80": true, "API.TEST.:443": true, "other.test:81": true, "other.test:80": false, "127.0.0.1:9": true,
		"127.0.0.1:8": false, "[::1]:80": true, "[0:0::1]:80": true, "[fe80::2]:5": true, "[fe80::2]:6": false, "x.api.test:80": false,
		"api.test.evil.test:80": false, "evilapi.test:80": false, "dotted.test:1": true, "xn--bcher-kva.test:80": true,
		"xn--bcher-kva.test:81": false,
		"127.0.0.2:7":           true, "127.0.0.2:8": false, "[::2]:1": true, "a.wild.test:80": false, "wild.test:80": false,
		"scheme.test:80": false,
		"path.test:80":   false, "[::ffff:127.0.0.1]:9": false, "mail.test:25": true, "mail.test:26": false, "[::1%lo]:80": false,
	} {
		t.Run(address, func(t *testing.T) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := g.isAllowed(host, port); got != want {
				t.Errorf("%s: %v", address, got)
			}
		})
	}
	for _, address := range []string{"api.test:25", "api.test:6379", "api.test:0"} { // an open host does not open its mail server
		if _, err := g.dial(t.Context(), "tcp", address); err == nil || !strings.Contains(err.Error(), "is blocked") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// zone answers a question for the name, without a dot at its end, with addresses
// and at most one other name (a CNAME), or with nothing.
type zone func(name string) []string

// nameServer is a DNS server of the test's own.
func nameServer(t *testing.T, z zone) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
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
			m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
			q := m.Questions[0]
			m.Answers = answers(z, q, q.Name)
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

func answers(z zone, q dnsmessage.Question, name dnsmessage.Name) (list []dnsmessage.Resource) {
	header := dnsmessage.ResourceHeader{Name: name, Class: q.Class}
	for _, value := range z(strings.ToLower(strings.TrimSuffix(name.String(), "."))) {
		ip, err := netip.ParseAddr(value)
		switch {
		case err != nil:
			next := dnsmessage.MustNewName(value + ".")
			header.Type = dnsmessage.TypeCNAME
			list = append(list, dnsmessage.Resource{Header: header, Body: &dnsmessage.CNAMEResource{CNAME: next}})
			list = append(list, answers(z, q, next)...)
		case ip.Is4() && q.Type == dnsmessage.TypeA:
			header.Type = q.Type
			list = append(list, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: ip.As4()}})
		case ip.Is6() && q.Type == dnsmessage.TypeAAAA:
			header.Type = q.Type
			list = append(list, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
		}
	}
	return list
}

// counter accepts connections at an address and counts them. A system without
// the address has no server there.
func counter(t *testing.T, address string) (port string, hits *atomic.Int64) {
	t.Helper()
	hits = &atomic.Int64{}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Logf("nothing listens on %s: %v", address, err)
		return "", hits
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			hits.Add(1)
			c.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return port, hits
}

// Every name of a denied address is refused, before a packet is sent.
func TestNamesOfDeniedAddresses(t *testing.T) {
	port, hits := counter(t, "127.0.0.1:0")
	_, hits6 := counter(t, "[::1]:"+port)
	names := map[string][]string{}
	for i, d := range denied {
		for j, ip := range []netip.Addr{d.prefix.Masked().Addr(), d.prefix.Masked().Addr().Next(), last(d.prefix)} {
			names[fmt.Sprintf("n%d-%d.test", i, j)] = []string{ip.String()}
		}
	}
	names["several.test"] = []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"}
	names["mapped.test"] = []string{"::ffff:127.0.0.1"}
	names["alias.test"] = []string{"chain.test"}
	names["chain.test"] = []string{"end.test"}
	names["end.test"] = []string{"127.0.0.1", "::1"}
	names["metadata.google.internal"] = []string{"169.254.169.254"}
	names["127.0.0.1.nip.test"] = []string{"127.0.0.1"}
	g := newGuard([]string{"other.test", "end.test:1"})
	g.resolver = nameServer(t, func(name string) []string { return names[name] })
	for name := range names {
		for _, spelled := range []string{name, name + "."} {
			_, err := g.dial(t.Context(), "tcp", net.JoinHostPort(spelled, port))
			if _, ok := errors.AsType[*refusal](err); !ok || !strings.Contains(err.Error(), "--allow-fetch "+spelled) {
				t.Errorf("%s, %v: %v", spelled, names[name], err)
			}
		}
	}
	if n := hits.Load() + hits6.Load(); n != 0 {
		t.Errorf("a denied address was reached %d times", n)
	}
	g = newGuard([]string{"end.test"}) // as the user says
	g.resolver = nameServer(t, func(name string) []string { return names[name] })
	conn, err := g.dial(t.Context(), "tcp", "END.test.:"+port)
	if err != nil {
		t.Fatal("an allowed host is refused:", err)
	}
	conn.Close()
}

// Names with public and other addresses lead only to the public ones, in any order and family, also when the DNS answers change.
func TestNamesThatChange(t *testing.T) {
	port, public := counter(t, "127.0.0.1:0") // public for this test
	_, private := counter(t, "127.0.0.2:"+port)
	_, private6 := counter(t, "[::1]:"+port)
	var asked atomic.Int64
	g := newGuard(nil)
	g.check = func(ip netip.Addr) string {
		if ip == netip.MustParseAddr("127.0.0.1") {
			return ""
		}
		return checkAddress(ip)
	}
	g.resolver = nameServer(t, func(name string) []string {
		switch n := asked.Add(1); {
		case name == "rebinding.test" && n%2 == 0:
			return []string{"127.0.0.2"}
		case name == "rebinding.test", name == "public.test":
			return []string{"127.0.0.1"}
		case name == "mixed.test":
			return []string{"127.0.0.1", "127.0.0.2"}
		case name == "mixed2.test":
			return []string{"127.0.0.2", "10.0.0.1", "127.0.0.1"}
		case name == "eyeballs.test":
			return []string{"::1", "127.0.0.1"}
		case name == "alias.test":
			return []string{"eyeballs.test"}
		}
		return nil
	})
	for name, always := range map[string]bool{
		"public.test": true, "mixed.test": true, "mixed2.test": true, "eyeballs.test": true, "alias.test": true, "rebinding.test": false,
	} {
		t.Run(name, func(t *testing.T) {
			tries := 20
			if name == "rebinding.test" {
				tries = 1000
			}
			for range tries {
				conn, err := g.dial(t.Context(), "tcp", name+":"+port)
				if err == nil {
					if at := conn.RemoteAddr().String(); at != "127.0.0.1:"+port {
						t.Errorf("%s: connected to %s", name, at)
					}
					conn.Close()
					continue
				}
				if _, ok := errors.AsType[*refusal](err); always || !ok {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	if private.Load()+private6.Load() != 0 {
		t.Errorf("private addresses were reached %d and %d times", private.Load(), private6.Load())
	}
	if public.Load() == 0 {
		t.Error("the public address was never reached")
	}
}

func TestTransportHasNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:1")
	h := New(Options{})
	t.Cleanup(h.Close)
	for _, r := range []http.RoundTripper{h.transport, h.upgradeTransport()} {
		if transport, ok := r.(*http.Transport); !ok || transport.Proxy != nil {
			t.Error("the transport asks for a proxy")
		}
	}
}

// TestUnreachable: the error for a missing host does not reveal the name server.
func TestUnreachable(t *testing.T) {
	g := newGuard(nil)
	g.resolver = nameServer(t, func(string) []string { return nil })
	_, err := g.dial(t.Context(), "tcp", "nowhere.test:443")
	f := &Outbound{url: "https://nowhere.test/x", ctx: t.Context()}
	want := `Error: Network connection lost. fetch to "https://nowhere.test/x" failed: no name server knows "nowhere.test"`
	if got := f.Error(err).Error(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	err = &net.DNSError{Err: "server misbehaving", Name: "nowhere.test", Server: "192.0.2.53:53", IsTemporary: true}
	want = `Error: Network connection lost. fetch to "https://nowhere.test/x" failed: "nowhere.test" cannot be looked up: ` +
		"server misbehaving"
	if got := f.Error(err).Error(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestGatewayNames: the address of a name is checked for each connection, regardless of earlier results and of the client's spelling.
func TestGatewayNames(t *testing.T) {
	port, hits := counter(t, "127.0.0.1:0")
	var asked atomic.Int64
	guard := newGuard(nil)
	guard.resolver = nameServer(t, func(name string) []string {
		if name == "rebind.test" && asked.Add(1) <= 2 { // the first look-up: of A and AAAA
			return []string{"1.1.1.1"}
		}
		return []string{"127.0.0.1"}
	})
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if asked.Load() == 0 {
			_, _ = guard.resolver.LookupHost(ctx, "rebind.test")
		}
		return guard.dial(ctx, network, address)
	}}
	g := NewGateway(GatewayOptions{Options: Options{Transport: transport}})
	t.Cleanup(g.Close)
	for _, c := range []struct{ method, url, host, want string }{
		{"GET", "http://rebind.test:" + port + "/", "", "belongs to this machine"},
		{"GET", "http://inside.test:" + port + "/", "public.test", "belongs to this machine"},
		{"POST", "https://inside.test:" + port + "/", "", "belongs to this machine"},
		{"GET", "http://localhost.:" + port + "/", "", "belongs to this machine"},
		{"GET", "ftp://inside.test/", "", "only http: and https:"},
		{"GET", "/relative", "inside.test:" + port, "names the whole URL"},
		{"CONNECT", "inside.test:" + port, "", "no sockets"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.url, nil)
		if c.host != "" {
			r.Host = c.host
			r.Header.Set("Host", c.host)
		}
		if c.url[0] == '/' {
			r.URL.Host = ""
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		if got := Refused(w.Header().Get(RefusalHeader)); !strings.Contains(got, c.want) || w.Code != http.StatusBadGateway {
			t.Errorf("%s %s: %d %q", c.method, c.url, w.Code, got)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}
