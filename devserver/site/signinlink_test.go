package site

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// mailbox sends links to one member and keeps them.
type mailbox struct{ links []string }

func (m *mailbox) Send(_ context.Context, email string, address func(string) string) error {
	if email == "ana@acme.test" {
		m.links = append(m.links, address("one-time"))
	}
	return nil
}

func (m *mailbox) Redeem(_ context.Context, token string) (Member, bool, error) {
	if token != "one-time" || len(m.links) == 0 {
		return Member{}, false, nil
	}
	m.links = nil
	return Member{ID: "usr_1", Email: "ana@acme.test", Name: "Ana"}, true, nil
}

func TestSignInByLink(t *testing.T) {
	box := &mailbox{}
	f := clubSite(t, Options{
		Links: box, Personas: []Persona{}, IsMember: func(_ context.Context, m Member) bool { return m.ID == "usr_1" },
	})
	client := f.client(t)
	page := f.do(t, client, "GET", "/__pages/sign-in?next=/club/x", "", "Accept: text/html")
	if page.status != http.StatusOK || !strings.Contains(page.body, `name="email"`) || strings.Contains(page.body, "persona") {
		t.Fatalf("%d %s", page.status, page.body)
	}
	for form, status := range map[string]int{
		"persona=owner": 422, "email=": 422, "email=not+one": 422, "email=who@else.test&next=/club/x": 200,
		"email=ana@acme.test&next=/club/x": 200,
	} {
		t.Run(form, func(t *testing.T) {
			if got := f.do(t, client, "POST", "/__pages/sign-in", form, formType, "Accept: text/html"); got.status != status {
				t.Errorf("%s: %d %s", form, got.status, got.body)
			}
		})
	}
	if len(box.links) != 1 {
		t.Fatalf("links %q", box.links)
	}
	link, err := url.Parse(box.links[0])
	if err != nil || link.Host != strings.TrimPrefix(f.server.URL, "http://") || link.Query().Get("next") != "/club/x" {
		t.Fatalf("the link is %s", box.links[0])
	}
	// Opening the link does not sign in.
	for range 2 {
		if got := f.do(t, client, "GET", link.RequestURI(), "", "Accept: text/html"); got.status != http.StatusOK ||
			!strings.Contains(got.body, `value="one-time"`) {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if got := f.do(t, client, "GET", "/club/x", "", "Accept: text/html"); got.status != http.StatusSeeOther {
		t.Errorf("signed in by looking: %d", got.status)
	}
	if got := f.do(
		t, client, "POST", "/__pages/sign-in", "token=one-time&next=/club/x", formType, "Accept: text/html",
		"Origin: https://evil.test",
	); got.status != http.StatusForbidden {
		t.Errorf("from another site: %d", got.status)
	}
	got := f.do(t, client, "POST", "/__pages/sign-in", "token=one-time&next=/club/x", formType, "Accept: text/html")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/club/x" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := f.do(t, client, "GET", "/club/x", "", "Accept: text/html"); got.status != http.StatusOK {
		t.Errorf("signed in: %d", got.status)
	}
	if again := f.do(
		t, f.client(t), "POST", "/__pages/sign-in", "token=one-time", formType, "Accept: text/html",
	); again.status != http.StatusUnprocessableEntity {
		t.Errorf("the second time: %d %s", again.status, again.body)
	}
}

// The time of a response does not show whether a link was sent.
func TestSignInLinkTellsNothingByItsTime(t *testing.T) {
	box := &mailbox{}
	f := clubSite(t, Options{Links: box, Personas: []Persona{}})
	for _, email := range []string{"who@else.test", "ana@acme.test"} {
		began := time.Now()
		f.do(t, f.client(t), "POST", "/__pages/sign-in", "email="+email, formType)
		if took := time.Since(began); took < linkTime {
			t.Errorf("%s: answered after %v", email, took)
		}
	}
	if len(box.links) != 1 {
		t.Errorf("links %q", box.links)
	}
}

// A link leads to the port of its form, whatever port the request names.
func TestSignInLinkKeepsItsPort(t *testing.T) {
	box := &mailbox{}
	f := clubSite(t, Options{Links: box, Personas: []Persona{}})
	address := strings.TrimPrefix(f.server.URL, "http://")
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		address: address, "localhost:1": "localhost:" + port, "[::1]:1": "[::1]:" + port, "localhost": "localhost",
	} {
		t.Run(host, func(t *testing.T) {
			box.links = nil
			r, err := http.NewRequestWithContext(
				t.Context(), http.MethodPost, f.server.URL+"/__pages/sign-in", strings.NewReader("email=ana@acme.test"),
			)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if len(box.links) != 1 || !strings.HasPrefix(box.links[0], "http://"+want+"/") {
				t.Errorf("%s: %d, links %q", host, answer.StatusCode, box.links)
			}
		})
	}
}
