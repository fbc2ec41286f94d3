package site

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

func openStore(t *testing.T, path string) (*Store, *sql.DB) {
	t.Helper()
	db := openDB(t, path)
	s, err := OpenStore(t.Context(), db, StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s, db
}

func contact(text string) post {
	return post{
		form: "contact", fields: Fields{{Name: "name", Value: []byte(`"` + text + `"`)}},
		events: []string{EventLeadCaptured}, table: "enquiries",
	}
}

// After a crash between the steps of a post, the next start of the site completes it, and no row is written twice.
func TestSubmissionsAreFinishedLater(t *testing.T) {
	dir := t.TempDir()
	store, platform := openStore(t, filepath.Join(dir, "platform.db"))
	own := openDB(t, filepath.Join(dir, "site.db"))
	if _, err := own.Exec(enquiries); err != nil {
		t.Fatal(err)
	}
	unwritten, _, _, err := store.capture(t.Context(), contact("unwritten"))
	if err != nil {
		t.Fatal(err)
	}
	unnoted, _, _, err := store.capture(t.Context(), contact("unnoted"))
	if err != nil {
		t.Fatal(err)
	}
	if err := writeSubmission(t.Context(), own, unnoted); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := New(t.Context(), Options{DB: platform, SubmissionsDB: own}); err != nil {
			t.Fatal(err)
		}
	}
	leads, err := store.Leads(t.Context(), LeadFilter{})
	if err != nil || len(leads) != 2 || leads[0].ID != unnoted.ID || leads[1].ID != unwritten.ID {
		t.Fatalf("%+v %v", leads, err)
	}
	for _, l := range leads {
		if l.Submission != (Submission{Table: "enquiries", Status: SubmissionWritten}) {
			t.Errorf("%+v", l)
		}
	}
	var rows string
	if err := own.QueryRow(`SELECT group_concat(name, ' ' ORDER BY name) FROM enquiries`).Scan(&rows); err != nil ||
		rows != "unnoted unwritten" {
		t.Errorf("rows %q, %v", rows, err)
	}
}

// openImpatient opens a database without waiting for a writer.
func openImpatient(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(1)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// A busy table loses no data: the row follows later.
func TestSubmissionWaitsForABusyTable(t *testing.T) {
	dir := t.TempDir()
	store, platform := openStore(t, filepath.Join(dir, "platform.db"))
	own := openDB(t, filepath.Join(dir, "site.db"))
	impatient := openImpatient(t, filepath.Join(dir, "site.db"))
	if _, err := own.Exec(enquiries); err != nil {
		t.Fatal(err)
	}
	blocker, err := own.Begin()
	if err != nil {
		t.Fatal(err)
	}
	lead, _, _, err := store.capture(t.Context(), contact("waiting"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := store.submit(t.Context(), impatient, lead); err != nil || got.Status != SubmissionPending || got.Error == "" {
		t.Errorf("%+v %v", got, err)
	}
	if err := blocker.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), Options{DB: platform, SubmissionsDB: own}); err != nil {
		t.Fatal(err)
	}
	if leads, err := store.Leads(t.Context(), LeadFilter{}); err != nil || leads[0].Submission.Status != SubmissionWritten ||
		leads[0].Submission.Error != "" {
		t.Errorf("%+v %v", leads, err)
	}
}

func TestStoreFilters(t *testing.T) {
	store, _ := openStore(t, filepath.Join(t.TempDir(), "platform.db"))
	leads, err := store.Leads(t.Context(), LeadFilter{})
	if err != nil || leads == nil || len(leads) != 0 {
		t.Errorf("an empty store: %v %v", leads, err)
	}
	for _, form := range []string{"a", "b", "a"} {
		p := contact(form)
		p.form, p.events = form, []string{EventLeadCaptured, "custom." + form}
		if _, _, _, err := store.capture(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		filter EventFilter
		want   string
	}{
		{EventFilter{}, "6 5 4 3 2 1"},
		{EventFilter{Limit: 2}, "6 5"},
		{EventFilter{Form: "a"}, "6 5 2 1"},
		{EventFilter{Name: "custom.b"}, "4"},
		{EventFilter{After: 3}, "4 5 6"},
		{EventFilter{After: 3, Limit: 1, Form: "a"}, "5"},
		{EventFilter{After: 6}, ""},
		{EventFilter{Name: "' OR 1=1 --"}, ""},
	} {
		t.Run(fmt.Sprintf("%+v", c.filter), func(t *testing.T) {
			events, err := store.Events(t.Context(), c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range events {
				got = append(got, string(rune('0'+e.Sequence)))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%+v: %v, want %s", c.filter, got, c.want)
			}
		})
	}
}

func TestStoreRefusesALaterSchema(t *testing.T) {
	_, db := openStore(t, filepath.Join(t.TempDir(), "platform.db"))
	if _, err := db.Exec(`UPDATE site_meta SET value = '99' WHERE key = 'schema'`); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(t.Context(), db, StoreOptions{}); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("%v", err)
	}
	if _, err := New(t.Context(), Options{}); err == nil {
		t.Error("a site without a database")
	}
}

// A visitor never gets a confirmation for a lead that is not safe.
func TestNoPlaceForALead(t *testing.T) {
	b := openInbox(t, Options{}, enquiries)
	db := b.platform
	db.SetMaxOpenConns(1)
	var pages int
	if err := db.QueryRow(`PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`PRAGMA max_page_count = 1`); err != nil {
		t.Fatal(err)
	}
	got := b.do(t, nil, "POST", "/__pages/forms/contact", "name="+strings.Repeat("x", 60000), formType)
	if got.status != http.StatusInsufficientStorage || len(b.leads(t)) != 0 || len(b.events(t)) != 0 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	got = b.do(t, nil, "POST", "/__pages/forms/contact", "name=Kim", formType)
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

const killedDir = "PAGES_TEST_SITE_DIR"

// TestServeUntilKilled is the program that TestKill kills. Without that test it does nothing.
func TestServeUntilKilled(t *testing.T) {
	dir := os.Getenv(killedDir)
	if dir == "" {
		return
	}
	s, err := New(t.Context(), Options{
		DB: openDB(t, filepath.Join(dir, "platform.db")), SubmissionsDB: openDB(t, filepath.Join(dir, "site.db")),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Swap(Revision{Manifest: &manifest.Manifest{
		Forms: []manifest.Form{{Name: "contact", Event: "custom.contacted"}}, Bindings: manifest.Bindings{Submissions: "enquiries"},
	}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(os.Stdout, "http://"+listener.Addr().String()+"\n"); err != nil {
		t.Fatal(err)
	}
	t.Fatal(http.Serve(listener, s)) //nolint:gosec // it is killed in a moment
}

// Every lead that the store acknowledged before a kill is there exactly once after it.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	own := openDB(t, filepath.Join(dir, "site.db"))
	if _, err := own.Exec(enquiries); err != nil {
		t.Fatal(err)
	}
	var acked []string
	for range 5 {
		acked = append(acked, postUntilKilled(t, dir, 20)...)
	}
	platform := openDB(t, filepath.Join(dir, "platform.db"))
	if _, err := New(t.Context(), Options{DB: platform, SubmissionsDB: own}); err != nil {
		t.Fatal(err)
	}
	store, _ := openStore(t, filepath.Join(dir, "platform.db"))
	leads, err := store.Leads(t.Context(), LeadFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, l := range leads {
		ids = append(ids, l.ID)
		if len(l.Events) != 2 || l.Submission.Status != SubmissionWritten {
			t.Errorf("half a lead: %+v", l)
		}
	}
	for _, id := range acked {
		if !slices.Contains(ids, id) {
			t.Errorf("%s was acknowledged and is lost", id)
		}
	}
	var rows, kinds int
	if err := own.QueryRow(`SELECT count(*), count(DISTINCT lead_id) FROM enquiries`).Scan(&rows, &kinds); err != nil ||
		rows != len(leads) || kinds != rows {
		t.Errorf("%d leads, %d rows, %d different, %v", len(leads), rows, kinds, err)
	}
	if len(acked) < 100 {
		t.Errorf("only %d posts were acknowledged", len(acked))
	}
}

// postUntilKilled runs the site in its own process, posts to it, and kills it in the middle. It returns the ids of the acknowledged leads.
func postUntilKilled(t *testing.T, dir string, enough int) (acked []string) {
	t.Helper()
	program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServeUntilKilled$")
	program.Env = append(os.Environ(), killedDir+"="+dir)
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(line)
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for {
				id, err := postOnce(t, address)
				if err != nil {
					return // killed
				}
				mu.Lock()
				acked = append(acked, id)
				if len(acked) == enough {
					if err := program.Process.Kill(); err != nil {
						t.Error(err)
					}
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	// It was killed; the error says so.
	_ = program.Wait()
	return acked
}

func postOnce(t *testing.T, address string) (id string, err error) {
	r, err := http.NewRequestWithContext(t.Context(), "POST", address+"/__pages/forms/contact", strings.NewReader(`{"name":"Kim"}`))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusCreated {
		t.Errorf("status %d: %s", response.StatusCode, body)
	}
	return decode[leadDocument](t, reply{body: string(body)}).Lead.ID, nil
}

// Visitors determine the length of leads, but not how much of them is in memory at a time.
func TestLongLeadsAreReadInPieces(t *testing.T) {
	store, db := openStore(t, filepath.Join(t.TempDir(), "platform.db"))
	const each, number = capturedBytes/3 + 1, 7
	for range number {
		if _, _, _, err := store.capture(t.Context(), contact(strings.Repeat("x", each))); err != nil {
			t.Fatal(err)
		}
	}
	var pieces []int
	var last int64
	for {
		leads, err := CapturedAfter(t.Context(), db, last, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(leads) == 0 {
			break
		}
		pieces, last = append(pieces, len(leads)), leads[len(leads)-1].Number
	}
	if want := []int{3, 3, 1}; !slices.Equal(pieces, want) {
		t.Errorf("pieces of %v leads, want %v", pieces, want)
	}
}

// TestLeadsHaveABound: visitors can fill the database only up to its bound. A refused visitor gets the reason, acknowledged leads stay,
// also for a repeated post, and members can sign in and read them.
func TestLeadsHaveABound(t *testing.T) {
	f := start(t, Options{DevHints: true}, Revision{})
	f.site.store.most = 400_000
	send := func(token string) int {
		t.Helper()
		form := url.Values{"form": {"contact"}, "_token": {token}, "name": {token + strings.Repeat("x", 60_000)}}
		r, err := f.client(t).PostForm(f.server.URL+"/__pages/forms", form)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		return r.StatusCode
	}
	taken := 0
	for ; taken < 20; taken++ {
		if got := send(fmt.Sprint("token", taken)); got == http.StatusInsufficientStorage {
			break
		}
	}
	if taken == 0 || taken == 20 {
		t.Fatalf("%d leads were taken", taken)
	}
	if got := send("token0"); got == http.StatusInsufficientStorage {
		t.Error("a post that was taken before is refused when it is sent again")
	}
	var list LeadList
	if err := json.Unmarshal([]byte(f.get(t, "/__pages/api/leads").body), &list); err != nil || len(list.Leads) != taken {
		t.Errorf("%d leads of %d, %v", len(list.Leads), taken, err)
	}
	if got := f.do(t, f.as(t, "member"), "GET", "/__pages/api/leads", ""); got.status != http.StatusOK {
		t.Errorf("a member gets %d", got.status)
	}
}
