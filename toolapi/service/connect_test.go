package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

// TestCreatePage: a page with an address of its own, once for each key.
func TestCreatePage(t *testing.T) {
	w := newWorld(t)
	create := func(key, name string) toolapi.CreatePage {
		t.Helper()
		return into[toolapi.CreatePage](t, w.ok("member", "page.create", js("name", name), "Idempotency-Key", key))
	}
	first := create("1", "  Café Ü Öffnung!  ")
	if first.Hostname != "cafe-u-offnung.localhost" || first.Name != "Café Ü Öffnung!" || first.LiveRevision != nil || first.ServingNow || first.Replayed {
		t.Errorf("%+v", first)
	}
	if again := create("1", "  Café Ü Öffnung!  "); !again.Replayed || again.SiteID != first.SiteID {
		t.Errorf("%+v", again)
	}
	for i, c := range [][2]string{{"Cafe u offnung", "cafe-u-offnung-2.localhost"}, {"日本", "page.localhost"}, {"日本語", "page-2.localhost"}, {"<b>--x--</b>", "b-x-b.localhost"}, {"👩\u200d🔧 & co", "co.localhost"}, {strings.Repeat("a", 80), strings.Repeat("a", 40) + ".localhost"}} {
		if got := create(fmt.Sprint("n", i), c[0]); got.Hostname != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got.Hostname, c[1])
		}
	}
	for _, name := range []any{"", "   ", strings.Repeat("a", 81), nil, 1, "\x00", "a\x00b", "two\nlines", "\ufeff", "\u202e \u2066", "\u200b"} {
		w.refused(toolapi.CodeInvalidArguments, "member", "page.create", js("name", name), "Idempotency-Key", "x")
	}
	w.refused(toolapi.CodeInvalidArguments, "member", "page.create", js("name", "Keyless"))
	w.refused(toolapi.CodePermissionDenied, "stored", "page.create", js("name", "X", "workspace", "globex"), "Idempotency-Key", "v")
	pages := into[toolapi.PageList](t, w.ok("member", "page.list", ""))
	if len(pages.Pages) != 3+7 {
		t.Errorf("%d pages", len(pages.Pages))
	}
	w.refused(toolapi.CodeNoRevision, "member", "page.publish", js("site_id", first.SiteID))
	domains := into[toolapi.DomainList](t, w.ok("member", "domain.list", ""))
	if i := len(domains.Domains); i != 5+7 {
		t.Errorf("%d domains", i)
	}
	w.sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO sites (id, workspace_id, name) SELECT 'x' || i, 1, 'x' FROM n")
	w.refused(toolapi.CodeTooManySites, "member", "page.create", js("name", "One more"), "Idempotency-Key", "more")
}

// TestConnect: a domain for the first time, with what its owner must do.
func TestConnect(t *testing.T) {
	w := newWorld(t)
	args := []any{"hostname", "studio.example", "site_id", w.demo.IDs["site_id"]}
	proposed := into[toolapi.Connect](t, w.ok("member", "domain.connect", js(args...)))
	if proposed.DomainID != nil || proposed.ServingNow || len(proposed.Records) != 1 || proposed.Records[0] != (toolapi.DNSRecord{Type: "CNAME", Name: "studio.example", Value: "demo-home.localhost"}) || !strings.Contains(proposed.RequestSummary, "studio.example") {
		t.Errorf("%+v", proposed)
	}
	done := into[toolapi.Connect](t, w.ok("member", "domain.connect", js(append(args, "confirmation_id", proposed.ConfirmationID)...)))
	if done.State != toolapi.Done || done.DomainID == nil || done.ServingNow || done.Revision == nil {
		t.Errorf("%+v", done)
	}
	w.refused(toolapi.CodeDomainTaken, "member", "domain.connect", js(args...))
	if a := w.refused(toolapi.CodeDomainTaken, "pinned", "domain.connect", js("hostname", "studio.example", "site_id", w.demo.IDs["site_id"])); strings.Contains(string(a.body), "acme") {
		t.Errorf("says whose it is: %s", a.body)
	}
	w.ok("member", "domain.point_at_site", js("domain_id", *done.DomainID, "site_id", w.demo.IDs["other_site_id"]))

	local := []any{"hostname", "mine.localhost", "site_id", w.demo.IDs["site_id"]}
	p := into[toolapi.Connect](t, w.ok("member", "domain.connect", js(local...)))
	if got := into[toolapi.Connect](t, w.ok("member", "domain.connect", js(append(local, "confirmation_id", p.ConfirmationID)...))); !got.ServingNow || len(got.Records) != 0 {
		t.Errorf("%+v", got)
	}
	// Below another page's address, or that of previews, a page could set their cookies.
	for _, name := range []string{"x.mine.localhost", "x.demo-home.localhost", "preview.localhost", "x.preview.localhost"} {
		w.refused(toolapi.CodeDomainTaken, "member", "domain.connect", js("hostname", name, "site_id", w.demo.IDs["site_id"]))
	}
	if made := into[toolapi.CreatePage](t, w.ok("member", "page.create", js("name", "Preview"), "Idempotency-Key", "preview")); made.Hostname != "preview-2.localhost" {
		t.Errorf("a page has the address %s", made.Hostname)
	}
	none := into[toolapi.Connect](t, w.ok("member", "domain.connect", js("hostname", "new.localhost", "site_id", w.demo.IDs["unpublished_site_id"])))
	if none.Revision != nil || none.ServingNow || !strings.Contains(none.RequestSummary, "never been published") {
		t.Errorf("%+v", none)
	}
	for _, bad := range []string{"", "studio", "Studio.example", "1.2.3.4", "a..b.example", "-a.example", "a-.example", "a_b.example", "ex ample.com", "example.com.", "http://example.com", "münchen.example", strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 130) + "example", "[::1]", "a.example\n"} {
		w.refused(toolapi.CodeInvalidArguments, "member", "domain.connect", js("hostname", bad, "site_id", w.demo.IDs["site_id"]))
	}
}
