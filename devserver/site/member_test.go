package site

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// SignedInAs applies to the visitor's own requests alone, until the visitor signs out.
func TestSignedInAs(t *testing.T) {
	f := start(t, Options{SignedInAs: "owner"}, Revision{
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("members /club")}, Worker: echo{},
	})
	for _, c := range []struct {
		header string
		status int
	}{
		{"Accept: */*", 200},
		{"Sec-Fetch-Site: same-origin", 200},
		{"Sec-Fetch-Site: none", 200},
		{"Origin: " + f.server.URL, 200},
		{"Sec-Fetch-Site: cross-site", 401},
		{"Sec-Fetch-Site: same-site", 401},
		{"Origin: http://evil.example", 401},
		{"Origin: null", 401},
		{"Cookie: " + f.site.sessions.cookie + "=x", 401},
		{"Cookie: other=x", 200},
	} {
		t.Run(c.header, func(t *testing.T) {
			if got := f.get(t, "/club", c.header); got.status != c.status ||
				c.status == 200 && !strings.Contains(got.body, "usr_dev_owner") {
				t.Errorf("%s: %d %s, want %d", c.header, got.status, got.body, c.status)
			}
		})
	}
	if got := f.get(t, "/club", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"); got.status != 200 {
		t.Errorf("a link from elsewhere: %d", got.status)
	}
	visitor := f.client(t)
	for _, step := range []struct {
		path, form string
		club       int
	}{
		{"/__pages/sign-out", "", 401},
		{"/__pages/sign-in", "persona=outsider", 403},
		{"/__pages/sign-out", "", 401},
		{"/__pages/sign-in", "persona=member", 200},
	} {
		f.do(t, visitor, "POST", step.path, step.form, "Content-Type: application/x-www-form-urlencoded")
		if got := f.do(t, visitor, "GET", "/club", ""); got.status != step.club {
			t.Errorf("after %s %s: %d, want %d", step.path, step.form, got.status, step.club)
		}
	}
}

// A removed persona is not a member from the next request on.
func TestSetPersonas(t *testing.T) {
	ada := Persona{Key: "ada", Member: Member{ID: "usr_ada", Email: "ada@example.test", Name: "Ada"}}
	f := start(t, Options{Personas: []Persona{ada}, SignedInAs: "ada"}, Revision{
		Manifest: &manifest.Manifest{Routes: routes("members /club")},
	})
	visitor := f.as(t, "ada")
	if got := f.do(t, visitor, "GET", "/club", ""); got.status != http.StatusNotFound {
		t.Errorf("a member: %d", got.status)
	}
	f.site.SetPersonas(DefaultPersonas())
	if got := f.do(t, visitor, "GET", "/club", ""); got.status != http.StatusForbidden {
		t.Errorf("no member any more: %d", got.status)
	}
	if got := f.get(t, "/club"); got.status != http.StatusUnauthorized {
		t.Errorf("a persona that is gone, from the start: %d", got.status)
	}
	if got := f.do(
		t, visitor, "POST", "/__pages/sign-in", url.Values{"persona": {"ada"}}.Encode(),
		"Content-Type: application/x-www-form-urlencoded",
	); got.status != http.StatusUnprocessableEntity {
		t.Errorf("sign in: %d", got.status)
	}
}

// The person of visitors may change while the site runs.
func TestSetSignedInAs(t *testing.T) {
	dir, assets := folder(t, map[string]string{"/club.html": secret})
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir, Manifest: &manifest.Manifest{Routes: routes("members /club")}})
	for _, c := range []struct {
		name   string
		status int
	}{{"", 401}, {"member", 200}, {"outsider", 403}, {"nobody", 401}, {"owner@example.test", 200}, {"", 401}} {
		t.Run(c.name, func(t *testing.T) {
			f.site.SetSignedInAs(c.name)
			if got := f.get(t, "/club"); got.status != c.status {
				t.Errorf("%q: %d, want %d", c.name, got.status, c.status)
			}
		})
	}
	if f.site.Personas()[0].Key != "member" {
		t.Error(f.site.Personas())
	}
}
