package host

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// restoreID is the id of a restore.
const restoreID = "00000000-0000-4000-8000-000000000001"

// putBack is a release that restores p1.
func putBack(r service.Release, more ...string) service.Release {
	r.Restore = &service.Restoration{ID: restoreID, Point: "p1", Tables: more, KeepLeads: true}
	return r
}

// emptied is a host whose site s had two people with two orders before r2 removed them.
func emptied(t *testing.T) (h *Host, release func(more ...string) service.Release) {
	t.Helper()
	h, release = peopleHost(t)
	r := release("DELETE FROM people")
	r.Revision, r.Live = "r2", "r1"
	next, err := h.Prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	next.Show()
	if n := rowsOf(t, h, "people"); n != 0 {
		t.Fatalf("%d people are left", n)
	}
	return h, release
}

func pointsOf(t *testing.T, h *Host) string {
	t.Helper()
	all, err := h.RestorePoints(t.Context(), "s", false)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, p := range all.Points {
		before, live := "-", "-"
		if p.Before != nil {
			before = *p.Before
		}
		if p.Revision != nil {
			live = *p.Revision
		}
		var rows int64
		for _, t := range p.Tables {
			rows += t.Rows
		}
		said = append(said, fmt.Sprintf("%s %s before %s live %s %d rows", p.ID, p.Reason, before, live, rows))
	}
	return strings.Join(said, "; ")
}

// TestRestore: a publish makes a restore point, and a restore brings its rows back, and first makes its own point.
func TestRestore(t *testing.T) {
	h, release := emptied(t)
	if got := pointsOf(t, h); got != "p1 publish before r2 live r1 4 rows" {
		t.Errorf("%s", got)
	}
	r := putBack(release())
	r.Live = "r2"
	planned, err := h.Rehearse(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprintf("%s%v%v", planned.Rehearsal.State, planned.DataLoss, planned.Rehearsal.Tables)
	if got := said; got != "done[][{orders 0 2} {people 0 2}]" {
		t.Errorf("%s", got)
	}
	next, err := h.Prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	restored := next.Restored()
	if restored == nil || restored.Saved != "p2" || fmt.Sprint(restored.Migrations) != "[0001.sql]" {
		t.Errorf("%+v", restored)
	}
	if n := rowsOf(t, h, "people"); n != 0 {
		t.Errorf("before it is decided there are %d people", n)
	}
	next.Show()
	if n := rowsOf(t, h, "people") + rowsOf(t, h, "orders"); n != 4 {
		t.Errorf("%d rows came back", n)
	}
	if got := pointsOf(t, h); got != "p2 restore before p1 live r2 0 rows; p1 publish before r2 live r1 4 rows" {
		t.Errorf("%s", got)
	}
	if left := restoreFiles(t, h); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// restoreFiles are the files of unfinished restores.
func restoreFiles(t *testing.T, h *Host) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(h.dir, "s", restorePrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// TestRestoreShowsLosses: newer data is reported before and after; a table that was not shown does not change.
func TestRestoreShowsLosses(t *testing.T) {
	for _, c := range []struct {
		name, since string
		more        []string // migrations of the revision that goes live
		tables      []string
		lost        string
		code        string
	}{
		{name: "rows that came", since: "INSERT INTO people VALUES (7, 'new')", lost: "[people 1 restore]"},
		{name: "values", since: "INSERT INTO people VALUES (1, 'new')", lost: "[people 1 restore values]"},
		{
			name: "migrations that run again", more: []string{"DELETE FROM people"}, since: "INSERT INTO people VALUES (7, 'new')",
			lost: "[people 1 restore orders 2 cascade people 2 delete]",
		},
		{name: "one table", tables: []string{"people"}, since: "INSERT INTO people VALUES (7, 'new')", lost: "[people 1 restore]"},
		{
			name: "another table by a trigger", tables: []string{"people"},
			since: "INSERT INTO people VALUES (7, 'new'); CREATE TABLE notes (id INTEGER PRIMARY KEY); INSERT INTO notes VALUES (1); " +
				"CREATE TRIGGER gone AFTER DELETE ON people BEGIN DELETE FROM notes; END",
			lost: "[notes 1 restore people 1 restore]",
		},
		{name: "a key would break", tables: []string{"orders"}, since: "SELECT 1", code: toolapi.CodeTablesUnfit},
		{name: "no such table", tables: []string{"nothing"}, since: "SELECT 1", code: toolapi.CodeTablesUnfit},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, release := emptied(t)
			execute(t, h, c.since)
			r := putBack(release(c.more...), c.tables...)
			planned, err := h.Rehearse(t.Context(), r)
			if c.code != "" {
				if refused, ok := errors.AsType[*service.ReleaseError](err); !ok || refused.Code != c.code {
					t.Errorf("planned: %v", err)
				}
				before := dumpOf(t, h)
				_, err := h.Prepare(t.Context(), r)
				if refused, ok := errors.AsType[*service.ReleaseError](err); !ok || refused.Code != c.code || dumpOf(t, h) != before {
					t.Errorf("prepared: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := lostBy(planned); got != c.lost {
				t.Errorf("%s, want %s", got, c.lost)
			}
			judged := ""
			r.Judge = func(m toolapi.Migrated) error {
				judged = lostBy(m)
				return &service.ReleaseError{Code: "other"}
			}
			before := dumpOf(t, h)
			if _, err := h.Prepare(t.Context(), r); err == nil || dumpOf(t, h) != before || len(restoreFiles(t, h)) > 0 {
				t.Errorf("refused in the end: %v, %q", err, restoreFiles(t, h))
			}
			if !strings.HasPrefix(c.lost, strings.TrimSuffix(judged, "]")) || judged == "[]" {
				t.Errorf("judged is %s, and planned %s", judged, c.lost)
			}
			if len(c.tables) > 0 && judged != c.lost {
				t.Errorf("judged is %s, and planned %s", judged, c.lost)
			}
			execute(t, h, "INSERT INTO people VALUES (99, 'the lock is free')")
		})
	}
}

func lostBy(m toolapi.Migrated) string {
	var lost []string
	for _, l := range m.DataLoss {
		lost = append(lost, fmt.Sprintf("%s %d %s", l.Table, l.Rows, l.Cause))
	}
	return fmt.Sprint(lost)
}

func execute(t *testing.T, h *Host, statement string) {
	t.Helper()
	db, err := localstate.OpenDatabase(t.Context(), filepath.Join(h.dir, "s", statefolder.SiteFile), false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// dumpOf is all rows of site s.
func dumpOf(t *testing.T, h *Host) string {
	t.Helper()
	db, err := localstate.OpenDatabase(t.Context(), filepath.Join(h.dir, "s", statefolder.SiteFile), true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var people, orders sql.NullString
	err = db.QueryRowContext(t.Context(), "SELECT (SELECT group_concat(id || coalesce(email, '')) FROM people), "+
		"(SELECT group_concat(id || person) FROM orders)").Scan(&people, &orders)
	if err != nil {
		t.Fatal(err)
	}
	return people.String + "|" + orders.String
}

// copyFolder copies a data folder as a power cut leaves it: all written bytes, and no process.
func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return to
}

// TestRestoreCutOff cuts the power between each two steps of a restore: after a restart, an undecided restore has no effect, and a decided
// one has its whole effect.
func TestRestoreCutOff(t *testing.T) {
	for _, tables := range [][]string{nil, {"people", "orders"}} {
		t.Run(fmt.Sprint(tables), func(t *testing.T) {
			h, release := emptied(t)
			execute(t, h, "INSERT INTO people VALUES (7, 'new')")
			r := putBack(release(), tables...)
			if len(tables) > 0 {
				r.Revision = "r2" // its code stays
				r = putBack(release("DELETE FROM people"), tables...)
			}
			const old, restored = "7new|", "1a,2b|11,22"
			var cuts []string
			r.Judge = func(toolapi.Migrated) error {
				cuts = append(cuts, copyFolder(t, filepath.Dir(h.dir)))
				return nil
			}
			next, err := h.Prepare(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			cuts = append(cuts, copyFolder(t, filepath.Dir(h.dir)))
			next.Show()
			cuts = append(cuts, copyFolder(t, filepath.Dir(h.dir)))
			if got := dumpOf(t, h); got != restored {
				t.Errorf("without a cut: %s", got)
			}
			for i, dir := range cuts {
				for _, decided := range []bool{false, true} {
					if i == 0 && decided || i == 2 && !decided {
						continue // it is decided between Prepare and Show
					}
					name := fmt.Sprintf("cut %d, decided %v", i, decided)
					again, _ := newHostIn(t, copyFolder(t, dir))
					after := r
					after.Restore, after.Judge, after.Files = nil, nil, r.Files
					if decided {
						after.LastRestore = restoreID
					} else {
						after = release("DELETE FROM people")
					}
					after.Force = true
					for range 2 { // the second finds no unfinished restore
						next, err := again.Prepare(t.Context(), after)
						if err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						next.Show()
						want := old
						if decided {
							want = restored
						}
						if got := dumpOf(t, again); got != want {
							t.Errorf("%s: %s, want %s", name, got, want)
						}
						if left := restoreFiles(t, again); len(left) > 0 {
							t.Errorf("%s: left are %q", name, left)
						}
					}
				}
			}
		})
	}
}

// TestRestoreKeepsWrites: a row that was acknowledged after a restore stays, even if the process of the restore was killed before it knew
// the result.
func TestRestoreKeepsWrites(t *testing.T) {
	h, release := emptied(t)
	r := putBack(release())
	next, err := h.Prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	before := copyFolder(t, filepath.Dir(h.dir)) // with the files of the restore
	next.Show()
	execute(t, h, "INSERT INTO people VALUES (50, 'after')")
	dir := copyFolder(t, filepath.Dir(h.dir))
	for _, name := range []string{dataFile(restoreID), restorePrefix + restoreID + ".json"} {
		text, err := os.ReadFile(filepath.Join(before, "sites", "s", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "sites", "s", name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	again, _ := newHostIn(t, dir)
	r.Restore, r.LastRestore = nil, restoreID
	if next, err = again.Prepare(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	next.Show()
	if got := dumpOf(t, again); got != "1a,2b,50after|11,22" {
		t.Errorf("%s", got)
	}
}

// TestDamagedPoint: a point with a changed byte is refused, and nothing is restored; the next publish begins a new store beside
// the damaged one.
func TestDamagedPoint(t *testing.T) {
	h, release := emptied(t)
	file := filepath.Join(h.dir, "s", statefolder.PointsFile)
	db, err := localstate.OpenDatabase(t.Context(), file, false)
	if err == nil {
		_, err = db.ExecContext(t.Context(), "UPDATE contents SET bytes = CAST(substr(bytes, 1, 100) || x'01' || "+
			"substr(bytes, 102) AS BLOB)")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before := dumpOf(t, h)
	for _, call := range []func() error{
		func() error { _, err := h.Rehearse(t.Context(), putBack(release())); return err },
		func() error { _, err := h.Prepare(t.Context(), putBack(release())); return err },
	} {
		if refused, ok := errors.AsType[*service.ReleaseError](call()); !ok || refused.Code != toolapi.CodeRestorePointDamaged {
			t.Errorf("%v", refused)
		}
	}
	if dumpOf(t, h) != before || len(restoreFiles(t, h)) > 0 {
		t.Errorf("%s, %q", dumpOf(t, h), restoreFiles(t, h))
	}
	if err := os.WriteFile(file, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.RestorePoints(t.Context(), "s", false); err == nil {
		t.Error("a store that is damaged was listed")
	}
	r := release("DELETE FROM people", "CREATE TABLE t (x)")
	r.Revision, r.Live = "r3", "r2"
	next, err := h.Prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	next.Show()
	if got := pointsOf(t, h); got != "p1 publish before r3 live r2 0 rows" {
		t.Errorf("%s", got)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "s", statefolder.DamagedPointsFile)); err != nil {
		t.Error(err)
	}
}

// TestPointsWhileWritten: a site with new writes gets one point at the end of the interval.
func TestPointsWhileWritten(t *testing.T) {
	h, _ := peopleHost(t)
	var mu sync.Mutex
	now := time.Now()
	h.o.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	for _, c := range []struct {
		name  string
		write bool
		pass  time.Duration
		want  int
	}{
		{"the first look", true, 0, 0},
		{"too soon", false, pointInterval - time.Second, 0},
		{"in time", false, time.Second, 1},
		{"nothing new", false, pointInterval, 1},
		{"too soon again", true, time.Second, 2},
		{"not yet", true, time.Minute, 2},
		{"then", false, pointInterval, 3},
	} {
		if c.write {
			execute(t, h, "INSERT INTO people (email) VALUES ('x')")
		}
		mu.Lock()
		now = now.Add(c.pass)
		mu.Unlock()
		h.addDuePoints(t.Context())
		all, err := h.RestorePoints(t.Context(), "s", false)
		if err != nil || len(all.Points) != c.want {
			t.Errorf("%s: %d points, want %d; %v", c.name, len(all.Points), c.want, err)
		}
	}
}

// TestPreviewOfPoint: a preview shows the data of a restore point, and the site keeps its own.
func TestPreviewOfPoint(t *testing.T) {
	h, release := emptied(t)
	r := putBack(release())
	r.Preview, r.Restore.Harmless = true, true
	preview := h.place(h.previews, "p", "")
	if err := preview.open(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := preview.database.QueryRowContext(t.Context(), "SELECT count(*) FROM people").Scan(&n); err != nil || n != 2 {
		t.Errorf("the preview has %d people, %v", n, err)
	}
	if n := rowsOf(t, h, "people"); n != 0 {
		t.Errorf("the site has %d people", n)
	}
	h.EndPreview("p")
}

// TestRestoreUnderWrites restores a point again and again while others write: each acknowledged row is there at the end, or in a restore
// point that a restore made.
func TestRestoreUnderWrites(t *testing.T) {
	h, release := emptied(t)
	s := h.site("s")
	acknowledged := map[int64]bool{}
	var mu sync.Mutex
	done := make(chan struct{})
	var writers sync.WaitGroup
	for range 3 {
		writers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				mu.Lock()
				id := int64(1000 + len(acknowledged))
				acknowledged[id] = false
				mu.Unlock()
				if _, err := s.database.ExecContext(t.Context(), "INSERT INTO people (id) VALUES (?)", id); err == nil {
					mu.Lock()
					acknowledged[id] = true
					mu.Unlock()
				}
			}
		})
	}
	for i := range 8 {
		r := putBack(release())
		r.Restore.ID, r.Restore.KeepLeads = fmt.Sprintf("00000000-0000-4000-8000-%012d", i), false
		next, err := h.Prepare(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		next.Show()
	}
	close(done)
	writers.Wait()
	found := map[int64]bool{}
	collect := func(file string) {
		db, err := localstate.OpenDatabase(t.Context(), file, true)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		rows, err := db.QueryContext(t.Context(), "SELECT id FROM people")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			found[id] = true
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	collect(filepath.Join(s.dir, statefolder.SiteFile))
	all, err := h.RestorePoints(t.Context(), "s", false)
	if err != nil || len(all.Points) != 9 {
		t.Fatalf("%d points, %v", len(all.Points), err)
	}
	for _, p := range all.Points {
		file := filepath.Join(t.TempDir(), p.ID)
		if _, err := h.pointsOf(s.dir).Extract(t.Context(), p.ID, file); err != nil {
			t.Fatal(err)
		}
		collect(file)
	}
	n := 0
	for id, ok := range acknowledged {
		if ok && !found[id] {
			t.Errorf("row %d was acknowledged, and is nowhere", id)
		}
		if ok {
			n++
		}
	}
	t.Logf("%d rows acknowledged", n)
}
