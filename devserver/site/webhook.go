package site

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// This file delivers events to a webhook as standardwebhooks.com defines: signed, at least once, with the same id each time.

// secretPrefix begins a webhook's secret in text: "whsec_" and base64.
const secretPrefix = "whsec_"

// Lengths of a webhook's secret in bytes, by the standard.
const (
	minSecret, maxSecret = 24, 64
	newSecret            = 32
)

// Webhook is the receiver of events.
type Webhook struct {
	URL string // http or https
	// Secret is the HMAC key, see [ParseSecret].
	Secret []byte
	// Transport sends the requests. Nil means http.DefaultTransport.
	Transport http.RoundTripper
}

var (
	errSecret     = errors.New(`a webhook's secret is "whsec_" and the base64 of 24 to 64 bytes`)
	errWebhookURL = errors.New("a webhook's address is an http or https URL")
)

// ParseWebhookURL checks the address of a webhook.
func ParseWebhookURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errWebhookURL
	}
	return nil
}

// ParseSecret reads "whsec_…".
func ParseSecret(text string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < minSecret || len(key) > maxSecret {
		return nil, errSecret
	}
	return key, nil
}

// FormatSecret writes a secret as ParseSecret reads it.
func FormatSecret(key []byte) string { return secretPrefix + base64.StdEncoding.EncodeToString(key) }

// WebhookSecret returns the secret that the store made for its site. It stays the same from one run to the next.
func (s *Store) WebhookSecret(ctx context.Context) ([]byte, error) {
	return s.madeSecret(ctx, "webhook_secret")
}

// madeSecret returns the secret with a name; the first call creates it.
func (s *Store) madeSecret(ctx context.Context, name string) ([]byte, error) {
	read := func() (key []byte, err error) {
		var text string
		if err := s.db.QueryRowContext(ctx, `SELECT value FROM site_meta WHERE key = ?`, name).Scan(&text); err != nil {
			return nil, err
		}
		return ParseSecret(text)
	}
	key, err := read()
	if !errors.Is(err, sql.ErrNoRows) {
		return key, err
	}
	fresh := make([]byte, newSecret)
	if _, err := rand.Read(fresh); err != nil {
		return nil, err
	}
	const put = `INSERT INTO site_meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING`
	if _, err := s.db.ExecContext(ctx, put, name, FormatSecret(fresh)); err != nil {
		return nil, err
	}
	return read()
}

// ReplayEvents queues the events of a filter for the webhook again, and returns them. They keep their ids. A site with a webhook, in this
// process or another, delivers them; without a webhook they wait.
func (s *Store) ReplayEvents(ctx context.Context, f EventFilter) ([]Event, error) {
	events, err := s.Events(ctx, f)
	if err != nil {
		return nil, err
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	s.writing.Lock()
	defer s.writing.Unlock()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // after a commit there is nothing to roll back
	const put = `INSERT INTO deliveries (seq, form, status, next_at) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET status = excluded.status, attempts = 0, next_at = excluded.next_at, error = ''`
	for i := range events {
		e := &events[i]
		if _, err := tx.ExecContext(ctx, put, e.Sequence, e.Form, string(DeliveryPending), now.UnixMilli()); err != nil {
			return nil, err
		}
		e.Delivery = &Delivery{Status: DeliveryPending, Next: &Stamp{now}}
	}
	return events, tx.Commit()
}

// dispatcher delivers the events of one site. One goroutine runs it.
type dispatcher struct {
	store  *Store
	site   *Site
	hook   Webhook
	client *http.Client
	wake   chan struct{}
}

func newDispatcher(s *Site, hook Webhook) *dispatcher {
	return &dispatcher{store: s.store, site: s, hook: hook, wake: make(chan struct{}, 1), client: &http.Client{
		Transport: hook.Transport, Timeout: webhookTime,
		// The author has not agreed to the target of a redirect.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// notify makes the dispatcher read the queue now.
func (c *dispatcher) notify() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run delivers until ctx ends.
func (c *dispatcher) run(ctx context.Context) {
	tick := time.NewTicker(webhookPoll)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := c.deliverDue(ctx, tick.C); err != nil && ctx.Err() == nil {
			c.site.options.Logger.Error("events not delivered", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-c.wake:
		case <-tick.C:
		}
	}
}

// selectDue selects the oldest event in the queue of each form, if it is due.
const selectDue = selectEvents + ` WHERE d.status = 'pending' AND d.next_at <= ?
  AND NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.status = 'pending' AND o.form = d.form AND o.seq < d.seq)
ORDER BY d.next_at, e.seq LIMIT 20`

// outcome is the outcome of an attempt; err is the database's error.
type outcome struct {
	form string
	err  error
}

// deliverDue delivers due events until there are none. Forms do not wait for each other: each has one delivery at a time. After an error it
// starts no further delivery, and waits for the running ones.
func (c *dispatcher) deliverDue(ctx context.Context, tick <-chan time.Time) (failed error) {
	busy := map[string]bool{}
	done := make(chan outcome)
	for {
		if failed == nil {
			failed = c.startDue(ctx, busy, done)
		}
		if len(busy) == 0 {
			return failed
		}
		select {
		case o := <-done:
			delete(busy, o.form)
			failed = cmp.Or(failed, o.err)
		case <-c.wake:
		case <-tick:
		}
	}
}

// startDue starts the delivery of due events whose forms are not busy.
func (c *dispatcher) startDue(ctx context.Context, busy map[string]bool, done chan<- outcome) error {
	rows, err := c.store.db.QueryContext(ctx, selectDue, c.store.now().UnixMilli())
	if err != nil {
		return err
	}
	events, err := collect(rows, scanEvent)
	for _, found := range events {
		e := found.row
		if !busy[e.Form] && len(busy) < webhookAtOnce {
			busy[e.Form] = true
			go func() { done <- outcome{e.Form, c.deliver(ctx, e)} }()
		}
	}
	return err
}

// deliver tries once to deliver an event, and stores the outcome. An attempt that the end of the site interrupts does not count.
func (c *dispatcher) deliver(ctx context.Context, e Event) error {
	before := e.Delivery.Attempts
	wait, failed := c.send(ctx, e)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now := c.store.now().UTC().Truncate(time.Millisecond)
	d := &Delivery{Status: DeliveryDelivered, Attempts: before + 1, At: &Stamp{now}}
	next := now
	switch {
	case failed == nil:
	case errors.Is(failed, errGone) || d.Attempts >= webhookTries:
		d.Status, d.Error = DeliveryDead, failed.Error()
	default:
		next = now.Add(max(wait, retryDelay(d.Attempts)))
		d.Status, d.Error, d.Next = DeliveryPending, failed.Error(), &Stamp{next}
	}
	// A replay in the meantime has reset the attempts.
	const note = `UPDATE deliveries SET status = ?, attempts = ?, at = ?, next_at = ?, error = ?
WHERE seq = ? AND attempts = ? AND status = 'pending'`
	c.store.writing.Lock()
	_, err := c.store.db.ExecContext(
		ctx, note, string(d.Status), d.Attempts, now.UnixMilli(), next.UnixMilli(), d.Error, e.Sequence, before,
	)
	c.store.writing.Unlock()
	if err != nil {
		return err
	}
	e.Delivery = d
	c.site.events.publishUpdate("delivery", e)
	if c.site.options.OnDelivery != nil {
		c.site.options.OnDelivery(e)
	}
	return nil
}

// retryDelay returns the pause after so many failures.
func retryDelay(failures int) time.Duration {
	wait := webhookPause
	for range failures - 1 {
		wait = min(2*wait, webhookMost)
	}
	return wait
}

// errGone means the response 410: the receiver wants no more events.
var errGone = errors.New("the webhook answered 410 Gone")

// delivered is the body of a delivery.
type delivered struct {
	Type      string    `json:"type"`
	Timestamp Stamp     `json:"timestamp"` // of the event
	Data      eventData `json:"data"`
}

type eventData struct {
	ID     string `json:"id"`
	LeadID string `json:"lead_id"`
	Form   string `json:"form"`
	Fields Fields `json:"fields"`
}

// send posts an event. wait is the Retry-After of the receiver.
func (c *dispatcher) send(ctx context.Context, e Event) (wait time.Duration, err error) {
	body, err := marshal(delivered{e.Name, e.CreatedAt, eventData{e.ID, e.LeadID, e.Form, e.Fields}})
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.hook.URL, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	at := strconv.FormatInt(c.store.now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "pages")
	r.Header.Set("Webhook-Id", e.ID)
	r.Header.Set("Webhook-Timestamp", at)
	r.Header.Set("Webhook-Signature", "v1,"+sign(c.hook.Secret, e.ID, at, body))
	response, err := c.client.Do(r)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // the address is known, and may have a password
		}
		return 0, err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxFieldBytes) // so that the connection can be used again
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
		return 0, nil
	case status == http.StatusGone:
		return 0, errGone
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		wait = retryAfter(response.Header.Get("Retry-After"), c.store.now())
	}
	return wait, fmt.Errorf("the webhook answered %d %s", response.StatusCode, http.StatusText(response.StatusCode))
}

// sign returns the signature v1 of a delivery: base64 of the HMAC-SHA256 of id, time and body.
func sign(secret []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// retryAfter reads a Retry-After, a number of seconds or a date (RFC 9110, 10.2.3), at most webhookMost; 0 for anything
// else.
func retryAfter(text string, now time.Time) time.Duration {
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), webhookMost)
	}
	seconds, err := strconv.ParseUint(text, 10, 64) // a larger number counts as the largest one
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return time.Duration(min(seconds, uint64(webhookMost/time.Second))) * time.Second
}
