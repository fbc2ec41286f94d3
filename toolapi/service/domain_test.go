package service_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// TestCreatePage: a page with an address of its own, once for each key.
func TestCreatePage(t *testing.T) {
	w := newFixture(t)
	create := func(key, name string) toolapi.CreatePage {
		t.Helper()
		return decode[toolapi.CreatePage](t, w.ok("member", "page.create", js("name", name), "Idempotency-Key", key))
	}
	first := create("1", "  Café Ü Öffnung!  ")
	if first.Hostname != "cafe-u-offnung.localhost" || first.Name != "Café Ü Öffnung!" || first.LiveRevision != nil ||
		first.ServingNow || first.Replayed {
		t.Errorf("%+v", first)
	}
	if again := create("1", "  Café Ü Öffnung!  "); !again.Replayed || again.SiteID != first.SiteID {
		t.Errorf("%+v", again)
	}
	for i, c := range [][2]string{
		{"Cafe u offnung", "cafe-u-offnung-2.localhost"},
		{"日本", "page.localhost"},
		{"日本語", "page-2.localhost"},
		{"<b>--x--</b>", "b-x-b.localhost"},
		{"👩\u200d🔧 & co", "co.localhost"},
		{strings.Repeat("a", 80), strings.Repeat("a", 40) + ".localhost"},
	} {
		t.Run(c[0], func(t *testing.T) {
			if got := create(fmt.Sprint("n", i), c[0]); got.Hostname != c[1] {
				t.Errorf("%s: %s, want %s", c[0], got.Hostname, c[1])
			}
		})
	}
	for _, name := range []any{
		"", "   ", strings.Repeat("a", 81), nil, 1, "\x00", "a\x00b", "two\nlines", "\ufeff", "\u202e \u2066", "\u200b",
	} {
		t.Run(fmt.Sprintf("%.30s", js("name", name)), func(t *testing.T) {
			w := w.in(t)
			w.refused(toolapi.CodeInvalidArguments, "member", "page.create", js("name", name), "Idempotency-Key", "x")
		})
	}
	w.refused(toolapi.CodeInvalidArguments, "member", "page.create", js("name", "Keyless"))
	w.refused(toolapi.CodePermissionDenied, "stored", "page.create", js("name", "X", "workspace", "globex"), "Idempotency-Key", "v")
	pages := decode[toolapi.PageList](t, w.ok("member", "page.list", ""))
	if len(pages.Pages) != 3+7 {
		t.Errorf("%d pages", len(pages.Pages))
	}
	w.refused(toolapi.CodeNoRevision, "member", "page.publish", js("site_id", first.SiteID))
	domains := decode[toolapi.DomainList](t, w.ok("member", "domain.list", ""))
	if i := len(domains.Domains); i != 5+7 {
		t.Errorf("%d domains", i)
	}
	w.sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO sites (id, " +
		"workspace_id, name) SELECT 'x' || i, 1, 'x' FROM n")
	w.refused(toolapi.CodeTooManySites, "member", "page.create", js("name", "One more"), "Idempotency-Key", "more")
}

// TestConnect: a domain for the first time, with the steps for its owner.
func TestConnect(t *testing.T) {
	w := newFixture(t)
	args := []any{"hostname", "studio.example", "site_id", w.demo.IDs["site_id"]}
	proposed := decode[toolapi.Connect](t, w.ok("member", "domain.connect", js(args...)))
	if proposed.DomainID != nil || proposed.ServingNow || len(proposed.Records) != 2 ||
		proposed.Records[1] != (toolapi.DNSRecord{Type: "CNAME", Name: "studio.example", Value: "demo-home.localhost"}) ||
		!strings.Contains(proposed.RequestSummary, "studio.example") {
		t.Errorf("%+v", proposed)
	}
	done := decode[toolapi.Connect](t, w.ok("member", "domain.connect", js(append(args, "confirmation_id", proposed.ConfirmationID)...)))
	if done.State != toolapi.Done || done.DomainID == nil || done.ServingNow || done.Revision == nil {
		t.Errorf("%+v", done)
	}
	w.refused(toolapi.CodeDomainTaken, "member", "domain.connect", js(args...))
	w.sql("UPDATE domains SET pending_since = NULL WHERE hostname = 'studio.example'")
	if a := w.refused(
		toolapi.CodeDomainTaken, "pinned", "domain.connect",
		js("hostname", "studio.example", "site_id", w.demo.IDs["site_id"]),
	); strings.Contains(string(a.body), "acme") {
		t.Errorf("says whose it is: %s", a.body)
	}
	w.ok("member", "domain.point_at_site", js("domain_id", *done.DomainID, "site_id", w.demo.IDs["other_site_id"]))

	local := []any{"hostname", "mine.localhost", "site_id", w.demo.IDs["site_id"]}
	p := decode[toolapi.Connect](t, w.ok("member", "domain.connect", js(local...)))
	if got := decode[toolapi.Connect](
		t, w.ok("member", "domain.connect", js(append(local, "confirmation_id", p.ConfirmationID)...)),
	); !got.ServingNow || len(got.Records) != 0 {
		t.Errorf("%+v", got)
	}
	// Below another page's address, or that of previews, a page could set their cookies.
	for _, name := range []string{"x.mine.localhost", "x.demo-home.localhost", "preview.localhost", "x.preview.localhost"} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			w.refused(toolapi.CodeDomainTaken, "member", "domain.connect", js("hostname", name, "site_id", w.demo.IDs["site_id"]))
		})
	}
	if made := decode[toolapi.CreatePage](
		t, w.ok("member", "page.create", js("name", "Preview"), "Idempotency-Key", "preview"),
	); made.Hostname != "preview-2.localhost" {
		t.Errorf("a page has the address %s", made.Hostname)
	}
	none := decode[toolapi.Connect](
		t,
		w.ok("member", "domain.connect", js("hostname", "new.localhost", "site_id", w.demo.IDs["unpublished_site_id"])),
	)
	if none.Revision != nil || none.ServingNow || !strings.Contains(none.RequestSummary, "never been published") {
		t.Errorf("%+v", none)
	}
	for _, bad := range []string{
		"", "studio", "Studio.example", "1.2.3.4", "a..b.example", "-a.example", "a-.example", "a_b.example",
		"ex ample.com", "example.com.", "http://example.com", "münchen.example", strings.Repeat("a", 64) + ".example",
		strings.Repeat("a.", 130) + "example", "[::1]", "a.example\n",
	} {
		t.Run(fmt.Sprintf("%.20q", bad), func(t *testing.T) {
			w := w.in(t)
			w.refused(toolapi.CodeInvalidArguments, "member", "domain.connect", js("hostname", bad, "site_id", w.demo.IDs["site_id"]))
		})
	}
}

// zone holds the TXT records that a fixture's DNS returns.
type zone struct {
	records map[string][]string
	fails   error
	asked   []string
}

func (z *zone) lookUp(_ context.Context, name string) ([]string, error) {
	z.asked = append(z.asked, name)
	if z.fails != nil {
		return nil, z.fails
	}
	if found, ok := z.records[name]; ok {
		return found, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// connectDomain proposes, confirms and returns the domain's id and the record of its proof.
func (w *fixture) connectDomain(key, hostname, site string, more ...any) (id string, proof toolapi.DNSRecord) {
	w.Helper()
	args := append([]any{"hostname", hostname, "site_id", w.demo.IDs[site]}, more...)
	p := decode[toolapi.Connect](w, w.ok(key, "domain.connect", js(args...)))
	done := decode[toolapi.Connect](w, w.ok(key, "domain.connect", js(append(args, "confirmation_id", p.ConfirmationID)...)))
	if len(done.Records) != 2 || done.Records[0] != p.Records[0] {
		w.Fatalf("%+v and %+v", p.Records, done.Records)
	}
	return *done.DomainID, done.Records[0]
}

// TestDomainProof: two workspaces wait for one name, and the first that proves it has it; a page is served there then,
// and not before.
func TestDomainProof(t *testing.T) {
	w, _ := newHostedFixture(t)
	z := &zone{records: map[string][]string{}}
	w.service.AskDNS(z.lookUp)
	const name = "studio.acme-club.org"
	ours, proof := w.connectDomain("both", name, "site_id", "workspace", "acme")
	made := decode[toolapi.CreatePage](
		t, w.ok("both", "page.create", js("name", "Theirs", "workspace", "globex"), "Idempotency-Key", "theirs"),
	)
	w.demo.IDs["theirs"] = made.SiteID
	theirs, other := w.connectDomain("both", name, "theirs", "workspace", "globex")
	if proof.Type != "TXT" || proof.Name != "_pages-challenge."+name || proof.Value == other.Value ||
		!strings.HasPrefix(proof.Value, "pages-challenge=") {
		t.Errorf("%+v and %+v", proof, other)
	}
	served := func() bool {
		got := httptest.NewRecorder()
		w.serve(got, "http://"+name+"/")
		return got.Code == http.StatusOK && got.Body.String() == w.demo.IDs["site_id"]
	}
	verify := func(id, workspace string) []byte { return []byte(js("domain_id", id, "workspace", workspace)) }
	if served() {
		t.Error("it is served without a proof")
	}
	w.refused(toolapi.CodeDomainUnproven, "both", "domain.verify", string(verify(ours, "acme")))
	z.records[proof.Name+"."] = []string{"v=spf1 -all", other.Value} // of the wrong workspace
	w.refused(toolapi.CodeDomainUnproven, "both", "domain.verify", string(verify(ours, "acme")))
	z.fails = &net.DNSError{Err: "server misbehaving", IsTemporary: true}
	w.refused(toolapi.CodeDomainLookup, "both", "domain.verify", string(verify(ours, "acme")))
	if z.fails = nil; served() {
		t.Error("it is served without a proof of its own")
	}
	z.records[proof.Name+"."] = []string{proof.Value, other.Value}
	if got := decode[toolapi.Verify](t, w.ok("both", "domain.verify", string(verify(ours, "acme")))); !got.ServingNow ||
		got.Hostname != name {
		t.Errorf("%+v", got)
	}
	if !served() {
		t.Error("it is not served with its proof")
	}
	w.refused(toolapi.CodeDomainTaken, "both", "domain.verify", string(verify(theirs, "globex")))
	w.refused(toolapi.CodeDomainTaken, "both", "domain.connect", js("hostname", name, "site_id", made.SiteID, "workspace", "globex"))
	asked := len(z.asked)
	w.ok("both", "domain.verify", string(verify(ours, "acme"))) // again: no DNS query for a proven domain
	for _, c := range []struct{ code, key, body string }{
		{toolapi.CodeDomainUnknown, "both", string(verify(ours, "globex"))},
		{toolapi.CodeDomainUnknown, "member", js("domain_id", theirs)},
		{toolapi.CodePermissionDenied, "pinned", js("domain_id", ours, "workspace", "acme")},
	} {
		if c.code == toolapi.CodePermissionDenied {
			c.code = toolapi.CodeWorkspaceUnreachable // its key is pinned to the other one
		}
		w.refused(c.code, c.key, "domain.verify", c.body)
	}
	if len(z.asked) != asked {
		t.Errorf("DNS was asked %q", z.asked[asked:])
	}
}

// TestPendingDomains: a domain without proof expires, blocks no other workspace, and may be connected again with the same
// record. The number of pending domains of a workspace is bounded.
func TestPendingDomains(t *testing.T) {
	w := newFixture(t)
	w.service.AskDNS((&zone{}).lookUp)
	id, proof := w.connectDomain("member", "www.acme-club.org", "site_id")
	w.refused(toolapi.CodeDomainTaken, "member", "domain.connect", js("hostname", "www.acme-club.org", "site_id", w.demo.IDs["site_id"]))
	shown := func() *toolapi.PendingProof {
		for _, d := range decode[toolapi.DomainList](t, w.ok("member", "domain.list", "")).Domains {
			if d.DomainID == id {
				return d.Pending
			}
		}
		return nil
	}
	if p := shown(); p == nil || p.Record != proof {
		t.Errorf("it is listed with %+v", p)
	}
	collect := func() {
		t.Helper()
		if err := w.service.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.pass(7*24*time.Hour - time.Minute)
	collect()
	if shown() == nil {
		t.Error("it is forgotten too early")
	}
	w.pass(time.Minute)
	collect()
	if shown() != nil {
		t.Error("it is not forgotten")
	}
	w.refused(toolapi.CodeDomainUnknown, "member", "domain.verify", js("domain_id", id))
	if _, again := w.connectDomain("member", "www.acme-club.org", "site_id"); again != proof {
		t.Errorf("%+v, and then %+v", proof, again)
	}
	w.sql(
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 49) INSERT INTO domains (id, " +
			"workspace_id, hostname, site_id, active, pending_since) SELECT 'd' || i, 1, 'd' || i || " +
			"'.acme-club.org', (SELECT id FROM sites LIMIT 1), 0, " + fmt.Sprint(w.clock.now().UnixMilli()) + " FROM n",
	)
	w.refused(
		toolapi.CodeTooManyDomains, "member", "domain.connect",
		js("hostname", "more.acme-club.org", "site_id", w.demo.IDs["site_id"]),
	)
	for _, name := range []string{
		"co.uk", "com.au", "github.io", "s3.amazonaws.com", "in-addr.arpa",
		strings.Repeat(strings.Repeat("a", 60)+".", 4) + "example",
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			w.refused(toolapi.CodeDomainTaken, "member", "domain.connect", js("hostname", name, "site_id", w.demo.IDs["site_id"]))
		})
	}
}
