package service_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// TestClockRules: everything that is good for a time is good until the last
// millisecond of it, and not at its end; also when the clock on the wall was set back
// and forward meanwhile.
func TestClockRules(t *testing.T) {
	testmachine.Unraced(t)
	const undo = "automations.undo_draft"
	for name, rule := range map[string]struct {
		life time.Duration
		// begin makes the thing, and returns whether it is good at the moment.
		begin func(w *fixture) (good func() bool)
	}{
		"key": {time.Hour, func(w *fixture) func() bool {
			key, err := w.service.CreateKey(w.Context(), service.NewKey{Holder: "ana@acme.test", Life: time.Hour})
			if err != nil {
				w.Fatal(err)
			}
			return func() bool {
				return w.request(http.MethodPost, toolapi.ToolsPath+brand, key, "").status == http.StatusOK
			}
		}},
		"key over MCP": {time.Hour, func(w *fixture) func() bool {
			key, err := w.service.CreateKey(w.Context(), service.NewKey{Holder: "ana@acme.test", Life: time.Hour})
			if err != nil {
				w.Fatal(err)
			}
			w.demo.Keys["short"] = key
			return func() bool { return w.mcp("short", "2025-11-25", rpc("", 1, "tools/list")).status == http.StatusOK }
		}},
		"proposal": {15 * time.Minute, func(w *fixture) func() bool {
			c := w.twoCalls()[1]
			w.propose("member", c)
			return func() bool { // a confirmation would end it
				return strings.Contains(string(w.request(http.MethodGet, toolapi.MetricsPath, "", "").body), "pages_open_proposals 1\n")
			}
		}},
		"idempotency key": {48 * time.Hour, func(w *fixture) func() bool {
			body := js("board_id", w.demo.IDs["board_id"])
			w.ok("member", undo, body, "Idempotency-Key", "k")
			return func() bool { return w.ok("member", undo, body, "Idempotency-Key", "k").fields["replayed"] == true }
		}},
		"audit row": {365 * 24 * time.Hour, func(w *fixture) func() bool {
			w.ok("member", undo, js("board_id", w.demo.IDs["board_id"]), "Idempotency-Key", "k")
			return func() bool { // it is there
				if err := w.service.Clean(w.Context()); err != nil {
					w.Error(err)
				}
				return w.value("SELECT count(*) FROM audit WHERE tool = ?", undo) == "1"
			}
		}},
		"cursor": {24 * time.Hour, func(w *fixture) func() bool {
			body := js("limit", 1, "cursor", w.ok("member", "content.status", `{"limit":1}`).text("next_cursor"))
			return func() bool { return w.call("member", "content.status", body).fields["ok"] == true }
		}},
		"preview link": {time.Minute, func(w *fixture) func() bool {
			a := w.request(
				http.MethodPost, toolapi.PreviewLinksPath, w.demo.Keys["member"],
				js("site_id", w.demo.IDs["site_id"], "expires_in_seconds", 60),
			)
			address := strings.TrimPrefix(a.text("url"), "http://")
			host, path, _ := strings.Cut(address, "/")
			return func() bool {
				r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.server.URL+"/"+path, http.NoBody)
				if err != nil {
					w.Fatal(err)
				}
				r.Host = host
				resp, err := w.server.Client().Transport.RoundTrip(r)
				if err != nil {
					w.Fatal(err)
				}
				_ = resp.Body.Close() // of a test
				return resp.StatusCode == http.StatusSeeOther
			}
		}},
		"upload": {24 * time.Hour, func(w *fixture) func() bool {
			id, _ := w.declareText("idle")
			return func() bool {
				return w.request(http.MethodPost, toolapi.FinalizePath(id), w.demo.Keys["member"], "{}").status == http.StatusConflict
			} // its blob is missing
		}},
		"memory of an upload": {8 * 24 * time.Hour, func(w *fixture) func() bool {
			id, _ := w.declareText("idle")
			return func() bool { return w.finalizeText(id).status != http.StatusNotFound }
		}},
		"session of the console": {12 * time.Hour, func(w *fixture) func() bool {
			ana := w.signIn("member")
			return func() bool { return ana.send(http.MethodGet, "/console/w/acme/week", "").status == http.StatusOK }
		}},
		"full rate window": {time.Minute, func(w *fixture) func() bool {
			for range 5 {
				w.ok("limited", brand, "")
			}
			return func() bool { return w.call("limited", brand, "").status == http.StatusTooManyRequests }
		}},
		"schedule": {time.Hour, func(w *fixture) func() bool {
			w.revisionOf("next")
			args := []any{"site_id", w.demo.IDs["site_id"], "at", w.now().Add(time.Hour).Format(time.RFC3339Nano)}
			id := w.ok("member", "page.schedule_publish", js(args...)).text("confirmation_id")
			w.ok("member", "page.schedule_publish", js(append(args, "confirmation_id", id)...))
			return func() bool { // it waits
				if err := w.service.PublishDue(w.Context()); err != nil {
					w.Error(err)
				}
				return w.value("SELECT count(*) FROM schedules") == "1"
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := newHostedFixture(t)
			good := rule.begin(w)
			w.step(-3 * time.Hour)
			w.step(3 * time.Hour)
			w.pass(rule.life - time.Millisecond)
			if !good() {
				t.Error("it is over a millisecond early")
			}
			w.pass(time.Millisecond)
			if good() {
				t.Errorf("it is not over after %v", rule.life)
			}
		})
	}
}

// TestScheduleAfterADownTime: a schedule that came due while the service was down runs once when it is back, and a clock that is set back
// then does not run it again.
func TestScheduleAfterADownTime(t *testing.T) {
	w, host := newHostedFixture(t)
	name := w.revisionOf("next")
	args := []any{"site_id", w.demo.IDs["site_id"], "at", w.now().Add(time.Hour).Format(time.RFC3339)}
	id := w.ok("member", "page.schedule_publish", js(args...)).text("confirmation_id")
	w.ok("member", "page.schedule_publish", js(append(args, "confirmation_id", id)...))
	published := func() string {
		return w.value("SELECT count(*) FROM publishes WHERE revision = ? AND site_id = ?", name, w.demo.IDs["site_id"])
	}
	w.restart()
	w.pass(30 * 24 * time.Hour)
	w.restart()
	for _, step := range []time.Duration{0, -40 * 24 * time.Hour, 80 * 24 * time.Hour} {
		w.step(step)
		for range 2 {
			if err := w.service.PublishDue(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if published() != "1" || w.value("SELECT live_revision FROM sites WHERE id = ?", w.demo.IDs["site_id"]) != name {
			t.Errorf("after the clock was set by %v it was published %s times", step, published())
		}
	}
	if host.shownRevisions() != "" {
		t.Error("the host of the ended service got a call")
	}
}
