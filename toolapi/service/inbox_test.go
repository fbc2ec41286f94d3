package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// captured are leads of a page, by number.
func captured(site string, from, to int64) (all []service.Captured) {
	for n := from; n <= to; n++ {
		all = append(all, service.Captured{
			Number: n, ID: fmt.Sprintf("lead_%s_%06d", site, n), Form: []string{"contact", "join"}[n%2],
			Fields:    json.RawMessage(fmt.Sprintf(`{"z":%d,"a":"<b>"}`, n)),
			CreatedAt: start.Add(time.Duration(n) * time.Second), Preview: n%10 == 0,
			Events: []toolapi.LeadEvent{{ID: fmt.Sprint("evt_", n), Name: "pages.lead.captured"}},
		})
	}
	return all
}

// take lets announced leads arrive.
func (w *fixture) takeLeads(sites ...string) {
	w.Helper()
	for _, site := range sites {
		w.service.Arrived(site)
	}
	if err := w.service.TakeArrived(w.Context()); err != nil {
		w.Error(err)
	}
}

// TestLeadsArrive brings leads of pages into their workspaces, once and in order, after any number of announcements, and despite failures.
func TestLeadsArrive(t *testing.T) {
	w, host := newHostedFixture(t)
	ours, theirs := w.demo.IDs["site_id"], w.value("SELECT id FROM sites WHERE name = 'Globex'")
	host.leads = map[string][]service.Captured{ours: captured("ours", 1, 1203), theirs: captured("theirs", 1, 2)}
	w.takeLeads(ours, ours, theirs)
	w.takeLeads(ours)
	host.leads[ours] = append(host.leads[ours], captured("ours", 1204, 1210)...)
	host.refuse = errors.New("the page's database is damaged")
	w.service.Arrived(ours)
	if err := w.service.TakeArrived(t.Context()); !errors.Is(err, host.refuse) {
		t.Errorf("a failure: %v", err)
	}
	host.refuse = nil
	w.takeLeads() // it is not forgotten
	var seen []string
	for page := range w.leadPages() {
		if page.Total != 1210 {
			t.Fatalf("%d leads", page.Total)
		}
		for _, l := range page.Leads {
			seen = append(seen, l.ID)
			var n int
			if _, err := fmt.Sscanf(l.ID, "lead_ours_%d", &n); err != nil || l.SiteID != ours ||
				!strings.HasPrefix(string(l.Fields), fmt.Sprintf(`{"z":%d,"a":`, n)) || len(l.Events) != 1 || l.Preview != (n%10 == 0) {
				t.Fatalf("%+v", l)
			}
		}
	}
	for i, id := range seen {
		if want := fmt.Sprintf("lead_ours_%06d", 1210-i); id != want {
			t.Fatalf("%d is %s, want %s", i, id, want)
		}
	}
	if len(seen) != 1210 {
		t.Errorf("%d leads are listed", len(seen))
	}
	if a := w.ok(
		"member", "page.leads", js("site_id", ours, "form", "join", "limit", 2),
	); strings.Count(string(a.body), `"form":"join"`) != 2 || !strings.Contains(string(a.body), `"total":605`) {
		t.Errorf("of a form: %s", a.body)
	}
	w.refused(toolapi.CodeSiteUnknown, "member", "page.leads", js("site_id", theirs))
	if a := w.ok("pinned", "page.leads", "{}"); !strings.Contains(string(a.body), `"total":2`) || strings.Contains(string(a.body), "ours") {
		t.Errorf("another workspace: %s", a.body)
	}
	first := w.ok("member", "page.leads", js("limit", 1)).text("next_cursor")
	w.refused(toolapi.CodeCursorInvalid, "member", "page.leads", js("cursor", first, "form", "join"))
	w.refused(toolapi.CodeCursorInvalid, "member", "content.status", js("cursor", first))
}

// TestLeadsAfterTheEnd: Run first takes the leads that an earlier process had not taken.
func TestLeadsAfterTheEnd(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	host.leads = map[string][]service.Captured{site: captured("ours", 1, 3)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.service.Run(ctx)
	}()
	for !strings.Contains(string(w.ok("member", "page.leads", "{}").body), `"total":3`) {
		<-time.After(time.Millisecond)
	}
	stop()
	<-ended
}

// leadPages are the pages of a member's leads, with how many bytes each answer is.
func (w *fixture) leadPages() iter.Seq2[toolapi.LeadList, int] {
	return func(yield func(toolapi.LeadList, int) bool) {
		w.Helper()
		for cursor := ""; ; {
			args := map[string]any{"limit": 100}
			if cursor != "" {
				args["cursor"] = cursor
			}
			body, err := json.Marshal(args)
			if err != nil {
				w.Fatal(err)
			}
			a := w.ok("member", "page.leads", string(body))
			var page toolapi.LeadList
			if err := json.Unmarshal(a.body, &page); err != nil {
				w.Fatal(err)
			}
			if !yield(page, len(a.body)) || page.NextCursor == "" {
				return
			}
			cursor = page.NextCursor
		}
	}
}

// TestLongLeads: visitors choose the contents of a lead, and not the length of a response. Pages of
// long ones are shorter, and together they are whole.
func TestLongLeads(t *testing.T) {
	w, host := newHostedFixture(t)
	leads := captured("ours", 1, 7)
	for i := range leads {
		leads[i].Fields = json.RawMessage(`{"message":"` + strings.Repeat("<", 600<<10) + `"}`)
	}
	host.leads = map[string][]service.Captured{w.demo.IDs["site_id"]: append(leads, captured("ours", 8, 30)...)}
	w.takeLeads(w.demo.IDs["site_id"])
	var pages []int
	for page, size := range w.leadPages() {
		if pages = append(pages, len(page.Leads)); page.Total != 30 || size > 16<<20 {
			t.Errorf("%d leads in all, %d bytes", page.Total, size)
		}
	}
	if want := []int{25, 2, 2, 1}; !slices.Equal(pages, want) { // 23 short ones and two long ones first
		t.Errorf("pages of %v leads, want %v", pages, want)
	}
}

// TestLeadsPage is the console's page of leads.
func TestLeadsPage(t *testing.T) {
	w, host := newHostedFixture(t)
	leads := captured("ours", 1, 60)
	sum := strings.Repeat("ab", 32)
	leads[59].Fields = json.RawMessage(
		`{"cv":[{"filename":"<i>.pdf","size":9,"sha256":"` + sum + `"},{"filename":"","size":1,"sha256":"` + sum +
			`"}],"no":{"filename":"x","sha256":"../x"},"none":[],"null":null}`,
	)
	host.leads = map[string][]service.Captured{w.demo.IDs["site_id"]: leads}
	w.takeLeads(w.demo.IDs["site_id"])
	ana := w.signIn("member")
	page := ana.see(
		"/console/w/acme/leads", "60 in all", "<b>", "Older", "<i>.pdf", "a file", "9 bytes",
		`{"filename":"x","sha256":"../x"}`, "null",
	)
	if link := regexp.MustCompile(
		`href="(http://[^"]+/__pages/api/leads/lead_ours_000060/files/` + sum + `)"`,
	); len(link.FindAllString(page.text, -1)) != 2 {
		t.Errorf("no link to the files: %s", page.text)
	}
	if strings.Count(page.text, "pages.lead.captured") != 50 || strings.Contains(page.text, "<dd><b>") {
		t.Errorf("%s", page.text)
	}
	older := regexp.MustCompile(`<a href="([^"]+)">Older`).FindStringSubmatch(page.text)
	if older == nil {
		t.Fatal("no link to older ones")
	}
	page = ana.see("/console/w/acme/leads"+html.UnescapeString(older[1]), "60 in all")
	if strings.Count(page.text, "pages.lead.captured") != 10 || strings.Contains(page.text, "Older") {
		t.Errorf("the older ones: %s", page.text)
	}
}
