package site

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
)

// The example in the documentation of the standard.
func TestWebhookSignature(t *testing.T) {
	key, err := ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	const want = "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got := sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)); got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

func TestParseSecret(t *testing.T) {
	for _, text := range []string{
		"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ=", "whsec_!", "whsec_" + strings.Repeat("AAAA", 22),
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := ParseSecret(text); err == nil {
				t.Errorf("%q was taken", text)
			}
		})
	}
	for text, good := range map[string]bool{
		"http://127.0.0.1:9/x": true, "https://a.example": true, "ftp://a": false, "a.example/x": false, "http://": false,
		"": false, "http://%zz": false,
	} {
		t.Run(text, func(t *testing.T) {
			if err := ParseWebhookURL(text); (err == nil) != good {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
}

// receiver is a webhook with scripted responses.
type receiver struct {
	*httptest.Server

	mu      sync.Mutex
	answers []int // the next statuses; then 204
	after   string
	got     []delivery
}

type delivery struct {
	id, at, signature, kind string
	body                    []byte
}

func newReceiver(t *testing.T, answers ...int) *receiver {
	t.Helper()
	r := &receiver{answers: answers}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, delivery{
		q.Header.Get("webhook-id"), q.Header.Get("webhook-timestamp"), q.Header.Get("webhook-signature"),
		q.Header.Get("Content-Type"), body,
	})
	status := http.StatusNoContent
	if len(r.answers) > 0 {
		status, r.answers = r.answers[0], r.answers[1:]
	}
	if r.after != "" {
		w.Header().Set("Retry-After", r.after)
	}
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(status)
}

func (r *receiver) all() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// answer replaces the queued statuses and returns the old ones.
func (r *receiver) answer(next ...int) (instead []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	instead, r.answers = r.answers, next
	return instead
}

// ids are the ids of the deliveries, in order.
func (r *receiver) ids() string {
	var ids []string
	for _, d := range r.all() {
		ids = append(ids, d.id)
	}
	return strings.Join(ids, " ")
}

// clock is a time that the test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var testSecret = []byte("0123456789abcdef01234567")

// posts is a dispatcher on a new store; the test starts its rounds.
type posts struct {
	*dispatcher
	clock *clock
	mu    sync.Mutex
	seen  []Event // the events that OnDelivery received
}

func newPosts(t *testing.T, hook *receiver) *posts {
	t.Helper()
	p := &posts{clock: &clock{now: time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)}}
	db := openDB(t, filepath.Join(t.TempDir(), "platform.db"))
	s, err := New(t.Context(), Options{DB: db, Now: p.clock.Now, OnDelivery: func(e Event) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.seen = append(p.seen, e)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	p.dispatcher = newDispatcher(s, Webhook{URL: hook.URL, Secret: testSecret})
	return p
}

// lead stores a lead whose events go to the webhook.
func (p *posts) lead(t *testing.T, form, name string, events ...string) []Event {
	t.Helper()
	_, raised, _, err := p.store.capture(t.Context(), post{
		form: form, fields: Fields{{Name: "name", Value: []byte(`"` + name + `"`)}}, events: events, deliver: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return raised
}

func (p *posts) deliverNow(t *testing.T) {
	t.Helper()
	if err := p.deliverDue(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func (p *posts) statuses(t *testing.T) string {
	t.Helper()
	events, err := p.store.Events(t.Context(), EventFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range slices.Backward(events) {
		all = append(all, string(e.Delivery.Status))
	}
	return strings.Join(all, " ")
}

func TestWebhookDelivers(t *testing.T) {
	hook := newReceiver(t)
	p := newPosts(t, hook)
	events := p.lead(t, "contact", "Ada & <Bob>", EventLeadCaptured, "custom.contact")
	p.deliverNow(t)
	p.deliverNow(t)
	if got, want := hook.ids(), events[0].ID+" "+events[1].ID; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	first := hook.all()[0]
	const body = `{"type":"pages.lead.captured","timestamp":"2026-05-06T07:08:09.000Z",` +
		`"data":{"id":"EVENT","lead_id":"LEAD","form":"contact","fields":{"name":"Ada & <Bob>"}}}`
	want := strings.NewReplacer("EVENT", events[0].ID, "LEAD", events[0].LeadID).Replace(body)
	if string(first.body) != want || first.kind != "application/json" {
		t.Errorf("%s: %s\nwant %s", first.kind, first.body, want)
	}
	if first.at != "1778051289" || first.signature != "v1,"+sign(testSecret, first.id, first.at, first.body) {
		t.Errorf("%+v", first)
	}
	if got := p.statuses(t); got != "delivered delivered" {
		t.Error(got)
	}
	if len(p.seen) != 2 || p.seen[0].Delivery.Status != DeliveryDelivered || p.seen[0].Delivery.Attempts != 1 {
		t.Errorf("%+v", p.seen)
	}
}

// A receiver that fails five times gets the event with the same id, before
// any later one of its form; other forms do not wait.
func TestWebhookRetriesInOrder(t *testing.T) {
	hook := newReceiver(t, 500, 302, 404, 599, 408)
	p := newPosts(t, hook)
	first := p.lead(t, "contact", "one", EventLeadCaptured)[0]
	second := p.lead(t, "contact", "two", EventLeadCaptured)[0]
	p.deliverNow(t)
	other := p.lead(t, "other", "x", EventLeadCaptured)[0]
	if got := hook.ids(); got != first.ID {
		t.Fatalf("got %s", got)
	}
	var waits []time.Duration
	for range 4 {
		wait := p.seen[len(p.seen)-1].Delivery.Next.Sub(p.clock.Now())
		waits = append(waits, wait)
		p.clock.pass(wait - time.Millisecond)
		before := len(hook.all())
		held := hook.answer()
		p.deliverNow(t) // the other form, the first time; nothing of this one
		hook.answer(held...)
		if got := hook.all()[before:]; len(got) > 1 || len(got) == 1 && got[0].id != other.ID {
			t.Fatalf("too early: %+v", got)
		}
		p.clock.pass(time.Millisecond)
		p.deliverNow(t)
	}
	if want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}; !slices.Equal(waits, want) {
		t.Errorf("waited %v, want %v", waits, want)
	}
	p.clock.pass(16 * time.Second)
	p.deliverNow(t)
	want := strings.Join([]string{first.ID, other.ID, first.ID, first.ID, first.ID, first.ID, first.ID, second.ID}, " ")
	if got := hook.ids(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := p.statuses(t); got != "delivered delivered delivered" {
		t.Error(got)
	}
}

func TestWebhookGivesUp(t *testing.T) {
	hook := newReceiver(t, slices.Repeat([]int{503}, webhookTries)...)
	p := newPosts(t, hook)
	hook.after = "3"
	first := p.lead(t, "contact", "one", EventLeadCaptured)[0]
	second := p.lead(t, "contact", "two", EventLeadCaptured)[0]
	p.deliverNow(t)
	if d := p.seen[0].Delivery; d.Next.Sub(p.clock.Now()) != 3*time.Second || d.Error != "the webhook answered 503 Service Unavailable" {
		t.Errorf("Retry-After is not heeded: %+v", d)
	}
	for range webhookTries - 1 {
		p.clock.pass(webhookMost)
		p.deliverNow(t)
	}
	if got := p.statuses(t); got != "dead delivered" {
		t.Fatal(got)
	}
	dead, err := p.store.Events(t.Context(), EventFilter{Delivery: DeliveryDead})
	if err != nil || len(dead) != 1 || dead[0].ID != first.ID || dead[0].Delivery.Attempts != webhookTries || dead[0].Delivery.Next != nil {
		t.Fatalf("%+v %v", dead, err)
	}
	replayed, err := p.store.ReplayEvents(t.Context(), EventFilter{Delivery: DeliveryDead})
	if err != nil || len(replayed) != 1 || replayed[0].Delivery.Status != DeliveryPending {
		t.Fatalf("%+v %v", replayed, err)
	}
	p.deliverNow(t)
	if ids := strings.Fields(hook.ids()); len(ids) != webhookTries+2 || ids[len(ids)-1] != first.ID || ids[len(ids)-2] != second.ID {
		t.Errorf("%v", ids)
	}
	if got := p.statuses(t); got != "delivered delivered" {
		t.Error(got)
	}
}

func TestWebhookGone(t *testing.T) {
	hook := newReceiver(t, http.StatusGone)
	p := newPosts(t, hook)
	p.lead(t, "contact", "one", EventLeadCaptured)
	p.deliverNow(t)
	if got := p.statuses(t); got != "dead" {
		t.Error(got)
	}
}

// A receiver that is slow with the events of one form delays no other form's, including new ones, and the events of a form arrive in order.
func TestWebhookFormsDoNotWait(t *testing.T) {
	p := newPosts(t, newReceiver(t))
	slow, arrived := make(chan struct{}), make(chan string)
	p.client.Transport = transport(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(body), `"form":"slow"`) {
			<-slow
		}
		arrived <- r.Header.Get("Webhook-Id")
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: r}, nil
	})
	first, second := p.lead(t, "slow", "one", EventLeadCaptured)[0], p.lead(t, "slow", "two", EventLeadCaptured)[0]
	quick := p.lead(t, "quick", "one", EventLeadCaptured)[0]
	done := make(chan error)
	go func() { done <- p.deliverDue(t.Context(), nil) }()
	if id := <-arrived; id != quick.ID {
		t.Errorf("%s came first", id)
	}
	later := p.lead(t, "later", "one", EventLeadCaptured)[0]
	p.notify()
	if id := <-arrived; id != later.ID {
		t.Errorf("%s came second", id)
	}
	close(slow)
	for _, want := range []Event{first, second} {
		if id := <-arrived; id != want.ID {
			t.Errorf("%s came, and not %s", id, want.ID)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A missing receiver counts as a failure; the error does not repeat its address.
func TestWebhookUnreachable(t *testing.T) {
	hook := newReceiver(t)
	p := newPosts(t, hook)
	p.hook.URL = strings.Replace(hook.URL, "http://", "http://user:hunter2@", 1)
	hook.Close()
	p.lead(t, "contact", "one", EventLeadCaptured)
	p.deliverNow(t)
	if d := p.seen[0].Delivery; d.Status != DeliveryPending || d.Error == "" || strings.Contains(d.Error, "hunter2") {
		t.Errorf("%+v", d)
	}
}

// An interrupted delivery does not count as an attempt, and the next site sends it again: at least once.
func TestWebhookSurvivesTheEnd(t *testing.T) {
	p := newPosts(t, newReceiver(t))
	event := p.lead(t, "contact", "one", EventLeadCaptured)[0]
	ctx, cancel := context.WithCancel(t.Context())
	p.client.Transport = transport(func(*http.Request) (*http.Response, error) {
		cancel()
		return nil, ctx.Err()
	})
	if err := p.deliverDue(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	left, err := p.store.Events(t.Context(), EventFilter{ID: event.ID})
	if err != nil || left[0].Delivery.Status != DeliveryPending || left[0].Delivery.Attempts != 0 {
		t.Errorf("%+v %v", left, err)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// From the form post of a visitor to the receiver, with the goroutine that delivers.
func TestWebhookOfASite(t *testing.T) {
	hook := newReceiver(t, 500)
	done := make(chan Event, 4)
	f := start(t, Options{
		Webhook: &Webhook{URL: hook.URL, Secret: testSecret}, DevHints: true,
		OnDelivery: func(e Event) { done <- e },
	}, Revision{Manifest: &manifest.Manifest{Forms: []manifest.Form{{Name: "join", Event: "custom.joined"}}}})
	got := f.do(
		t, nil, "POST", "/__pages/forms/join", "name=Ada",
		"Content-Type: application/x-www-form-urlencoded", "Accept: application/json",
	)
	if got.status != http.StatusCreated {
		t.Fatalf("%d %s", got.status, got.body)
	}
	var names []string
	for len(names) < 3 {
		e := <-done
		names = append(names, e.Name+" "+string(e.Delivery.Status))
	}
	want := []string{"pages.lead.captured pending", "pages.lead.captured delivered", "custom.joined delivered"}
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	list := decode[readEvents](t, f.get(t, "/__pages/api/events"))
	if len(list.Events) != 2 || list.Events[0].Delivery.Status != "delivered" || list.Events[1].Delivery.Attempts != 2 {
		t.Errorf("%+v", list)
	}
}

// readEvents is an EventList as other programs read it.
type readEvents struct {
	Events []struct {
		ID       string `json:"id"`
		Delivery struct {
			Status   string `json:"status"`
			Attempts int    `json:"attempts"`
		} `json:"delivery"`
	} `json:"events"`
}

// Without a webhook no event is queued, and a replay waits for one.
func TestNoWebhook(t *testing.T) {
	store, _ := openStore(t, filepath.Join(t.TempDir(), "platform.db"))
	_, events, _, err := store.capture(t.Context(), contact("Ada"))
	if err != nil || events[0].Delivery != nil {
		t.Fatalf("%+v %v", events, err)
	}
	replayed, err := store.ReplayEvents(t.Context(), EventFilter{Lead: events[0].LeadID})
	if err != nil || len(replayed) != 1 {
		t.Fatalf("%+v %v", replayed, err)
	}
	first, err := store.WebhookSecret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := store.WebhookSecret(t.Context())
	if err != nil || string(first) != string(second) || len(first) != newSecret {
		t.Errorf("%x %x %v", first, second, err)
	}
}

// A receiver has some minutes to come back before an event is given up.
func TestWebhookPauses(t *testing.T) {
	var total time.Duration
	for n := 1; n < webhookTries; n++ {
		if n > 1 && retryDelay(n) < retryDelay(n-1) || retryDelay(n) > webhookMost {
			t.Errorf("pause %d is %v", n, retryDelay(n))
		}
		total += retryDelay(n)
	}
	if total < 5*time.Minute || total > 15*time.Minute || retryDelay(100) != webhookMost {
		t.Errorf("given up after %v", total)
	}
}

// TestRetryAfter reads both forms of the header (RFC 9110, 10.2.3), and waits at most for the longest pause.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-1": 0, "0": 0, "3": 3 * time.Second,
		"301": webhookMost, "4294967296": webhookMost, "9223372037": webhookMost, "99999999999999999999": webhookMost,
		"Wed, 06 May 2026 07:08:29 GMT": 20 * time.Second, "Wed, 06 May 2026 07:08:00 GMT": 0, "Thu, 07 May 2026 07:08:09 GMT": webhookMost,
	} {
		t.Run(text, func(t *testing.T) {
			if got := retryAfter(text, now); got != want {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		})
	}
}
