package web

import (
	"net/http/httptest"
	"testing"
)

// The fast path must agree with the parser.
func FuzzVisitorURL(f *testing.F) {
	for _, target := range []string{
		"/", "/a/b?c=d", "/a%2eb", "/a/../b", "/a/./", "/%2e%2E/x", "/a'b?c'd", "/a|b", "/?", "/x?y?z", "/%zz",
	} {
		f.Add("a.test:80", target)
	}
	f.Add("A.Test", "/")
	f.Add("127.1:8080", "/x")
	f.Add("[::1]:8788", "/")
	f.Fuzz(func(t *testing.T, host, target string) {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		u, err := r.URL.Parse("http://x/")
		if err != nil {
			t.Fatal(err)
		}
		if u, err = u.Parse(target); err != nil || u.Host != "x" {
			return
		}
		u.Scheme, u.Host, u.Fragment, u.RawFragment = "", "", "", ""
		r.URL, r.RequestURI, r.Host = u, u.String(), host
		h := New(Options{})
		first, again, want := h.origins.URL(r), h.origins.URL(r), parsedURL("http://"+host+u.String())
		if first != want || again != want {
			t.Fatalf("host %q, target %q: %q, %q, parsed %q", host, target, first, again, want)
		}
	})
}
