package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

const databaseManifest = `{"bindings":{"database":{"migrations":"migrations"}}}`

// peopleHost is a host whose site s has two people in its database, each with an order that is deleted with them.
func peopleHost(t *testing.T) (h *Host, release func(more ...string) service.Release) {
	t.Helper()
	h, of := newHost(t)
	h.notice = func(error) {}
	release = func(more ...string) service.Release {
		t.Helper()
		files := map[string]string{"migrations/0001.sql": `CREATE TABLE people(id INTEGER PRIMARY KEY, email TEXT);
CREATE TABLE orders(id INTEGER PRIMARY KEY, person INTEGER NOT NULL REFERENCES people(id) ON DELETE CASCADE);
INSERT INTO people(email) VALUES ('a'), ('b'); INSERT INTO orders(person) VALUES (1), (2);`}
		for i, text := range more {
			files[fmt.Sprintf("migrations/%04d.sql", i+2)] = text
		}
		return sizedRelease(t, of("s", fmt.Sprint(len(more), more)), databaseManifest, files)
	}
	next, err := h.Prepare(t.Context(), release())
	if err != nil {
		t.Fatal(err)
	}
	next.Show()
	return h, release
}

// rowsOf counts the rows of a table of site s.
func rowsOf(t *testing.T, h *Host, table string) (n int) {
	t.Helper()
	db, err := localstate.OpenDatabase(t.Context(), filepath.Join(h.dir, "s", statefolder.SiteFile), true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// endless is a statement without an end.
const endless = "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c"

// TestRehearse: the migrations of a release run on a copy, and the site's database does not change.
func TestRehearse(t *testing.T) {
	h, release := peopleHost(t)
	for _, c := range []struct {
		name   string
		limit  func(*Host)
		more   []string
		state  toolapi.RehearsalState
		reason string
		lost   string
		code   string // of a refusal
	}{
		{name: "nothing to do", state: toolapi.RehearsalNotNeeded},
		{name: "no loss", more: []string{"CREATE TABLE t(x)"}, state: toolapi.RehearsalDone},
		{
			name: "a table is dropped", more: []string{"DROP TABLE orders"}, state: toolapi.RehearsalDone,
			lost: "[orders loses 2 rows]",
		},
		{
			name: "by cascade", more: []string{"SELECT 1;\nDELETE FROM people WHERE id = 1"}, state: toolapi.RehearsalDone,
			lost: "[orders loses 1 row people loses 1 row]",
		},
		{
			name: "a column is dropped", more: []string{"ALTER TABLE people DROP COLUMN email"}, state: toolapi.RehearsalDone,
			lost: "[people.email loses 2 values]",
		},
		{name: "it cannot be applied", more: []string{"CREATE TABLE t(x)", "CREATE TABLE people(x)"}, code: toolapi.CodeMigrationFailed},
		{name: "a text that is none", more: []string{"CREATE TABEL t(x)"}, code: toolapi.CodeMigrationFailed},
		{
			name: "an endless statement", more: []string{endless}, limit: func(h *Host) { h.limits.time = 50 * time.Millisecond },
			state: toolapi.RehearsalSkipped, reason: "takes longer than 50ms",
		},
		{
			name: "a large database", more: []string{"DROP TABLE orders"}, limit: func(h *Host) { h.limits.bytes = 1 },
			state: toolapi.RehearsalSkipped, reason: "the database has ",
		},
		{
			name: "a full disk", more: []string{"DROP TABLE orders"}, limit: func(h *Host) { h.limits.spare = 1 << 60 },
			state: toolapi.RehearsalSkipped, reason: "the service's disk has no room for copies",
		},
		{
			name: "too many at a time", more: []string{"DROP TABLE orders"}, limit: func(h *Host) { h.rehearsals = newRehearsing(0, 0) },
			state: toolapi.RehearsalSkipped, reason: "the service is rehearsing other migrations",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits, rehearsals := h.limits, h.rehearsals
			defer func() { h.limits, h.rehearsals = limits, rehearsals }()
			if c.limit != nil {
				c.limit(h)
			}
			got, err := h.Rehearse(t.Context(), release(c.more...))
			refused, _ := errors.AsType[*service.ReleaseError](err)
			switch {
			case c.code != "":
				if refused == nil || refused.Code != c.code {
					t.Errorf("%v", err)
				}
			case err != nil:
				t.Error(err)
			case got.Rehearsal.State != c.state, !strings.Contains(got.Rehearsal.Reason, c.reason),
				c.lost != "" && fmt.Sprint(toolapi.SumLosses(got.DataLoss)) != c.lost, c.lost == "" && len(got.DataLoss) > 0:
				t.Errorf("%+v %+v", got.DataLoss, got.Rehearsal)
			}
			if people, orders := rowsOf(t, h, "people"), rowsOf(t, h, "orders"); people != 2 || orders != 2 {
				t.Errorf("the site's database was changed: %d people, %d orders", people, orders)
			}
			if left, err := os.ReadDir(filepath.Join(h.dir, "s", "previews")); err != nil || len(left) > 0 {
				t.Errorf("the rehearsal left %v %v", left, err)
			}
		})
	}
}

// TestRehearseWithoutADatabase: a site that was never published, and migrations that are not uploaded.
func TestRehearseWithoutADatabase(t *testing.T) {
	h, _ := newHost(t)
	r := service.Release{Site: "new", WorkspaceID: 1, Proposed: &service.ProposedMigrations{
		Files: []service.ProposedMigration{
			{Name: "1.sql", Text: []byte("CREATE TABLE a(x)")}, {Name: "2.sql", Text: []byte("INSERT INTO a VALUES (1)")},
		},
	}}
	got, err := h.Rehearse(t.Context(), r)
	if err != nil || fmt.Sprint(got.Rehearsal.Tables) != "[{a 0 1}]" || len(got.Rehearsal.Files) != 2 {
		t.Errorf("%+v %v", got.Rehearsal, err)
	}
	r.Proposed.Tables = []string{"b"}
	if _, err := h.Rehearse(t.Context(), r); err == nil || !strings.Contains(err.Error(), `the table "b"`) {
		t.Errorf("%v", err)
	}
	r.Proposed = &service.ProposedMigrations{
		Folder: "drizzle", Files: []service.ProposedMigration{{Name: "1.sql", Text: []byte("NONSENSE")}},
	}
	if _, err := h.Rehearse(t.Context(), r); err == nil || !strings.Contains(err.Error(), "A migration failed: drizzle/1.sql:1:1: ") {
		t.Errorf("%v", err)
	}
}

// TestMigrationsAreJudged: a refusal after the migrations ran rolls all of them back, and so does a file that fails.
func TestMigrationsAreJudged(t *testing.T) {
	h, release := peopleHost(t)
	refusal := errors.New("not agreed to")
	r := release("CREATE TABLE t(x)", "DELETE FROM people")
	var judged toolapi.Migrated
	r.Judge = func(m toolapi.Migrated) error { judged = m; return refusal }
	if _, err := h.Prepare(t.Context(), r); !errors.Is(err, refusal) {
		t.Errorf("%v", err)
	}
	if got := fmt.Sprint(toolapi.SumLosses(judged.DataLoss)); got != "[orders loses 2 rows people loses 2 rows]" {
		t.Errorf("judged %s", got)
	}
	failing := release("CREATE TABLE t(x)", "DELETE FROM people", "CREATE TABLE people(x)")
	_, err := h.Prepare(t.Context(), failing)
	refused, _ := errors.AsType[*service.ReleaseError](err)
	if refused == nil || refused.Code != toolapi.CodeMigrationFailed || strings.Contains(refused.Message, "stand") {
		t.Errorf("%v", err)
	}
	if rowsOf(t, h, "people") != 2 || rowsOf(t, h, "orders") != 2 || rowsOf(t, h, "sqlite_schema WHERE name = 't'") != 0 ||
		rowsOf(t, h, "_pages_migrations") != 1 {
		t.Error("a part of the migrations stands")
	}
	r.Judge = func(toolapi.Migrated) error { return nil }
	next, err := h.Prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if m := next.Migrated(); len(m.DataLoss) != 2 || m.Rehearsal.State != toolapi.RehearsalDone || rowsOf(t, h, "people") != 2 {
		t.Errorf("%+v", m)
	}
	next.Discard()
	if next, err = h.Prepare(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	next.Show()
	if n := rowsOf(t, h, "people"); n != 0 {
		t.Errorf("%d people are left", n)
	}
}

// TestMigrationsAreNotJudgedBlindly: without room for a copy, the release decides with that knowledge.
func TestMigrationsAreNotJudgedBlindly(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		limit        func(*Host)
	}{
		{"no room", "the service's disk has no room for copies", func(h *Host) { h.limits.spare = 1 << 60 }},
		{"others", othersRehearse, func(h *Host) { h.judging = newRehearsing(0, 0) }},
		{"too large", "the database has ", func(h *Host) { h.bounds.Bytes = 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, release := peopleHost(t)
			c.limit(h)
			r := release("DELETE FROM orders")
			refusal := errors.New("not agreed to")
			r.Judge = func(m toolapi.Migrated) error {
				if m.Rehearsal.State != toolapi.RehearsalSkipped || !strings.HasPrefix(m.Rehearsal.Reason, c.reason) {
					t.Errorf("%+v", m.Rehearsal)
				}
				return refusal
			}
			if _, err := h.Prepare(t.Context(), r); !errors.Is(err, refusal) || rowsOf(t, h, "orders") != 2 {
				t.Errorf("%v", err)
			}
			r.Judge = func(toolapi.Migrated) error { return nil }
			next, err := h.Prepare(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			next.Show()
			if n := rowsOf(t, h, "orders"); n != 0 {
				t.Errorf("%d orders are left", n)
			}
		})
	}
}

// TestRehearsalsAreBounded: each workspace has one rehearsal at a time, and none waits for another workspace.
func TestRehearsalsAreBounded(t *testing.T) {
	r := newRehearsing(2, 0)
	first := r.enter(t.Context(), 1)
	if first == nil || r.enter(t.Context(), 1) != nil {
		t.Fatal("two of one workspace run at a time")
	}
	second := r.enter(t.Context(), 2)
	if second == nil || r.enter(t.Context(), 3) != nil {
		t.Fatal("three run at a time")
	}
	first()
	if r.enter(t.Context(), 3) == nil {
		t.Error("a place that is free is not given")
	}
}
