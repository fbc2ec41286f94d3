package service_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// decode reads an answer as its Go type.
func decode[T any](t testing.TB, a response) (v T) {
	t.Helper()
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestBrandProfile(t *testing.T) {
	w := newFixture(t)
	p := decode[toolapi.BrandProfile](t, w.ok("member", brand, ""))
	if !p.ProfileExists || p.DisplayName != "Acme Studio" || p.SectionsFilled != 4 || p.SectionsTotal != len(p.Sections) ||
		!p.BookingContactEmail || p.BookingContactPhone || p.BookingLink == "" {
		t.Errorf("%+v", p)
	}
	p = decode[toolapi.BrandProfile](t, w.ok("pinned", brand, ""))
	if p.ProfileExists || p.SectionsFilled != 0 || p.SectionsTotal == 0 || p.BookingContactEmail {
		t.Errorf("%+v", p)
	}
}

func TestContentStatus(t *testing.T) {
	w := newFixture(t)
	page := decode[toolapi.ContentStatus](t, w.ok("member", "content.status", ""))
	if len(page.Pieces) != 25 || page.Total != 36 || !page.Truncated || page.NextCursor == "" {
		t.Errorf("%d pieces of %d, truncated %t", len(page.Pieces), page.Total, page.Truncated)
	}
	sum := 0
	for _, n := range page.Counts {
		sum += n
	}
	rest := decode[toolapi.ContentStatus](t, w.ok("member", "content.status", js("cursor", page.NextCursor)))
	if sum != 25 || len(rest.Pieces) != 11 || rest.Truncated || rest.NextCursor != "" || rest.Total != 36 {
		t.Errorf("counts %v; then %d pieces", page.Counts, len(rest.Pieces))
	}
	states := map[toolapi.Lifecycle]bool{}
	for _, p := range append(page.Pieces, rest.Pieces...) {
		states[p.Status] = true
		if (p.Status == "failed") != (p.FailureReason != nil) ||
			(p.Status == "published" || p.Status == "verified") != (p.PublishedAt != nil) {
			t.Errorf("%+v", p)
		}
	}
	if len(states) != 9 {
		t.Errorf("%d states", len(states))
	}
	one := decode[toolapi.ContentStatus](t, w.ok("member", "content.status", `{"status":"failed","format":"articles"}`))
	for _, p := range one.Pieces {
		if p.Status != "failed" || p.Format != "articles" {
			t.Errorf("%+v", p)
		}
	}
	if one.Total != len(one.Pieces) {
		t.Errorf("total %d of %d", one.Total, len(one.Pieces))
	}
}

// TestPagesUnderChange: items that stay are returned once, while others come and go.
func TestPagesUnderChange(t *testing.T) {
	w := newFixture(t)
	db := w.openDB()
	defer db.Close()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 0))
		exec("DELETE FROM pieces")
		exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 399)
			INSERT INTO pieces (id, workspace_id, title, format, status, updated_at)
			SELECT 'stay-' || i, 1, '', 'posts', 'draft', (i * ?) % 97 FROM n`, 31+seed)
		seen := map[string]int{}
		for cursor, more := "", true; more; {
			body := `{"limit":37,"status":"draft"}`
			if cursor != "" {
				body = js("limit", 1+random.IntN(60), "status", "draft", "cursor", cursor)
			}
			page := decode[toolapi.ContentStatus](t, w.ok("member", "content.status", body))
			for _, p := range page.Pieces {
				seen[p.ID]++
			}
			cursor, more = page.NextCursor, page.NextCursor != ""
			exec("DELETE FROM pieces WHERE id LIKE 'go-%' AND id IN (SELECT id FROM pieces ORDER BY random() LIMIT 5)")
			for i := range 5 {
				exec(
					"INSERT INTO pieces (id, workspace_id, title, format, status, updated_at) VALUES (?, 1, '', 'posts', 'draft', ?)",
					fmt.Sprintf("go-%d-%d-%d", len(seen), i, random.Uint32()), random.IntN(97),
				)
			}
		}
		for i := range 400 {
			if n := seen[fmt.Sprint("stay-", i)]; n != 1 {
				t.Fatalf("seed %d: stay-%d came %d times", seed, i, n)
			}
		}
	}
	if got, want := w.value("SELECT sum(n) FROM piece_counts WHERE workspace_id = 1"),
		w.value("SELECT count(*) FROM pieces WHERE workspace_id = 1"); got != want {
		t.Errorf("%s are counted, there are %s", got, want)
	}
}

// TestCursors: all invalid cursors get the same response.
func TestCursors(t *testing.T) {
	w := newFixture(t)
	cursor := decode[toolapi.ContentStatus](t, w.ok("both", "content.status", `{"workspace":"acme","limit":2}`)).NextCursor
	for name, c := range map[string][2]string{
		"filter":    {"both", js("workspace", "acme", "cursor", cursor, "status", "draft")},
		"format":    {"both", js("workspace", "acme", "cursor", cursor, "format", "posts")},
		"workspace": {"both", js("workspace", "globex", "cursor", cursor)},
		"key":       {"member", js("cursor", cursor)},
		"tampered":  {"both", js("workspace", "acme", "cursor", cursor[:30]+"A"+cursor[31:])},
		"folded":    {"both", js("workspace", "acme", "cursor", cursor[:30]+"\n"+cursor[30:])},
		"cut":       {"both", js("workspace", "acme", "cursor", cursor[:len(cursor)-1])},
		"nonsense":  {"both", js("workspace", "acme", "cursor", "x")},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			if a := w.refused(toolapi.CodeCursorInvalid, c[0], "content.status", c[1]); a.text("path") != "cursor" {
				t.Errorf("%s: %s", name, a.body)
			}
		})
	}
	w.restart()
	w.ok("both", "content.status", js("workspace", "acme", "cursor", cursor, "limit", 5))
	w.pass(24 * time.Hour)
	w.refused(toolapi.CodeCursorInvalid, "both", "content.status", js("workspace", "acme", "cursor", cursor))
}

func TestSchedule(t *testing.T) {
	w := newFixture(t)
	grid := decode[toolapi.Schedule](t, w.ok("member", "schedule.read", ""))
	if grid.Week != "2026-11-23" || grid.TimeZone != "Europe/Berlin" || len(grid.Days) != 7 || len(grid.Rows) != 3 ||
		len(grid.Unplanned) == 0 {
		t.Errorf("%+v", grid)
	}
	pieces := len(grid.Unplanned)
	for _, row := range grid.Rows {
		for i, cell := range row.Cells {
			pieces += len(cell.Pieces)
			for _, p := range cell.Pieces {
				if cell.Day != grid.Days[i] || p.Format != row.Format || !strings.HasPrefix(*p.ScheduledFor, cell.Day) {
					t.Errorf("%s %s: %+v", row.Format, cell.Day, p)
				}
			}
		}
	}
	if n := w.value("SELECT count(*) FROM pieces WHERE scheduled_for IS NOT NULL AND workspace_id = 1"); fmt.Sprint(pieces) != n {
		t.Errorf("%d of %s pieces", pieces, n)
	}
	// The night from Sunday to Monday, and the weeks in which the clocks change.
	for _, c := range []struct{ at, week, day string }{
		{"2026-11-29T22:59:59Z", "2026-11-29", "2026-11-29"},
		{"2026-11-29T23:00:00Z", "2026-12-01", "2026-11-30"},
		{"2026-03-28T23:00:00Z", "2026-03-29", "2026-03-29"},
		{"2026-03-29T21:59:59Z", "2026-03-25", "2026-03-29"},
		{"2026-10-25T22:59:59Z", "2026-10-25", "2026-10-25"},
		{"2027-01-01T11:00:00Z", "2026-12-28", "2027-01-01"},
	} {
		t.Run(c.at, func(t *testing.T) {
			w := w.in(t)
			at, err := time.Parse(time.RFC3339, c.at)
			if err != nil {
				t.Fatal(err)
			}
			w.sql("UPDATE pieces SET scheduled_for = NULL; DELETE FROM pieces WHERE id = 'x'")
			w.sql(
				"INSERT INTO pieces (id, workspace_id, title, format, status, scheduled_for, updated_at) VALUES ('x', 1, "+
					"'x', 'posts', 'scheduled', ?, 0)",
				at.UnixMilli(),
			)
			grid := decode[toolapi.Schedule](t, w.ok("member", "schedule.read", js("week", c.week)))
			if !slices.ContainsFunc(grid.Rows[0].Cells, func(cell toolapi.Cell) bool {
				return cell.Day == c.day && len(cell.Pieces) == 1
			}) {
				t.Errorf("%+v: %+v", c, grid.Rows[0])
			}
		})
	}
	for _, week := range []string{"2026-02-30", "2027-02-29", "0000-01-01", "0000-12-31", "9999-12-31"} {
		t.Run(week, func(t *testing.T) {
			w := w.in(t)
			w.refused(toolapi.CodeInvalidArguments, "member", "schedule.read", js("week", week))
		})
	}
	w.ok("member", "schedule.read", `{"week":"0001-01-01"}`)
	w.ok("member", "schedule.read", `{"week":"9999-12-26"}`)
	// A day without midnight, when the clocks go forward.
	for _, c := range []struct{ zone, day, first, last string }{
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z", "2026-09-07T02:59:59Z"},
		{"America/Havana", "2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T03:59:59Z"},
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T20:59:59Z"},
	} {
		w.sql("UPDATE workspaces SET time_zone = ? WHERE id = 1", c.zone)
		for _, moment := range []string{c.first, c.last} {
			at, err := time.Parse(time.RFC3339, moment)
			if err != nil {
				t.Fatal(err)
			}
			w.sql("DELETE FROM pieces WHERE id = 'x'")
			w.sql(
				"INSERT INTO pieces (id, workspace_id, title, format, status, scheduled_for, updated_at) VALUES ('x', "+
					"1, 'x', 'posts', 'scheduled', ?, 0)",
				at.UnixMilli(),
			)
			grid := decode[toolapi.Schedule](t, w.ok("member", "schedule.read", js("week", c.day)))
			found := slices.ContainsFunc(grid.Rows[0].Cells, func(cell toolapi.Cell) bool {
				return cell.Day == c.day && len(cell.Pieces) == 1
			})
			if distinct := slices.Compact(slices.Sorted(slices.Values(grid.Days))); !found || len(distinct) != 7 ||
				len(grid.Unplanned) != 0 {
				t.Errorf("%+v %s: %v %+v", c, moment, grid.Days, grid.Rows[0])
			}
		}
	}
}

// TestScheduledPublish: it happens when the time comes, once, and late after an outage.
func TestScheduledPublish(t *testing.T) {
	w := newFixture(t)
	site := w.demo.IDs["site_id"]
	schedule := func(in time.Duration) response {
		t.Helper()
		body := []any{"site_id", site, "at", w.now().Add(in).Format(time.RFC3339)}
		id := w.ok("member", "page.schedule_publish", js(body...)).text("confirmation_id")
		return w.ok("member", "page.schedule_publish", js(append(body, "confirmation_id", id)...), "x-request-id", "the-request")
	}
	page := func() toolapi.Page {
		t.Helper()
		pages := decode[toolapi.PageList](t, w.ok("member", "page.list", "")).Pages
		return pages[slices.IndexFunc(pages, func(p toolapi.Page) bool { return p.SiteID == site })]
	}
	due := func() {
		t.Helper()
		if err := w.service.PublishDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if a := schedule(time.Hour); a.fields["replaced"] != false {
		t.Errorf("%s", a.body)
	}
	if a := schedule(2 * time.Hour); a.fields["replaced"] != true || w.value("SELECT count(*) FROM schedules") != "1" {
		t.Errorf("%s", a.body)
	}
	before := page()
	if before.Schedule == nil || before.Schedule.Revision == *before.LiveRevision {
		t.Fatalf("%+v", before)
	}
	w.pass(2*time.Hour - time.Millisecond)
	due()
	if *page().LiveRevision != *before.LiveRevision {
		t.Error("too early")
	}
	w.pass(time.Millisecond)
	due()
	due()
	if after := page(); after.Schedule != nil || *after.LiveRevision != before.Schedule.Revision {
		t.Errorf("%+v", after)
	}
	if n := w.value("SELECT count(*) FROM publishes WHERE request_id = 'the-request'"); n != "1" {
		t.Errorf("%s publishes", n)
	}
	// Two confirmed, one published.
	if n := w.value("SELECT count(*) FROM audit WHERE request_id = 'the-request' AND outcome = 'done'"); n != "3" {
		t.Errorf("%s audit rows", n)
	}
	schedule(time.Hour)
	w.close()
	w.pass(48 * time.Hour)
	w.open()
	due()
	due()
	if n := w.value("SELECT count(*) FROM publishes WHERE request_id = 'the-request'"); n != "2" || page().Schedule != nil {
		t.Errorf("%s publishes after the outage", n)
	}
	schedule(time.Hour)
	gone := decode[toolapi.Unschedule](t, w.ok("member", "page.unschedule", js("site_id", site)))
	w.pass(2 * time.Hour)
	due()
	if n := w.value("SELECT count(*) FROM publishes WHERE request_id = 'the-request'"); n != "2" || gone.SiteID != site {
		t.Errorf("%s publishes after it was called off", n)
	}
}

// TestScheduleOutlivesItsConfirmer: a confirmed schedule runs. It is the page's, and others see it and may call it off.
func TestScheduleOutlivesItsConfirmer(t *testing.T) {
	w := newFixture(t)
	site := w.demo.IDs["site_id"]
	body := []any{"site_id", site, "at", w.now().Add(time.Hour).Format(time.RFC3339)}
	id := w.ok("member", "page.schedule_publish", js(body...)).text("confirmation_id")
	w.ok("member", "page.schedule_publish", js(append(body, "confirmation_id", id)...))
	w.sql("UPDATE keys SET revoked_at = 1 WHERE holder_id = 1")
	w.sql("DELETE FROM memberships WHERE holder_id = 1")
	page := func() toolapi.Page {
		t.Helper()
		pages := decode[toolapi.PageList](t, w.ok("both", "page.list", js("workspace", "acme"))).Pages
		return pages[slices.IndexFunc(pages, func(p toolapi.Page) bool { return p.SiteID == site })]
	}
	before := page()
	if before.Schedule == nil {
		t.Fatalf("%+v", before)
	}
	w.pass(time.Hour)
	if err := w.service.PublishDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := page(); after.Schedule != nil || *after.LiveRevision != before.Schedule.Revision {
		t.Errorf("%+v", after)
	}
}

func TestScheduleTimes(t *testing.T) {
	w := newFixture(t)
	at := func(s string) string { return js("site_id", w.demo.IDs["site_id"], "at", s) }
	in := func(d time.Duration) string { return start.Add(d).Format(time.RFC3339Nano) }
	for _, c := range []struct{ at, code string }{
		{in(5*time.Minute - time.Nanosecond), toolapi.CodeScheduleTooSoon},
		{in(4*time.Minute + 59*time.Second), toolapi.CodeScheduleTooSoon},
		{in(5 * time.Minute), ""},
		{start.AddDate(1, 0, 0).Format(time.RFC3339), ""},
		{start.AddDate(1, 0, 0).Add(time.Second).Format(time.RFC3339), toolapi.CodeScheduleTooFar},
		{"2026-11-26T10:00:00", toolapi.CodeInvalidArguments},
		{"2026-11-26T10:00:00Z", ""},
		{"2026-11-26T10:00Z", ""},
		{"2026-11-26T10:00:00.5+0100", ""},
		{"2026-11-26T10:00:00+14:00", ""},
		{"2026-11-26T24:00:00Z", toolapi.CodeInvalidArguments},
		{"2027-02-29T10:00:00Z", toolapi.CodeInvalidArguments},
		{"2027-02-28T10:00:00Z", ""},
		{"2027-03-28T02:30:00+01:00", ""},
		{"2026-11-26 10:00:00Z", toolapi.CodeInvalidArguments},
		{"1763978400", toolapi.CodeInvalidArguments},
		{"2026-11-26", toolapi.CodeInvalidArguments},
		{"0000-00-00T00:00:00Z", toolapi.CodeInvalidArguments},
		{"9999-12-31T23:59:59Z", toolapi.CodeScheduleTooFar},
		{"", toolapi.CodeInvalidArguments},
		{"2026-11-26T10:00:00+25:00", toolapi.CodeInvalidArguments},
		{"2026-11-26T10:00:00+24:00", toolapi.CodeInvalidArguments},
		{"2026-11-26T10:00:00-2400", toolapi.CodeInvalidArguments},
		{"2026-11-26T10:00:00+05:60", toolapi.CodeInvalidArguments},
		{"2026-11-26T10:00:00-23:59", ""},
		{"2026-12-31T23:59:60Z", toolapi.CodeInvalidArguments},
		{"2026-11-26T10:00:00-00:00", ""},
	} {
		t.Run(c.at, func(t *testing.T) {
			w := w.in(t)
			if a := w.call("member", "page.schedule_publish", at(c.at)); a.code() != c.code {
				t.Errorf("%s: %s", c.at, a.body)
			}
		})
	}
	soon := at(in(6 * time.Minute))
	id := w.ok("member", "page.schedule_publish", soon).text("confirmation_id")
	w.pass(time.Minute + time.Second)
	w.refused(
		toolapi.CodeScheduleTooSoon, "member", "page.schedule_publish",
		js("site_id", w.demo.IDs["site_id"], "at", in(6*time.Minute), "confirmation_id", id),
	)
}

// TestDomains is section 4.4 of the platform document.
func TestDomains(t *testing.T) {
	w := newFixture(t)
	point := func(domain, site string) response {
		return w.call("member", "domain.point_at_site", js("domain_id", w.demo.IDs[domain], "site_id", w.demo.IDs[site]))
	}
	never := point("domain_id", "unpublished_site_id")
	if revision, there := never.fields["revision"]; !there || revision != nil || never.fields["serving_now"] != false ||
		strings.Contains(never.text("request_summary"), "live") {
		t.Errorf("C-026: %s", never.body)
	}
	if a := point("service_domain_id", "other_site_id"); a.code() != toolapi.CodeDomainOfPage {
		t.Errorf("C-027: %s", a.body)
	}
	if a := point("domain_id", "site_id"); a.code() != toolapi.CodeDomainThere {
		t.Errorf("%s", a.body)
	}
	shop := "SELECT id FROM domains WHERE hostname = 'shop.acme.example'"
	bought := w.ok("member", "domain.point_at_site", js("domain_id", w.value(shop), "site_id", w.demo.IDs["other_site_id"]))
	if bought.text("revision") == "" || bought.fields["serving_now"] != false {
		t.Errorf("a name that does not answer yet: %s", bought.body)
	}
	body := []any{"domain_id", w.demo.IDs["domain_id"], "site_id", w.demo.IDs["other_site_id"]}
	id := w.ok("member", "domain.point_at_site", js(body...)).text("confirmation_id")
	if a := w.ok("member", "domain.point_at_site", js(append(body, "confirmation_id", id)...)); a.fields["serving_now"] != true ||
		a.text("hostname") != "www.acme.example" || a.text("site_name") != "Shop" {
		t.Errorf("%s", a.body)
	}
	for _, d := range decode[toolapi.DomainList](t, w.ok("member", "domain.list", "")).Domains {
		if d.Hostname == "www.acme.example" && d.SiteID != w.demo.IDs["other_site_id"] ||
			d.Provided != strings.HasSuffix(d.Hostname, ".localhost") {
			t.Errorf("%+v", d)
		}
	}
}

func TestPublishAndRollback(t *testing.T) {
	w := newFixture(t)
	two := func(tool string, body ...any) toolapi.Publish {
		t.Helper()
		first := w.ok("member", tool, js(body...))
		if first.fields["serving_now"] != false {
			t.Errorf("a proposal serves: %s", first.body)
		}
		return decode[toolapi.Publish](t, w.ok("member", tool, js(append(body, "confirmation_id", first.text("confirmation_id"))...)))
	}
	site := []any{"site_id", w.demo.IDs["site_id"]}
	up := two("page.publish", site...)
	if !up.ServingNow || up.Previous == nil || !strings.HasPrefix(up.Revision, "r3-") {
		t.Errorf("%+v", up)
	}
	w.refused(toolapi.CodeRevisionLive, "member", "page.publish", js(site...))
	w.refused(toolapi.CodeRevisionUnknown, "member", "page.publish", js(append(site, "revision", "r9")...))
	if down := two("page.rollback", site...); down.Revision != *up.Previous || *down.Previous != up.Revision {
		t.Errorf("%+v", down)
	}
	fresh := []any{"site_id", w.demo.IDs["unpublished_site_id"]}
	if a := w.refused(
		toolapi.CodeRevisionUnknown, "member", "page.rollback", js(fresh...),
	); a.text("message") != "The site had no other revision live before." {
		t.Errorf("%s", a.body)
	}
	if a := w.refused(
		toolapi.CodeRevisionUnknown, "member", "page.rollback", js(append(fresh, "revision", "r9")...),
	); a.text("message") != "The site had no such revision live before." {
		t.Errorf("%s", a.body)
	}
	if first := two("page.publish", fresh...); first.Previous != nil || !first.ServingNow {
		t.Errorf("%+v", first)
	}
	w.sql("DELETE FROM revisions WHERE site_id = ?", w.demo.IDs["other_site_id"])
	w.refused(toolapi.CodeNoRevision, "member", "page.publish", js("site_id", w.demo.IDs["other_site_id"]))
}

func TestTryShape(t *testing.T) {
	w := newFixture(t)
	first := decode[toolapi.TryShape](t, w.ok("member", "shorts.try_shape", js("tile_id", w.demo.IDs["tile_id"])))
	if first.WeekSize != 8 || first.Card.Number != 8 || len(first.AlreadyTried) != 1 || first.Card.Line == "" ||
		first.Card.Source != "Northside Clay" || first.Card.Day != "Monday" {
		t.Errorf("%+v", first)
	}
	w.refused(
		toolapi.CodeTileTried, "member", "shorts.try_shape",
		js("tile_id", w.demo.IDs["tile_id"], "already_tried", first.AlreadyTried),
	)
	second := decode[toolapi.TryShape](
		t,
		w.ok(
			"member", "shorts.try_shape",
			js("tile_id", w.value("SELECT id FROM tiles WHERE competitor = 'Kiln & Co'"), "already_tried", first.AlreadyTried),
		),
	)
	if second.WeekSize != 9 || len(second.AlreadyTried) != 2 || second.Card.Title == first.Card.Title {
		t.Errorf("%+v", second)
	}
	w.refused(
		toolapi.CodeTilesExhausted, "member", "shorts.try_shape",
		js("tile_id", w.demo.IDs["tile_id"], "already_tried", strings.Split(strings.Repeat("x,", 50)+"x", ",")),
	)
	w.refused(toolapi.CodeTileUnknown, "member", "shorts.try_shape", `{"tile_id":"nope"}`)
	week := js("tile_id", w.demo.IDs["tile_id"], "board_id", w.demo.IDs["week_id"])
	if a := decode[toolapi.TryShape](t, w.ok("member", "shorts.try_shape", week)); a.WeekSize != 8 ||
		w.value("SELECT count(*) FROM week_cards") != "8" {
		t.Errorf("%+v", a)
	}
	w.refused(toolapi.CodeTileTried, "member", "shorts.try_shape", week)
	w.refused(
		toolapi.CodeWeekUnknown, "member", "shorts.try_shape",
		js("tile_id", w.demo.IDs["tile_id"], "board_id", w.demo.IDs["site_id"]),
	)
}

func TestPrimaryVariant(t *testing.T) {
	w := newFixture(t)
	child := js("childAssetId", w.demo.IDs["child_asset_id"])
	before := w.value("SELECT group_concat(status) FROM (SELECT status FROM assets ORDER BY id)")
	a := decode[toolapi.SetPrimaryVariant](t, w.ok("member", "approvals.set_primary_variant", child))
	if !a.IsPrimary || a.AssetID != w.demo.IDs["child_asset_id"] || a.Status != "draft" {
		t.Errorf("%+v", a)
	}
	if n := w.value("SELECT sum(is_primary) FROM assets"); n != "1" || w.value("SELECT id FROM assets WHERE is_primary") != a.AssetID {
		t.Errorf("%s are primary", n)
	}
	if w.value("SELECT group_concat(status) FROM (SELECT status FROM assets ORDER BY id)") != before {
		t.Error("a status changed: that is for a person")
	}
	w.refused(
		toolapi.CodeAssetIsNoVariant, "member", "approvals.set_primary_variant",
		js("childAssetId", w.value("SELECT id FROM assets WHERE parent_id IS NULL")),
	)
	for _, status := range []string{"approved", "rejected", "released"} {
		w.sql("UPDATE assets SET status = ? WHERE parent_id IS NULL", status)
		w.refused(toolapi.CodeAssetAlreadyJudged, "member", "approvals.set_primary_variant", child)
	}
}

// TestRecommendStyle: a clear difference is recommended, and noise never is.
func TestRecommendStyle(t *testing.T) {
	w := newFixture(t)
	r := decode[toolapi.RecommendStyle](t, w.ok("member", "shorts.recommend_style", ""))
	if len(r.Recommendations) != 1 || r.Recommendations[0].Name != "Warm light" || len(r.Saved) != 3 ||
		!strings.Contains(r.Recommendations[0].Why, "median") {
		t.Errorf("%+v", r)
	}
	if r := decode[toolapi.RecommendStyle](t, w.ok("pinned", "shorts.recommend_style", "")); len(r.Recommendations) != 0 ||
		len(r.Saved) != 3 {
		t.Errorf("%+v", r)
	}
	w.sql("DELETE FROM look_results WHERE id NOT IN (SELECT id FROM look_results ORDER BY id LIMIT 4)")
	if r := decode[toolapi.RecommendStyle](t, w.ok("member", "shorts.recommend_style", "")); len(r.Recommendations) != 0 {
		t.Errorf("four results are no evidence: %+v", r)
	}
	db := w.openDB()
	defer db.Close()
	random := rand.New(rand.NewPCG(1, 2))
	wrong := 0
	for range 40 { // all looks alike: a recommendation is chance
		statements := "BEGIN; DELETE FROM look_results;"
		for _, id := range w.column(db, "SELECT id FROM looks WHERE workspace_id = 1") {
			for range 15 {
				statements += fmt.Sprintf("INSERT INTO look_results (look_id, views) VALUES ('%s', %d);", id, int(1000*random.ExpFloat64()))
			}
		}
		if _, err := db.ExecContext(t.Context(), statements+"COMMIT"); err != nil {
			t.Fatal(err)
		}
		wrong += len(decode[toolapi.RecommendStyle](t, w.ok("member", "shorts.recommend_style", "")).Recommendations)
	}
	if wrong > 6 { // a twentieth of 40 is 2
		t.Errorf("%d recommendations out of noise", wrong)
	}
}

func TestSeedIsDeterministic(t *testing.T) {
	one, two := newFixture(t), newFixture(t)
	if fmt.Sprint(one.demo) != fmt.Sprint(two.demo) ||
		one.snapshot("settings", "_pages_migrations") != two.snapshot("settings", "_pages_migrations") {
		t.Error("two seeds differ")
	}
	one.restart()
	if one.snapshot("settings", "_pages_migrations") != two.snapshot("settings", "_pages_migrations") {
		t.Error("planting twice changes something")
	}
}
