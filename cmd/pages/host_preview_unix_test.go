//go:build unix

package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

// namedPreview deploys a revision into a preview with a name.
func (p *platformRun) namedPreview(t *testing.T, args toolapi.NamedPreviewArgs) (made toolapi.DeployedPreview, status int, body string) {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	var raw json.RawMessage
	if status, err = p.rest("POST", toolapi.PreviewsPath, text, &raw); err != nil {
		t.Fatal(status, err)
	}
	if status < http.StatusBadRequest {
		if err := json.Unmarshal(raw, &made); err != nil {
			t.Fatal(err)
		}
	}
	return made, status, string(raw)
}

// open opens the address of a preview, and returns its host and its cookie.
func (p *platformRun) open(t *testing.T, address string) (host, cookie string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	cookie, _, _ = strings.Cut(p.request(t, "GET", u.Hostname(), u.Path, "").header.Get("Set-Cookie"), ";")
	return u.Hostname(), cookie
}

// sameAddress reports whether two addresses differ only in the port, which changes with each start of the service.
func sameAddress(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := url.Parse(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := url.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return x.Hostname() == y.Hostname() && x.Path == y.Path
}

// TestNamedPreview: the address of a name stays from revision to revision, and so does its data, after a restart of the service, too, until
// a migration is edited; each revision has its own address. A removed preview leaves no files.
func TestNamedPreview(t *testing.T) {
	data := t.TempDir()
	p := startPlatform(t, data)
	site := p.Demo["unpublished_site_id"]
	p.ship(t, site, hostedManifest, hostedFiles(nil))
	p.request(t, "GET", demoNew, "/api/count", "") // a row in the live database
	upload := func(index string, more map[string]string) string {
		files := map[string]string{"public/index.html": "<h1>" + index + "</h1>"}
		maps.Copy(files, more)
		revision, err := p.upload(site, hostedManifest, hostedFiles(files))
		if err != nil {
			t.Fatal(err)
		}
		return revision
	}
	count := func(address string) string {
		host, cookie := p.open(t, address)
		body := p.request(t, "GET", host, "/api/count", "", "Cookie", cookie).body
		_, n, _ := strings.Cut(body, `"n":`)
		n, _, _ = strings.Cut(n, ",")
		return n
	}
	folders := func() int {
		found, err := filepath.Glob(filepath.Join(data, "sites", site, "*previews", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	args := toolapi.NamedPreviewArgs{
		SiteID: toolapi.UUID(site), Name: "feature/Login", Data: toolapi.DataSeed,
		Seed: "INSERT INTO visits DEFAULT VALUES; INSERT INTO visits DEFAULT VALUES;",
	}
	args.Revision = toolapi.Name(upload("one", nil))
	one, status, body := p.namedPreview(t, args)
	if status != http.StatusCreated || one.Because != "the preview is new" || !strings.Contains(one.URL, "//feature-login-") {
		t.Fatalf("%d %s", status, body)
	}
	if n := count(one.URL); n != "3" { // two of the seed, and the visit
		t.Errorf("the seed and a visit: %s", n)
	}
	args.Revision = toolapi.Name(upload("two", map[string]string{"migrations/0002.sql": "INSERT INTO visits DEFAULT VALUES;"}))
	two, status, body := p.namedPreview(t, args)
	if status != http.StatusOK || two.Because != "" || two.URL != one.URL || two.RevisionURL == one.RevisionURL || two.SeedChanged {
		t.Fatalf("%d %s", status, body)
	}
	host, cookie := p.open(t, two.URL)
	page := p.request(t, "GET", host, "/", "", "Cookie", cookie, "Accept", "text/html", "Sec-Fetch-Dest", "document")
	if !strings.HasPrefix(page.body, "<h1>two</h1>") ||
		!strings.Contains(page.body, "Preview &#8220;feature/Login&#8221; of revision "+two.Revision) ||
		page.header.Get("X-Robots-Tag") != "noindex" {
		t.Errorf("%v %s", page.header, page.body)
	}
	if n := count(two.URL); n != "5" { // the migration's, and another visit
		t.Errorf("the data of the first push, the second's migration and a visit: %s", n)
	}
	if n := count(one.RevisionURL); n != "3" {
		t.Errorf("the first revision alone: %s", n)
	}
	p.end(t, os.Interrupt)
	p = startPlatform(t, data)
	if n := count(two.URL); n != "6" {
		t.Errorf("after the service started anew: %s", n)
	}
	// A failed migration changes neither the preview nor its data.
	args.Revision = toolapi.Name(upload("broken", map[string]string{
		"migrations/0002.sql": "INSERT INTO visits DEFAULT VALUES;", "migrations/0003.sql": "INSERT INTO nowhere DEFAULT VALUES;",
	}))
	if _, status, body := p.namedPreview(t, args); status != http.StatusUnprocessableEntity ||
		!strings.Contains(body, toolapi.CodeMigrationFailed) {
		t.Errorf("%d %s", status, body)
	}
	if n := count(two.URL); n != "7" {
		t.Errorf("after a push that failed: %s", n)
	}
	args.Revision = toolapi.Name(upload("three", map[string]string{"migrations/0002.sql": "DELETE FROM visits;"}))
	three, _, body := p.namedPreview(t, args)
	if three.Because != "0002.sql was edited after it was applied" || !sameAddress(t, three.URL, one.URL) {
		t.Errorf("%s", body)
	}
	if n := count(three.URL); n != "3" {
		t.Errorf("started again: %s", n)
	}
	args.Data, args.Seed = toolapi.DataCopy, ""
	four, _, body := p.namedPreview(t, args)
	if !strings.Contains(four.Because, "they started as seed, and the call asks for copy") || count(four.URL) != "1" {
		t.Errorf("a copy of the live data, whose rows the migration deletes: %s", body)
	}
	args.Fresh = true
	if five, _, body := p.namedPreview(t, args); five.Because != "the call asked for that" || count(five.URL) != "1" {
		t.Errorf("%s", body)
	}
	if n := folders(); n != 1 { // of the name; those of revisions start with the service
		t.Errorf("%d folders", n)
	}
	var list toolapi.PreviewList
	if status, err := p.rest("GET", toolapi.PreviewsPath+"?site_id="+site, nil, &list); err != nil || status != http.StatusOK ||
		len(list.Previews) != 1 || !sameAddress(t, list.Previews[0].URL, one.URL) || list.Previews[0].Name != "feature/Login" {
		t.Errorf("%d %v %+v", status, err, list)
	}
	if status, err := p.rest("DELETE", toolapi.PreviewLinkPath(one.ID), nil, nil); err != nil || status != http.StatusNoContent {
		t.Errorf("%d %v", status, err)
	}
	if n := folders(); n != 0 {
		t.Errorf("%d folders are left", n)
	}
	for _, address := range []string{one.URL, one.RevisionURL, three.RevisionURL} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if v := p.request(t, "GET", u.Hostname(), u.Path, ""); v.status != http.StatusNotFound {
			t.Errorf("%s: %d", address, v.status)
		}
	}
}
