package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestKilled kills the dev server while forms are posted: every lead that was
// acknowledged is there afterwards, once, with its row, its events and its file, and
// there is no file of no lead.
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
					body, kind := membership(t, name, i%3 == 0)
					resp, err := d.client.Post(d.URL+"/__pages/forms", kind, strings.NewReader(body))
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
	files := 0
	for _, l := range d.leads("membership") {
		files += d.checkFile(l)
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
	objects, err := sql.Open("sqlite", "file:"+filepath.Join(dir, ".pages", "state", "uploads", "index.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer objects.Close()
	var kept int
	if err := objects.QueryRow(`SELECT count(*) FROM storage_objects`).Scan(&kept); err != nil || kept != files || files == 0 {
		t.Errorf("%d files of leads, %d kept, %v", files, kept, err)
	}
	t.Logf("%d kills: %d acknowledged, %d found, %d files", rounds, len(acknowledged), len(count), files)
}

// membership is a post of the form, with a file that holds the name or without one.
func membership(t *testing.T, name string, file bool) (body, kind string) {
	t.Helper()
	if !file {
		return url.Values{"form": {"membership"}, "name": {name}, "email": {"a@example.org"}}.Encode(), "application/x-www-form-urlencoded"
	}
	var b strings.Builder
	w := multipart.NewWriter(&b)
	errs := []error{w.WriteField("form", "membership"), w.WriteField("name", name), w.WriteField("email", "a@example.org")}
	part, err := w.CreateFormFile("cv", "cv.txt")
	if err == nil {
		_, err = part.Write([]byte(name))
	}
	if err := errors.Join(append(errs, err, w.Close())...); err != nil {
		t.Error(err)
	}
	return b.String(), w.FormDataContentType()
}

// checkFile fetches the file of a lead and returns how many files it has.
func (d *devServer) checkFile(l lead) int {
	d.t.Helper()
	var fields struct {
		Name string `json:"name"`
		CV   struct {
			SHA256 string `json:"sha256"`
		} `json:"cv"`
	}
	if err := json.Unmarshal(l.Fields, &fields); err != nil {
		d.t.Error(err)
	}
	if fields.CV.SHA256 == "" {
		return 0
	}
	resp, err := d.client.Get(d.URL + "/__pages/api/leads/" + l.ID + "/files/" + fields.CV.SHA256)
	if err != nil {
		d.t.Error(err)
		return 1
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); string(text) != fields.Name || err != nil {
		d.t.Errorf("the file of %q is %q, %v", fields.Name, text, err)
	}
	return 1
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
