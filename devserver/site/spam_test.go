package site

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/devserver/altcha"
	"github.com/pages-toolchain/pages/devserver/spam"
	"github.com/pages-toolchain/pages/manifest"
)

func (b *inbox) spam(t *testing.T) []Lead {
	t.Helper()
	return decode[LeadList](t, b.get(t, "/__pages/api/leads?spam=1")).Leads
}

// TestSpamIsKeptApart: a post with a filled honeypot is stored, without any effect until it is ham; then it has all effects, once.
func TestSpamIsKeptApart(t *testing.T) {
	hook := newReceiver(t)
	var raised []string
	b := openInbox(t, Options{
		Webhook: &Webhook{URL: hook.URL, Secret: make([]byte, 32)}, OnEvent: func(e Event) { raised = append(raised, e.Name) },
	}, enquiries)
	got := b.do(t, nil, "POST", "/__pages/forms", "form=membership&name=Bot&_gotcha=x&_next=/thanks", formType)
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/thanks" {
		t.Errorf("its sender gets %d, %v", got.status, got.header)
	}
	kept := b.spam(t)
	if len(kept) != 1 || len(b.leads(t)) != 0 || len(b.events(t)) != 0 || len(raised) != 0 {
		t.Fatalf("spam %+v, leads %+v, events %+v, raised %v", kept, b.leads(t), b.events(t), raised)
	}
	one := kept[0]
	if one.Submission.Status != SubmissionWithheld || len(one.Events) != 0 || one.Spam == nil || one.Spam.Score != 10 ||
		one.Spam.Reasons[0].Code != spam.CodeHoneypot || one.Fields.Text("name") != "Bot" || one.Fields.Text("_gotcha") != "" {
		t.Errorf("spam: %+v, %+v", one, one.Spam)
	}
	if n := b.rows(t, "SELECT count(*) FROM enquiries"); n != "0" {
		t.Errorf("%s rows", n)
	}
	state := decode[State](t, b.get(t, "/__pages/api/state"))
	if state.Leads != 0 || state.Spam != 1 || state.Events != 0 || !state.SpamFilter {
		t.Errorf("state: %+v", state)
	}
	before, err := CapturedAfter(t.Context(), b.platform, 0, 10)
	if err != nil || len(before) != 1 || before[0].Spam == nil || len(before[0].Raised) != 0 {
		t.Fatalf("captured: %+v, %v", before, err)
	}
	b.site.Swap(Revision{Manifest: b.site.Revision().Manifest}) // which retries rows
	events, err := b.site.store.MarkHam(t.Context(), one.ID)
	if err != nil || len(events) != 2 || events[0].Name != EventLeadCaptured || events[1].Name != "custom.membership_requested" {
		t.Fatalf("ham raises %+v, %v", events, err)
	}
	if again, err := b.site.store.MarkHam(t.Context(), one.ID); !errors.Is(err, ErrMarked) || len(again) != 0 {
		t.Errorf("ham again raises %v, %v", again, err)
	}
	if _, err := b.site.store.MarkHam(t.Context(), "lead_none"); !errors.Is(err, ErrNoLead) {
		t.Errorf("of no lead: %v", err)
	}
	result, err := b.site.store.Resubmit(t.Context(), b.own, one.ID)
	if err != nil || result.Status != SubmissionWritten || b.rows(t, "SELECT name FROM enquiries") != "Bot" {
		t.Errorf("its row: %+v, %v", result, err)
	}
	leads := b.leads(t)
	if len(leads) != 1 || leads[0].Spam != nil || len(leads[0].Events) != 2 || len(b.spam(t)) != 0 {
		t.Errorf("leads: %+v, spam %+v", leads, b.spam(t))
	}
	after, err := CapturedAfter(t.Context(), b.platform, before[0].Number, 10)
	if err != nil || len(after) != 1 || after[0].ID != one.ID || after[0].Spam != nil || len(after[0].Raised) != 2 {
		t.Errorf("captured again: %+v, %v", after, err)
	}
	testmachine.Await(t, "two deliveries", func() bool { return len(hook.all()) == 2 })
}

// TestMarkedAsSpam: a person's mark keeps the raised events and holds pending deliveries. Undoing it raises no event
// twice.
func TestMarkedAsSpam(t *testing.T) {
	hook := newReceiver(t, slices.Repeat([]int{500}, 50)...)
	b := openInbox(t, Options{Webhook: &Webhook{URL: hook.URL, Secret: make([]byte, 32)}}, enquiries)
	if got := b.do(t, nil, "POST", "/__pages/forms/membership", "name=Kim", formType); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	one := b.leads(t)[0]
	testmachine.Await(t, "an attempt", func() bool { return len(hook.all()) > 0 })
	if err := b.site.store.MarkSpam(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.site.store.MarkSpam(t.Context(), one.ID); !errors.Is(err, ErrMarked) {
		t.Errorf("marked twice: %v", err)
	}
	if err := b.site.store.MarkSpam(t.Context(), "lead_none"); !errors.Is(err, ErrNoLead) {
		t.Errorf("of no lead: %v", err)
	}
	kept := b.spam(t)
	if len(kept) != 1 || kept[0].Spam.Reasons[0].Code != spam.CodePerson || len(kept[0].Events) != 2 ||
		kept[0].Submission.Status != SubmissionWritten {
		t.Errorf("spam: %+v", kept)
	}
	for _, e := range b.events(t) {
		if e.Delivery != nil {
			t.Errorf("the delivery of %s: %+v", e.Name, e.Delivery)
		}
	}
	hook.answer() // valid from here on
	raised, err := b.site.store.MarkHam(t.Context(), one.ID)
	if err != nil || len(raised) != 0 {
		t.Errorf("ham raises %v, %v", raised, err)
	}
	testmachine.Await(t, "both deliveries", func() bool {
		return !slices.ContainsFunc(b.events(t), func(e Event) bool {
			return e.Delivery == nil || e.Delivery.Status != DeliveryDelivered
		})
	})
	if n := len(b.events(t)); n != 2 {
		t.Errorf("%d events", n)
	}
}

// TestSpamShowsNothing: on a published site the sender of spam gets the response of a lead.
func TestSpamShowsNothing(t *testing.T) {
	m := &manifest.Manifest{Forms: []manifest.Form{{Name: "contact", Event: "custom.contact"}}}
	f := start(t, Options{}, Revision{Manifest: m})
	shape := func(fields string) string {
		got := f.do(t, nil, "POST", "/__pages/forms/contact", fields, formType, "Accept: application/json")
		text := regexp.MustCompile(`"(id|created_at)":"[^"]*"`).ReplaceAllString(got.body, `"$1":""`)
		return fmt.Sprint(got.status, text)
	}
	if good, bad := shape("name=a"), shape("name=a&_honey=1"); good != bad {
		t.Errorf("a lead gets %s, spam gets %s", good, bad)
	}
	all, err := f.site.store.Leads(t.Context(), LeadFilter{Spam: true})
	if err != nil || len(all) != 1 {
		t.Errorf("spam: %v, %v", all, err)
	}
}

// TestWhatIsNoSpam: posts without JavaScript, from a cached page, or with a field of the same name are leads.
func TestWhatIsNoSpam(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	b := openInbox(t, Options{Now: func() time.Time { return now }}, enquiries)
	stamp := regexp.MustCompile(`stamp = "([\w-]+)"`).FindStringSubmatch(b.get(t, "/__pages/forms/stamp.js").body)
	if stamp == nil {
		t.Fatal("the script has no stamp")
	}
	for _, body := range []string{
		"name=a", "name=a&_gotcha=", "name=a&_honey=+&bot-field=", "name=a&_stamp=", "name=a&_stamp=" + stamp[1],
		"name=a&_stamp=expired", "website=https%3A%2F%2Fa.test",
	} {
		if got := b.do(t, nil, "POST", "/__pages/forms", body, formType); got.status != http.StatusSeeOther || len(b.spam(t)) > 0 {
			t.Errorf("%q: %d, spam %+v", body, got.status, b.spam(t))
		}
	}
	for body, want := range map[string]int{
		`{"name":"a","_gotcha":null,"_honey":"","bot-field":false}`: 0, `{"name":"a","_gotcha":true}`: 1,
	} {
		before := len(b.spam(t))
		got := b.do(t, nil, "POST", "/__pages/forms", body, "Content-Type: application/json")
		if got.status != http.StatusCreated || len(b.spam(t))-before != want {
			t.Errorf("%s: %d, spam %+v", body, got.status, b.spam(t))
		}
	}
}

// TestSpamByHistory: the posts of one client and the repeats of a message count if the client's address is known.
func TestSpamByHistory(t *testing.T) {
	b := openInbox(t, Options{}, enquiries)
	send := func(name, message string, headers ...string) {
		t.Helper()
		body := url.Values{"name": {name}, "message": {message}}.Encode()
		if got := b.do(t, nil, "POST", "/__pages/forms", body, append(headers, formType)...); got.status != http.StatusSeeOther {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	const pills = "Buy our excellent pills, they are very cheap today"
	for i := range 8 {
		send(fmt.Sprint(i), pills)
	}
	if n := len(b.spam(t)); n != 0 {
		t.Errorf("%d posts of this machine are spam", n)
	}
	for i := range 8 {
		send(fmt.Sprint(i), pills, fmt.Sprintf("X-Forwarded-For: 192.0.2.%d", i))
	}
	if n := len(b.spam(t)); n != 3 {
		t.Errorf("%d of 8 repeats are spam, want the last 3", n)
	}
	for i := range 62 {
		send(fmt.Sprint(i), "", "X-Forwarded-For: 203.0.113.7, 127.0.0.1")
	}
	if n := len(b.spam(t)); n != 5 {
		t.Errorf("%d are spam, want 2 more of 62 posts of one client", n)
	}
	b.site.SetSpamFilter(false)
	send("a", pills, "X-Forwarded-For: 203.0.113.7")
	if state := decode[State](t, b.get(t, "/__pages/api/state")); state.Spam != 5 || state.SpamFilter {
		t.Errorf("with the filter off: %+v", state)
	}
}

// TestStampScript: the script is JavaScript that no cache keeps, and its stamp shows how long the page was open.
func TestStampScript(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	f := start(t, Options{Now: func() time.Time { return now }}, Revision{})
	got := f.get(t, "/__pages/forms/stamp.js")
	if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Type"), "text/javascript") ||
		got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", got.status, got.header)
	}
	stamp := regexp.MustCompile(`stamp = "([\w-]+)"`).FindStringSubmatch(got.body)[1]
	const links = "&message=<a+href=http://a.test>a</a>" // 4 points
	for _, c := range []struct {
		after time.Duration
		spam  int
	}{{time.Second, 1}, {time.Minute, 1}} {
		now = now.Add(c.after)
		f.do(t, nil, "POST", "/__pages/forms", "name=a"+links+"&_stamp="+stamp, formType)
		all, err := f.site.store.Leads(t.Context(), LeadFilter{Spam: true})
		if err != nil || len(all) != c.spam || all[0].Spam.Reasons[0].Code != spam.CodeTooFast || all[0].Fields.Text("_stamp") != "" {
			t.Errorf("after %s: %+v, %v", c.after, all, err)
		}
	}
	if got := f.do(t, nil, "HEAD", "/__pages/forms/stamp.js", ""); got.status != http.StatusOK || got.body != "" {
		t.Errorf("HEAD: %d %s", got.status, got.body)
	}
}

// solvedChallenge returns a solution, as the widget of the npm package altcha does.
func solvedChallenge(t *testing.T, c altcha.Challenge) string {
	t.Helper()
	for number := range c.MaxNumber + 1 {
		if sum := sha256.Sum256(fmt.Append([]byte(c.Salt), number)); hex.EncodeToString(sum[:]) == c.Challenge {
			return base64.StdEncoding.EncodeToString(fmt.Appendf(nil,
				`{"algorithm":%q,"challenge":%q,"number":%d,"salt":%q,"signature":%q,"took":7}`,
				c.Algorithm, c.Challenge, number, c.Salt, c.Signature))
		}
	}
	t.Fatal("the challenge has no solution")
	return ""
}

// TestProofOfScripts: with the setting, a script's post without a proof is refused, and no lead is stored; the post of a page, which may
// come from a browser without JavaScript, is a lead with one sign of spam. A post that is repeated with its key keeps its proof.
func TestProofOfScripts(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	b := openInbox(t, Options{ProofOfWork: true, Now: func() time.Time { return now }}, enquiries)
	proof := func() string {
		return solvedChallenge(t, decode[altcha.Challenge](t, b.get(t, "/__pages/forms/altcha.json")))
	}
	once, old, used, kept := proof(), proof(), proof(), proof()
	const fetch, page, html = "Sec-Fetch-Mode: cors", "Sec-Fetch-Mode: navigate", "Accept: text/html"
	const links = "name=a&message=<a+href=http://a.test>a</a>" // 4 points
	for _, c := range []struct {
		name, body string
		headers    []string
		status     int
		leads      int // after it
		spam       int
	}{
		{"a script without a proof", "name=a", []string{fetch}, 422, 0, 0},
		{"a program", "name=a", nil, 422, 0, 0},
		{"JSON of a script", `{"name":"a"}`, []string{page, "Content-Type: application/json"}, 422, 0, 0},
		{"a proof of another site", "name=a&altcha=e30%3D", []string{fetch}, 422, 0, 0},
		{"a script with a proof", "name=a&altcha=" + url.QueryEscape(once), []string{fetch}, 303, 1, 0},
		{"the same proof again", "name=a&altcha=" + url.QueryEscape(once), []string{fetch}, 422, 1, 0},
		{"a post with a key", "name=a&altcha=" + url.QueryEscape(kept), []string{fetch, "Idempotency-Key: k"}, 303, 2, 0},
		{"the same post again", "name=a&altcha=" + url.QueryEscape(kept), []string{fetch, "Idempotency-Key: k"}, 303, 2, 0},
		{"its proof with another key", "name=a&altcha=" + url.QueryEscape(kept), []string{fetch, "Idempotency-Key: l"}, 422, 2, 0},
		{"a page without JavaScript", "name=a", []string{page}, 303, 3, 0},
		{"an older browser", "name=a", []string{html}, 303, 4, 0},
		{"a page with two signs of spam", links, []string{page}, 303, 5, 0},
		{"a page with more of them", links + "&more=http://b.test/+http://c.test/", []string{page}, 303, 5, 1},
		{"a page with a proof", links + "&more=http://b.test/+http://c.test/&altcha=" + url.QueryEscape(used), []string{page}, 303, 6, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if len(c.headers) == 0 || !strings.HasPrefix(c.headers[len(c.headers)-1], "Content-Type") {
				c.headers = append(c.headers, formType)
			}
			got := b.do(t, nil, "POST", "/__pages/forms", c.body, c.headers...)
			if got.status != c.status || (c.status == 422) != strings.Contains(got.body, `"code":"proof_required"`) {
				t.Errorf("%d %s", got.status, got.body)
			}
			if leads, kept := len(b.leads(t)), len(b.spam(t)); leads != c.leads || kept != c.spam {
				t.Errorf("%d leads, %d are spam", leads, kept)
			}
		})
	}
	now = now.Add(altcha.Life)
	if got := b.do(t, nil, "POST", "/__pages/forms", "name=a&altcha="+url.QueryEscape(old), formType); got.status != 422 ||
		!strings.Contains(got.body, "no valid one") {
		t.Errorf("a proof that expired: %d %s", got.status, got.body)
	}
	b.site.SetProofOfWork(false)
	if got := b.do(t, nil, "POST", "/__pages/forms", "name=a", formType); got.status != http.StatusSeeOther {
		t.Errorf("without the setting: %d %s", got.status, got.body)
	}
}

// TestProofOfWork: a challenge is JSON that no cache keeps; its solution makes a quick post a lead, once, and does not count as an answer.
func TestProofOfWork(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	f := start(t, Options{Now: func() time.Time { return now }}, Revision{})
	stamp := func() string {
		return "&_stamp=" + regexp.MustCompile(`stamp = "([\w-]+)"`).FindStringSubmatch(f.get(t, "/__pages/forms/stamp.js").body)[1]
	}
	got := f.get(t, "/__pages/forms/altcha.json")
	if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") ||
		got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", got.status, got.header)
	}
	solution := solvedChallenge(t, decode[altcha.Challenge](t, got))
	const links = "&message=<a+href=http://a.test>a</a>" // 4 points, and 6 for a quick post
	for i, kept := range []int{0, 1} {                   // it does not count the second time
		f.do(t, nil, "POST", "/__pages/forms", "name=a"+links+stamp()+"&altcha="+url.QueryEscape(solution), formType)
		all, err := f.site.store.Leads(t.Context(), LeadFilter{Spam: true})
		if err != nil || len(all) != kept {
			t.Errorf("post %d: %+v, %v", i, all, err)
		}
	}
	all, err := f.site.store.Leads(t.Context(), LeadFilter{})
	if err != nil || len(all) != 1 || all[0].Fields.Text("altcha") != "" {
		t.Errorf("leads: %+v, %v", all, err)
	}
	if got := f.do(t, nil, "HEAD", "/__pages/forms/altcha.json", ""); got.status != http.StatusOK || got.body != "" {
		t.Errorf("HEAD: %d %s", got.status, got.body)
	}
}
