package loopback

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// request makes a request as a server reads it: the requested host, both ends of the connection, and lines of the head.
func request(t testing.TB, host, remote, local string, headers ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host, r.RemoteAddr = host, remote
	if local != "" {
		address, err := net.ResolveTCPAddr("tcp", local)
		if err != nil {
			t.Fatal(err)
		}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(address)))
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header[name] = append(r.Header[name], value)
	}
	return r
}

// One sign of a foreign origin is enough, and no other sign outweighs it.
func TestJudge(t *testing.T) {
	const here, there = "127.0.0.1:8788", "127.0.0.1:50000"
	for _, c := range []struct {
		name, host, remote, local string
		headers                   []string
		isLocal                   bool
	}{
		{"a browser", "127.0.0.1:8788", there, here, nil, true},
		{"by name", "localhost:8788", there, here, nil, true},
		{"by a name below it", "Club.LOCALHOST.:8788", there, here, nil, true},
		{"by IPv6", "[::1]:8788", "[::1]:50000", "[::1]:8788", nil, true},
		{"a second loopback address", "127.0.0.2:8788", "127.0.0.2:50000", "127.0.0.2:8788", nil, true},
		{"an IPv4 address in IPv6", "localhost", "[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:2", nil, true},
		{"an allowed host", "demo.example", there, here, nil, false},
		{"a host that begins like one", "localhost.demo.example", there, here, nil, false},
		{"no host", "", there, here, nil, false},
		{"an address of the network", "192.168.1.5:8788", "192.168.1.5:50000", "192.168.1.5:8788", nil, false},
		{"who asks is elsewhere", "localhost", "192.168.1.7:50000", here, nil, false},
		{"a host elsewhere", "localhost", there, "192.168.1.5:8788", nil, false},
		{"link-local", "localhost", "[fe80::1%eth0]:50000", "[fe80::2]:8788", nil, false},
		{"addresses that are not known", "localhost", "", here, nil, false},
		{"a socket that is unknown", "localhost", there, "", nil, false},
		{"a pipe", "localhost", "@", here, nil, false},

		{"a tunnel", "localhost:8788", there, here, []string{"X-Forwarded-For: 203.0.113.9"}, false},
		{"a tunnel that says the scheme alone", "localhost:8788", there, here, []string{"X-Forwarded-Proto: https"}, false},
		{"a tunnel that says the host alone", "localhost:8788", there, here, []string{"X-Forwarded-Host: demo.example"}, false},
		{
			"ngrok", "localhost:8788", there, here,
			[]string{"X-Forwarded-For: 2001:db8::1", "X-Forwarded-Host: a.ngrok.app", "X-Forwarded-Proto: https"},
			false,
		},
		{
			"cloudflared", "localhost:8788", there, here,
			[]string{"Cf-Connecting-Ip: 203.0.113.9", "Cf-Ray: 1-FRA", "Cdn-Loop: cloudflare; loops=1"},
			false,
		},
		{"of Cloudflare anything", "localhost", there, here, []string{"Cf-Visitor: {}"}, false},
		{"Tailscale", "localhost", there, here, []string{"Tailscale-User-Login: a@b.example", "X-Forwarded-For: 127.0.0.1"}, false},
		{"a cache", "localhost", there, here, []string{"Via: 1.1 cache"}, false},
		{"Forwarded", "localhost", there, here, []string{"Forwarded: for=203.0.113.9;proto=https"}, false},
		{"an underscore", "localhost", there, here, []string{"X_forwarded_for: 203.0.113.9"}, false},
		{"another address", "localhost", there, here, []string{"True-Client-Ip: 203.0.113.9"}, false},

		{
			"Vite's proxy", "localhost:8788", there, here,
			[]string{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: localhost:5173", "X-Forwarded-Port: 5173", "X-Forwarded-Proto: http"},
			true,
		},
		{"Node over IPv6", "localhost:8788", there, here, []string{"X-Forwarded-For: ::ffff:127.0.0.1"}, true},
		{
			"caddy on this machine", "localhost:8788", there, here,
			[]string{"X-Forwarded-For: ::1", "X-Forwarded-Host: localhost", "X-Forwarded-Proto: https", "Via: 2.0 Caddy"},
			true,
		},
		{"two of them", "localhost", there, here, []string{"X-Forwarded-For: 127.0.0.1, ::1"}, true},
		{"nginx on this machine", "localhost", there, here, []string{"X-Real-Ip: 127.0.0.1"}, true},
		{
			"Forwarded on this machine", "localhost", there, here,
			[]string{`Forwarded: for="[::1]:5000";host="localhost:5173";proto=http, for=127.0.0.1`},
			true,
		},
		{
			"Vite's proxy behind a tunnel", "localhost", there, here,
			[]string{"X-Forwarded-For: 203.0.113.9, 127.0.0.1", "X-Forwarded-Host: localhost"},
			false,
		},
		{"a visitor who claims to be here", "localhost", there, here, []string{"X-Forwarded-For: 127.0.0.1, 203.0.113.9"}, false},
		{"the same in two lines", "localhost", there, here, []string{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 203.0.113.9"}, false},
		{
			"the same of another header", "localhost", there, here,
			[]string{"X-Forwarded-For: 127.0.0.1", "Cf-Connecting-Ip: 203.0.113.9"},
			false,
		},
		{"the same of the host", "localhost", there, here, []string{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: demo.example"}, false},
		{
			"an allowed host that claims to be here", "demo.example", there, here,
			[]string{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: localhost"},
			false,
		},
		{"not an address", "localhost", there, here, []string{"X-Forwarded-For: unknown"}, false},
		{"an empty list", "localhost", there, here, []string{"X-Forwarded-For: "}, false},
		{"a hole in the list", "localhost", there, here, []string{"X-Forwarded-For: 127.0.0.1,,::1"}, false},
		{"a Forwarded without an address", "localhost", there, here, []string{"Forwarded: proto=http"}, false},
		{
			"a Forwarded with an element without an address", "localhost", there, here,
			[]string{"Forwarded: for=127.0.0.1, proto=http"},
			false,
		},
		{"a Forwarded that hides who asks", "localhost", there, here, []string{"Forwarded: for=_hidden"}, false},
		{"a Forwarded to another host", "localhost", there, here, []string{"Forwarded: for=127.0.0.1;host=demo.example"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v := Classify(request(t, c.host, c.remote, c.local, c.headers...)); (v == nil) != c.isLocal {
				t.Errorf("%+v", v)
			}
		})
	}
	absolute := request(t, "localhost", there, here)
	absolute.URL.Host = "demo.example"
	if Classify(absolute) == nil {
		t.Error("a target with another host is of this machine")
	}
}

// An External: the requested host, whether cookies may be for https alone, and an address that the visitor cannot choose.
func TestVisit(t *testing.T) {
	for _, c := range []struct {
		name, host, remote string
		headers            []string
		want               string
	}{
		{"an allowed host", "demo.example", "127.0.0.1:1", nil, "demo.example false invalid IP"},
		{
			"a tunnel with https", "demo.example", "127.0.0.1:1",
			[]string{"X-Forwarded-For: 203.0.113.9", "X-Forwarded-Proto: https"},
			"demo.example true 203.0.113.9",
		},
		{
			"a tunnel that requests localhost", "localhost:8788", "127.0.0.1:1",
			[]string{"X-Forwarded-For: 203.0.113.9", "X-Forwarded-Host: demo.example", "X-Forwarded-Proto: https, http"},
			"demo.example true 203.0.113.9",
		},
		{"https to this machine", "localhost:8788", "127.0.0.1:1", []string{"X-Forwarded-Proto: https"}, "localhost:8788 false invalid IP"},
		{"a malformed host", "localhost:8788", "127.0.0.1:1", []string{"X-Forwarded-Host: a b"}, "localhost:8788 false invalid IP"},
		{
			"a long host", "localhost:8788", "127.0.0.1:1",
			[]string{"X-Forwarded-Host: " + strings.Repeat("a", 300)},
			"localhost:8788 false invalid IP",
		},
		{
			"a chain of proxies", "demo.example", "127.0.0.1:1",
			[]string{"X-Forwarded-For: 198.51.100.1, 203.0.113.9, 127.0.0.1"},
			"demo.example false 203.0.113.9",
		},
		{
			"a malformed chain", "demo.example", "127.0.0.1:1",
			[]string{"X-Forwarded-For: 198.51.100.1, nonsense"},
			"demo.example false invalid IP",
		},
		{"Cloudflare", "demo.example", "127.0.0.1:1", []string{"Cf-Connecting-Ip: 2001:db8::7"}, "demo.example false 2001:db8::7"},
		{"Forwarded", "demo.example", "127.0.0.1:1", []string{"Forwarded: for=203.0.113.9;Proto=HTTPS"}, "demo.example true invalid IP"},
		{"a link-local address", "192.168.1.5:8788", "[fe80::1%eth0]:1", nil, "192.168.1.5:8788 false fe80::1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Classify(request(t, c.host, c.remote, "127.0.0.1:8788", c.headers...))
			if v == nil {
				t.Fatal("of this machine")
			}
			secure := map[bool]string{true: "true", false: "false"}[v.Secure]
			if got := v.Host + " " + secure + " " + v.Client.String(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Headers that a client sends before those of a proxy do not make its request one of this machine.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{"", "127.0.0.1", "::1, 127.0.0.1", "unknown", `"[::1]"`, "127.0.0.1,,", "for=127.0.0.1"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, sent, host string) {
		for _, added := range []string{"X-Forwarded-For: " + sent + ", 203.0.113.9", "Forwarded: " + sent + ", for=203.0.113.9"} {
			v := Classify(request(t, "localhost", "127.0.0.1:1", "127.0.0.1:2", added, "X-Forwarded-Host: "+host))
			if v == nil {
				t.Errorf("%q is of this machine", added)
			} else if _, ok := BareHost(v.Host); !ok {
				t.Errorf("%q is the host of an External", v.Host)
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	r := request(b, "127.0.0.1:8788", "127.0.0.1:50000", "127.0.0.1:8788", "Accept: */*", "Accept-Encoding: gzip",
		"Accept-Language: en", "Connection: keep-alive",
		"Cookie: a=b", "Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: none", "User-Agent: x",
		"Upgrade-Insecure-Requests: 1")
	b.ReportAllocs()
	for b.Loop() {
		if Classify(r) != nil {
			b.Fatal("external")
		}
	}
}
