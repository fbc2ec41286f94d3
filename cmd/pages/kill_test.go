package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestKilled kills the dev server while forms are posted: every lead that was
// acknowledged is there afterwards, once, with its row and its events.
func TestKilled(t *testing.T) {
	rounds := 10
	switch {
	case os.Getenv("PAGES_SOAK") != "":
		rounds = 500
	case testing.Short():
		rounds = 1
	}
	dir := copyExample(t, "riverside")
	acknowledged := map[string]bool{}
	for round := range rounds {
		d := startDev(t, dir)
		var (
			mu      sync.Mutex
			posters sync.WaitGroup
			enough  = make(chan struct{})
			once    sync.Once
			most    = len(acknowledged) + 10 + rand.IntN(30) //nolint:gosec // a choice
		)
		for n := range 4 {
			posters.Go(func() {
				for i := 0; ; i++ {
					name := fmt.Sprintf("round %d poster %d post %d", round, n, i)
					form := url.Values{"form": {"membership"}, "name": {name}, "email": {"a@example.org"}}
					resp, err := d.client.Post(d.URL+"/__pages/forms", "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
					if err != nil {
						return // killed
					}
					resp.Body.Close()
					if resp.StatusCode == http.StatusSeeOther || resp.StatusCode == http.StatusCreated {
						mu.Lock()
						acknowledged[name] = true
						if len(acknowledged) >= most {
							once.Do(func() { close(enough) })
						}
						mu.Unlock()
					}
				}
			})
		}
		<-enough
		if err := d.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		posters.Wait()
		_ = d.cmd.Wait() // killed
	}
	d := startDev(t, dir) // brings home what was pending
	count := map[string]int{}
	for _, l := range d.leads("membership") {
		name := fieldOf(t, l, "name")
		count[name]++
		if got := strings.Join(l.Events, " "); got != "pages.lead.captured custom.membership_requested" {
			t.Errorf("%s: events %q", name, got)
		}
		if l.Submission.Status != "written" {
			t.Errorf("%s: submission %+v", name, l.Submission)
		}
	}
	for name := range acknowledged {
		if count[name] != 1 {
			t.Errorf("%s is there %d times", name, count[name])
		}
	}
	for name, times := range count {
		if times != 1 {
			t.Errorf("%s is there %d times, and was not acknowledged", name, times)
		}
	}
	var rows, names int
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, ".pages", "state", "site.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(`SELECT count(*), count(DISTINCT name) FROM enquiries WHERE name LIKE 'round %'`).Scan(&rows, &names); err != nil || rows != len(count) || names != rows {
		t.Errorf("%d leads, %d rows, %d different, %v", len(count), rows, names, err)
	}
	t.Logf("%d kills: %d acknowledged, %d found", rounds, len(acknowledged), len(count))
}

func fieldOf(t *testing.T, l lead, name string) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(l.Fields, &fields); err != nil {
		t.Fatal(err)
	}
	text, _ := fields[name].(string) // "" is found nowhere
	return text
}
