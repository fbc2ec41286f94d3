package site

import (
	"net/http/httptest"
	"testing"
)

// TestForeign: requests from a page of another origin, and from the site's own behind a proxy that changed the Host.
func TestForeign(t *testing.T) {
	s := &Site{options: Options{}.withDefaults()}
	for _, row := range []struct {
		name, host, origin, fetched, forwarded string
		want                                   bool
	}{
		{"a program", "localhost:8788", "", "", "", false},
		{"the site itself", "localhost:8788", "http://localhost:8788", "same-origin", "", false},
		{"an older browser", "localhost:8788", "http://localhost:8788", "", "", false},
		{"an older browser, another origin", "localhost:8788", "http://localhost:5173", "", "", true},
		{"a form of another site", "localhost:8788", "https://evil.example", "cross-site", "", true},
		{"another port of this machine", "localhost:8788", "http://localhost:3000", "same-site", "", true},
		{"Vite's short proxy", "127.0.0.1:8788", "http://localhost:5173", "same-origin", "", false},
		{"caddy with a Host of its own", "127.0.0.1:8788", "https://app.localhost", "same-origin", "", false},
		{"a name that was rebound, through such a proxy", "localhost:8788", "http://evil.example:5173", "same-origin", "", true},
		{"a sandboxed frame", "localhost:8788", "null", "same-origin", "", true},
		{"a socket through caddy with a Host of its own", "127.0.0.1:8788", "http://localhost:9002", "", "localhost:9002", false},
		{"a socket of another page through it", "127.0.0.1:8788", "http://localhost:3000", "", "localhost:9002", true},
		{"a name that was rebound, to it", "127.0.0.1:8788", "http://evil.example", "", "evil.example", true},
		{"another site that names itself", "127.0.0.1:8788", "http://localhost:3000", "same-site", "localhost:3000", true},
		{"an address that is typed", "localhost:8788", "", "none", "", false},
	} {
		r := httptest.NewRequest("POST", "http://"+row.host+"/__pages/sign-in", nil)
		for name, value := range map[string]string{"Origin": row.origin, "Sec-Fetch-Site": row.fetched, "X-Forwarded-Host": row.forwarded} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		if got := s.foreign(r, "no") != nil; got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
}
