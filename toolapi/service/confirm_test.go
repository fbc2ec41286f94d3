package service_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/toolapi"
)

// twoCall is a two-call tool with arguments that are admitted, and a query that shows its
// effect.
type twoCall struct {
	tool   string
	args   []any
	effect string // a query
}

func (w *fixture) twoCalls() []twoCall {
	return []twoCall{
		{
			"domain.point_at_site",
			[]any{"domain_id", w.demo.IDs["domain_id"], "site_id", w.demo.IDs["other_site_id"]},
			"SELECT version FROM domains WHERE hostname = 'www.acme.example'",
		},
		{
			"page.schedule_publish",
			[]any{"site_id", w.demo.IDs["site_id"], "at", w.now().Add(time.Hour).Format(time.RFC3339)},
			"SELECT count(*) || coalesce(max(at), '') FROM schedules",
		},
		{"page.publish", []any{"site_id", w.demo.IDs["site_id"]}, "SELECT count(*) FROM publishes"},
		{"page.rollback", []any{"site_id", w.demo.IDs["site_id"]}, "SELECT count(*) FROM publishes"},
		{"domain.connect", []any{"hostname", "new.acme.example", "site_id", w.demo.IDs["site_id"]}, "SELECT count(*) FROM domains"},
		{"page.change_settings", []any{"spam_filter", "off", "site_id", w.demo.IDs["site_id"]}, "SELECT count(*) FROM site_settings"},
	}
}

func (c twoCall) body(more ...any) string { return js(append(append([]any{}, c.args...), more...)...) }

// each runs a test for every two-call tool in a fixture of its own.
func forEachTwoCall(t *testing.T, test func(*fixture, twoCall)) {
	t.Helper()
	for i, name := range []string{
		"domain.point_at_site", "page.schedule_publish", "page.publish", "page.rollback", "domain.connect", "page.change_settings",
	} {
		t.Run(name, func(t *testing.T) { w := newFixture(t); test(w, w.twoCalls()[i]) })
	}
}

func (w *fixture) propose(key string, c twoCall) string {
	w.Helper()
	a := w.ok(key, c.tool, c.body("workspace", "acme"))
	if a.text("state") != "confirmation_required" || a.text("request_summary") == "" || a.fields["expires_in_seconds"] != 900.0 ||
		len(a.text("confirmation_id")) != 36 {
		w.Errorf("%s", a.body)
	}
	return a.text("confirmation_id")
}

func TestConfirm(t *testing.T) {
	forEachTwoCall(t, func(w *fixture, c twoCall) {
		before := w.snapshot("audit", "proposals", "keys")
		id := w.propose("member", c)
		if w.snapshot("audit", "proposals", "keys") != before {
			w.Error("C-001: proposing changed something")
		}
		w.restart()
		first := w.ok("member", c.tool, c.body("confirmation_id", id))
		if first.text("state") != "done" || first.fields["confirmation_id"] != nil {
			w.Errorf("%s", first.body)
		}
		after := w.snapshot("audit", "keys")
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				if a := w.call("member", c.tool, c.body("confirmation_id", id)); !bytes.Equal(a.body, first.body) {
					w.Errorf("C-003: %s", a.body)
				}
			})
		}
		group.Wait()
		w.pass(time.Hour)
		if a := w.ok("member", c.tool, c.body("confirmation_id", id)); !bytes.Equal(a.body, first.body) {
			w.Errorf("C-003 after the expiry: %s", a.body)
		}
		if w.snapshot("audit", "keys") != after {
			w.Error("C-003: a second effect")
		}
		if n := w.value("SELECT group_concat(outcome) FROM (SELECT outcome FROM audit ORDER BY id LIMIT " +
			"3)"); n != "proposed,done,repeated" {
			w.Errorf("audit: %s", n)
		}
	})
}

// TestParallelConfirms: of many confirmations at once one takes effect.
func TestParallelConfirms(t *testing.T) {
	forEachTwoCall(t, func(w *fixture, c twoCall) {
		id := w.propose("member", c)
		var group sync.WaitGroup
		var mu sync.Mutex
		seen := map[string]bool{}
		for range 50 {
			group.Go(func() {
				a := w.call("member", c.tool, c.body("confirmation_id", id))
				mu.Lock()
				defer mu.Unlock()
				seen[string(a.body)] = true
			})
		}
		group.Wait()
		if n := w.value("SELECT count(*) FROM audit WHERE outcome = 'done'"); len(seen) != 1 || n != "1" {
			w.Errorf("%d answers, %s effects: %v", len(seen), n, seen)
		}
	})
}

func TestConfirmIsBound(t *testing.T) {
	testmachine.Unraced(t)
	forEachTwoCall(t, func(w *fixture, c twoCall) {
		id := w.propose("member", c)
		was := w.value(c.effect)
		for i := 0; i < len(c.args); i += 2 {
			changed := append([]any{}, c.args...)
			changed[i+1] = w.demo.IDs["unpublished_site_id"]
			switch changed[i] {
			case "at":
				changed[i+1] = w.now().Add(time.Hour + time.Second).Format(time.RFC3339)
			case "hostname":
				changed[i+1] = "other.acme.example"
			case "spam_filter":
				changed[i+1] = "on"
			}
			w.refused(toolapi.CodeConfirmationMismatch, "member", c.tool, js(append(changed, "confirmation_id", id)...))
		}
		w.refused(toolapi.CodeConfirmationUnknown, "both", c.tool, c.body("confirmation_id", id, "workspace", "globex"))
		other := w.refused(toolapi.CodeConfirmationUnknown, "both", c.tool, c.body("confirmation_id", id, "workspace", "acme"))
		unknown := w.refused(
			toolapi.CodeConfirmationUnknown, "both", c.tool,
			c.body("confirmation_id", "00000000-0000-4000-8000-000000000000", "workspace", "acme"),
		)
		if !bytes.Equal(other.body, unknown.body) {
			w.Errorf("C-011: %s and %s", other.body, unknown.body)
		}
		w.refused(toolapi.CodeConfirmationNeedsMember, "service", c.tool, c.body("confirmation_id", id))
		for _, other := range w.twoCalls() {
			if other.tool != c.tool {
				w.refused(toolapi.CodeConfirmationUnknown, "member", other.tool, other.body("confirmation_id", id))
			}
		}
		for _, bad := range []any{"{" + id + "}", "", nil, 1, strings.Repeat("a", 10<<10), id + " "} {
			w.refused(toolapi.CodeInvalidArguments, "member", c.tool, c.body("confirmation_id", bad))
		}
		w.refused(
			toolapi.CodeMalformedBody, "member", c.tool,
			strings.TrimSuffix(c.body("confirmation_id", id), "}")+`,"confirmation_id":"`+id+`"}`,
		)
		if got := w.value(c.effect); got != was {
			w.Errorf("something happened: %s, was %s", got, was)
		}
		// The same arguments, written otherwise.
		w.ok(
			"member", c.tool,
			"  "+strings.Replace(c.body("confirmation_id", strings.ToUpper(id), "workspace", "acme"), `"site_id"`, `"\u0073ite_id"`, 1),
		)
		if got := w.value(c.effect); got == was {
			w.Error("nothing happened")
		}
	})
}

// TestServiceAccountProposes: any member who may do the thing confirms.
func TestServiceAccountProposes(t *testing.T) {
	forEachTwoCall(t, func(w *fixture, c twoCall) {
		id := w.propose("service", c)
		w.refused(toolapi.CodeConfirmationNeedsMember, "service", c.tool, c.body("confirmation_id", id))
		w.sql("UPDATE memberships SET role = 'editor' WHERE holder_id = 3 AND workspace_id = 1")
		w.refused(toolapi.CodePermissionDenied, "both", c.tool, c.body("confirmation_id", id, "workspace", "acme"))
		w.ok("member", c.tool, c.body("confirmation_id", id))
	})
}

// TestServiceAccountIsGone: a service account's proposals end with its key, its role and its membership; a repeated confirmation gets its
// first response.
func TestServiceAccountIsGone(t *testing.T) {
	const bot = "(SELECT id FROM holders WHERE service)"
	for change, why := range map[string]string{
		"UPDATE keys SET revoked_at = 1 WHERE holder_id = " + bot:         "the key that proposed it was revoked at 01:00 CET",
		"UPDATE memberships SET role = 'viewer' WHERE holder_id = " + bot: "“Deploy bot” may not",
		"DELETE FROM memberships WHERE holder_id = " + bot:                "“Deploy bot” is no longer a member of this workspace",
	} {
		w := newFixture(t)
		for i, c := range w.twoCalls() {
			if i > 0 {
				w.sql("UPDATE keys SET revoked_at = NULL")
				w.sql("INSERT OR REPLACE INTO memberships SELECT id, 1, 'owner' FROM holders WHERE service")
			}
			id := w.propose("service", c)
			w.sql(change)
			before := w.snapshot("audit", "keys")
			w.refused(toolapi.CodeConfirmationStale, "member", c.tool, c.body("confirmation_id", id))
			if w.snapshot("audit", "keys") != before {
				t.Errorf("%s: it did something", change)
			}
			if page := w.signIn("member").send("GET", "/console/w/acme/proposals", "").text; !strings.Contains(page, why) {
				t.Errorf("%s: the console does not say %q", change, why)
			}
		}
	}
	w := newFixture(t)
	c := w.twoCalls()[0]
	id := w.propose("service", c)
	first := w.ok("member", c.tool, c.body("confirmation_id", id))
	w.sql("UPDATE keys SET revoked_at = 1 WHERE holder_id = (SELECT id FROM holders WHERE service)")
	if again := w.ok("member", c.tool, c.body("confirmation_id", id)); !bytes.Equal(again.body, first.body) {
		t.Errorf("%s", again.body)
	}
}

func TestExpiry(t *testing.T) {
	testmachine.Unraced(t)
	forEachTwoCall(t, func(w *fixture, c twoCall) {
		late, edge, good := w.propose("both", c), w.propose("stored", c), w.propose("member", c)
		w.step(-time.Hour)
		w.step(time.Hour)
		w.pass(15*time.Minute - time.Millisecond)
		before := w.snapshot("audit", "keys")
		w.pass(time.Millisecond)
		w.refused(toolapi.CodeConfirmationExpired, "stored", c.tool, c.body("confirmation_id", edge))
		w.pass(time.Second)
		w.refused(toolapi.CodeConfirmationExpired, "both", c.tool, c.body("workspace", "acme", "confirmation_id", late))
		if w.snapshot("audit", "keys") != before {
			w.Error("an expired proposal did something")
		}
		w.step(-time.Second - time.Millisecond)
		w.ok("member", c.tool, c.body("confirmation_id", good))
	})
}

func TestLostBetweenTheCalls(t *testing.T) {
	for _, c := range []struct{ change, code string }{
		{"DELETE FROM memberships WHERE holder_id = 1", toolapi.CodeWorkspaceUnreachable},
		{"UPDATE memberships SET role = 'viewer' WHERE holder_id = 1", toolapi.CodePermissionDenied},
		{"UPDATE holders SET api_access = 0 WHERE id = 1", toolapi.CodeAccessMissing},
		{"UPDATE accounts SET api_enabled = 0", toolapi.CodeAccountDisabled},
		{"UPDATE keys SET revoked_at = 1 WHERE holder_id = 1", toolapi.CodeUnauthorized},
	} {
		t.Run(c.code, func(t *testing.T) {
			w := newFixture(t)
			for _, two := range w.twoCalls() {
				was := w.value(two.effect)
				id := w.propose("both", two)
				w.sql(strings.ReplaceAll(c.change, "= 1", "= 3"))
				w.refused(c.code, "both", two.tool, two.body("confirmation_id", id, "workspace", "acme"))
				if w.value(two.effect) != was {
					t.Errorf("%s: %s happened", c.change, two.tool)
				}
				w.sql("UPDATE memberships SET role = 'owner'; UPDATE holders SET api_access = 1; UPDATE accounts SET " +
					"api_enabled = 1; UPDATE keys SET revoked_at = NULL; INSERT OR IGNORE INTO memberships VALUES (3, 1, " +
					"'owner'), (3, 2, 'owner')")
			}
		})
	}
}

func TestStale(t *testing.T) {
	changes := map[string][]string{
		"domain.point_at_site": {
			"UPDATE domains SET version = version + 1", "DELETE FROM domains WHERE hostname = 'www.acme.example'",
			"UPDATE sites SET version = version + 1",
		},
	}
	for _, tool := range []string{"page.schedule_publish", "page.publish", "page.rollback", "domain.connect"} {
		changes[tool] = []string{"UPDATE sites SET version = version + 1"}
	}
	forEachTwoCall(t, func(w *fixture, c twoCall) {
		for _, change := range changes[c.tool] {
			id := w.propose("member", c)
			was := w.value("SELECT count(*) FROM publishes")
			w.sql(change)
			w.refused(toolapi.CodeConfirmationStale, "member", c.tool, c.body("confirmation_id", id))
			if w.value("SELECT count(*) FROM publishes") != was || w.value("SELECT count(*) FROM schedules") != "0" {
				w.Error("something happened")
			}
			if strings.HasPrefix(change, "DELETE") {
				w.sql(
					"INSERT INTO domains (id, workspace_id, hostname, site_id) VALUES (?, 1, 'www.acme.example', ?)",
					w.demo.IDs["domain_id"], w.demo.IDs["site_id"],
				)
			}
		}
		one, two := w.propose("member", c), w.propose("stored", c)
		w.ok("member", c.tool, c.body("confirmation_id", one))
		w.refused(toolapi.CodeConfirmationStale, "stored", c.tool, c.body("confirmation_id", two))
	})
}

func TestProposalsAreCapped(t *testing.T) {
	w := newFixture(t)
	c := w.twoCalls()[1]
	at := func(minutes int) twoCall {
		later := w.now().Add(time.Hour + time.Duration(minutes)*time.Minute).Format(time.RFC3339)
		return twoCall{c.tool, []any{"site_id", w.demo.IDs["site_id"], "at", later}, c.effect}
	}
	one := at(0)
	first := w.propose("member", one)
	w.propose("service", c)
	last := ""
	for i := range 60 {
		w.pass(time.Millisecond)
		c = at(i + 1)
		last = w.propose("member", c)
	}
	if n := w.value("SELECT count(*) FROM proposals"); n != "51" {
		t.Errorf("%s proposals are kept", n)
	}
	w.refused(toolapi.CodeConfirmationUnknown, "member", c.tool, one.body("confirmation_id", first))
	w.ok("member", c.tool, c.body("confirmation_id", last))
	w.pass(49 * time.Hour)
	if err := w.service.Clean(t.Context()); err != nil || w.value("SELECT count(*) FROM proposals") != "0" {
		t.Errorf("old proposals are kept: %v", err)
	}
}

// TestNewerProposalReplaces: a newer proposal of the same person about the same thing takes the place of the older one;
// those of another person, or about something else, stay.
func TestNewerProposalReplaces(t *testing.T) {
	w := newFixture(t)
	site, other := w.demo.IDs["site_id"], w.demo.IDs["other_site_id"]
	later := w.now().Add(time.Hour).Format(time.RFC3339)
	proposed := func(key, tool string, args ...any) string {
		return w.ok(key, tool, js(append(args, "workspace", "acme")...)).text("confirmation_id")
	}
	for _, c := range []struct {
		name, key, tool string
		args            []any
		replaces        bool
	}{
		{"the same call with another argument", "member", "page.publish", []any{"site_id", site, "force", true}, true},
		{"a rollback of the site", "member", "page.rollback", []any{"site_id", site}, true},
		{"a schedule of the site", "member", "page.schedule_publish", []any{"site_id", site, "at", later}, false},
		{"another person", "stored", "page.publish", []any{"site_id", site}, false},
		{"a service account", "service", "page.publish", []any{"site_id", site}, false},
		{"a domain of the site", "member", "domain.connect", []any{"hostname", "new.acme.example", "site_id", site}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			proposed := func(key, tool string, args ...any) string {
				return w.ok(key, tool, js(append(args, "workspace", "acme")...)).text("confirmation_id")
			}
			first := proposed("member", "page.publish", "site_id", site)
			w.pass(time.Minute)
			second := proposed(c.key, c.tool, c.args...)
			open, why := "2", ""
			if c.replaces {
				open, why = "1", "a newer proposal of “Ana” replaced it at 13:01 CET"
			}
			ana := w.signIn("member")
			ana.see("/console/w/acme/pending", `"waiting":`+open, second)
			if page := ana.see("/console/w/acme/proposals", why); strings.Contains(page.text, "No longer open (1)") != c.replaces {
				t.Errorf("%s", page.text)
			}
			if metrics := w.request("GET", toolapi.MetricsPath, "", "").body; !strings.Contains(
				string(metrics), "pages_open_proposals "+open+"\n") {
				t.Errorf("%s", metrics)
			}
			if !c.replaces {
				w.ok("member", "page.publish", js("site_id", site, "confirmation_id", first))
				return
			}
			refused := w.refused(toolapi.CodeConfirmationStale, "member", "page.publish", js("site_id", site, "confirmation_id", first))
			if !strings.Contains(refused.text("message"), why) {
				t.Errorf("%s", refused.body)
			}
			w.ok("member", c.tool, js(append(c.args, "confirmation_id", second)...))
		})
	}
	first := proposed("member", "page.schedule_publish", "site_id", site, "at", later)
	proposed("member", "page.schedule_publish", "site_id", other, "at", later)
	w.ok("member", "page.schedule_publish", js("site_id", site, "at", later, "confirmation_id", first))
	id := proposed("member", "domain.connect", "hostname", "new.acme.example", "site_id", site)
	proposed("member", "domain.connect", "hostname", "other.acme.example", "site_id", site)
	w.ok("member", "domain.connect", js("hostname", "new.acme.example", "site_id", site, "confirmation_id", id))
}

// TestSameProposal: the same call of the same person once more is the same proposal, which expires later; once the site has
// changed it is another one.
func TestSameProposal(t *testing.T) {
	w := newFixture(t)
	args := js("site_id", w.demo.IDs["site_id"])
	propose := func() string { return w.ok("member", "page.publish", args).text("confirmation_id") }
	first := propose()
	w.pass(10 * time.Minute)
	if second := propose(); second != first {
		t.Errorf("the ids are %s and %s", first, second)
	}
	w.pass(10 * time.Minute) // the first has had its time
	w.sql("UPDATE sites SET version = version + 1")
	other := propose()
	if other == first {
		t.Error("it is the same proposal, though the site has changed")
	}
	w.sql("UPDATE sites SET version = version - 1")
	w.refused(toolapi.CodeConfirmationStale, "member", "page.publish",
		js("site_id", w.demo.IDs["site_id"], "confirmation_id", first))
}

// TestWhyNotOpen: the console and a confirming call give the reason why a proposal can no longer be approved, and its button is disabled.
func TestWhyNotOpen(t *testing.T) {
	site := func(w *fixture) string { return w.demo.IDs["site_id"] }
	live := func(w *fixture, key, tool string, args ...any) {
		id := w.ok(key, tool, js(args...)).text("confirmation_id")
		w.ok(key, tool, js(append(args, "confirmation_id", id)...))
	}
	for _, c := range []struct {
		name   string
		change func(w *fixture)
		why    string
	}{
		{"published", func(w *fixture) { live(w, "stored", "page.publish", "site_id", site(w)) }, "went live at 13:02 CET"},
		{
			"scheduled and called off", func(w *fixture) {
				live(w, "stored", "page.schedule_publish", "site_id", site(w), "at", w.now().Add(time.Hour).Format(time.RFC3339))
				w.pass(time.Minute)
				w.ok("stored", "page.unschedule", js("site_id", site(w)))
			}, "13:02:00 (UTC+00:00) at 13:02 CET, then the scheduled publish was cancelled at 13:03 CET",
		},
		{"a change that is not noted", func(w *fixture) { w.sql("UPDATE sites SET version = version + 1") }, "the site has changed since"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			id := w.ok("member", "page.publish", js("site_id", site(w))).text("confirmation_id")
			w.pass(2 * time.Minute)
			c.change(w)
			refused := w.refused(toolapi.CodeConfirmationStale, "member", "page.publish", js("site_id", site(w), "confirmation_id", id))
			if !strings.Contains(refused.text("message"), c.why) {
				t.Errorf("%s", refused.body)
			}
			page := w.signIn("member").see("/console/w/acme/proposals", "No proposal needs", "No longer open (1)", c.why)
			_, closed, _ := strings.Cut(page.text, `<details class="closed">`)
			if strings.Count(closed, " disabled aria-disabled=\"true\"") != 1 || strings.Contains(page.text, id+"/approve") {
				t.Errorf("%s", page.text)
			}
		})
	}
	w := newFixture(t)
	c := w.twoCalls()[0]
	w.ok("member", c.tool, c.body())
	live(w, "stored", c.tool, c.args...)
	w.signIn("member").see("/console/w/acme/proposals", "www.acme.example was pointed at ", " at 13:00 CET")
}

// TestSummaries: a person reads one true line.
func TestSummaries(t *testing.T) {
	w := newFixture(t)
	for _, name := range []string{"a\nb", "a\u202eb", "<b>x</b>", strings.Repeat("ä", 10<<10), "\x00", "e\u200bvil"} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			w := w.in(t)
			w.sql("UPDATE sites SET name = ?", name)
			for _, c := range w.twoCalls() {
				summary := w.ok("member", c.tool, c.body()).text("request_summary")
				if utf8.RuneCountInString(summary) > 300 || strings.ContainsAny(summary, "<>") ||
					strings.ContainsFunc(summary, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("%q: %q", name, summary)
				}
			}
		})
	}
}

// TestGuesses: an id that differs in one digit does not confirm, and guesses use up the rate.
func TestGuesses(t *testing.T) {
	w := newFixture(t)
	c := w.twoCalls()[2]
	id := w.propose("member", c)
	for i := range len(id) {
		if id[i] == '-' {
			continue
		}
		near := id[:i] + string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", id[i])+1)%16]) + id[i+1:]
		w.refused(toolapi.CodeConfirmationUnknown, "member", c.tool, c.body("confirmation_id", near))
	}
	for range 7 {
		w.call("limited", c.tool, c.body("confirmation_id", fmt.Sprintf("%s%012x", id[:24], 1)))
	}
	if a := w.call("limited", c.tool, c.body("confirmation_id", id)); a.status != 429 {
		t.Errorf("%d", a.status)
	}
}
