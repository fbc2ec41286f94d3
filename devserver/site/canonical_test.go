package site

import (
	"errors"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ target, path, again string }{
		{"/", "/", "/"},
		{"/a", "/a", "/a"},
		{"/a/", "/a/", "/a/"},
		{"/a?", "/a", "/a?"},
		{"/a?b=1&c", "/a", "/a?b=1&c"},
		{"/a?b=//../%2e%zz", "/a", "/a?b=//../%2e%zz"},
		{"/%61", "/a", "/a"},
		{"/caf%C3%A9.html", "/café.html", "/caf%C3%A9.html"},
		{"/caf%c3%a9.html", "/café.html", "/caf%C3%A9.html"},
		{"/cafe%CC%81.html", "/café.html", "/caf%C3%A9.html"},
		{"/a%20b.html", "/a b.html", "/a%20b.html"},
		{"/x;y.html", "/x;y.html", "/x;y.html"},
		{"/~u/", "/~u/", "/~u/"},
		{"/%7eu/", "/~u/", "/~u/"},
		{"/a+b", "/a+b", "/a+b"},
		{"/a%2bb", "/a+b", "/a+b"},
		{"/a:b@c", "/a:b@c", "/a:b@c"},
		{"/a=b&c$d!e'f(g)h*i,j", "/a=b&c$d!e'f(g)h*i,j", "/a=b&c$d!e'f(g)h*i,j"},
		{"/.well-known/x", "/.well-known/x", "/.well-known/x"},
		{"/...", "/...", "/..."},
		{"/a..b", "/a..b", "/a..b"},
		{"/a%3fb", "/a?b", "/a%3Fb"},
		{"/a%23b", "/a#b", "/a%23b"},
		{"/{id}", "/{id}", "/%7Bid%7D"},
		{`/"a"`, `/"a"`, "/%22a%22"},
		{"/a|b^c`d<e>", "/a|b^c`d<e>", "/a%7Cb%5Ec%60d%3Ce%3E"},
		{"/%F0%9F%9A%A3", "/🚣", "/%F0%9F%9A%A3"},
		{"http://localhost", "/", "/"},
		{"http://localhost?x", "/", "/?x"},
		{"http://localhost/a?b", "/a", "/a?b"},
		{"HTTPS://localhost:1/a", "/a", "/a"},
	} {
		t.Run(c.target, func(t *testing.T) {
			p, err := Canonical(c.target)
			if err != nil || p.String() != c.path || p.Target() != c.again {
				t.Errorf("%q is %q, %q, %v", c.target, p.String(), p.Target(), err)
			}
		})
	}
}

// TestReadingsOfPaths: a path with several readings keeps them all, and its original form.
func TestReadingsOfPaths(t *testing.T) {
	for _, c := range []struct{ sent, path, canonical, file string }{
		{"//", "//", "//", "/"},
		{"//a", "//a", "//a", "/a"},
		{"/a//b", "/a//b", "/a//b", "/a/b"},
		{"/.", "/", "/", "/"},
		{"/a/..", "/", "/", "/"},
		{"/a/../b?c", "/b", "/b?c", "/b"},
		{"/a/%2E%2e/b", "/b", "/b", "/b"},
		{"/a%2fb", "/a%2Fb", "/a%2Fb", "/a/b"},
		{"/a%2F..%2Fb", "/a%2F..%2Fb", "/a%2F..%2Fb", ""},
		{"/caf%c3%a9%2fe%cc%81", "/café%2Fé", "/caf%C3%A9%2F%C3%A9", "/café/é"},
		{"/100%25", "/100%", "/100%25", "/100%"},
		{"/%252e", "/%2e", "/%252e", "/%2e"},
		{"/a/..;x/b", "/a/..;x/b", "/a/..;x/b", "/a/..;x/b"},
		{"/a%3Fb", "/a?b", "/a%3Fb", "/a?b"},
	} {
		p, err := Canonical(c.sent)
		if err != nil || p.String() != c.path || p.Target() != c.canonical || p.Sent() != c.sent || p.file != c.file || p.readings == nil {
			t.Errorf("%q is %q, %q, sent %q, the file %q, with %d readings, %v",
				c.sent, p, p.Target(), p.Sent(), p.file, len(p.readings), err)
		}
	}
	if _, err := Canonical("/" + strings.Repeat("%"+strings.Repeat("25", 300)+"2e//..;/", 10)); err == nil {
		t.Error("a path with too many readings is taken")
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, target := range []string{
		"", "*", "a", "?a", "#", "/a%5cb", `/a\b`, "/%", "/%1", "/a%2F%00", "/a//%5C", "/a/../%0a", "/100%25/%zz", "/a%2F%ff",
		"/%zz", "/a%0ab", "/a%00", "/a%7f", "/a%c2%85", "/a b",
		"/a\tb", "/a#b", "/é", "/%ff", "/%c0%af", "/%ed%a0%80", "/%ef%bf%bd", "/%ef%bc%8f", "/%ef%bc%bc", "/%ef%bc%85",
		"/%e2%80%a5/a", "/%ef%bc%8e/a", "/%e2%84%80", "/a?b c", "/a?b#c", "/a?\n", "ftp://localhost/a", "http:/a", "http://",
		"http:///a", "http://h\\a", "http://h#a", "://h/a",
	} {
		t.Run(target, func(t *testing.T) {
			if p, err := Canonical(target); err == nil {
				t.Errorf("%q is taken for %q", target, p.Target())
			} else if refusal := new(RefusalError); !errors.As(err, &refusal) || refusal.Status != 400 || refusal.Message == "" {
				t.Errorf("%q: %#v", target, err)
			}
		})
	}
	refusal := new(RefusalError)
	if _, err := Canonical("/" + strings.Repeat("a", 8192)); !errors.As(err, &refusal) || refusal.Status != 414 {
		t.Errorf("a long path: %v", err)
	}
	if _, err := Canonical("/" + strings.Repeat("a", 8191)); err != nil {
		t.Errorf("8 KiB: %v", err)
	}
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		host string
		ok   bool
	}{
		{"localhost", true},
		{"localhost:8788", true},
		{"LOCALHOST", true},
		{"localhost.", true},
		{"localhost.:80", true},
		{"site.localhost:1", true},
		{"127.0.0.1", true},
		{"127.0.0.1:8788", true},
		{"[::1]", true},
		{"[::1]:8788", true},
		{"", false},
		{":80", false},
		{"evil.example", false},
		{"localhost.evil.example", false},
		{"evillocalhost", false},
		{"169.254.1.1", false},
		{"192.168.1.5:8788", false},
		{"0.0.0.0", false},
		{"[::]", false},
		{"[::ffff:127.0.0.1]", false},
		{"::1", false},
		{"localhost:", false},
		{"localhost:80x", false},
		{"localhost:123456", false},
		{"localhost@evil.example", false},
		{"localhost:1@evil.example", false},
		{"[::1", false},
		{"[localhost]", false},
		{"localhost/x", false},
		{"local host", false},
		{"localhost..", false},
		{"127.0.0.1.", true},
		{"127.1", false},
	} {
		t.Run(c.host, func(t *testing.T) {
			host, ok := loopback.BareHost(c.host)
			if got := ok && loopback.Name(host); got != c.ok {
				t.Errorf("%q: %v, want %v", c.host, got, c.ok)
			}
		})
	}
}

func TestCanonicalCostsNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		p, err := Canonical("/css/site-0123.css?v=1")
		if err != nil || sitepath.FoldPath(p.decoded) == "" {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("a plain path costs %v allocations", n)
	}
}

func BenchmarkCanonical(b *testing.B) {
	for name, target := range map[string]string{"plain": "/css/site.css?v=1", "encoded": "/caf%C3%A9/%61.html"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Canonical(target); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
