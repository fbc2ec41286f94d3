package service_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// upload makes a revision of a site of files as "path=content".
func (w *fixture) upload(site, manifest string, files ...string) string {
	w.Helper()
	args := toolapi.DeclareArgs{SiteID: toolapi.UUID(site), Manifest: json.RawMessage(manifest)}
	texts := map[string]string{}
	for _, f := range files {
		path, text, _ := strings.Cut(f, "=")
		texts[digestOf(text)] = text
		args.Files = append(args.Files, toolapi.UploadFile{
			Path: path, SHA256: toolapi.Digest(digestOf(text)), Size: toolapi.Counter(len(text)),
			ContentType: "text/plain",
		})
	}
	id, required := w.declare(args)
	for _, sum := range required {
		w.sendText(id, texts[fmt.Sprint(sum)])
	}
	a := w.finalizeText(id)
	if a.status != http.StatusOK {
		w.Fatalf("%d %s", a.status, a.body)
	}
	return a.text("revision")
}

// publish publishes a revision.
func (w *fixture) publish(site, revision string, more ...any) {
	w.Helper()
	args := append([]any{"site_id", site, "revision", revision}, more...)
	id := w.ok("member", "page.publish", js(args...)).text("confirmation_id")
	w.ok("member", "page.publish", js(append(args, "confirmation_id", id)...))
}

// contents returns the text that the only proposal shows before its arguments.
func (p *person) contents() string {
	p.Helper()
	text := p.see("/console/w/acme/proposals").text
	_, text, _ = strings.Cut(text, "<h3>What will change</h3>")
	text, _, found := strings.Cut(text, "<h3>Exact arguments")
	if !found || strings.Contains(text, "<h3>") {
		p.Fatalf("not one proposal: %s", text)
	}
	var out strings.Builder
	for len(text) > 0 {
		before, rest, _ := strings.Cut(text, "<")
		out.WriteString(before)
		_, text, _ = strings.Cut(rest, ">")
		out.WriteByte(' ')
	}
	return html.UnescapeString(strings.Join(strings.Fields(out.String()), " "))
}

// shows checks the view of the only proposal, and lets it expire.
func (p *person) shows(what string, has []string, not ...string) {
	p.Helper()
	got := p.contents()
	for _, part := range has {
		if !strings.Contains(got, part) {
			p.Errorf("%s: no %q in %s", what, part, got)
		}
	}
	for _, part := range not {
		if strings.Contains(got, part) {
			p.Errorf("%s: %q in %s", what, part, got)
		}
	}
	p.pass(15 * time.Minute)
}

const (
	guardedSite = `{"entry": "w.js", "assets": "public",
		"routes": [{"pattern": "/api/*"}, {"pattern": "/club/*", "access": "members"}],
		"bindings": {"database": {"migrations": "sql"}}}`
	openedSite = `{"entry": "w.js", "assets": "public",
		"routes": [{"pattern": "/api/*"}, {"pattern": "/staff/*", "access": "members"}],
		"bindings": {"database": {"migrations": "sql"}, "kv": {}}}`
)

// TestConsoleShowsContents: the approver sees the contents of the revision against the live one.
func TestConsoleShowsContents(t *testing.T) {
	w := newFixture(t)
	site := w.demo.IDs["unpublished_site_id"]
	ana := w.signIn("member")
	first := w.upload(site, guardedSite, "w.js=one", "public/index.html=home", "public/club/a.html=a", "sql/0001_a.sql=SELECT 1;")
	w.ok("service", "page.publish", js("site_id", site, "revision", first))
	ana.shows("the first", []string{
		"Nothing is live, so all of revision " + first + " is new.", "Files 4 in all (17 B)",
		"For everyone /api/* (the Worker answers) all else (1 file, /index.html)", "For members only /club/* (1 file, /club/a.html)",
		"Worker new", "Migrations These run before it goes live: 0001_a.sql", "Made on publishing database",
	}, "public.", "as now")
	w.publish(site, first)

	second := w.upload(
		site, openedSite, "w.js=two", "public/index.html=home!", "public/club/a.html=a", "public/new.html=new",
		"sql/0001_a.sql=SELECT 1;", "sql/0002_b.sql=SELECT 2;",
	)
	news := []string{
		"1 path becomes public. Only members may see it now; then anyone may: /club/*",
		"Revision " + second + " compared with " + first + " , which is live now:",
		"Files 2 added (12 B), 2 changed (8 B), 2 unchanged (10 B)", "Becomes members only /staff/*", "Worker changed",
		"before it goes live: 0002_b.sql", "Made on publishing kv", "Changed in the manifest bindings, routes",
	}
	w.ok("service", "page.publish", js("site_id", site, "revision", second))
	ana.shows("the second", news, "0001_a.sql", "Not in it")
	w.ok("service", "page.schedule_publish", js("site_id", site, "at", w.now().Add(time.Hour).Format(time.RFC3339)))
	ana.shows("a schedule", news, "0001_a.sql")
	w.publish(site, second)

	// Back, to before a migration that the database has, and forth again: the migration does not run twice.
	w.ok("service", "page.rollback", js("site_id", site, "revision", first, "force", true))
	ana.shows("a rollback", []string{
		"Becomes members only /club/*", "2 removed (12 B)",
		"Not in it The site's database has these migrations, which the revision does not know: 0002_b.sql", "Worker changed",
	}, "before it goes live", "added", "public.", "/staff") // without a response afterwards
	w.publish(site, first, "force", true)
	w.ok("service", "page.publish", js("site_id", site, "revision", second))
	ana.shows("forth again", []string{"/club/*", "Worker changed"}, "0002_b.sql")

	same := w.upload(
		site, guardedSite, "w.js=one", "public/index.html=home", "public/club/a.html=a", "public/b.html=b",
		"sql/0001_a.sql=SELECT 1;",
	)
	w.ok("service", "page.publish", js("site_id", site, "revision", same, "force", true))
	ana.shows(
		"a new page",
		[]string{"Files 1 added (1 B), 4 unchanged (17 B)", "Who may see what as now", "Worker unchanged"}, "becomes",
		"before it goes live", "manifest",
	)

	// A comparison needs the live bundle.
	w.sql("UPDATE revisions SET bundle_id = NULL WHERE name = ?", first)
	w.ok("service", "page.publish", js("site_id", site, "revision", same, "force", true))
	ana.shows(
		"nothing to compare with",
		[]string{
			"The contents of " + first + " , which is live now, are not stored here, so there is no comparison.", "5 in all",
			"For members only /club/* (1 file, /club/a.html)",
		},
		"becomes public", "as now",
	)
	w.sql("UPDATE revisions SET bundle_id = NULL WHERE name = ?", same)
	w.ok("service", "page.publish", js("site_id", site, "revision", same, "force", true))
	ana.shows("nothing to show", []string{"The contents of revision " + same + " are not stored here"}, "Files")
}

// TestConsoleShowsMany: of many paths the first are shown, and newly public ones before all others. Names are text.
func TestConsoleShowsMany(t *testing.T) {
	w := newFixture(t)
	site := w.demo.IDs["site_id"]
	files := make([]string, 0, toolapi.MaxFiles)
	for i := range toolapi.MaxFiles - 1 { // and the Worker
		files = append(files, fmt.Sprintf("a/%05d.txt=x", i))
	}
	files = append(files, "w.js=x")
	var holes []string
	for i := range 30 {
		holes = append(holes, fmt.Sprintf(`{"pattern": "/a/%05d.txt"}`, i))
	}
	w.publish(site, w.upload(site, `{"entry": "w.js", "assets": ".", "routes": [{"pattern": "/a/*", "access": "members"}]}`, files...))
	files[0] = "a/&lt;'\u05d0\u05d1.txt=x"
	many := w.upload(
		site,
		`{"entry": "w.js", "assets": ".", "routes": [{"pattern": "/a/*", "access": "members"}, `+
			`{"pattern": "/a/&lt;'\u05d0\u05d1.txt"}, {"pattern": "/a/!<b>\u202e/*"}, `+strings.Join(holes, ", ")+`]}`,
		files...,
	)
	w.ok("service", "page.publish", js("site_id", site, "revision", many))
	ana := w.signIn("member")
	text := ana.see("/console/w/acme/proposals").text
	names := strings.Count(text, "<li><code><bdi>") // the first paths, and the route for members
	if strings.Contains(text, "<b>") || names != 20+1 || strings.Contains(text, "\u202e") ||
		!strings.Contains(text, "&amp;lt;&#39;") {
		t.Errorf("%s", text)
	}
	ana.shows("many", []string{
		"32 paths become public. Only members may see them now; then anyone may: " + `"/a/!<b>\u202e/*"` + " /a/&lt;'" +
			"\u05d0\u05d1.txt /a/00000.txt", "and 12 more", "1 added (1 B), 1 removed (1 B), 19999 unchanged", "Worker unchanged",
		"For members only /a/* (19969 files, such as /a/00030.txt)",
	}, "Becomes members")
}
