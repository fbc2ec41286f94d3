//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// restoreState is the visible state of a site: the revision whose code answers, and the rows in its database.
type restoreState struct {
	revision string
	rows     string // their numbers
}

// restoreLedger records the responses to publishes and restores of a site.
type restoreLedger struct {
	*testing.T

	site, host string
	marks      map[string]string       // of the code, by revision
	points     map[string]restoreState // by id
	now        restoreState
	then       []restoreState // possible instead: there was no response
	next       int            // row, and revision
	acks       int
	done       map[string]int // acknowledged, by kind
	powerless  func() bool    // whether responses do not count any more; nil for never
}

const restoreManifest = `{"entry":"w/worker.js","routes":[{"pattern":"/api/*"}],"bindings":{"database":{"migrations":"migrations"}}}`

// restoreRevision is a revision with as many migrations as its number, each with one table.
func restoreRevision(number int) map[string]string {
	files := map[string]string{
		"migrations/0001.sql": "CREATE TABLE rows (n INTEGER PRIMARY KEY, x BLOB)",
		"w/worker.js": fmt.Sprintf(`export default { async fetch(request, env) {
			const u = new URL(request.url), n = u.searchParams.get("n");
			if (n) await env.DB.prepare("INSERT INTO rows VALUES (?, zeroblob(3000))").bind(Number(n)).run();
			const all = await env.DB.prepare("SELECT n FROM rows ORDER BY n").all();
			return new Response("mark %d: " + all.results.map((r) => r.n).join(" "));
		} }`, number),
	}
	for i := 2; i <= number; i++ {
		files[fmt.Sprintf("migrations/%04d.sql", i)] = fmt.Sprintf("CREATE TABLE t%d (x); INSERT INTO t%d VALUES (1)", i, i)
	}
	return files
}

func newRestoreLedger(t *testing.T, p *platformRun, name string) *restoreLedger {
	t.Helper()
	page := p.newPageLedger(t, name)
	l := &restoreLedger{
		T: t, site: page.site, host: page.host, marks: map[string]string{}, points: map[string]restoreState{}, done: map[string]int{},
	}
	l.next = 1
	revision := p.ship(t, l.site, restoreManifest, restoreRevision(1))
	l.marks[revision], l.now = "mark 1", restoreState{revision: revision}
	return l
}

// work adds rows, publishes and restores until a response is missing.
func (l *restoreLedger) work(p *platformRun, step func()) {
	for {
		l.then = nil
		kind, ok := "add", false
		switch n := rand.IntN(10); { //nolint:gosec // a choice
		case n < 4 || len(l.points) == 0 && n > 5:
			ok = l.addRow(p)
		case n < 6:
			kind, ok = "publish", l.publish(p)
		default:
			kind, ok = "restore", l.restore(p)
		}
		if !ok || l.isPowerless() {
			return
		}
		if len(l.then) > 0 {
			l.now = l.then[0]
		}
		l.then = nil
		l.acks++
		l.done[kind]++
		step()
	}
}

func (l *restoreLedger) addRow(p *platformRun) bool {
	l.next++
	then := l.now
	then.rows = strings.TrimSpace(fmt.Sprintf("%s %d", then.rows, l.next))
	l.then = []restoreState{then}
	v, err := p.tryRequest(http.MethodGet, l.host, fmt.Sprintf("/api/add?n=%d", l.next), "")
	if err == nil && v.status != http.StatusOK && !isStopping(v.status) && !l.isPowerless() {
		l.Errorf("a row: %d %s", v.status, v.body)
	}
	return err == nil && v.status == http.StatusOK
}

func (l *restoreLedger) isPowerless() bool { return l.powerless != nil && l.powerless() }

// isStopping reports whether a status comes from a service that is stopping.
func isStopping(status int) bool { return status == http.StatusServiceUnavailable }

func (l *restoreLedger) publish(p *platformRun) bool {
	l.next++
	number := l.next
	revision, err := p.upload(l.site, restoreManifest, restoreRevision(number))
	if err != nil {
		return false
	}
	l.marks[revision] = fmt.Sprintf("mark %d", number)
	then := l.now
	then.revision = revision
	l.then = []restoreState{then}
	o, err := p.goLive("page.publish", l.site, revision, false)
	if err == nil && !o.OK && !l.isPowerless() {
		l.Errorf("publish: %+v", o)
	}
	return err == nil && o.OK && l.learn(p)
}

func (l *restoreLedger) restore(p *platformRun) bool {
	ids := slices.Sorted(maps.Keys(l.points))
	id := ids[rand.IntN(len(ids))] //nolint:gosec // a choice
	l.then = []restoreState{l.points[id]}
	o, err := p.twice("page.restore_data", map[string]any{"site_id": l.site, "point": id, "leads": "drop"})
	if err == nil && o.Code == toolapi.CodeRevisionUnknown { // which was removed meanwhile
		l.then = nil
		return true
	}
	if err == nil && !o.OK && !l.isPowerless() {
		l.Errorf("restore %s: %+v", id, o)
	}
	return err == nil && o.OK && l.learn(p)
}

// learn records the contents of the new restore points: each has the state before the last request.
func (l *restoreLedger) learn(p *platformRun) bool {
	status, text, err := p.call(p.Keys["member"], "page.restore_points", `{"site_id":"`+l.site+`"}`)
	if err != nil || status != http.StatusOK && l.isPowerless() {
		return false
	}
	if status != http.StatusOK {
		l.Errorf("the restore points: %d %s", status, text)
		return false
	}
	var list toolapi.RestorePoints
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		l.Errorf("%v: %s", err, text)
		return false
	}
	there := map[string]bool{}
	for _, point := range list.Points {
		there[point.ID] = true
		if _, known := l.points[point.ID]; known || point.Revision == nil || point.Reason == "interval" {
			continue
		}
		l.points[point.ID] = l.now
		if *point.Revision != l.now.revision {
			l.Errorf("%s is of revision %s, and %s was live", point.ID, *point.Revision, l.now.revision)
		}
	}
	maps.DeleteFunc(l.points, func(id string, _ restoreState) bool { return !there[id] })
	return true
}

// check compares the site with the ledger: it is as before the request without a response, or as after it, completely.
func (l *restoreLedger) check(p *platformRun) {
	l.Helper()
	l.learn(p) // before the ledger gets the new state: new restore points have the old one
	live := p.liveOf(l.T, l.site)
	v := p.request(l.T, http.MethodGet, l.host, "/api/rows", "")
	mark, rows, _ := strings.Cut(v.body, ": ")
	got := restoreState{live, rows}
	if mark != l.marks[live] {
		l.Errorf("%s is live, and its code says %q, want %q", live, mark, l.marks[live])
	}
	if got != l.now && !slices.Contains(l.then, got) {
		l.Errorf("the page is %+v\nit was %+v\nand may be %+v", got, l.now, l.then)
	}
	l.now, l.then = got, nil
}

// checkPoints compares the restore points with the ledger, row by row.
func (l *restoreLedger) checkPoints(p *platformRun) {
	l.Helper()
	e := emptiedPage{platformRun: p, site: l.site}
	for id, then := range l.points {
		if got := strings.Trim(fmt.Sprint(e.rowsIn(l.T, id)), "[]"); got != then.rows {
			l.Errorf("the restore point %s has the rows %q, want %q", id, got, then.rows)
		}
	}
}

// TestRestoreKilled kills the service at random while a client publishes a site, writes to it and restores it: after each kill the site is
// as before the request without a response, or as after it, with all code and data. An acknowledged row is there, or in the restore point
// of the restore that removed it.
func TestRestoreKilled(t *testing.T) {
	acks := 8 // of publishes and restores
	if os.Getenv("PAGES_SOAK") != "" {
		acks = 100
	}
	data := t.TempDir()
	p := startPlatform(t, data)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	l := newRestoreLedger(t, p, "Restored")
	kills := 0
	for l.done["publish"]+l.done["restore"] < acks {
		left := 1 + rand.IntN(4) //nolint:gosec // a choice
		ended := make(chan struct{})
		l.work(p, func() {
			if left--; left == 0 {
				go func() {
					defer close(ended)
					<-time.After(time.Duration(rand.IntN(30)) * time.Millisecond) //nolint:gosec // a choice
					if err := p.cmd.Process.Kill(); err != nil {
						t.Error(err)
					}
				}()
			}
		})
		if left > 0 {
			t.Fatalf("the service answers no more, though it was not killed\n%s", p.stderr)
		}
		<-ended
		p.end(t, os.Kill)
		kills++
		p = startPlatform(t, data, "--port", port)
		l.check(p)
		l.checkPoints(p)
		if t.Failed() {
			t.Fatalf("%s", p.stderr)
		}
	}
	if left := leftovers(t, data); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	t.Logf("%d kills, acknowledged %v", kills, l.done)
}
