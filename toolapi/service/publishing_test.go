package service_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// fakeHost records the releases that it should show.
type fakeHost struct {
	mu      sync.Mutex
	shown   []string
	dropped int
	refuse  error
	leads   map[string][]service.Captured // by site
	ended   []string                      // previews
	points  []toolapi.RestorePoint        // of every site
	// previews are the prepared previews, and kept those that the service asked to keep.
	previews, kept []string
	load           func(func(context.Context) (service.Release, error)) // of a preview
	wait           func(revision string)                                // before a revision is ready, unless it is nil
	serve          func(w http.ResponseWriter)                          // responds to visitors, unless it is nil
	does           func(service.Release) (toolapi.Migrated, error)      // by the migrations, unless it is nil
}

type fakeRelease struct {
	host     *fakeHost
	revision string
	migrated toolapi.Migrated
	restores bool
}

func (f fakeRelease) Show() {
	f.host.mu.Lock()
	defer f.host.mu.Unlock()
	f.host.shown = append(f.host.shown, f.revision)
}

// Restored implements service.Prepared.
func (f fakeRelease) Restored() *service.Restored {
	if !f.restores {
		return nil
	}
	return &service.Restored{Saved: "p9", Migrations: []string{}}
}

// Migrated implements service.Prepared.
func (f fakeRelease) Migrated() toolapi.Migrated { return f.migrated }

func (f fakeRelease) Discard() {
	f.host.mu.Lock()
	defer f.host.mu.Unlock()
	f.host.dropped++
}

func (f *fakeHost) Prepare(_ context.Context, r service.Release) (service.Prepared, error) {
	if f.wait != nil {
		f.wait(r.Revision)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse != nil {
		return nil, f.refuse
	}
	migrated := noMigrations()
	if f.does != nil {
		var err error
		if migrated, err = f.does(r); err == nil && r.Judge != nil {
			err = r.Judge(migrated)
		}
		if err != nil {
			return nil, err
		}
	}
	return fakeRelease{f, r.Revision, migrated, r.Restore != nil}, nil
}

// RestorePoints implements service.Host.
func (f *fakeHost) RestorePoints(context.Context, string, bool) (service.RestorePoints, error) {
	return service.RestorePoints{Points: f.points, Rule: "all", MaxPoints: 10, MaxBytes: 1000}, f.refuse
}

// Rehearse implements service.Host.
func (f *fakeHost) Rehearse(_ context.Context, r service.Release) (toolapi.Migrated, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.does != nil {
		return f.does(r)
	}
	return noMigrations(), nil
}

// noMigrations is the report of a release without migrations.
func noMigrations() toolapi.Migrated {
	not := toolapi.NewRehearsal(toolapi.RehearsalNotNeeded, "")
	return toolapi.Migrated{DataLoss: []toolapi.DataLoss{}, Rehearsal: &not}
}

func (f *fakeHost) Serve(w http.ResponseWriter, _ *http.Request, site string, _ func(context.Context) (service.Release, error)) {
	if f.serve != nil {
		f.serve(w)
		return
	}
	fmt.Fprint(w, site)
}

func (f *fakeHost) Preview(w http.ResponseWriter, _ *http.Request, _ string, load func(context.Context) (service.Release, error)) {
	if f.load != nil {
		f.load(load)
		return
	}
	f.serve(w)
}

// PreparePreview implements service.Host.
func (f *fakeHost) PreparePreview(ctx context.Context, id string, r service.Release) (service.Prepared, error) {
	f.mu.Lock()
	f.previews = append(f.previews, fmt.Sprintf("%s %s %+v", id, r.Revision, r.Data))
	f.mu.Unlock()
	return f.Prepare(ctx, r)
}

// KeepPreviews implements service.Host.
func (f *fakeHost) KeepPreviews(ids []string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = ids
	return nil
}

// Leads implements service.Host.
func (f *fakeHost) Leads(_ context.Context, site string, after int64, most int) (all []service.Captured, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.leads[site] {
		if l.Number > after && len(all) < most {
			all = append(all, l)
		}
	}
	return all, f.refuse
}

// MarkLead implements service.Host: a lead that is ham raises an event, if it raised none before.
func (f *fakeHost) MarkLead(_ context.Context, site, lead string, spam bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.leads[site]
	i := slices.IndexFunc(all, func(l service.Captured) bool { return l.ID == lead })
	if i < 0 {
		return service.ErrNoLead
	}
	l := all[i]
	l.Number, l.Spam = all[len(all)-1].Number+1, nil
	if spam {
		l.Spam = &toolapi.LeadSpam{Score: 10, Reasons: []toolapi.SpamReason{{Code: "person", Points: 10, Message: "a person marked it"}}}
	} else if len(l.Events) == 0 {
		l.Events = []toolapi.LeadEvent{{ID: "evt_" + lead, Name: "pages.lead.captured"}}
	}
	f.leads[site] = append(slices.Delete(all, i, i+1), l)
	return nil
}

// Refuse implements service.Host.
func (f *fakeHost) Refuse(w http.ResponseWriter, _ *http.Request, e service.VisitError) {
	http.Error(w, e.Title, e.Status)
}

// EndPreview implements service.Host.
func (f *fakeHost) EndPreview(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = append(f.ended, id)
}

func (f *fakeHost) Serving(string) bool { return true }

func (f *fakeHost) shownRevisions() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.shown, " ")
}

// newHostedFixture opens a service with a host that records its calls.
func newHostedFixture(t testing.TB) (*fixture, *fakeHost) {
	t.Helper()
	w := newFixture(t)
	w.close()
	host := &fakeHost{}
	var err error
	w.service, err = service.Open(t.Context(), w.path, service.Options{
		Now: w.now, Elapsed: w.since, PerMinute: 100_000, Logger: slog.New(slog.NewJSONHandler(w.logs, nil)), Host: host,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.server = httptest.NewServer(w.oracle.Handler(w.service))
	return w, host
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// declareText declares a site of one file.
func (w *fixture) declareText(text string) (id string, required int) {
	w.Helper()
	file := toolapi.UploadFile{Path: "a.txt", SHA256: toolapi.Digest(digestOf(text)), Size: toolapi.Counter(len(text))}
	id, sums := w.declare(toolapi.DeclareArgs{
		SiteID: toolapi.UUID(w.demo.IDs["site_id"]), Manifest: json.RawMessage(`{}`), Files: []toolapi.UploadFile{file},
	})
	return id, len(sums)
}

// declare declares a site, and returns the upload's id and the hashes that it requires.
func (w *fixture) declare(args toolapi.DeclareArgs) (id string, required []any) {
	w.Helper()
	body, err := json.Marshal(args)
	if err != nil {
		w.Fatal(err)
	}
	a := w.request(http.MethodPost, toolapi.UploadsPath, w.demo.Keys["member"], string(body))
	if a.status >= http.StatusBadRequest {
		w.Fatalf("%d %s", a.status, a.body)
	}
	required, _ = a.fields["required"].([]any)
	return a.text("upload_id"), required
}

func (w *fixture) sendText(id, text string) {
	w.Helper()
	if a := w.request(
		http.MethodPut, toolapi.BlobPath(id, digestOf(text)), w.demo.Keys["member"], text,
	); a.status >= http.StatusBadRequest {
		w.Fatalf("%d %s", a.status, a.body)
	}
}

func (w *fixture) finalizeText(id string) response {
	w.Helper()
	return w.request(http.MethodPost, toolapi.FinalizePath(id), w.demo.Keys["member"], "{}")
}

// revisionOf uploads a site of one file.
func (w *fixture) revisionOf(text string) string {
	w.Helper()
	id, _ := w.declareText(text)
	w.sendText(id, text)
	a := w.finalizeText(id)
	if a.status != http.StatusOK {
		w.Fatalf("%d %s", a.status, a.body)
	}
	return a.text("revision")
}

// blobFile is the file of a stored text of acme.
func (w *fixture) blobFile(text string) string {
	sum := digestOf(text)
	return filepath.Join(filepath.Dir(w.path), "blobs", "1", sum[:2], sum[2:])
}

// TestPublishShowsAfterTheCommit takes a revision from proposal to visitors.
func TestPublishShowsAfterTheCommit(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	name := w.revisionOf("next")
	args := []any{"site_id", site, "revision", name}
	id := w.ok("member", "page.publish", js(args...)).text("confirmation_id")
	if host.shownRevisions() != "" {
		t.Error("a proposal is shown")
	}
	confirm := js(append(args, "confirmation_id", id)...)
	host.refuse = &service.ReleaseError{Code: toolapi.CodeMigrationFailed, Message: "No."}
	w.refused(toolapi.CodeMigrationFailed, "member", "page.publish", confirm)
	if live := w.value("SELECT live_revision FROM sites WHERE id = ?", site); live == name || host.shownRevisions() != "" {
		t.Error("what the host refused is live")
	}
	if n := w.value("SELECT count(*) FROM audit WHERE code = 'migration_failed'"); n != "1" {
		t.Errorf("%s audit rows", n)
	}
	host.refuse = nil
	for range 2 { // the second repeats the answer
		if a := w.ok("member", "page.publish", confirm); a.fields["serving_now"] != true {
			t.Errorf("got %s", a.body)
		}
	}
	if host.shownRevisions() != name || host.dropped != 0 {
		t.Errorf("shown %q, dropped %d", host.shownRevisions(), host.dropped)
	}
}

// TestSecretBesidePublish sets a secret, which restarts the page, during the publish of another revision: the page keeps that one.
func TestSecretBesidePublish(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	name := w.revisionOf("next")
	args := []any{"site_id", site, "revision", name}
	id := w.ok("member", "page.publish", js(args...)).text("confirmation_id")
	begun, set := make(chan struct{}), make(chan struct{})
	var once sync.Once
	host.wait = func(string) { once.Do(func() { close(begun); <-set }) }
	var calls sync.WaitGroup
	calls.Go(func() { w.ok("member", "page.publish", js(append(args, "confirmation_id", id)...)) })
	<-begun
	calls.Go(func() { w.ok("member", "page.set_secret", js("site_id", site, "name", "TOKEN", "value", "v")) })
	for w.value("SELECT count(*) FROM secrets WHERE name = 'TOKEN'") == "0" {
		<-time.After(time.Millisecond)
	}
	<-time.After(20 * time.Millisecond) // in which it would read the live revision
	close(set)
	calls.Wait()
	if got := host.shownRevisions(); got != name+" "+name {
		t.Errorf("shown %q, live is %s", got, name)
	}
}

// TestScheduleShows publishes a schedule once, and cancels an impossible one.
func TestScheduleShows(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	schedule := func() {
		t.Helper()
		args := []any{"site_id", site, "at", w.now().Add(10 * time.Minute).Format(time.RFC3339)}
		id := w.ok("member", "page.schedule_publish", js(args...)).text("confirmation_id")
		w.ok("member", "page.schedule_publish", js(append(args, "confirmation_id", id)...))
	}
	due := func() {
		t.Helper()
		if err := w.service.PublishDue(t.Context()); err != nil {
			t.Error(err)
		}
	}
	first := w.revisionOf("first")
	schedule()
	w.pass(9 * time.Minute)
	if due(); host.shownRevisions() != "" {
		t.Error("too early")
	}
	w.pass(time.Hour)
	due()
	if due(); host.shownRevisions() != first {
		t.Errorf("shown %q", host.shownRevisions())
	}
	if n := w.value(`SELECT count(*) FROM audit WHERE tool = 'page.schedule_publish'
		AND summary LIKE 'Published revision ' || ? || ' as scheduled for %, 59m0s late.'`, first); n != "1" {
		t.Error("nothing says that it was late")
	}
	second := w.revisionOf("second")
	schedule()
	host.refuse = &service.ReleaseError{Code: toolapi.CodeWorkerFailed, Message: "No."}
	w.pass(time.Hour)
	due()
	host.refuse = nil
	due()
	if live := w.value("SELECT live_revision FROM sites WHERE id = ?", site); live == second || host.shownRevisions() != first {
		t.Errorf("live %s, shown %q", live, host.shownRevisions())
	}
	if n := w.value("SELECT count(*) FROM audit WHERE tool = 'page.schedule_publish' AND outcome = 'refused' AND code " +
		"= 'worker_failed'"); n != "1" {
		t.Errorf("%s audit rows of the failed publish", n)
	}
}

// TestScheduledApart: a publish that does not end, by its migrations say, holds up its own
// workspace and no other, and is begun once.
func TestScheduledApart(t *testing.T) {
	w, host := newHostedFixture(t)
	mine, theirs := w.demo.IDs["site_id"], w.demo.IDs["other_site_id"]
	w.sql("UPDATE sites SET workspace_id = (SELECT id FROM workspaces WHERE slug = 'globex') WHERE id = ?", theirs)
	endless := w.revisionOf("endless")
	for site, revision := range map[string]string{mine: endless, theirs: w.value("SELECT live_revision FROM sites WHERE id = ?", theirs)} {
		w.sql(
			"INSERT INTO schedules (site_id, at, revision, holder_id, key_id, request_id) SELECT ?, ?, ?, holder_id, "+
				"id, 'r' FROM keys LIMIT 1",
			site, w.now().UnixMilli(), revision,
		)
	}
	begun, gate := make(chan string, 10), make(chan struct{})
	host.wait = func(revision string) {
		begun <- revision
		if revision == endless {
			<-gate
		}
	}
	var work sync.WaitGroup
	work.Go(func() {
		if err := w.service.PublishDue(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for range 2 {
		select {
		case <-begun:
		case <-time.After(time.Minute):
			t.Fatal("one workspace waits for another")
		}
	}
	for end := time.Now().Add(time.Minute); w.value("SELECT count(*) FROM schedules") != "1"; { // the other has gone live
		if time.Now().After(end) {
			t.Fatal("the other workspace's page does not go live")
		}
	}
	if err := w.service.PublishDue(t.Context()); err != nil || len(begun) > 0 {
		t.Errorf("%v, begun twice: %d", err, len(begun))
	}
	close(gate)
	work.Wait()
	if n := w.value("SELECT count(*) FROM schedules"); n != "0" {
		t.Errorf("%s schedules are left", n)
	}
}

func TestDamagedBlobs(t *testing.T) {
	w, host := newHostedFixture(t)
	for name, damage := range map[string]func(string) error{
		"deleted": os.Remove, "cut": func(file string) error { return os.Truncate(file, 1) },
	} {
		id, _ := w.declareText(name)
		w.sendText(id, name)
		if err := damage(w.blobFile(name)); err != nil {
			t.Fatal(err)
		}
		if a := w.finalizeText(id); a.status != http.StatusConflict {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if _, required := w.declareText(name); required != 1 {
			t.Errorf("%s: %d blobs are required", name, required)
		}
		w.sendText(id, name)
		if a := w.finalizeText(id); a.status != http.StatusOK {
			t.Errorf("%s, sent again: %d %s", name, a.status, a.body)
		}
	}
	name := w.revisionOf("whole")
	if err := os.WriteFile(w.blobFile("whole"), []byte("Whole"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []any{"site_id", w.demo.IDs["site_id"], "revision", name}
	id := w.ok("member", "page.publish", js(args...)).text("confirmation_id")
	w.refused(toolapi.CodeRevisionDamaged, "member", "page.publish", js(append(args, "confirmation_id", id)...))
	if host.shownRevisions() != "" {
		t.Error("a damaged file is shown")
	}
	again, required := w.declareText("whole")
	if required != 1 {
		t.Fatal("a damaged blob is not requested again")
	}
	w.sendText(again, "whole")
	if a := w.finalizeText(again); a.status != http.StatusOK || a.text("revision") != name {
		t.Errorf("sent again: %d %s", a.status, a.body)
	}
	id = w.ok("member", "page.publish", js(args...)).text("confirmation_id")
	w.ok("member", "page.publish", js(append(args, "confirmation_id", id)...))
}

// TestCollectKeepsWhatIsNeeded: files of previews, of live and of scheduled revisions stay.
func TestCollectKeepsWhatIsNeeded(t *testing.T) {
	w, _ := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	goLive := func(name string) {
		t.Helper()
		args := []any{"site_id", site, "revision", name}
		id := w.ok("member", "page.publish", js(args...)).text("confirmation_id")
		w.ok("member", "page.publish", js(append(args, "confirmation_id", id)...))
	}
	text := func(n int) string { return fmt.Sprint("text ", n) }
	goLive(w.revisionOf(text(0)))
	w.revisionOf(text(1))
	at := w.now().Add(300 * 24 * time.Hour).Format(time.RFC3339)
	args := []any{"site_id", site, "at", at}
	id := w.ok("member", "page.schedule_publish", js(args...)).text("confirmation_id")
	w.ok("member", "page.schedule_publish", js(append(args, "confirmation_id", id)...)) // text 1
	previewed := w.revisionOf(text(2))
	if a := w.request(
		http.MethodPost, toolapi.PreviewLinksPath, w.demo.Keys["member"],
		js("site_id", site, "revision", previewed, "expires_in_seconds", 604800),
	); a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	const all = 110
	for n := 3; n < all; n++ {
		w.revisionOf(text(n))
	}
	collect := func() {
		t.Helper()
		if err := w.service.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	there := func(n int) bool { _, err := os.Stat(w.blobFile(text(n))); return err == nil }
	collect()
	w.pass(23 * time.Hour)
	if collect(); !there(3) {
		t.Error("a blob went before its day was over")
	}
	w.pass(2 * time.Hour)
	collect()
	for n := range all {
		// The seed made three more revisions, older than all of these.
		if want := n < 3 || n >= all-97; there(n) != want && n < all-100 || n < 3 && !there(n) || n >= all-97 && !there(n) {
			t.Errorf("text %d is there: %v", n, there(n))
		}
	}
	// A day later the link has expired, the rest still stands.
	w.pass(7 * 24 * time.Hour)
	collect()
	w.pass(25 * time.Hour)
	collect()
	if there(2) || !there(0) || !there(1) {
		t.Errorf("previewed %v, live %v, scheduled %v", there(2), there(0), there(1))
	}
}

// TestCollectBesideUploads: nothing is taken from under an upload.
func TestCollectBesideUploads(t *testing.T) {
	w, _ := newHostedFixture(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := w.service.Collect(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	}()
	for n := range 40 {
		text := fmt.Sprint("round ", n%7) // some are there already
		w.revisionOf(text)
		if _, err := os.Stat(w.blobFile(text)); err != nil {
			t.Errorf("%d: a revision without its blob: %v", n, err)
		}
	}
	stop()
	<-done
}

// serve sends the service the request of a browser with cookies.
func (w *fixture) serve(to http.ResponseWriter, address string, cookies ...*http.Cookie) {
	r := httptest.NewRequest(http.MethodGet, address, nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w.service.ServeHTTP(to, r)
}

// sending counts the files that a server would send without reading them.
type sending struct {
	*httptest.ResponseRecorder
	files int
}

func (s *sending) ReadFrom(src io.Reader) (int64, error) {
	s.files++
	return io.Copy(s.ResponseRecorder, src)
}

// TestPagesSendFiles: a file that a page or a preview sends reaches the server as a file.
func TestPagesSendFiles(t *testing.T) {
	w, host := newHostedFixture(t)
	w.revisionOf("one")
	const text = "the bytes of a file"
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	host.serve = func(w http.ResponseWriter) {
		f, err := os.Open(name)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if _, err := io.Copy(w, io.LimitReader(f, int64(len(text)))); err != nil {
			t.Error(err)
		}
	}
	get := func(address string, cookies ...*http.Cookie) *sending {
		got := &sending{ResponseRecorder: httptest.NewRecorder()}
		w.serve(got, address, cookies...)
		return got
	}
	link := w.request(http.MethodPost, toolapi.PreviewLinksPath, w.demo.Keys["member"], js("site_id", w.demo.IDs["site_id"])).text("url")
	preview, _, _ := strings.Cut(link, "/__preview/")
	for _, got := range []*sending{get("http://demo-home.localhost/file"), get(preview+"/file", get(link).Result().Cookies()...)} {
		if got.files != 1 || got.Code != http.StatusOK || got.Body.String() != text {
			t.Errorf("%d %q, %d files", got.Code, got.Body, got.files)
		}
	}
}

// TestRefusedImportLeavesNothing: the next collection removes the blobs of a refused import.
func TestRefusedImportLeavesNothing(t *testing.T) {
	w := newFixture(t)
	blobs := func() int {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(w.path), "blobs", "1", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	before := blobs()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, name := range []string{"a.txt", "b.txt", "pages.deploy.json", "z/.env"} {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(`{"of": "` + name + `"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, w.server.URL+toolapi.ImportsPath+"?site_id="+w.demo.IDs["site_id"], &archive,
	)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + w.demo.Keys["member"]}, "Content-Type": {"application/zip"}}
	a := w.send(r)
	if a.status != http.StatusUnprocessableEntity || blobs() == before {
		t.Fatalf("%d %s, with %d blobs", a.status, a.body, blobs())
	}
	if err := w.service.Collect(t.Context()); err != nil || blobs() != before {
		t.Errorf("%d blobs were there and %d are, %v", before, blobs(), err)
	}
}
