//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// leadsOf waits for that number of leads of a site in its workspace, and lists them.
func (p *platformRun) leadsOf(t *testing.T, site string, count int) []toolapi.Lead {
	t.Helper()
	var list toolapi.LeadList
	for end := time.Now().Add(patience); ; <-time.After(2 * time.Millisecond) {
		_, text, err := p.call(p.Keys["member"], "page.leads", `{"site_id":"`+site+`","limit":100}`)
		if err := errors.Join(err, json.Unmarshal([]byte(text), &list)); err != nil {
			t.Fatal(err)
		}
		if list.Total >= count {
			return list.Leads
		}
		if time.Now().After(end) {
			t.Fatalf("%d leads have arrived, not %d\n%s", list.Total, count, p.stderr)
		}
	}
}

// preview makes a preview link of the newest revision and opens it.
func (p *platformRun) preview(t *testing.T, site string) (host, cookie string) {
	t.Helper()
	var link toolapi.PreviewLink
	if status, err := p.rest(
		http.MethodPost, toolapi.PreviewLinksPath, []byte(`{"site_id":"`+site+`"}`), &link, "Content-Type",
		"application/json",
	); err != nil || status != http.StatusCreated {
		t.Fatal(status, err)
	}
	u, err := url.Parse(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	v := p.request(t, http.MethodGet, u.Hostname(), u.Path, "")
	cookie, _, _ = strings.Cut(v.header.Get("Set-Cookie"), ";")
	return u.Hostname(), cookie
}

// TestLeadsReachTheWorkspace: each lead of a published site arrives in the site's
// workspace, with its events, once: also a lead that the service acknowledged just
// before it was killed, and one from a preview link.
func TestLeadsReachTheWorkspace(t *testing.T) {
	data := t.TempDir()
	p := startPlatform(t, data)
	site := p.Demo["unpublished_site_id"]
	p.ship(t, site, hostedManifest, hostedFiles(nil))
	post := func(host, form, email string, header ...string) bool {
		v, err := p.tryRequest(
			http.MethodPost, host, "/__pages/forms", "form="+form+"&email="+email,
			append(header, "Content-Type", "application/x-www-form-urlencoded")...,
		)
		return err == nil && v.status == http.StatusSeeOther
	}
	if !post(demoNew, "contact", "kim@rowing.example") || !post(demoNew, "other", "lee@rowing.example") {
		t.Fatal("a form was refused")
	}
	leads := p.leadsOf(t, site, 2)
	if got := string(leads[1].Fields); leads[1].Form != "contact" || got != `{"email":"kim@rowing.example"}` ||
		eventNames(leads[1]) != "pages.lead.captured custom.contact" || leads[1].Preview {
		t.Errorf("a declared form: %+v %s", leads[1], got)
	}
	if leads[0].Form != "other" || eventNames(leads[0]) != "pages.lead.captured" || leads[0].SiteID != site {
		t.Errorf("another form: %+v", leads[0])
	}
	if _, text, err := p.call(p.Keys["pinned"], "page.leads", "{}"); err != nil || !jsonHas(t, text, "total", 0.0) {
		t.Errorf("another workspace: %s %v", text, err)
	}
	// Acknowledged, and then killed immediately.
	acknowledged := 2
	for round := range soakRounds(3, 60) {
		for n := range 5 {
			if post(demoNew, "contact", fmt.Sprintf("%d-%d@rowing.example", round, n)) {
				acknowledged++
			}
		}
		p.end(t, os.Kill)
		p = startPlatform(t, data)
	}
	leads = p.leadsOf(t, site, acknowledged)
	ids := map[string]bool{}
	for _, l := range leads {
		ids[l.ID] = true
	}
	if _, text, err := p.call(p.Keys["member"], "page.leads", `{"site_id":"`+site+`"}`); err != nil ||
		!jsonHas(t, text, "total", float64(acknowledged)) || len(ids) != len(leads) {
		t.Errorf("%d were acknowledged: %.100s %v", acknowledged, text, err)
	}
	// Leads of a preview are marked, and raise no events.
	host, cookie := p.preview(t, site)
	if !post(host, "contact", "preview@rowing.example", "Cookie", cookie) {
		t.Fatal("a preview's form was refused")
	}
	leads = p.leadsOf(t, site, acknowledged+1)
	if l := leads[0]; !l.Preview || len(l.Events) != 0 || slices.Contains([]string{"", "null"}, string(l.Fields)) {
		t.Errorf("of a preview: %+v", l)
	}
	// A graceful shutdown handles the last request before the service ends.
	post(demoNew, "contact", "last@rowing.example")
	if code := p.end(t, os.Interrupt); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
}

func eventNames(l toolapi.Lead) (names string) {
	for i, e := range l.Events {
		if i > 0 {
			names += " "
		}
		names += e.Name
	}
	return names
}

func jsonHas(t *testing.T, text, name string, want any) bool {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	return fields[name] == want
}
