//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/restorepoint"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi"
)

// emptiedPage is a site of a service. Its second revision removed the three rows of the first one, and has one of its own.
type emptiedPage struct {
	*platformRun

	site, host    string
	first, second string // revisions
}

// emptyingRevision has the rows 1 to 3, and more migrations.
func emptyingRevision(number int, more ...string) map[string]string {
	files := restoreRevision(number)
	for i := 2; i <= number; i++ {
		delete(files, fmt.Sprintf("migrations/%04d.sql", i))
	}
	files["migrations/0001.sql"] += `; INSERT INTO rows VALUES (1, x'01'), (2, x'02'), (3, x'03'); CREATE TABLE filling (x);
		INSERT INTO filling WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300) SELECT randomblob(3000) FROM c`
	for i, text := range more {
		files[fmt.Sprintf("migrations/%04d.sql", i+2)] = text
	}
	return files
}

const emptying = "-- pages: loses rows\nDELETE FROM rows; CREATE TABLE later (x)"

func newEmptiedPage(t *testing.T, p *platformRun, name string) *emptiedPage {
	t.Helper()
	made := p.newPageLedger(t, name)
	e := &emptiedPage{platformRun: p, site: made.site, host: made.host}
	e.first = p.ship(t, e.site, restoreManifest, emptyingRevision(1))
	e.second = p.ship(t, e.site, restoreManifest, emptyingRevision(2, emptying))
	e.add(t, 9)
	return e
}

// add adds a row.
func (e *emptiedPage) add(t *testing.T, number int) {
	t.Helper()
	if v := e.request(t, http.MethodGet, e.host, fmt.Sprintf("/api/add?n=%d", number), ""); v.status != http.StatusOK {
		t.Fatalf("row %d: %d %s", number, v.status, v.body)
	}
}

// shows returns the mark of the code that answers, and the rows.
func (e *emptiedPage) shows(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(e.request(t, http.MethodGet, e.host, "/api/rows", "").body)
}

// whole compares the code, the rows and the tables of the site.
func (e *emptiedPage) whole(t *testing.T, when, shows string) {
	t.Helper()
	if got := e.shows(t); got != shows {
		t.Errorf("%s: the page shows %q, want %q", when, got, shows)
	}
	db, err := localstate.OpenDatabase(t.Context(), e.file(statefolder.SiteFile), true)
	if err != nil {
		t.Fatal(err)
	}
	var sound string
	var filling, later int
	err = db.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM filling), (SELECT count(*) FROM sqlite_schema WHERE name = "+
		"'later'), (SELECT integrity_check FROM pragma_integrity_check)").Scan(&filling, &later, &sound)
	want := 0
	if !strings.HasPrefix(shows, "mark 1:") {
		want = 1
	}
	if err := errors.Join(err, db.Close()); err != nil || filling != 300 || later != want || sound != "ok" {
		t.Errorf("%s: %d rows of filling, %d tables of later, %s; %v", when, filling, later, sound, err)
	}
}

// file is a file of the site's state.
func (e *emptiedPage) file(name string) string { return filepath.Join(e.data, "sites", e.site, name) }

// propose creates a proposal with a key, and returns the arguments that confirm it.
func (e *emptiedPage) propose(t *testing.T, key, tool string, args map[string]any) (confirm string) {
	t.Helper()
	args["site_id"] = e.site
	args["workspace"] = "acme"
	o := e.tell(t, key, tool, text(t, args))
	if !o.OK {
		t.Fatalf("%s: %+v", tool, o)
	}
	args["confirmation_id"] = o.ID
	return text(t, args)
}

func text(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// told is a response of a tool, or a refusal.
type told struct {
	outcome

	status int
	text   string
	saved  string // the restore point of a restore
}

func (e *emptiedPage) tell(t *testing.T, key, tool, arguments string) (o told) {
	t.Helper()
	var err error
	if o.status, o.text, err = e.call(e.Keys[key], tool, arguments); err != nil {
		t.Error(err)
		return o
	}
	var done struct {
		outcome

		SavedAs *string `json:"saved_as"`
	}
	if err := json.Unmarshal([]byte(o.text), &done); err != nil {
		t.Errorf("%v: %s", err, o.text)
	}
	if o.outcome = done.outcome; done.SavedAs != nil {
		o.saved = *done.SavedAs
	}
	return o
}

// points returns the restore points, the oldest first: the reason of each, and the rows in it.
func (e *emptiedPage) points(t *testing.T) (all []string) {
	t.Helper()
	o := e.tell(t, "member", "page.restore_points", `{"site_id":"`+e.site+`","workspace":"acme"}`)
	var list toolapi.RestorePoints
	if err := json.Unmarshal([]byte(o.text), &list); err != nil || !o.OK {
		t.Fatalf("%v: %s", err, o.text)
	}
	for _, p := range slices.Backward(list.Points) {
		if p.Reason == "interval" {
			continue
		}
		all = append(all, fmt.Sprint(p.ID, " ", p.Reason, " ", e.rowsIn(t, p.ID)))
	}
	return all
}

// rowsIn returns the numbers of the rows in a restore point.
func (e *emptiedPage) rowsIn(t *testing.T, point string) []int {
	t.Helper()
	file := filepath.Join(t.TempDir(), point+".db")
	store := restorepoint.Store{File: e.file(statefolder.PointsFile), Now: time.Now}
	if _, err := store.Extract(t.Context(), point, file); err != nil {
		t.Fatal(err)
	}
	db, err := localstate.OpenDatabase(t.Context(), file, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT n FROM rows ORDER BY n")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	numbers := []int{}
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	if err := errors.Join(rows.Err(), os.Remove(file)); err != nil {
		t.Fatal(err)
	}
	return numbers
}

// together makes simultaneous calls.
func together(calls ...func() told) []told {
	all := make([]told, len(calls))
	var under sync.WaitGroup
	for i, call := range calls {
		under.Go(func() { all[i] = call() })
	}
	under.Wait()
	return all
}

// TestTwoRestoresAtOnce: of two restores of a site that are confirmed at the same time, one takes effect, and the other is refused without
// effect. Two confirmations of one proposal are one restore, and get the same response.
func TestTwoRestoresAtOnce(t *testing.T) {
	e := newEmptiedPage(t, startPlatform(t, t.TempDir()), "Twice")
	other := e.tell(t, "member", "page.restore_data", e.propose(t, "member", "page.restore_data", map[string]any{"point": "p1"}))
	if !other.OK || other.saved != "p2" {
		t.Fatalf("%+v", other)
	}
	e.whole(t, "restored", "mark 1: 1 2 3")
	shown := map[string]string{"p1": "mark 1: 1 2 3", "p2": "mark 2: 9"}
	for range 4 {
		was := e.points(t)
		confirm := [2]string{
			e.propose(t, "member", "page.restore_data", map[string]any{"point": "p1", "leads": "drop"}),
			e.propose(t, "both", "page.restore_data", map[string]any{"point": "p2", "leads": "drop"}),
		}
		before := strings.Fields(strings.TrimPrefix(e.shows(t), "mark"))[1:]
		all := together(
			func() told { return e.tell(t, "member", "page.restore_data", confirm[0]) },
			func() told { return e.tell(t, "member", "page.restore_data", confirm[0]) },
			func() told { return e.tell(t, "both", "page.restore_data", confirm[1]) },
			func() told { return e.tell(t, "both", "page.restore_data", confirm[1]) },
		)
		if all[0].text != all[1].text || all[2].text != all[3].text || all[0].OK == all[2].OK {
			t.Fatalf("%+v", all)
		}
		won, lost, point := all[0], all[2], "p1"
		if all[2].OK {
			won, lost, point = all[2], all[0], "p2"
		}
		if lost.Code != toolapi.CodeConfirmationStale {
			t.Errorf("the other one: %s", lost.text)
		}
		e.whole(t, "two at once", shown[point])
		want := append(was, fmt.Sprint(won.saved, " restore [", strings.Join(before, " "), "]"))
		if got := e.points(t); !slices.Equal(got, want) {
			t.Errorf("the restore points are %q, want %q", got, want)
		}
	}
	if left := leftovers(t, e.data); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestRestoreBesidePublish: a restore that is confirmed during a publish with migrations, and the reverse, happen one after the other: the
// service refuses the second one, since its proposal is for the revision that was live before.
func TestRestoreBesidePublish(t *testing.T) {
	const migrating = "migrations-*"
	for _, c := range []struct {
		name, under string // a file that shows that the first one runs
		publishes   bool   // the first one
		shows       string
		point       string // that was made
	}{
		{"restore while a publish is under way", migrating, true, "mark 3: 9", "p2 publish [9]"},
		{"publish while a restore is under way", "restore-*.json", false, "mark 1: 1 2 3", "p2 restore [9]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEmptiedPage(t, startPlatform(t, t.TempDir()), "Beside")
			third, err := e.upload(e.site, restoreManifest,
				emptyingRevision(3, emptying, "CREATE TABLE third (x); INSERT INTO third VALUES (1)"))
			if err != nil {
				t.Fatal(err)
			}
			publish := e.propose(t, "member", "page.publish", map[string]any{"revision": third})
			restore := e.propose(t, "both", "page.restore_data", map[string]any{"point": "p1"})
			calls := []func() told{
				func() told { return e.tell(t, "member", "page.publish", publish) },
				func() told { return e.tell(t, "both", "page.restore_data", restore) },
			}
			if !c.publishes {
				slices.Reverse(calls)
			}
			release := e.write(t) // so that the first one waits
			first := make(chan told, 1)
			go func() { first <- calls[0]() }()
			for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
				found, err := filepath.Glob(e.file(c.under))
				if err == nil && len(found) > 0 {
					break
				}
				if err != nil || time.Now().After(deadline) {
					t.Fatalf("the first one has not begun: %v", err)
				}
			}
			second := make(chan told, 1)
			go func() { second <- calls[1]() }()
			if got := e.shows(t); got != "mark 2: 9" {
				t.Errorf("meanwhile: %q", got)
			}
			release()
			if o := <-first; !o.OK || !o.ServingNow {
				t.Errorf("the first one: %s\n%s", o.text, e.stderr)
			}
			if o := <-second; o.OK || o.Code != toolapi.CodeConfirmationStale {
				t.Errorf("the second one: %s", o.text)
			}
			e.whole(t, "afterwards", c.shows)
			if got, want := e.points(t), []string{"p1 publish [1 2 3]", c.point}; !slices.Equal(got, want) {
				t.Errorf("the restore points are %q, want %q", got, want)
			}
			e.add(t, 20)
			if got := e.shows(t); got != c.shows+" 20" {
				t.Errorf("with another row: %q", got)
			}
			if left := leftovers(t, e.data); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// write starts to write to the site's database, as a visitor does, until the returned function is called.
func (e *emptiedPage) write(t *testing.T) (end func()) {
	t.Helper()
	db, err := localstate.OpenDatabase(t.Context(), e.file(statefolder.SiteFile), false)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = tx.ExecContext(t.Context(), "DELETE FROM filling WHERE false")
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestRestoreBesideVisitors: rows acknowledged after a restore are live, earlier ones are in its restore point, and those in between are in
// one of both.
func TestRestoreBesideVisitors(t *testing.T) {
	e := newEmptiedPage(t, startPlatform(t, t.TempDir()), "Visited")
	const (
		before = iota
		meanwhile
		after
	)
	var mu sync.Mutex
	phase, next, told := before, 100, map[int]int{} // time of the response, by row; the earlier of both
	count := [3]int{}
	ended := make(chan struct{})
	var visitors sync.WaitGroup
	for range 3 {
		visitors.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				mu.Lock()
				next++
				n, began := next, phase
				mu.Unlock()
				v, err := e.tryRequest(http.MethodGet, e.host, fmt.Sprintf("/api/add?n=%d", n), "")
				if err != nil || v.status != http.StatusOK {
					t.Errorf("row %d: %d %s %v", n, v.status, v.body, err)
					return
				}
				mu.Lock()
				if began != phase {
					began = meanwhile
				}
				told[n] = began
				count[began]++
				mu.Unlock()
			}
		})
	}
	enough := func(in int) {
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			mu.Lock()
			n := count[in]
			mu.Unlock()
			if n >= 10 {
				return
			}
		}
		t.Errorf("the visitors wrote no ten rows")
	}
	enough(before)
	confirm := e.propose(t, "member", "page.restore_data", map[string]any{"point": "p1", "leads": "drop"})
	enter := func(next int) {
		mu.Lock()
		defer mu.Unlock()
		phase = next
	}
	enter(meanwhile)
	o := e.tell(t, "member", "page.restore_data", confirm)
	if !o.OK {
		t.Fatalf("%s\n%s", o.text, e.stderr)
	}
	enter(after)
	enough(after)
	close(ended)
	visitors.Wait()
	_, shown, _ := strings.Cut(e.shows(t), ": ")
	there, saved := map[string]bool{}, e.rowsIn(t, o.saved)
	for n := range strings.FieldsSeq(shown) {
		there[n] = true
	}
	for _, n := range []string{"1", "2", "3"} {
		if !there[n] {
			t.Errorf("row %s did not come back", n)
		}
	}
	for n, when := range told {
		is, was := there[fmt.Sprint(n)], slices.Contains(saved, n)
		if ok := map[int]bool{before: was && !is, meanwhile: was != is, after: is && !was}[when]; !ok {
			t.Errorf("row %d, told in phase %d: it is there: %v, and in %s: %v", n, when, is, o.saved, was)
		}
	}
	t.Logf("rows before, meanwhile and after: %v", count)
}
