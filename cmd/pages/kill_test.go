package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// TestKilled kills the dev server while forms are posted: every lead that was
// acknowledged is there afterwards, once, with its row and its events.
func TestKilled(t *testing.T) {
	rounds := 3
	if testing.Short() {
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
						if len(acknowledged) >= (round+1)*20 {
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
	t.Logf("%d acknowledged, %d found", len(acknowledged), len(count))
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
