package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/toolapi"
)

// restorable is a host with a site that serves the revision "next", and restore points from before that.
func restorable(t *testing.T) (w *fixture, host *fakeHost, site, old, next string) {
	t.Helper()
	w, host = newHostedFixture(t)
	site = w.demo.IDs["site_id"]
	old = w.value("SELECT live_revision FROM sites WHERE id = ?", site)
	w.sql("UPDATE revisions SET bundle_id = (SELECT max(id) FROM bundles) WHERE bundle_id IS NULL AND site_id = ?", site)
	next = w.revisionOf("next")
	args := []any{"site_id", site, "revision", next}
	id := w.ok("member", "page.publish", js(args...)).text("confirmation_id")
	w.ok("member", "page.publish", js(append(args, "confirmation_id", id)...))
	gone := "r0-gone"
	point := func(id, at, reason string, before, revision *string) toolapi.RestorePoint {
		return toolapi.RestorePoint{
			ID: id, At: at, Reason: toolapi.RestoreReason(reason), Before: before, Revision: revision,
			Migrations: []string{}, Tables: []toolapi.RestoreTable{},
		}
	}
	host.points = []toolapi.RestorePoint{
		point("p4", "2026-11-22T13:00:00Z", "interval", nil, &next),
		point("p3", "2026-11-22T12:00:00Z", "publish", &next, &next),
		point("p2", "2026-11-21T12:00:00Z", "restore", nil, &gone),
		point("p1", "2026-11-20T12:00:00Z", "interval", nil, nil),
	}
	return w, host, site, old, next
}

// TestRestorePointIsFound: a point is named by its id, by the revision that it was made before, or by a time.
func TestRestorePointIsFound(t *testing.T) {
	w, _, site, _, next := restorable(t)
	number, _, _ := strings.Cut(next, "-")
	for _, c := range []struct {
		name, point string // "" for a refusal
		code        string
		args        []any
	}{
		{name: "id", args: []any{"point", "p3"}, point: "p3"},
		{name: "revision", args: []any{"before_revision", next}, point: "p3"},
		{name: "its number", args: []any{"before_revision", number}, point: "p3"},
		{name: "time", args: []any{"at", "2026-11-22T12:59:59Z"}, point: "p3"},
		{name: "that time", args: []any{"at", "2026-11-22T14:00:00+01:00"}, point: "p4"},
		{name: "too early", args: []any{"at", "2026-11-01T12:00:00Z"}, code: toolapi.CodeRestorePointUnknown},
		{name: "no time", args: []any{"at", "yesterday"}, code: toolapi.CodeInvalidArguments},
		{name: "no such id", args: []any{"point", "p9"}, code: toolapi.CodeRestorePointUnknown},
		{name: "no id", args: []any{"point", "9"}, code: toolapi.CodeInvalidArguments},
		{name: "no such revision", args: []any{"before_revision", "r99"}, code: toolapi.CodeRestorePointUnknown},
		{name: "nothing", code: toolapi.CodeInvalidArguments},
		{name: "two ways", args: []any{"point", "p3", "before_revision", next}, code: toolapi.CodeInvalidArguments},
		{name: "a revision that is gone", args: []any{"point", "p2"}, code: toolapi.CodeRevisionUnknown},
		{name: "which stays live", args: []any{"point", "p2", "revision", "live"}, point: "p2"},
		{name: "an unknown one", args: []any{"point", "p1"}, code: toolapi.CodeRevisionUnknown},
		{
			name: "tables with the code of then", args: []any{"point", "p3", "tables", []string{"a"}, "revision", "point"},
			code: toolapi.CodeTablesUnfit,
		},
		{name: "tables", args: []any{"point", "p1", "tables", []string{"a"}}, point: "p1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.in(t)
			args := js(append([]any{"site_id", site}, c.args...)...)
			if c.code != "" {
				w.refused(c.code, "member", "page.restore_data", args)
				return
			}
			a := w.ok("member", "page.restore_data", args)
			if got := string(a.body); !strings.Contains(got, `"point":{"id":"`+c.point+`"`) {
				t.Errorf("%s", got)
			}
		})
	}
	w.refused(toolapi.CodeSiteUnknown, "member", "page.restore_points", js("site_id", w.demo.IDs["board_id"]))
	w.refused(toolapi.CodeSiteUnknown, "member", "page.restore_data", js("site_id", w.demo.IDs["board_id"], "point", "p1"))
	if got := string(w.ok("member", "page.restore_points", js("site_id", site)).body); !strings.Contains(got, `"max_points":10`) ||
		strings.Index(got, `"p4"`) > strings.Index(got, `"p1"`) {
		t.Errorf("%s", got)
	}
}

// TestRestoreIsDecided: the second call names the restore, takes the migrations of then and returns the losses; a repeated one repeats
// that.
func TestRestoreIsDecided(t *testing.T) {
	w, host, site, _, next := restorable(t)
	w.sql("INSERT INTO site_migrations VALUES (?, '0002.sql')", site)
	args := []any{"site_id", site, "point", "p3"}
	back := losing("people 2 allowed")
	back.DataLoss[0].Cause = toolapi.CauseRestoreValues
	host.set(back)
	if got := w.ok("member", "page.restore_data", js(args...)).text("request_summary"); !strings.HasSuffix(got,
		". people: 2 rows back to their values at that time.") {
		t.Errorf("%s", got)
	}
	host.set(losing("people 2 allowed"))
	proposed := w.ok("member", "page.restore_data", js(args...))
	id := proposed.text("confirmation_id")
	if got := proposed.text("request_summary"); !strings.HasSuffix(got, ". people loses 2 rows.") ||
		!strings.Contains(got, "to restore point p3 of") {
		t.Errorf("%s", got)
	}
	if got := w.value("SELECT coalesce(restore_id, 'none') FROM sites WHERE id = ?", site); got != "none" {
		t.Errorf("proposed, and decided is %s", got)
	}
	confirmed := js(append(args, "confirmation_id", id)...)
	done := w.ok("member", "page.restore_data", confirmed)
	if got := string(done.body); !strings.Contains(got, `"saved_as":"p9"`) || !strings.Contains(got, `"table":"people","rows":2`) ||
		done.text("revision") != next {
		t.Errorf("%s", got)
	}
	const decided = "SELECT restore_id || (SELECT count(*) FROM site_migrations WHERE site_id = sites.id) FROM sites WHERE id = ?"
	if got := w.value(decided, site); got != id+"0" {
		t.Errorf("decided is %s", got)
	}
	if again := w.ok("member", "page.restore_data", confirmed); string(again.body) != string(done.body) {
		t.Errorf("again: %s", again.body)
	}
	if got := len(strings.Fields(host.shownRevisions())); got != 2 {
		t.Errorf("%d were shown", got)
	}
}

// TestRestoreIsHeld: at the second call no table loses rows that the proposal did not show; more rows of those that it showed
// may go.
func TestRestoreIsHeld(t *testing.T) {
	testmachine.Unraced(t)
	for _, c := range []struct {
		name      string
		then, now toolapi.Migrated
		refused   bool
	}{
		{"the same", losing("people 2 allowed"), losing("people 2 allowed"), false},
		{"more rows", losing("people 2 allowed"), losing("people 9 allowed"), false},
		{"fewer", losing("people 2 allowed", "orders 1 allowed"), losing("people 1 allowed"), false},
		{"another table", losing("people 2 allowed"), losing("people 2 allowed", "orders 1 allowed"), true},
		{"not looked at", skipped("the database has 12 GB"), losing("people 2 allowed"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, host, site, _, _ := restorable(t)
			host.set(c.then)
			args := []any{"site_id", site, "point", "p3"}
			id := w.ok("member", "page.restore_data", js(args...)).text("confirmation_id")
			host.set(c.now)
			confirmed := js(append(args, "confirmation_id", id)...)
			if !c.refused {
				w.ok("member", "page.restore_data", confirmed)
				return
			}
			before := w.snapshot("audit", "keys")
			w.refused(toolapi.CodeDataLoss, "member", "page.restore_data", confirmed)
			if w.snapshot("audit", "keys") != before {
				t.Error("it did something")
			}
		})
	}
}

// TestRestoreIntoPreview: the link is made by the second call, and kept without its token; the page stays.
func TestRestoreIntoPreview(t *testing.T) {
	w, host, site, _, next := restorable(t)
	host.set(losing())
	args := []any{"site_id", site, "point", "p3", "into", "preview"}
	id := w.ok("member", "page.restore_data", js(args...)).text("confirmation_id")
	confirmed := js(append(args, "confirmation_id", id)...)
	done := string(w.ok("member", "page.restore_data", confirmed).body)
	path := done[strings.Index(done, "/__preview/"):]
	path = path[:strings.Index(path, `"`)]
	if len(path) < 40 || strings.Contains(w.value("SELECT answer FROM proposals WHERE id = ?", id), path) {
		t.Errorf("%s is kept as %s", path, w.value("SELECT answer FROM proposals WHERE id = ?", id))
	}
	if again := string(w.ok("member", "page.restore_data", confirmed).body); again != done {
		t.Errorf("again: %s\nwas: %s", again, done)
	}
	got := w.value("SELECT restore || revision || (SELECT coalesce(restore_id, ' none') FROM sites WHERE id = site_id) "+
		"FROM previews WHERE site_id = ? ORDER BY created_at DESC LIMIT 1", site)
	if want := fmt.Sprintf(`{"point":"p3","keep_leads":true}%s none`, next); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := len(strings.Fields(host.shownRevisions())); n != 1 {
		t.Errorf("%d were shown", n)
	}
}

// TestPointOfEarlierVersion: for a point without a known revision, the service finds the one that was live, by the publishes and the
// point's migrations.
func TestPointOfEarlierVersion(t *testing.T) {
	w, host, site, _, _ := restorable(t)
	const manifest = `{"bindings":{"database":{"migrations":"migrations"}}}`
	revisions := []string{}
	files := []string{}
	for n := range 2 {
		files = append(files, fmt.Sprintf("migrations/%04d.sql=CREATE TABLE t%d (x)", n+1, n))
		revisions = append(revisions, w.upload(site, manifest, files...))
		w.publish(site, revisions[n])
		w.pass(time.Hour)
	}
	at := w.value("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', max(at) / 1000, 'unixepoch') FROM publishes WHERE site_id = ?", site)
	point := func(id string, migrations ...string) toolapi.RestorePoint {
		return toolapi.RestorePoint{ID: id, At: at, Reason: "publish", Migrations: migrations, Tables: []toolapi.RestoreTable{}}
	}
	host.points = []toolapi.RestorePoint{point("p2", "0001.sql", "0002.sql"), point("p1", "0001.sql")}
	got := string(w.ok("member", "page.restore_data", js("site_id", site, "before_revision", revisions[1])).body)
	if !strings.Contains(got, `"point":{"id":"p1"`) || !strings.Contains(got, `"revision":"`+revisions[0]+`"`) {
		t.Errorf("%s", got)
	}
	got = string(w.ok("member", "page.restore_data", js("site_id", site, "point", "p2")).body)
	if !strings.Contains(got, `"before":null,"revision":"`+revisions[1]+`"`) {
		t.Errorf("%s", got)
	}
}

// TestRollbackNamesRestore: a rollback to before the migrations of the database names the restore that brings back the requested code: the
// one from before the revision that took its place, and not the one from before the live revision.
func TestRollbackNamesRestore(t *testing.T) {
	w, _, site, _, _ := restorable(t)
	var files, revisions []string
	for n := range 3 {
		files = append(files, fmt.Sprintf("migrations/%04d.sql=CREATE TABLE t%d (x)", n+1, n))
		revisions = append(revisions, w.upload(site, `{"bindings":{"database":{"migrations":"migrations"}}}`, files...))
		w.publish(site, revisions[n])
	}
	for i, before := range revisions[1:] {
		refused := w.refused(toolapi.CodeSchemaAhead, "member", "page.rollback", js("site_id", site, "revision", revisions[i]))
		if want := fmt.Sprintf(`page.restore_data with before_revision: \"%s\"`, before); !strings.Contains(string(refused.body), want) {
			t.Errorf("back to %s: %s", revisions[i], refused.body)
		}
	}
}
