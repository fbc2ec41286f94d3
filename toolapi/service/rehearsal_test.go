package service_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// losing is a rehearsal in which tables lose rows, as "people 2".
func losing(losses ...string) toolapi.Migrated {
	done := toolapi.NewRehearsal(toolapi.RehearsalDone, "")
	m := toolapi.Migrated{DataLoss: []toolapi.DataLoss{}, Rehearsal: &done}
	for _, text := range losses {
		l := toolapi.DataLoss{Statement: "DELETE FROM it", File: "0002.sql", Line: 3, Cause: "delete"}
		text, l.Allowed = strings.CutSuffix(text, " allowed")
		if _, err := fmt.Sscan(text, &l.Table, &l.Rows); err != nil {
			panic(err)
		}
		l.Table, l.Column, _ = strings.Cut(l.Table, ".")
		m.DataLoss = append(m.DataLoss, l)
	}
	return m
}

// skipped is a rehearsal that was skipped.
func skipped(reason string) toolapi.Migrated {
	not := toolapi.NewRehearsal(toolapi.RehearsalSkipped, reason)
	return toolapi.Migrated{DataLoss: []toolapi.DataLoss{}, Rehearsal: &not}
}

// set has the migrations of all releases do this.
func (f *fakeHost) set(m toolapi.Migrated) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.does = func(service.Release) (toolapi.Migrated, error) { return m, nil }
}

// TestLossIsProposed: a loss is refused unless its table is named, and then is part of the proposal.
func TestLossIsProposed(t *testing.T) {
	w, host := newHostedFixture(t)
	name := w.revisionOf("next")
	for _, c := range []struct {
		name    string
		does    toolapi.Migrated
		allow   []string
		refused string // tables of the refusal
		summary string // its end
		warns   string
	}{
		{name: "none", does: losing(), summary: "goes live at once."},
		{name: "not named", does: losing("people 2"), refused: "people"},
		{
			name: "another is named", does: losing("people 2"), allow: []string{"orders"}, refused: "people",
			warns: "No data is lost from orders, which allow_data_loss names.",
		},
		{name: "one of two is named", does: losing("people 2", "orders 1"), allow: []string{"people"}, refused: "orders"},
		{name: "named", does: losing("people 2"), allow: []string{"people"}, summary: "people loses 2 rows."},
		{name: "in another case", does: losing("People 1"), allow: []string{"pEOPLE"}, summary: "People loses 1 row."},
		{name: "a column", does: losing("people.email 1"), allow: []string{"people"}, summary: "people.email loses 1 value."},
		{name: "by a comment", does: losing("people 2 allowed"), summary: "people loses 2 rows."},
		{
			name: "many", does: losing("a 1", "b 1", "c 1", "d 1", "d 2"), allow: []string{"a", "b", "c", "d"},
			summary: "a loses 1 row, b loses 1 row, c loses 1 row, and 1 more.",
		},
		{
			name: "needlessly named", does: losing("people 2"), allow: []string{"people", "orders"}, summary: "people loses 2 rows.",
			warns: `allow_data_loss names "orders", which loses nothing`,
		},
		{
			name: "not rehearsed", does: skipped("the database has 12 GB"), allow: []string{"people"},
			summary: "Its migrations were not rehearsed: the database has 12 GB.",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.in(t)
			host.set(c.does)
			args := []any{"site_id", w.demo.IDs["site_id"], "revision", name}
			if c.allow != nil {
				args = append(args, "allow_data_loss", c.allow)
			}
			if c.refused != "" {
				a := w.refused(toolapi.CodeDataLoss, "member", "page.publish", js(args...))
				var refusal toolapi.ToolRefusal
				if err := json.Unmarshal(a.body, &refusal); err != nil || refusal.Path != "allow_data_loss" ||
					fmt.Sprint(toolapi.LosingTables(refusal.DataLoss)) != "["+c.refused+"]" ||
					!strings.Contains(refusal.Message, "0002.sql:3: DELETE FROM it") || !strings.Contains(refusal.Message, c.warns) ||
					strings.Contains(refusal.Message, "No data is lost") != (c.warns != "") ||
					!strings.Contains(refusal.Fix, `["`+c.refused+`"]`) {
					t.Errorf("%s", a.body)
				}
				return
			}
			a := w.ok("member", "page.publish", js(args...))
			var got toolapi.Publish
			if err := json.Unmarshal(a.body, &got); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(got.RequestSummary, c.summary) || got.DataLoss == nil || len(got.DataLoss) != len(c.does.DataLoss) ||
				got.Rehearsal.State != c.does.Rehearsal.State || strings.Join(got.Rehearsal.Warnings, "\n") != c.warns {
				t.Errorf("%s", a.body)
			}
		})
	}
}

// TestLossIsHeldAtTheConfirmation: a loss that arises after the agreement is refused, and nothing changes.
func TestLossIsHeldAtTheConfirmation(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	for i, c := range []struct {
		name          string
		proposed, now toolapi.Migrated
		allow         []string
		refused       string // a part of the message; "" for done
	}{
		{name: "as proposed", proposed: losing("people 2"), now: losing("people 2"), allow: []string{"people"}},
		{name: "fewer", proposed: losing("people 2"), now: losing("people 1"), allow: []string{"people"}},
		{name: "in two statements", proposed: losing("people 2"), now: losing("people 1", "PEOPLE 1"), allow: []string{"people"}},
		{
			name: "more", proposed: losing("people 2"), now: losing("people 502"), allow: []string{"people"},
			refused: "people loses 502 rows now, but 2 were approved",
		},
		{
			name: "another column", proposed: losing("people.a 2"), now: losing("people.b 2"), allow: []string{"people"},
			refused: "people.b loses 2 values now, but 0 were approved",
		},
		{
			name: "another table", proposed: losing("people 2"), now: losing("people 2", "orders 1"), allow: []string{"people"},
			refused: "without approval: orders loses 1 row (0002.sql:3: DELETE FROM it)",
		},
		{name: "out of nothing", proposed: losing(), now: losing("people 1"), refused: "without approval: people loses 1 row"},
		{name: "more, by a comment", proposed: losing("people 2 allowed"), now: losing("people 502 allowed")},
		{
			name: "not rehearsed any more", proposed: losing("people 2"), now: skipped("the disk is full"), allow: []string{"people"},
			refused: "The migrations can no longer be rehearsed: the disk is full",
		},
		{name: "not rehearsed, and named", proposed: skipped("of 12 GB"), now: losing("people 9"), allow: []string{"people"}},
		{name: "not rehearsed, and not named", proposed: skipped("of 12 GB"), now: losing("people 9"), refused: "people loses 9 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.in(t)
			args := []any{"site_id", site, "revision", w.revisionOf(fmt.Sprint("confirm", i))}
			if c.allow != nil {
				args = append(args, "allow_data_loss", c.allow)
			}
			host.set(c.proposed)
			id := w.ok("member", "page.publish", js(args...)).text("confirmation_id")
			host.set(c.now)
			confirm := js(append(args, "confirmation_id", id)...)
			before := w.snapshot("audit", "keys")
			if c.refused != "" {
				code := toolapi.CodeDataLoss
				if c.now.Rehearsal.State == toolapi.RehearsalSkipped {
					code = toolapi.CodeMigrationFailed
				}
				a := w.refused(code, "member", "page.publish", confirm)
				if !strings.Contains(a.text("message"), c.refused) || w.snapshot("audit", "keys") != before {
					t.Errorf("%s", a.body)
				}
				return
			}
			var got toolapi.Publish
			a := w.ok("member", "page.publish", confirm)
			if err := json.Unmarshal(a.body, &got); err != nil || len(got.DataLoss) != len(c.now.DataLoss) ||
				got.Rehearsal.State != toolapi.RehearsalDone || got.State != toolapi.Done {
				t.Errorf("%s", a.body)
			}
		})
	}
}

// TestLossOfAnOldProposal: one that an older version stored showed nothing, so nothing was agreed to.
func TestLossOfAnOldProposal(t *testing.T) {
	w, host := newHostedFixture(t)
	site, name := w.demo.IDs["site_id"], w.revisionOf("next")
	args := []any{"site_id", site, "revision", name}
	id := w.ok("member", "page.publish", js(args...)).text("confirmation_id")
	w.sql("UPDATE proposals SET migrated = NULL")
	host.set(losing("people 1"))
	confirm := js(append(args, "confirmation_id", id)...)
	w.refused(toolapi.CodeDataLoss, "member", "page.publish", confirm)
	host.set(losing())
	w.ok("member", "page.publish", confirm)
	w.sql(
		"INSERT INTO schedules (site_id, at, revision, holder_id, key_id, request_id) SELECT ?, ?, ?, holder_id, id, 'r' FROM keys LIMIT 1",
		site, w.now().UnixMilli(), w.revisionOf("scheduled"),
	)
	host.set(losing("people 1"))
	if err := w.service.PublishDue(t.Context()); err != nil || host.shownRevisions() != name {
		t.Errorf("shown %q %v", host.shownRevisions(), err)
	}
}

// TestLossOfASchedule: the approval of a schedule holds when the publish runs, and a loss beyond it calls the schedule off.
func TestLossOfASchedule(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	for i, c := range []struct {
		name string
		now  toolapi.Migrated
		done bool
	}{
		{"as agreed", losing("people 2"), true},
		{"more rows", losing("people 3"), false},
		{"another table", losing("orders 1"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.in(t)
			name := w.revisionOf(fmt.Sprint("schedule", i))
			args := []any{"site_id", site, "at", w.now().Add(10 * time.Minute).Format(time.RFC3339)}
			host.set(losing("people 2"))
			w.refused(toolapi.CodeDataLoss, "member", "page.schedule_publish", js(args...))
			args = append(args, "allow_data_loss", []string{"people"})
			id := w.ok("member", "page.schedule_publish", js(args...)).text("confirmation_id")
			if a := w.ok("member", "page.schedule_publish", js(append(args, "confirmation_id", id)...)); !strings.Contains(
				string(a.body), `"data_loss":[{"table":"people"`) {
				t.Errorf("%s", a.body)
			}
			host.set(c.now)
			w.pass(time.Hour)
			if err := w.service.PublishDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			if live := w.value("SELECT live_revision FROM sites WHERE id = ?", site); (live == name) != c.done {
				t.Errorf("%s is live", live)
			}
			said := w.value("SELECT code || ' ' || summary FROM audit WHERE tool = 'page.schedule_publish' ORDER BY id DESC LIMIT 1")
			if !c.done && !strings.Contains(said, "data_loss_not_allowed Revision "+name+" could not be published as scheduled: ") {
				t.Errorf("the audit trail says %s", said)
			}
		})
	}
}

// TestMigrationIsRefusedAtTheProposal: a revision whose migrations fail makes no proposal.
func TestMigrationIsRefusedAtTheProposal(t *testing.T) {
	w, host := newHostedFixture(t)
	site, name := w.demo.IDs["site_id"], w.revisionOf("next")
	host.does = func(service.Release) (toolapi.Migrated, error) {
		return toolapi.Migrated{}, &service.ReleaseError{Code: toolapi.CodeMigrationFailed, Message: "A migration failed: no."}
	}
	w.refused(toolapi.CodeMigrationFailed, "member", "page.publish", js("site_id", site, "revision", name))
	at := w.now().Add(10 * time.Minute).Format(time.RFC3339)
	w.refused(toolapi.CodeMigrationFailed, "member", "page.schedule_publish", js("site_id", site, "at", at))
	if n := w.value("SELECT count(*) FROM proposals"); n != "0" {
		t.Errorf("%s proposals", n)
	}
	host.does = func(service.Release) (toolapi.Migrated, error) {
		return toolapi.Migrated{}, errors.New("of the service itself")
	}
	if a := w.call("member", "page.publish", js("site_id", site, "revision", name)); a.status != http.StatusInternalServerError {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestProposalBesidePublish: a proposal takes into account a publish during its rehearsal.
func TestProposalBesidePublish(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	first, second := w.revisionOf("first"), w.revisionOf("second")
	rehearsed := 0
	host.does = func(service.Release) (toolapi.Migrated, error) {
		if rehearsed++; rehearsed == 1 {
			w.sql("UPDATE sites SET live_revision = ?, version = version + 1 WHERE id = ?", first, site)
			return losing("people 2"), nil
		}
		return losing("people 1"), nil
	}
	a := w.ok("member", "page.publish", js("site_id", site, "revision", second, "allow_data_loss", []string{"people"}))
	if rehearsed != 2 || !strings.HasSuffix(a.text("request_summary"), "people loses 1 row.") || a.text("previous") != first {
		t.Errorf("%d rehearsals: %s", rehearsed, a.body)
	}
}

// TestRehearseTool holds the arguments of page.rehearse.
func TestRehearseTool(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	name := w.upload(site, `{"bindings":{"database":{"migrations":"m"}}}`, "m/1.sql=CREATE TABLE a(x)", "m/2.sql=CREATE TABLE b(x)")
	w.publish(site, name)
	var got service.Release
	host.does = func(r service.Release) (toolapi.Migrated, error) { got = r; return losing("people 2"), nil }
	sql := func(names ...string) (all []map[string]any) {
		for _, name := range names {
			all = append(all, map[string]any{"name": name, "sql": "SELECT 1"})
		}
		return all
	}
	for _, c := range []struct {
		name string
		args []any
		code string
	}{
		{"texts", []any{"migrations", sql("3.sql"), "unchanged", []string{"1.sql", "2.sql"}, "tables", []string{"a"}}, ""},
		{"a revision", []any{"revision", name}, ""},
		{"no such revision", []any{"revision", "r9"}, toolapi.CodeRevisionUnknown},
		{"a revision and texts", []any{"revision", name, "migrations", sql("3.sql")}, toolapi.CodeInvalidArguments},
		{"twice", []any{"migrations", sql("1.sql"), "unchanged", []string{"1.sql"}}, toolapi.CodeInvalidArguments},
		{"not of the live revision", []any{"migrations", sql("3.sql"), "unchanged", []string{"9.sql"}}, toolapi.CodeInvalidArguments},
		{"a path", []any{"migrations", sql("../3.sql")}, toolapi.CodeInvalidArguments},
		{"a folder outside", []any{"migrations", sql("3.sql"), "folder", "a/../../b"}, toolapi.CodeInvalidArguments},
		{"an absolute folder", []any{"migrations", sql("3.sql"), "folder", "/etc"}, toolapi.CodeInvalidArguments},
		{"a long folder", []any{"migrations", sql("3.sql"), "folder", strings.Repeat("a", 256)}, toolapi.CodeInvalidArguments},
		{"a drive", []any{"migrations", sql("c:3.sql")}, toolapi.CodeInvalidArguments},
		{"no script", []any{"migrations", sql("3.txt")}, toolapi.CodeInvalidArguments},
		{"no name", []any{"migrations", sql(".sql")}, toolapi.CodeInvalidArguments},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.in(t)
			body := js(append([]any{"site_id", site}, c.args...)...)
			if c.code != "" {
				w.refused(c.code, "member", "page.rehearse", body)
				return
			}
			if a := w.ok("member", "page.rehearse", body); !strings.Contains(string(a.body), `"data_loss":[{"table":"people"`) {
				t.Errorf("%s", a.body)
			}
		})
	}
	w.ok("member", "page.rehearse", js("site_id", site, "migrations", sql("3.sql"), "unchanged", []string{"1.sql"}, "folder", "./drizzle/"))
	if p := got.Proposed; p == nil || p.Folder != "drizzle" || len(p.Files) != 2 ||
		string(p.Files[0].Text) != "SELECT 1" || p.Files[1].Stored.Path != "m/1.sql" {
		t.Errorf("%+v", p)
	}
	host.does = func(service.Release) (toolapi.Migrated, error) {
		return toolapi.Migrated{}, &service.ReleaseError{Code: toolapi.CodeMigrationFailed, Message: "A migration failed: no."}
	}
	w.refused(toolapi.CodeMigrationFailed, "member", "page.rehearse", js("site_id", site, "migrations", sql("3.sql")))
	w.refused(toolapi.CodeSiteUnknown, "member", "page.rehearse", js("site_id", "123e4567-e89b-42d3-a456-426614174000"))
}

// TestConsoleShowsLosses: the approver sees the losses, and confirms them.
func TestConsoleShowsLosses(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	host.set(losing("people 2", "people.<b> 1"))
	args := []any{"site_id", site, "revision", w.revisionOf("next"), "allow_data_loss", []string{"people"}}
	id := w.ok("member", "page.publish", js(args...)).text("confirmation_id")
	ana := w.signIn("member")
	page := ana.see(
		"/console/w/acme/proposals", "Data is lost: 2 rows of people and 1 value of ", "people loses 2 rows", "0002.sql:3",
		"DELETE FROM it", "Approve, and lose 2 rows of people", `type="checkbox" name="lose" value="yes" required`,
	)
	if strings.Contains(page.text, "<b>") {
		t.Error("a name is taken for HTML")
	}
	approve := "/console/w/acme/proposals/" + id + "/approve"
	if got := ana.send("POST", approve, url.Values{"token": {ana.token()}}.Encode()); got.status != http.StatusConflict ||
		host.shownRevisions() != "" {
		t.Errorf("approved unseen: %d", got.status)
	}
	if got := ana.send("POST", approve, url.Values{"token": {ana.token()}, "lose": {"yes"}}.Encode()); got.status != http.StatusSeeOther ||
		host.shownRevisions() == "" {
		t.Errorf("not approved: %d %s", got.status, got.text)
	}
	host.set(skipped("the database has 12 GB"))
	w.ok("member", "page.publish", js("site_id", site, "revision", w.revisionOf("large"), "allow_data_loss", []string{"people"}))
	ana.see("/console/w/acme/proposals", "were not rehearsed:", "the database has 12 GB", "Approve, and lose any rows of people")
	w.ok("member", "page.publish", js("site_id", site, "revision", w.revisionOf("larger")))
	ana.see("/console/w/acme/proposals", "They are rehearsed again at the approval, which is refused if that shows a loss.")
}
