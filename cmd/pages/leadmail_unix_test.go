//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/leadmail/smtptest"
	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/toolapi"
)

// mailedSite is a published site whose member gets a mail on each lead.
type mailedSite struct {
	*testing.T
	*platformRun

	data string
	args []string
	site string
}

// newMailedSite starts a service that hands mails to a server; with "" it has no server.
func newMailedSite(t *testing.T, smtp string) *mailedSite {
	t.Helper()
	s := &mailedSite{T: t, data: t.TempDir()}
	if smtp != "" {
		s.args = []string{"--smtp", smtp, "--mail-from", "Pages <pages@acme.test>"}
	}
	s.platformRun = startPlatform(t, s.data, s.args...)
	s.site = s.Demo["unpublished_site_id"]
	s.ship(t, s.site, hostedManifest, hostedFiles(nil))
	s.set(map[string]any{"lead_mail": []string{"ana@acme.test"}})
	return s
}

// set changes settings of the site, by two calls.
func (s *mailedSite) set(args map[string]any) {
	s.Helper()
	args["site_id"] = s.site
	if o, err := s.twice("page.change_settings", args); err != nil || !o.OK {
		s.Fatalf("%+v %v", o, err)
	}
}

// post sends the form, with a message and further fields.
func (s *mailedSite) post(message string, more ...string) {
	s.Helper()
	fields := url.Values{"form": {"contact"}, "email": {"kim@rowing.example"}, "message": {message}}
	for i := 0; i < len(more); i += 2 {
		fields.Set(more[i], more[i+1])
	}
	v := s.request(s.T, http.MethodPost, demoNew, "/__pages/forms", fields.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	if v.status != http.StatusSeeOther {
		s.Fatalf("a form: %d %s", v.status, v.body)
	}
}

// killed kills the service, and starts it again.
func (s *mailedSite) killed() {
	s.Helper()
	s.end(s.T, os.Kill)
	s.platformRun = startPlatform(s.T, s.data, s.args...)
}

// about returns the ids of the mails that contain a text.
func about(t *testing.T, mails []string, text string) (ids []string) {
	t.Helper()
	for _, m := range mails {
		read, err := mail.ReadMessage(strings.NewReader(m))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(m, text) {
			ids = append(ids, read.Header.Get("Message-Id"))
		}
	}
	return ids
}

// TestLeadMailKilled: a service that is killed between a lead and its mail sends one mail when it runs again. If the mail server has the
// mail and the service was killed before the reply, the second mail has the id of the first.
func TestLeadMailKilled(t *testing.T) {
	var greet, taken atomic.Pointer[func()] // called once
	once := func(hook *atomic.Pointer[func()]) {
		if f := hook.Swap(nil); f != nil {
			(*f)()
		}
	}
	smtp := smtptest.New(t, smtptest.Options{Greet: func() { once(&greet) }, Taken: func(string) { once(&taken) }})
	s := newMailedSite(t, smtp.URL())
	for name, c := range map[string]struct {
		hook *atomic.Pointer[func()]
		most int
	}{
		"acknowledged": {nil, 2}, "greeted": {&greet, 1}, "taken": {&taken, 2},
	} {
		if c.hook == nil {
			s.post("lead " + name)
			s.killed()
		} else {
			var reached atomic.Bool
			gone := make(chan struct{})
			wait := func() { reached.Store(true); <-gone }
			c.hook.Store(&wait)
			s.post("lead " + name)
			testmachine.Await(t, "the service hands over the mail: "+name, reached.Load)
			s.end(t, os.Kill)
			close(gone)
			s.killed()
		}
		s.post("later " + name) // its mail follows
		testmachine.Await(t, "a mail on the lead after "+name, func() bool { return len(about(t, smtp.Mails(), "later "+name)) > 0 })
		ids := about(t, smtp.Mails(), "lead "+name)
		if len(ids) == 0 || len(ids) > c.most || len(slices.Compact(ids)) != 1 {
			t.Errorf("%s: mails %q", name, ids)
		}
	}
}

// TestSpamOnPlatform: a published site stores spam apart, without a mail and an event; a member turns it into a lead, which causes both,
// once; a setting turns the filter off.
func TestSpamOnPlatform(t *testing.T) {
	s := newMailedSite(t, "")
	list := func(spam string) []toolapi.Lead {
		t.Helper()
		var list toolapi.LeadList
		_, text, err := s.call(s.Keys["member"], "page.leads", `{"site_id":"`+s.site+`","spam":`+spam+`}`)
		if err != nil || json.Unmarshal([]byte(text), &list) != nil {
			t.Fatal(text, err)
		}
		return list.Leads
	}
	mark := func(lead, spam string) {
		t.Helper()
		if _, text, err := s.call(s.Keys["member"], "page.mark_lead", `{"lead_id":"`+lead+`","spam":`+spam+`}`); err != nil ||
			!jsonHas(t, text, "ok", true) {
			t.Fatal(text, err)
		}
	}
	mails := func(text string) (n int) {
		t.Helper()
		all, err := platform.Mails(s.data, "ana@acme.test")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all.Mails {
			if strings.Contains(m.Text, text) && strings.HasPrefix(m.Subject, "New lead from ") {
				n++
			}
		}
		return n
	}

	s.post("buy our pills", "_gotcha", "x")
	s.post("a boat for two")
	testmachine.Await(t, "the lead and its mail", func() bool { return len(list("false")) == 1 && mails("boat") == 1 })
	kept := list("true")
	if len(kept) != 1 || kept[0].Spam == nil || kept[0].Spam.Score < 10 || kept[0].Spam.Reasons[0].Code != "honeypot" ||
		len(kept[0].Events) != 0 || mails("pills") != 0 {
		t.Fatalf("spam: %+v, %d mails", kept, mails("pills"))
	}
	mark(kept[0].ID, "false")
	testmachine.Await(t, "the mail on ham", func() bool { return mails("pills") == 1 })
	if l := list("false"); len(l) != 2 || eventNames(l[slices.IndexFunc(l, func(l toolapi.Lead) bool { return l.ID == kept[0].ID })]) !=
		"pages.lead.captured custom.contact" {
		t.Errorf("ham: %+v", l)
	}
	// The mark of a closed site, which is repeated and raises no further event.
	s.killed()
	mark(kept[0].ID, "true")
	if l := list("true"); len(l) != 1 || l[0].Spam.Reasons[0].Code != "person" || len(l[0].Events) != 2 {
		t.Errorf("marked by a person: %+v", l)
	}
	mark(kept[0].ID, "false")
	if l := list("true"); len(l) != 0 {
		t.Errorf("spam: %+v", l)
	}

	s.set(map[string]any{"spam_filter": "off"})
	s.post("more pills", "_gotcha", "x")
	testmachine.Await(t, "the mail without the filter", func() bool { return mails("more pills") == 1 })
	if len(list("true")) != 0 || mails("buy our pills") != 1 {
		t.Errorf("without the filter: %+v, %d mails on ham", list("true"), mails("buy our pills"))
	}
	s.set(map[string]any{"spam_filter": "on"})
	s.post("other pills", "_gotcha", "x")
	testmachine.Await(t, "spam with the filter", func() bool { return len(list("true")) == 1 })

	// A program must do a proof of work if the setting asks for one, after a restart, too.
	program := func() int {
		return s.request(t, http.MethodPost, demoNew, "/__pages/forms", "form=contact&email=a", "Content-Type",
			"application/x-www-form-urlencoded").status
	}
	s.set(map[string]any{"proof_of_work": "on"})
	asked := program()
	s.killed()
	if again := program(); asked != http.StatusUnprocessableEntity || again != asked {
		t.Errorf("without a proof of work: %d, after a restart %d", asked, again)
	}
	s.set(map[string]any{"proof_of_work": "off"})
	if got := program(); got != http.StatusSeeOther {
		t.Errorf("without the setting: %d", got)
	}
}
