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

// leadLedger records the acknowledged form posts of the riverside site.
type leadLedger struct {
	mu           sync.Mutex
	acknowledged map[string]bool // by name
	powerless    bool            // responses do not count any more, see ledger.losePower
	posts        int
	refused      int // since the last acknowledged one
}

// manyRefused is the number of refused forms in a row after which the server is considered to refuse all.
const manyRefused = 500

// load posts until this number is acknowledged, calls enough, and continues until the server is gone. If the server refuses all, it fails
// and calls enough.
func (l *leadLedger) load(t *testing.T, d *devServer, count int, enough func()) {
	t.Helper()
	var posters sync.WaitGroup
	var once sync.Once
	l.powerless = false
	count += len(l.acknowledged)
	for range 4 {
		posters.Go(func() {
			for l.post(t, d) {
				l.mu.Lock()
				reached, refused := len(l.acknowledged) >= count, l.refused >= manyRefused
				l.mu.Unlock()
				if reached || refused {
					once.Do(func() {
						if !reached {
							t.Errorf("%d forms in a row were refused: is the site built?", manyRefused)
						}
						enough()
					})
				}
			}
		})
	}
	posters.Wait()
}

// post sends a form, every third with a file, and reports whether the server answers.
func (l *leadLedger) post(t *testing.T, d *devServer) bool {
	t.Helper()
	l.mu.Lock()
	l.posts++
	name, file := fmt.Sprintf("post %d", l.posts), l.posts%3 == 0
	l.mu.Unlock()
	body, kind := membership(t, name, file)
	resp, err := d.client.Post(d.URL+"/__pages/forms", kind, strings.NewReader(body))
	if err != nil {
		return false
	}
	resp.Body.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.powerless {
		return false
	}
	if resp.StatusCode == http.StatusSeeOther || resp.StatusCode == http.StatusCreated {
		l.acknowledged[name], l.refused = true, 0
	} else {
		l.refused++
	}
	return true
}

func (l *leadLedger) losePower() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.powerless = true
}

// check checks that each acknowledged lead is there once, with its row, its events and its file, and that no file is without a lead.
func (l *leadLedger) check(t *testing.T, d *devServer, state string) {
	t.Helper()
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
	for name := range l.acknowledged {
		if count[name] != 1 {
			t.Errorf("%s is there %d times", name, count[name])
		}
	}
	for name, times := range count {
		if times != 1 {
			t.Errorf("%s is there %d times, and was not acknowledged", name, times)
		}
	}
	var rows, names, kept int
	look(t, filepath.Join(state, "site.db"), `SELECT count(*), count(DISTINCT name) FROM enquiries WHERE name LIKE 'post %'`, &rows, &names)
	if rows != len(count) || names != rows {
		t.Errorf("%d leads, %d rows, %d different", len(count), rows, names)
	}
	look(t, filepath.Join(state, "uploads", "index.db"), `SELECT count(*) FROM storage_objects`, &kept)
	if kept != files || files == 0 {
		t.Errorf("%d files of leads, %d kept", files, kept)
	}
	t.Logf("%d acknowledged, %d found, %d files", len(l.acknowledged), len(count), files)
}

// look reads a row of a database.
func look(t *testing.T, file, query string, into ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(into...); err != nil {
		t.Error(err)
	}
}

// TestKilled kills the dev server while forms are posted: no acknowledged lead is lost, and none is there twice.
func TestKilled(t *testing.T) {
	rounds := 10
	switch {
	case os.Getenv("PAGES_SOAK") != "":
		rounds = 500
	case testing.Short():
		rounds = 1
	}
	dir := copyExample(t, "riverside")
	l := &leadLedger{acknowledged: map[string]bool{}}
	for range rounds {
		d := startDev(t, dir)
		l.load(t, d, 10+rand.IntN(30), func() { //nolint:gosec // a choice
			if err := d.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		})
		_ = d.cmd.Wait() // killed
	}
	l.check(t, startDev(t, dir), filepath.Join(dir, ".pages", "state")) // its start completes the pending work
}

// membership is a post of the form, with or without a file that has the name.
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

// checkFile fetches the file of a lead and returns the number of its files.
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
	text, _ := fields[name].(string) // "" finds none
	return text
}
