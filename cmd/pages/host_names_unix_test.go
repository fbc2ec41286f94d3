//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

// selfWorker fetches its own page by the address of the request, and by an address that the request names.
const selfWorker = `export default { async fetch(request) {
  const url = new URL(request.url);
  if (url.pathname === "/api/x") return new Response("itself");
  const to = url.searchParams.get("to") ?? url.origin;
  return fetch(to + "/api/x").then((r) => r.text(), (e) => "refused: " + e.message).then((text) => new Response(text));
} }`

// TestSiteIsItsDomains: the domains determine a site's own addresses, and no Host header of a visitor does.
func TestSiteIsItsDomains(t *testing.T) {
	p := startPlatform(t, t.TempDir())
	site := p.Demo["unpublished_site_id"]
	p.ship(
		t, site,
		`{"entry":"w.js","routes":[{"pattern":"/*"}],"runtime":{"compatibilityFlags":["global_fetch_strictly_public"]}}`,
		map[string]string{"w.js": selfWorker},
	)
	asked := func(host, query string) string {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, p.URL+"/"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		resp, err := p.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for port := range 40 { // more than the service could remember
		if got := asked(fmt.Sprintf("%s:%d", demoNew, 1000+port), ""); got != "itself" {
			t.Fatalf("at port %d: %s", 1000+port, got)
		}
	}
	for _, host := range []string{demoNew, "DEMO-New.localhost", demoNew + ".", demoNew + ".:81"} {
		t.Run(host, func(t *testing.T) {
			if got := asked(host, ""); got != "itself" {
				t.Errorf("at %q: %s", host, got)
			}
		})
	}
	done := func(tool, name, value, site string) {
		t.Helper()
		if o, err := p.twice(tool, map[string]any{name: value, "site_id": site}); err != nil || !o.OK {
			t.Fatalf("%s: %+v %v", tool, o, err)
		}
	}
	const another = "another.localhost"
	elsewhere := func() string { return asked(demoNew, "?to=http://"+another) }
	if got := elsewhere(); got == "itself" {
		t.Error("an unconnected name is the site's own")
	}
	done("domain.connect", "hostname", another, site)
	if got := elsewhere(); got != "itself" {
		t.Errorf("once it is connected: %s", got)
	}
	done("domain.point_at_site", "domain_id", p.domainID(t, another), p.Demo["site_id"])
	if got := elsewhere(); got == "itself" {
		t.Error("a name that points at another site is still the site's own")
	}
}

// domainID is the id of a domain of the member's workspace.
func (p *platformRun) domainID(t *testing.T, hostname string) string {
	t.Helper()
	_, text, err := p.call(p.Keys["member"], "domain.list", "{}")
	var list toolapi.DomainList
	if err := errors.Join(err, json.Unmarshal([]byte(text), &list)); err != nil {
		t.Fatal(err)
	}
	for _, d := range list.Domains {
		if d.Hostname == hostname {
			return d.DomainID
		}
	}
	t.Fatalf("no domain %s in %s", hostname, text)
	return ""
}
