package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// TestSpamOfPages: spam is listed apart, and a mark by a member brings the lead and its event once.
func TestSpamOfPages(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	leads := captured("ours", 1, 2)
	leads[0].Spam, leads[0].Events = &toolapi.LeadSpam{Score: 10, Reasons: []toolapi.SpamReason{{Code: "honeypot", Points: 10}}}, nil
	host.leads = map[string][]service.Captured{site: leads}
	w.takeLeads(site)
	ids := func(spam bool) string {
		t.Helper()
		var page toolapi.LeadList
		if err := json.Unmarshal(w.ok("member", "page.leads", js("spam", spam)).body, &page); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, l := range page.Leads {
			if (l.Spam != nil) != spam || page.Total != len(page.Leads) {
				t.Errorf("spam %t lists %+v of %d", spam, l, page.Total)
			}
			all = append(all, l.ID)
		}
		return strings.Join(all, " ")
	}
	if got := ids(true) + "|" + ids(false); got != "lead_ours_000001|lead_ours_000002" {
		t.Errorf("spam and leads: %s", got)
	}
	for range 2 { // the second changes nothing
		a := w.ok("member", "page.mark_lead", js("lead_id", "lead_ours_000001", "spam", false))
		if strings.Count(string(a.body), "evt_") != 1 || strings.Contains(string(a.body), `"spam"`) {
			t.Errorf("ham: %s", a.body)
		}
	}
	w.ok("member", "page.mark_lead", js("lead_id", "lead_ours_000002", "spam", true))
	if got := ids(true) + "|" + ids(false); got != "lead_ours_000002|lead_ours_000001" {
		t.Errorf("spam and leads after the marks: %s", got)
	}
	w.refused(toolapi.CodeLeadUnknown, "member", "page.mark_lead", js("lead_id", "lead_none", "spam", true))
}

// mails records the mails of a service.
type mails struct {
	mu   sync.Mutex
	sent []service.LeadMail
	fail error
}

func (m *mails) send(_ context.Context, mail service.LeadMail) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, mail)
	return m.fail
}

// TestLeadMails: each lead is mailed to the members whom the setting names: again after a crash and after a failure, not after the
// server took it, and none of spam, of a preview or to who has left.
func TestLeadMails(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	email := w.value("SELECT h.email FROM holders h JOIN memberships m ON m.holder_id = h.id WHERE NOT h.service AND m.workspace_id = " +
		"(SELECT workspace_id FROM sites WHERE id = '" + site + "') ORDER BY h.id LIMIT 1")
	stranger := js("site_id", site, "lead_mail", []string{"stranger@evil.test"})
	w.refused(toolapi.CodeMemberUnknown, "member", "page.change_settings", stranger)
	injected := js("site_id", site, "lead_mail", []string{"a@b.test\r\nBcc: c@d.test"})
	w.refused("invalid_arguments", "member", "page.change_settings", injected)
	w.refused(toolapi.CodeSettingsUnchanged, "member", "page.change_settings", js("site_id", site, "spam_filter", "on"))
	args := []any{"site_id", site, "lead_mail", []string{strings.ToUpper(email)}}
	proposed := w.ok("member", "page.change_settings", js(args...))
	w.ok("member", "page.change_settings", js(append(args, "confirmation_id", proposed.text("confirmation_id"))...))
	if a := w.ok("member", "page.settings", js("site_id", site)); !strings.Contains(string(a.body), `"lead_mail":["`+email+`"]`) {
		t.Errorf("the settings: %s", a.body)
	}
	leads := captured("ours", 9, 12) // the second is a preview's
	leads[2].Spam, leads[2].Events = &toolapi.LeadSpam{Score: 10, Reasons: []toolapi.SpamReason{{Code: "honeypot", Points: 10}}}, nil
	host.leads = map[string][]service.Captured{site: leads}

	// The server takes a mail, and the service ends before it knows.
	crash, stop := context.WithCancel(t.Context())
	first := &mails{}
	w.service.SetLeadMail(func(ctx context.Context, m service.LeadMail) error {
		if err := first.send(ctx, m); err != nil {
			return err
		}
		stop()
		return ctx.Err()
	})
	w.takeLeads(site)
	if err := w.service.SendLeadMails(crash); !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the service: %v", err)
	}
	again := &mails{fail: errors.New("421 try later")}
	w.service.SetLeadMail(again.send)
	send := func() {
		t.Helper()
		if err := w.service.SendLeadMails(t.Context()); err != nil {
			t.Error(err)
		}
	}
	send()
	if len(first.sent) != 1 || len(again.sent) != 2 || again.sent[0].LeadID != first.sent[0].LeadID || again.sent[0].To != email {
		t.Fatalf("first %+v, then %+v", first.sent, again.sent)
	}
	again.fail = nil
	send()
	if len(again.sent) != 2 {
		t.Errorf("a mail that failed is sent again at once: %d", len(again.sent))
	}
	w.pass(time.Minute)
	send()
	send()
	if len(again.sent) != 4 {
		t.Errorf("%d attempts, want one more for each of two mails", len(again.sent))
	}

	// Ham is mailed, once; who has left gets none.
	ham := leads[2].ID
	w.ok("member", "page.mark_lead", js("lead_id", ham, "spam", false))
	send()
	if len(again.sent) != 5 || again.sent[4].LeadID != ham {
		t.Errorf("ham: %+v", again.sent[4:])
	}
	w.ok("member", "page.mark_lead", js("lead_id", ham, "spam", true))
	w.ok("member", "page.mark_lead", js("lead_id", ham, "spam", false))
	host.leads[site] = append(host.leads[site], captured("ours", 101, 200)...)
	again.fail = &service.PermanentMailError{Reason: errors.New("550 no such mailbox")}
	w.takeLeads(site)
	send()
	w.pass(3 * time.Hour)
	send()
	if n := len(again.sent); n != 5+60-3 {
		t.Errorf("%d mails: at most 60 an hour, and a mail that was refused is not sent again", n)
	}
}

// TestConsoleSpam: the console shows spam apart, with its reasons, and moves a lead by the signed-in person's own call.
func TestConsoleSpam(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	leads := captured("ours", 1, 2)
	leads[0].Spam, leads[0].Events = &toolapi.LeadSpam{
		Score: 10, Reasons: []toolapi.SpamReason{{Code: "honeypot", Points: 10, Message: `the hidden field "<b>" has a value`}},
	}, nil
	host.leads = map[string][]service.Captured{site: leads}
	w.takeLeads(site)
	ana := w.signIn("member")
	const path = "/console/w/acme/leads"
	mark := func(p *person, lead, query, spam, token string) page {
		t.Helper()
		return p.send(http.MethodPost, path+"/"+lead+"/mark"+query, url.Values{"token": {token}, "spam": {spam}}.Encode())
	}
	first := ana.see(path, "1 in all", "lead_ours_000002/mark", ">Spam")
	if strings.Contains(first.text, "lead_ours_000001") {
		t.Error("spam is among the leads")
	}
	kept := ana.see(path+"?spam=1&site_id="+site, "1 in all", `+10</span> the hidden field "<b>" has a value`, "Not spam")
	if !strings.Contains(kept.text, `action="/console/w/acme/leads/lead_ours_000001/mark?site_id=`+site+`&amp;spam=1"`) ||
		strings.Contains(kept.text, "lead_ours_000002") || strings.Contains(kept.text, "<b>") {
		t.Errorf("spam: %s", kept.text)
	}
	if a := mark(ana, "lead_ours_000001", "?spam=1", "false", "forged"); a.status != http.StatusForbidden {
		t.Errorf("a form without the token: %d", a.status)
	}
	if a := mark(ana, "lead_ours_000001", "?spam=1&next=//evil.test", "false", ana.token()); a.status != http.StatusSeeOther ||
		a.header.Get("Location") != path+"?spam=1" {
		t.Errorf("a mark: %d %s", a.status, a.header.Get("Location"))
	}
	ana.see(path+"?spam=1", "No spam.")
	ana.see(path, "2 in all", "pages.lead.captured")
	if n := w.value("SELECT count(*) FROM audit WHERE tool = 'page.mark_lead' AND outcome = 'done'"); n != "1" {
		t.Errorf("%s calls are in the audit trail", n)
	}
	w.sql("UPDATE memberships SET role = 'editor' WHERE holder_id = (SELECT id FROM holders WHERE name = 'Cy')")
	cy := w.signIn("stored")
	if a := mark(cy, "lead_ours_000002", "", "true", cy.token()); !strings.Contains(a.text, "That did not work") {
		t.Errorf("an editor moves a lead: %d %s", a.status, a.text)
	}
	ana.see(path, "2 in all")
}

// TestConsoleSettings: a person proposes settings in the console, sees what changes, and approves it; a refusal keeps the typed values.
func TestConsoleSettings(t *testing.T) {
	w, _ := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	ana := w.signIn("member")
	path := "/console/w/acme/sites/" + site + "/settings"
	token := ana.token()
	send := func(filter, proof, emails string) page {
		t.Helper()
		return ana.send("POST", path, url.Values{
			"token": {token}, "spam_filter": {filter}, "proof_of_work": {proof}, "lead_mail": {emails},
		}.Encode())
	}
	ana.see("/console/w/acme/sites", path)
	ana.see(path, "Spam filter", `<option selected>on<option>off</select>`, `<option>on<option selected>off</select>`, `></textarea>`)
	const evil = "</textarea><script>alert(1)</script>"
	for _, c := range []struct{ filter, proof, emails, problem string }{
		{"on", "off", "", "The site already has these settings."},
		{"off", "on", evil, "lead_mail"},
		{"off", "on", "stranger@evil.test", "No member of this workspace has this email: stranger@evil.test."},
		{evil, "on", "", "spam_filter"},
	} {
		got := send(c.filter, c.proof, c.emails)
		text := html.UnescapeString(got.text)
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(text, c.problem) ||
			strings.Contains(got.text, "<script>alert") ||
			!strings.Contains(text, ">"+c.emails+"</textarea>") ||
			c.filter == "off" && !strings.Contains(got.text, "<option>on<option selected>off") {
			t.Errorf("%q: %d %s", c, got.status, got.text)
		}
	}
	ana.see("/console/w/acme/proposals", "No proposal needs approval.")
	got := send("off", "on", " ANA@acme.test \r\n\r\n")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/console/w/acme/proposals" {
		t.Fatalf("%d %s", got.status, got.text)
	}
	const now, then = " Now %s After the approval %s", "Proof of work of scripts"
	changes := ana.contents()
	for _, part := range []string{
		"Spam filter" + fmt.Sprintf(now, "on", "off"), then + fmt.Sprintf(now, "off", "on"),
		"Mail on each lead" + fmt.Sprintf(now, "to no member", "to ANA@acme.test"),
	} {
		if !strings.Contains(changes, part) {
			t.Errorf("no %q in %s", part, changes)
		}
	}
	if a := w.ok("member", "page.settings", js("site_id", site)); !strings.Contains(string(a.body), `"proof_of_work":"off"`) {
		t.Errorf("a proposal changed the settings: %s", a.body)
	}
	id := regexp.MustCompile(`/proposals/([^/"]+)/approve`).FindStringSubmatch(ana.see("/console/w/acme/proposals").text)[1]
	if got := ana.send("POST", "/console/w/acme/proposals/"+id+"/approve", url.Values{"token": {token}}.Encode()); got.status != 303 {
		t.Fatalf("%d %s", got.status, got.text)
	}
	ana.see(path, "ana@acme.test</textarea>", `<option>on<option selected>off</select>`, `<option selected>on<option>off</select>`)
	a := w.ok("member", "page.settings", js("site_id", site))
	if !strings.Contains(string(a.body), `"spam_filter":"off","proof_of_work":"on","lead_mail":["ana@acme.test"]`) {
		t.Errorf("the settings: %s", a.body)
	}
	for _, other := range []string{"/console/w/acme/sites/none/settings", "/console/w/other/sites/" + site + "/settings"} {
		if got := ana.send("GET", other, ""); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", other, got.status)
		}
	}
	if got := w.signIn("service").send("POST", path, url.Values{"token": {"x"}}.Encode()); got.status != http.StatusForbidden {
		t.Errorf("without the session's token: %d", got.status)
	}
}
