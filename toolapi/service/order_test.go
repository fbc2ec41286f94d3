package service_test

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// waiting waits until so many calls wait for a site's lock.
func (w *fixture) waitForLocks(n int) {
	w.Helper()
	stacks := make([]byte, 1<<20)
	for end := time.Now().Add(time.Minute); ; runtime.Gosched() {
		if bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("(*siteLocks).lock(")) == n {
			return
		}
		if time.Now().After(end) {
			w.Fatalf("%d calls do not wait", n)
		}
	}
}

// scheduleNewest schedules the newest revision of a site in ten minutes.
func (w *fixture) scheduleNewest(site string) {
	w.Helper()
	args := []any{"site_id", site, "at", w.now().Add(10 * time.Minute).Format(time.RFC3339)}
	id := w.ok("member", "page.schedule_publish", js(args...)).text("confirmation_id")
	w.ok("member", "page.schedule_publish", js(append(args, "confirmation_id", id)...))
}

// TestConfirmedTwiceAroundASchedule: two confirmations of one proposal and a schedule that
// is due meet at the site's lock. The second confirmation repeats the answer, and shows
// nothing again that is not live any more.
func TestConfirmedTwiceAroundASchedule(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	scheduled := w.revisionOf("scheduled")
	w.scheduleNewest(site)
	w.pass(11 * time.Minute)
	published := w.revisionOf("published")
	args := []any{"site_id", site, "revision", published}
	confirm := js(append(args, "confirmation_id", w.ok("member", "page.publish", js(args...)).text("confirmation_id"))...)
	begun, gate := make(chan struct{}), make(chan struct{})
	var once sync.Once
	host.wait = func(string) { once.Do(func() { close(begun); <-gate }) }
	var calls sync.WaitGroup
	calls.Go(func() { w.ok("member", "page.publish", confirm) })
	<-begun
	calls.Go(func() {
		if err := w.service.PublishDue(t.Context()); err != nil {
			t.Error(err)
		}
	})
	w.waitForLocks(1)
	calls.Go(func() { w.ok("member", "page.publish", confirm) })
	w.waitForLocks(2)
	close(gate)
	calls.Wait()
	live := w.value("SELECT live_revision FROM sites WHERE id = ?", site)
	if got := host.shownRevisions(); live != scheduled || got != published+" "+scheduled {
		t.Errorf("live is %s, shown were %s", live, got)
	}
}

// TestStaleWhileItWaited: a publish whose proposal becomes stale while it waits for the site's lock is not prepared: its migrations would
// run all the same.
func TestStaleWhileItWaited(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	first, second := w.revisionOf("first"), w.revisionOf("second")
	var confirm [2]string
	keys := [2]string{"member", "stored"} // two people, neither of whose proposals replaces the other's
	for i, revision := range []string{first, second} {
		args := []any{"site_id", site, "revision", revision}
		confirm[i] = js(append(args, "confirmation_id", w.ok(keys[i], "page.publish", js(args...)).text("confirmation_id"))...)
	}
	begun, gate := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var made []string
	host.wait = func(revision string) {
		mu.Lock()
		made = append(made, revision)
		mu.Unlock()
		if revision == first {
			close(begun)
			<-gate
		}
	}
	var calls sync.WaitGroup
	calls.Go(func() { w.ok("member", "page.publish", confirm[0]) })
	<-begun
	calls.Go(func() { w.refused("confirmation_stale", "stored", "page.publish", confirm[1]) })
	w.waitForLocks(1)
	w.sql(
		"INSERT INTO schedules (site_id, at, revision, holder_id, key_id, request_id) SELECT ?, ?, ?, holder_id, id, 'r' FROM keys LIMIT 1",
		site, w.now().UnixMilli(), second,
	)
	calls.Go(func() {
		if err := w.service.PublishDue(t.Context()); err != nil {
			t.Error(err)
		}
	})
	w.waitForLocks(2)
	w.sql("DELETE FROM schedules")
	close(gate)
	calls.Wait()
	if got := strings.Join(made, " "); got != first || host.shownRevisions() != first {
		t.Errorf("made ready were %s, shown %s", got, host.shownRevisions())
	}
	if strings.Contains(w.logs.String(), "published as scheduled") {
		t.Error("the log says that it was published")
	}
}
