package service_test

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// person uses the console without JavaScript.
type person struct {
	*fixture
	cookies []*http.Cookie
}

// page is a response as a person sees it.
type page struct {
	status int
	header http.Header
	text   string
}

func (p *person) send(method, path, form string, header ...string) page {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), method, p.server.URL+path, strings.NewReader(form))
	if err != nil {
		p.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", p.server.URL)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	for _, c := range p.cookies {
		r.AddCookie(c)
	}
	resp, err := p.server.Client().Transport.RoundTrip(r)
	if err != nil {
		p.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.Fatal(err)
	}
	for _, name := range []string{
		"Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options", "Cross-Origin-Resource-Policy",
		"x-request-id", "x-service-api",
	} {
		if resp.Header.Get(name) == "" {
			p.Errorf("%s %s: no %s", method, path, name)
		}
	}
	if set := resp.Cookies(); len(set) > 0 {
		p.cookies = set
	}
	return page{resp.StatusCode, resp.Header, string(text)}
}

func (p *person) see(path string, parts ...string) page {
	p.Helper()
	got := p.send(http.MethodGet, path, "")
	for _, part := range parts {
		if got.status != http.StatusOK || !strings.Contains(html.UnescapeString(got.text), part) {
			p.Errorf("%s does not show %q: %d %s", path, part, got.status, got.text)
		}
	}
	return got
}

var formToken = regexp.MustCompile(`name="token" value="([^"]+)"`)

func (p *person) token() string {
	p.Helper()
	found := formToken.FindStringSubmatch(p.see("/console/w/acme/proposals").text)
	if found == nil {
		p.Fatal("no token")
	}
	return found[1]
}

// enter signs someone in.
func (w *fixture) signIn(key string) *person {
	w.Helper()
	p := &person{fixture: w}
	if got := p.send(
		http.MethodPost, "/console/sign-in",
		url.Values{"key": {w.demo.Keys[key]}, "next": {"/console/w/acme/week"}}.Encode(),
	); got.status != http.StatusSeeOther || got.header.Get("Location") != "/console/w/acme/week" {
		w.Fatalf("%d %v %s", got.status, got.header, got.text)
	}
	return p
}

// TestConsoleSessions: sign-in, the lifetime of a session, and its stored form.
func TestConsoleSessions(t *testing.T) {
	w := newFixture(t)
	stranger := &person{fixture: w}
	stranger.see("/", "Sign in")
	for _, typed := range []string{"/console", "/console/"} {
		if got := stranger.send("GET", typed, ""); got.status != http.StatusSeeOther || got.header.Get("Location") != "/" {
			t.Errorf("%s: %d to %q", typed, got.status, got.header.Get("Location"))
		}
	}
	if got := stranger.send("GET", "/console/w/acme/audit", ""); got.status != http.StatusUnauthorized ||
		!strings.Contains(got.text, `value="/console/w/acme/audit"`) {
		t.Errorf("%d %s", got.status, got.text)
	}
	for name, c := range map[string]struct {
		key    string
		status int
	}{
		"no key": {"", 401}, "an unknown key": {"pgk_no", 401}, "a revoked key": {w.demo.Keys["revoked"], 401},
		"a key without access": {w.demo.Keys["no_access"], 403},
	} {
		t.Run(name, func(t *testing.T) {
			if got := stranger.send("POST", "/console/sign-in", url.Values{"key": {c.key}}.Encode()); got.status != c.status ||
				len(stranger.cookies) != 0 || c.key != "" && strings.Contains(got.text, c.key) {
				t.Errorf("%s: %d %s", c.key, got.status, got.text)
			}
		})
	}
	for _, next := range []string{"https://evil.test/", "//evil.test", "/console/../x", "/console//x", "/\\evil.test", "/metrics"} {
		t.Run(next, func(t *testing.T) {
			w := w.in(t)
			p := &person{fixture: w}
			if got := p.send(
				"POST", "/console/sign-in", url.Values{"key": {w.demo.Keys["member"]}, "next": {next}}.Encode(),
			); got.header.Get("Location") != "/" {
				t.Errorf("%s: %v", next, got.header)
			}
		})
	}
	ana := w.signIn("member")
	cookie := ana.cookies[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" || len(cookie.Value) < 43 {
		t.Errorf("%+v", cookie)
	}
	if dump := w.snapshot(); strings.Contains(dump, cookie.Value) || strings.Contains(w.logs.String(), cookie.Value) ||
		strings.Contains(w.logs.String(), w.demo.Keys["member"]) {
		t.Error("the cookie is kept")
	}
	ana.see("/", "Acme Studio")
	ana.cookies = append(ana.cookies, &http.Cookie{Name: cookie.Name, Value: "x"}) // two cookies with one name
	if got := ana.send("GET", "/console/w/acme/week", ""); got.status != 401 {
		t.Errorf("two cookies: %d", got.status)
	}
	ana.cookies = ana.cookies[:1]
	w.pass(12*time.Hour - time.Second)
	ana.see("/console/w/acme/week", "Week")
	w.pass(time.Second)
	if got := ana.send("GET", "/console/w/acme/week", ""); got.status != 401 || !strings.Contains(got.text, "Your session has ended") {
		t.Errorf("after its time: %d", got.status)
	}
	if err := w.service.Clean(t.Context()); err != nil ||
		w.value("SELECT count(*) FROM console_sessions WHERE expires_at <= ?", w.now().UnixMilli()) != "0" {
		t.Errorf("old sessions are kept: %v", err)
	}
	ana = w.signIn("member")
	w.restart()
	ana.cookies[0].Name = "pages_console_" + w.server.URL[strings.LastIndex(w.server.URL, ":")+1:]
	ana.see("/console/w/acme/week", "Week") // a session outlives the process
	old := ana.cookies
	if got := ana.send("POST", "/console/sign-out", url.Values{"token": {ana.token()}}.Encode()); got.status != 303 ||
		got.header.Get("Location") != "/console/signed-out" || ana.cookies[0].MaxAge >= 0 {
		t.Errorf("%d %+v", got.status, ana.cookies)
	}
	onward := ana.see("/console/signed-out", "Signed out").header.Get("Refresh")
	if got := ana.send("GET", strings.TrimPrefix(onward, "0;url="), ""); got.status != 303 || got.header.Get("Location") != "/" ||
		got.header.Get("Clear-Site-Data") != `"cache"` {
		t.Errorf("from %q: %d %v", onward, got.status, got.header)
	}
	ana.cookies = old
	if got := ana.send("GET", "/console/w/acme/week", ""); got.status != 401 {
		t.Errorf("after signing out: %d", got.status)
	}
	ana = w.signIn("member")
	w.sql("UPDATE keys SET revoked_at = 1 WHERE holder_id = 1")
	if got := ana.send("GET", "/console/w/acme/week", ""); got.status != 401 {
		t.Errorf("a revoked key: %d", got.status)
	}
}

// TestConsoleManySites: any number of sites can be found.
func TestConsoleManySites(t *testing.T) {
	w := newFixture(t)
	w.sql("INSERT INTO sites (id, workspace_id, name) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
		"60) SELECT printf('site-%03d', i), 1, printf('Many %03d', i) FROM n")
	w.sql("INSERT INTO domains (id, workspace_id, hostname, site_id, provided) SELECT 'd' || id, 1, 'many-' || " +
		"substr(id, 6) || '.localhost', id, 1 FROM sites WHERE id LIKE 'site-%'")
	w.sql("INSERT INTO revisions (site_id, number, name, created_at) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 " +
		"FROM n WHERE i < 14) SELECT 'site-007', i, 'r' || i || '-x', 0 FROM n")
	ana := w.signIn("member")
	seen, pages := map[string]int{}, 0
	for next := "/console/w/acme/sites"; next != "" && pages < 9; pages++ {
		text := ana.see(next, "63 sites").text
		for _, id := range regexp.MustCompile(`aria-labelledby="s-([^"]+)"`).FindAllStringSubmatch(text, -1) {
			seen[id[1]]++
		}
		more := regexp.MustCompile(`href="(\?[^"]+)" rel="next"`).FindStringSubmatch(text)
		if next = ""; more != nil {
			next = "/console/w/acme/sites" + html.UnescapeString(more[1])
		}
	}
	if len(seen) != 63 || pages != 3 {
		t.Errorf("%d sites on %d pages", len(seen), pages)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is shown %d times", id, n)
		}
	}
	found := ana.see(
		"/console/w/acme/sites?find=MANY-007.loc", "1 site found", "Many 007", "14 revisions", "r14-x", "r5-x",
		"and 4 older",
	).text
	if strings.Contains(found, "Many 008") || strings.Contains(found, "r4-x") {
		t.Errorf("it shows more: %s", found)
	}
	ana.see("/console/w/acme/sites?find="+url.QueryEscape(`"><b>`), "No site has this")
	ana.see("/console/w/acme/sites?from=1000", "63 sites")
	for _, from := range []string{"-1", "x", "99999999999999999999"} {
		if got := ana.send("GET", "/console/w/acme/sites?from="+from, ""); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", from, got.status)
		}
	}
}

// TestConsolePages: each page shows the result of its tool, of workspaces that the key
// reaches.
func TestConsolePages(t *testing.T) {
	w := newFixture(t)
	c := w.twoCalls()[1]
	w.ok("member", c.tool, c.body("confirmation_id", w.propose("member", c)))
	ana := w.signIn("member")
	ana.see("/", "Acme Studio", "No proposal needs approval")
	ana.see(
		"/console/w/acme/content", "variants in progress", "Behind the kiln, part 1",
		"Three glazes to start with, part 9", "the video is too long",
	)
	if got := ana.see("/console/w/acme/content?status=failed&format=podcast"); strings.Contains(got.text, "c-draft") {
		t.Error("a filter is not kept")
	}
	ana.see("/console/w/acme/week", "Week of 2026-11-23", "Europe/Berlin", "Wed 25 Nov", "shorts clips", "of 5 planned")
	ana.see("/console/w/acme/week?week=2026-12-01", "Week of 2026-11-30")
	ana.see("/console/w/acme/sites", "demo-home.localhost", "never published", "www.acme.example", "Wed 25 Nov 2026, 14:00:00 CET")
	ana.see("/console/w/acme/audit", "page.schedule_publish", "proposed", "done")
	if got := ana.send("GET", "/console/w/acme/week?week=2026-13-01", ""); !strings.Contains(got.text, "That did not work") {
		t.Errorf("%d %s", got.status, got.text)
	}
	for _, path := range []string{
		"/console/w", "/console/w/acme", "/console/w/globex/week", "/console/w/nowhere/week",
		"/console/w/acme/nothing", "/console/w/acme/week/x", "/console/w/acme/content?status=x",
		"/console/w/acme/audit?before=x", "/console/layout.html", "/console/w/acme/%77eek",
	} {
		t.Run(path, func(t *testing.T) {
			if got := ana.sendRaw(path); got != http.StatusNotFound {
				t.Errorf("%s: %d", path, got)
			}
		})
	}
	for _, path := range []string{"/console/..", "/console//w", "/%2e/", "/console%2fw", "/a%5cb", "/%25", "/%00", "/\uff0e\uff0e/"} {
		t.Run(path, func(t *testing.T) { // two programs could read them in two ways
			if got := ana.sendRaw(path); got != http.StatusBadRequest {
				t.Errorf("%s: %d", path, got)
			}
		})
	}
	for path, kind := range map[string]string{
		"/console/style.css": "text/css", "/console/script.js": "text/javascript", "/console/icon.svg": "image/svg+xml",
	} {
		if got := (&person{fixture: w}).send("GET", path, ""); got.status != 200 ||
			!strings.HasPrefix(got.header.Get("Content-Type"), kind) || len(got.text) < 100 {
			t.Errorf("%s: %d %v", path, got.status, got.header)
		}
	}
	w.sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) INSERT INTO audit (at, " +
		"request_id, workspace_id, tool, outcome, summary) SELECT i, 'r', 1, 't', 'done', 'row ' || i || '.' FROM n")
	first := ana.see("/console/w/acme/audit", "row 150.", "Older")
	older := regexp.MustCompile(`href="(\?before=\d+)"`).FindStringSubmatch(first.text)
	if older == nil || strings.Contains(first.text, "row 50.") {
		t.Fatal("no second page")
	}
	ana.see("/console/w/acme/audit"+older[1], "row 50.", "row 1.", "page.schedule_publish")
}

// sendRaw is the status of a path that is sent as it is.
func (p *person) sendRaw(path string) int {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), http.MethodGet, p.server.URL, http.NoBody)
	if err != nil {
		p.Fatal(err)
	}
	path, query, _ := strings.Cut(path, "?")
	r.URL.Opaque, r.URL.RawQuery = path, query
	for _, c := range p.cookies {
		r.AddCookie(c)
	}
	resp, err := p.server.Client().Do(r)
	if err != nil {
		p.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestConsoleApproves: a person sees the effect, and approves it once.
func TestConsoleApproves(t *testing.T) {
	forEachTwoCall(t, func(w *fixture, c twoCall) {
		ana := w.signIn("member")
		ana.see("/console/w/acme/proposals", "No proposal needs approval")
		a := w.ok("service", c.tool, c.body())
		id := a.text("confirmation_id")
		parts := []string{a.text("request_summary"), "Deploy bot", "service account", "deploy@acme.test", "What will change", "15 min 00 s"}
		for i := 1; i < len(c.args); i += 2 {
			value, _ := c.args[i].(string)
			parts = append(parts, value)
		}
		ana.see("/console/w/acme/proposals", parts...)
		if got := ana.see("/console/w/acme/pending", `"waiting":1`); got.text == "" || !strings.Contains(got.text, id) {
			t.Errorf("%s", got.text)
		}
		was := w.value(c.effect)
		approve := "/console/w/acme/proposals/" + id + "/approve"
		token := ana.token()
		for name, header := range map[string][]string{
			"another origin": {"Origin", "http://evil.test"}, "no origin": {"Origin", "null"},
			"another site": {"Sec-Fetch-Site", "cross-site"}, "another port": {"Sec-Fetch-Site", "same-site"},
		} {
			if got := ana.send("POST", approve, url.Values{"token": {token}}.Encode(), header...); got.status != http.StatusForbidden {
				t.Errorf("%s: %d", name, got.status)
			}
		}
		bo := w.signIn("both")
		for name, form := range map[string]url.Values{
			"no token": {}, "a wrong one": {"token": {"x"}}, "of another session": {"token": {bo.token()}},
		} {
			if got := ana.send("POST", approve, form.Encode()); got.status != http.StatusForbidden {
				t.Errorf("%s: %d", name, got.status)
			}
		}
		if got := ana.send("GET", approve, ""); got.status != http.StatusNotFound {
			t.Errorf("a link approves: %d", got.status)
		}
		if got := ana.send(
			"POST", strings.Replace(approve, "acme", "globex", 1), url.Values{"token": {token}}.Encode(),
		); got.status != http.StatusNotFound {
			t.Errorf("a workspace that is not reached: %d", got.status)
		}
		bot := w.signIn("service")
		bot.see("/console/w/acme/proposals", "A service account can propose, but not approve.")
		if got := bot.send("POST", approve, url.Values{"token": {bot.token()}}.Encode()); got.status != http.StatusConflict {
			t.Errorf("a service account: %d %s", got.status, got.text)
		}
		if now := w.value(c.effect); now != was {
			t.Fatalf("something happened: %s, was %s", now, was)
		}
		for range 2 { // a second time is the same answer
			if got := ana.send("POST", approve, url.Values{"token": {token}}.Encode()); got.status != http.StatusSeeOther ||
				!strings.HasSuffix(got.header.Get("Location"), "?settled="+id) {
				t.Errorf("%d %s", got.status, got.text)
			}
		}
		if n := w.value("SELECT count(*) FROM audit WHERE outcome = 'done'"); n != "1" || w.value(c.effect) == was {
			t.Errorf("%s effects", n)
		}
		ana.see("/console/w/acme/proposals?settled="+id, "Done.", a.text("request_summary"), "No proposal needs")
		ana.see("/console/w/acme/audit", "proposed", "done", "Deploy bot", "Ana", c.tool)
	})
}

// TestConsoleLapse: only those who may approve a proposal may let it expire.
func TestConsoleLapse(t *testing.T) {
	w := newFixture(t)
	c := w.twoCalls()[2]
	id := w.ok("member", c.tool, c.body()).text("confirmation_id")
	lapse := "/console/w/acme/proposals/" + id + "/lapse"
	bo := w.signIn("both")
	bo.see("/console/w/acme/proposals", "Only Ana, who proposed it, can approve it.")
	if got := bo.send("POST", lapse, url.Values{"token": {bo.token()}}.Encode()); got.status != http.StatusForbidden {
		t.Errorf("%d", got.status)
	}
	ana := w.signIn("member")
	w.sql("UPDATE sites SET version = version + 1")
	ana.see("/console/w/acme/proposals", "No longer open (1)", "the site has changed since")
	if got := ana.send("POST", lapse, url.Values{"token": {ana.token()}}.Encode()); got.status != http.StatusSeeOther {
		t.Errorf("%d %s", got.status, got.text)
	}
	ana.see("/console/w/acme/proposals?settled="+id, "Rejected. Nothing changed.", "No proposal needs")
	w.refused(toolapi.CodeConfirmationExpired, "member", c.tool, c.body("confirmation_id", id))
	if got := ana.send(
		"POST", strings.Replace(lapse, "lapse", "approve", 1), url.Values{"token": {ana.token()}}.Encode(),
	); got.status != http.StatusConflict || !strings.Contains(got.text, "expired") {
		t.Errorf("%d %s", got.status, got.text)
	}
	ana.see("/console/w/acme/audit", "Rejected: ", "lapsed")
	w.step(-time.Minute) // a clock that is set back does not prolong its time
	w.refused(toolapi.CodeConfirmationExpired, "member", c.tool, c.body("confirmation_id", id))
}

// TestConsoleShowsNamesAsText: a name that a person chose is never markup, and appears unchanged.
func TestConsoleShowsNamesAsText(t *testing.T) {
	w := newFixture(t)
	const evil = "<script>alert(1)</script>\u202e\"'"
	w.sql("UPDATE sites SET name = ?", evil)
	w.sql("UPDATE pieces SET title = ?, failure_reason = ?", evil, evil)
	w.sql("UPDATE holders SET name = ?", evil)
	w.sql("UPDATE workspaces SET name = ?", evil)
	ana := w.signIn("member")
	for _, c := range w.twoCalls() {
		w.ok("member", c.tool, c.body())
	}
	for _, path := range []string{
		"/", "/console/w/acme/proposals", "/console/w/acme/content", "/console/w/acme/content?status=failed",
		"/console/w/acme/week", "/console/w/acme/sites", "/console/w/acme/audit",
	} {
		t.Run(path, func(t *testing.T) {
			if got := ana.see(path); got.status != 200 || strings.Contains(got.text, "<script>alert") {
				t.Errorf("%s: %d", path, got.status)
			}
		})
	}
}
