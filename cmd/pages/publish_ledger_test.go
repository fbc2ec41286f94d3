//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/toolapi"
)

// pageLedger records the responses to the only publisher of a site. The contents are a repeated mark: in two files and in the Worker's
// response.
type pageLedger struct {
	site, host string

	mu        sync.Mutex
	marks     map[string]string // of acknowledged revisions
	order     []string          // of them, the oldest first
	shown     []string          // those that were live
	live      string            // according to the last acknowledgement
	under     string            // possibly live instead: there was no response
	unmade    string            // mark of an upload without a response
	acks      int
	publishes int // acknowledged ones
	unknown   int // publishes that may have happened
	powerless bool
	refused   func() bool // whether the service may refuse; nil for never
}

const markedManifest = `{"entry":"w/worker.js","assets":"public","routes":[{"pattern":"/api"}],` +
	`"bindings":{"database":{"migrations":"migrations"}}}`

// markBody is a text that repeats a mark.
func markBody(mark, name string) string { return strings.Repeat(mark+" "+name+"\n", 400) }

// markedFiles are the files of a site with a mark.
func markedFiles(mark string) map[string]string {
	return map[string]string{
		"public/a.txt": markBody(mark, "a"), "public/b.txt": markBody(mark, "b"), "migrations/0001.sql": "CREATE TABLE a (n INTEGER);",
		"w/worker.js": "const text = " + fmt.Sprintf(
			"%q", mark+" api\n",
		) + `.repeat(400); export default { fetch() { return new Response(text); } }`,
	}
}

// markedPaths are the addresses of a marked site, with the name in their contents.
var markedPaths = map[string]string{"/a.txt": "a", "/b.txt": "b", "/api": "api"}

// newPageLedger creates a site.
func (p *platformRun) newPageLedger(t *testing.T, name string) *pageLedger {
	t.Helper()
	_, text, err := p.call(p.Keys["member"], "page.create", `{"name":"`+name+`"}`, "Idempotency-Key", strings.ReplaceAll(name, " ", "-"))
	var made struct {
		OK       bool   `json:"ok"`
		SiteID   string `json:"site_id"`
		Hostname string `json:"hostname"`
	}
	if err := errors.Join(err, json.Unmarshal([]byte(text), &made)); err != nil || !made.OK {
		t.Fatalf("%v: %s", err, text)
	}
	return &pageLedger{site: made.SiteID, host: made.Hostname, marks: map[string]string{}}
}

// count is the number of acknowledged changes.
func (l *pageLedger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acks
}

// losePower makes later responses not count.
func (l *pageLedger) losePower() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.powerless = true
}

func (l *pageLedger) isPowerless() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.powerless
}

// mayFail reports whether a request may fail: the power is gone, or the service may refuse.
func (l *pageLedger) mayFail() bool { return l.isPowerless() || l.refused != nil && l.refused() }

// told records an acknowledgement, unless the power is gone.
func (l *pageLedger) told(note func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.powerless {
		return false
	}
	l.acks++
	note()
	return true
}

// publisher uploads, imports, publishes and rolls back until the service is gone. It calls step after each acknowledged change.
func (l *pageLedger) publisher(t *testing.T, p *platformRun, step func()) {
	for l.once(t, p) {
		step()
	}
}

// once makes one change, and returns false if there was no response.
func (l *pageLedger) once(t *testing.T, p *platformRun) bool {
	tool, revision := "page.publish", ""
	if n := len(l.shown); n > 1 && rand.IntN(3) == 0 { //nolint:gosec // a choice
		tool, revision = "page.rollback", l.shown[rand.IntN(n)] //nolint:gosec // a choice
	} else if revision = l.make(t, p); revision == "" {
		return false
	}
	if revision == l.live {
		return true
	}
	l.under = revision
	o, err := p.goLive(tool, l.site, revision, false)
	if err != nil {
		l.unknown++
		return false
	}
	if !o.OK && !l.mayFail() {
		t.Errorf("%s of %s: %+v", tool, revision, o)
	}
	if !o.OK {
		l.unknown++
		return false
	}
	ok := l.told(func() {
		l.live, l.under, l.publishes = revision, "", l.publishes+1
		const remembered = 10
		if !slices.Contains(l.shown, revision) {
			l.shown = append(l.shown, revision)[max(0, len(l.shown)+1-remembered):]
		}
	})
	if !ok {
		l.unknown++
	}
	return ok
}

// make makes a revision, by uploads or by an archive; "" if there was no response. It first repeats an interrupted request.
func (l *pageLedger) make(t *testing.T, p *platformRun) string {
	if l.unmade == "" {
		l.unmade = fmt.Sprintf("mark-%d-%d", len(l.order), rand.Uint64()) //nolint:gosec // no secret
	}
	way := func() (string, error) { return p.upload(l.site, markedManifest, markedFiles(l.unmade)) }
	if rand.IntN(4) == 0 { //nolint:gosec // a choice
		way = func() (string, error) { return p.importFiles(l.site, markedManifest, markedFiles(l.unmade)) }
	}
	revision, err := way()
	if err != nil {
		if !isServiceGone(err) && !l.mayFail() {
			t.Errorf("a revision: %v", err)
		}
		return ""
	}
	if !l.told(func() { l.marks[revision] = l.unmade }) {
		return ""
	}
	l.order = append(l.order, revision)
	const remembered = 40 // of the hundred that a service keeps
	if n := len(l.order) - remembered; n > 0 {
		l.order = slices.DeleteFunc(l.order, func(name string) bool {
			return n > 0 && name != l.live && func() bool { n--; delete(l.marks, name); return true }()
		})
	}
	l.unmade = ""
	return revision
}

// isServiceGone reports whether an error means that the service ended.
func isServiceGone(err error) bool {
	return strings.Contains(err.Error(), "EOF") || strings.Contains(err.Error(), "connection re") ||
		strings.Contains(err.Error(), "broken pipe")
}

// importFiles makes a revision from an archive.
func (p *platformRun) importFiles(site, manifest string, files map[string]string) (string, error) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for name, text := range files {
		f, err := w.Create(name)
		if err != nil {
			return "", err
		}
		if _, err := f.Write([]byte(text)); err != nil {
			return "", err
		}
	}
	f, err := w.Create("pages.deploy.json")
	if err != nil {
		return "", err
	}
	if _, err := f.Write([]byte(manifest)); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	var made toolapi.Imported
	status, err := p.rest(http.MethodPost, toolapi.ImportsPath+"?site_id="+site, archive.Bytes(), &made, "Content-Type", "application/zip")
	if err != nil || status >= 300 {
		return "", fmt.Errorf("import: %d %w", status, err)
	}
	return made.Revision, nil
}

// readUntilGone reads the site until the service is gone: each response has one complete mark.
func (l *pageLedger) readUntilGone(t *testing.T, p *platformRun) (seen int) {
	for {
		for path, name := range markedPaths {
			v, err := p.tryRequest("GET", l.host, path, "")
			if err != nil {
				return seen
			}
			if l.isPowerless() {
				return seen
			}
			mark, _, _ := strings.Cut(v.body, " ")
			if v.status != http.StatusNotFound && (v.status != http.StatusOK || v.body != markBody(mark,
				name)) { // 404 before the first publish
				t.Errorf("%s%s: %d %.100q (%d bytes)", l.host, path, v.status, v.body, len(v.body))
				return seen
			}
			seen++
		}
	}
}

// check compares the service with the ledger, after a restart.
func (l *pageLedger) check(t *testing.T, p *platformRun, data string) {
	t.Helper()
	live := p.liveOf(t, l.site)
	if live != l.live && live != l.under {
		t.Errorf("%s: %q is live, acknowledged was %q, and %q was under way", l.host, live, l.live, l.under)
	}
	l.live, l.under = live, ""
	l.checkRevisions(t, p, data)
	if live != "" {
		l.checkServed(t, p, l.marks[live])
	}
}

// checkRevisions looks for each revision and its bytes, and for duplicates of some.
func (l *pageLedger) checkRevisions(t *testing.T, p *platformRun, data string) {
	t.Helper()
	there := map[string]toolapi.Revision{}
	bundles := map[string]string{}
	for _, name := range p.revisionsOf(t, l.site) {
		var r toolapi.Revision
		if status, err := p.rest(http.MethodGet, toolapi.RevisionPath(name)+"?site_id="+l.site, nil, &r); err != nil ||
			status != http.StatusOK {
			t.Fatalf("%s: %d %v", name, status, err)
		}
		if other, twice := bundles[r.BundleDigest]; twice {
			t.Errorf("%s and %s are one bundle", name, other)
		}
		there[name], bundles[r.BundleDigest] = r, name
		for _, f := range r.Files {
			if err := checkBlob(data, string(f.SHA256)); err != nil {
				t.Errorf("%s, %s: %v", name, f.Path, err)
			}
		}
	}
	for name, mark := range l.marks {
		want := sha256.Sum256([]byte(markBody(mark, "a")))
		if !slices.ContainsFunc(there[name].Files, func(f toolapi.UploadFile) bool {
			return f.Path == "public/a.txt" && string(f.SHA256) == hex.EncodeToString(want[:])
		}) {
			t.Errorf("%s, which was acknowledged, is %+v", name, there[name])
		}
	}
	// A publish without a response may be live, completely.
	if l.live != "" && l.marks[l.live] == "" {
		t.Errorf("%s is live without an upload", l.live)
	}
}

// checkServed compares the served files with a mark.
func (l *pageLedger) checkServed(t *testing.T, p *platformRun, mark string) {
	t.Helper()
	for path, name := range markedPaths {
		if v := p.request(t, "GET", l.host, path, ""); v.status != http.StatusOK || v.body != markBody(mark, name) {
			t.Errorf("%s%s: %d %.100q, want %s", l.host, path, v.status, v.body, mark)
		}
	}
}

// checkHistory reads the publishes in the database of a service that has ended: as many as were acknowledged, each after the one before.
func (l *pageLedger) checkHistory(t *testing.T, data string) {
	t.Helper()
	db, err := localstate.OpenDatabase(t.Context(), filepath.Join(data, platform.DatabaseFile), true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n, broken int
	const query = `SELECT count(*), coalesce(sum(previous IS NOT before), 0) FROM (SELECT previous,` +
		` lag(revision) OVER (ORDER BY id) AS before FROM publishes WHERE site_id = ?)`
	if err := db.QueryRowContext(t.Context(), query, l.site).Scan(&n, &broken); err != nil {
		t.Fatal(err)
	}
	if n < l.publishes || n > l.publishes+l.unknown || broken != 0 {
		t.Errorf(
			"%s: %d publishes, %d of them not after the one before; %d were acknowledged, %d may have happened", l.host,
			n, broken, l.publishes, l.unknown,
		)
	}
}

// checkBlob reads a blob.
func checkBlob(data, sum string) error {
	found, err := filepath.Glob(filepath.Join(data, "blobs", "*", sum[:2], sum[2:]))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%d files %w", len(found), err)
	}
	text, err := os.ReadFile(found[0])
	if got := sha256.Sum256(text); err == nil && hex.EncodeToString(got[:]) != sum {
		err = errors.New("it has other bytes")
	}
	return err
}

// leftovers are unfinished files in a service's folder.
func leftovers(t *testing.T, data string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if name := d.Name(); err == nil &&
			(strings.HasPrefix(name, "import-") || strings.HasPrefix(name, "migrations-") ||
				strings.HasPrefix(name, "rehearsal-") || strings.HasPrefix(name, ".probe") || strings.HasPrefix(name, "restore-") ||
				filepath.Base(filepath.Dir(path)) == "tmp") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// pageOf is a site in page.list.
type pageOf struct {
	SiteID    string   `json:"site_id"`
	Live      string   `json:"live_revision"`
	Revisions []string `json:"revisions"`
}

func (p *platformRun) pageOf(site string) (found pageOf, err error) {
	var list struct {
		Pages []pageOf `json:"pages"`
	}
	_, text, err := p.call(p.Keys["member"], "page.list", "")
	if err == nil {
		err = json.Unmarshal([]byte(text), &list)
	}
	if err != nil {
		return found, err
	}
	i := slices.IndexFunc(list.Pages, func(it pageOf) bool { return it.SiteID == site })
	if i < 0 {
		return found, fmt.Errorf("page.list has no %s: %.300s", site, text)
	}
	return list.Pages[i], nil
}

func (p *platformRun) liveOf(t *testing.T, site string) string {
	t.Helper()
	found, err := p.pageOf(site)
	if err != nil {
		t.Fatal(err)
	}
	return found.Live
}

func (p *platformRun) revisionsOf(t *testing.T, site string) (names []string) {
	t.Helper()
	var list toolapi.RevisionList
	_, text, err := p.call(p.Keys["member"], "page.revisions", `{"site_id":"`+site+`"}`)
	if err := errors.Join(err, json.Unmarshal([]byte(text), &list)); err != nil {
		t.Fatal(err)
	}
	for _, r := range list.Revisions {
		if !slices.Contains(names, r.Revision) {
			names = append(names, r.Revision)
			continue
		}
		t.Errorf("%s is listed twice", r.Revision)
	}
	return names
}
