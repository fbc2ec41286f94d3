package service_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

var madeKey = regexp.MustCompile(`<code id="made">(pgk_[a-z0-9]+)</code>`)

// makeKey makes a key in the console, and returns it with the page that shows it.
func (p *person) makeKey(name, workspace, days string) (key string, shown page) {
	p.Helper()
	token := formToken.FindStringSubmatch(p.see("/console/keys").text)
	if token == nil {
		p.Fatal("no token")
	}
	shown = p.send(
		http.MethodPost, "/console/keys",
		url.Values{"token": {token[1]}, "name": {name}, "workspace": {workspace}, "days": {days}}.Encode(),
	)
	if found := madeKey.FindStringSubmatch(shown.text); found != nil {
		key = found[1]
	}
	return key, shown
}

// TestConsoleKeys: a key is made, shown once, used and revoked, by its person alone.
func TestConsoleKeys(t *testing.T) {
	w := newFixture(t)
	ana := w.signIn("member")
	ana.see("/console/keys", "signed in", "never")
	const name = "CI of \"Acme\" & co"
	key, shown := ana.makeKey(name, "", "30")
	if key == "" || shown.status != http.StatusCreated || !strings.Contains(html.UnescapeString(shown.text), name) ||
		strings.Contains(shown.text, name) {
		t.Fatalf("%d %s", shown.status, shown.text)
	}
	if again := ana.see("/console/keys"); strings.Contains(again.text, key) || strings.Contains(w.snapshot(), key) ||
		strings.Contains(w.logs.String(), key) {
		t.Error("the key is shown, or kept, more than once")
	}
	use := func(key string) response { return w.request(http.MethodPost, toolapi.ToolsPath+brand, key, "") }
	if a := use(key); a.text("workspace") != "acme" {
		t.Errorf("%d %s", a.status, a.body)
	}
	w.pass(time.Hour)
	use(key)
	if row := regexp.MustCompile(
		`(?s)` + key[:10] + `.*?Revoke`,
	).FindString(ana.see("/console/keys").text); !strings.Contains(row, "2026-11-25T13:00:00Z") ||
		!strings.Contains(row, "2026-12-25T12:00:00Z") {
		t.Errorf("when it was used, and how long it is good: %s", row)
	}
	id := w.value("SELECT id FROM keys WHERE prefix = ?", key[:10])
	revoke := func(p *person, token string) page {
		return p.send(http.MethodPost, "/console/keys/"+id+"/revoke", url.Values{"token": {token}}.Encode())
	}
	bo := w.signIn("both")
	if page := bo.see("/console/keys"); strings.Contains(page.text, key[:10]) {
		t.Error("somebody else sees it")
	}
	if got := revoke(bo, bo.token()); got.status != http.StatusNotFound || use(key).status != 200 {
		t.Errorf("somebody else revokes it: %d", got.status)
	}
	if got := revoke(ana, "x"); got.status != http.StatusForbidden || use(key).status != 200 {
		t.Errorf("without the token: %d", got.status)
	}
	for range 2 { // the second changes nothing
		if got := revoke(ana, ana.token()); got.status != http.StatusSeeOther {
			t.Errorf("%d %s", got.status, got.text)
		}
	}
	if a := use(key); a.status != http.StatusUnauthorized {
		t.Errorf("%d %s", a.status, a.body)
	}
	ana.see("/console/keys", "revoked")
	if n := w.value("SELECT group_concat(tool || ' ' || outcome) FROM audit WHERE tool LIKE 'keys.%' AND request_id " +
		"<> ''"); n != "keys.create done,keys.revoke done" {
		t.Errorf("audit: %s", n)
	}
}

// TestConsoleKeysReachNoFurther: a key can make, show and revoke only keys within its own limits.
func TestConsoleKeysReachNoFurther(t *testing.T) {
	w := newFixture(t)
	enter := func(key string) *person {
		p := &person{fixture: w}
		if got := p.send(http.MethodPost, "/console/sign-in", url.Values{"key": {key}}.Encode()); got.status != http.StatusSeeOther {
			t.Fatalf("%d", got.status)
		}
		return p
	}
	w.sql("UPDATE keys SET expires_at = ? WHERE name = 'demo pinned'", start.Add(48*time.Hour).UnixMilli())
	pinned := enter(w.demo.Keys["pinned"])
	if _, shown := pinned.makeKey("wider", "acme", "0"); shown.status != http.StatusUnprocessableEntity {
		t.Errorf("another workspace than the pin: %d", shown.status)
	}
	key, _ := pinned.makeKey("as wide", "", "0")
	if a := w.request(http.MethodPost, toolapi.ToolsPath+brand, key, `{"workspace":"acme"}`); a.code() != toolapi.CodeWorkspaceUnreachable {
		t.Errorf("it is not pinned: %s", a.body)
	}
	// It shows and revokes only those of the holder's other keys that have the same pin.
	w.sql("INSERT INTO keys (hash, prefix, name, holder_id, pin, created_at) SELECT x'01', 'pgk_others', 'of acme', " +
		"holder_id, (SELECT id FROM workspaces WHERE slug = 'acme'), 0 FROM keys WHERE name = 'demo pinned'")
	if shown := pinned.see("/console/keys", "demo pinned", "as wide"); strings.Contains(shown.text, "demo both") ||
		strings.Contains(shown.text, "of acme") {
		t.Errorf("it shows keys beyond its pin: %s", shown.text)
	}
	token := formToken.FindStringSubmatch(pinned.see("/console/keys").text)[1]
	for name, status := range map[string]int{"demo both": 404, "of acme": 404, "as wide": 303} {
		got := pinned.send(
			http.MethodPost, "/console/keys/"+w.value("SELECT id FROM keys WHERE name = ?", name)+"/revoke",
			url.Values{"token": {token}}.Encode(),
		)
		if revoked := w.value(
			"SELECT count(*) FROM keys WHERE name = ? AND revoked_at IS NOT NULL", name,
		) == "1"; got.status != status || revoked != (status == 303) {
			t.Errorf("it revokes %s: %d, %v", name, got.status, revoked)
		}
	}
	key, _ = pinned.makeKey("as wide again", "", "0")
	w.pass(49 * time.Hour)
	if a := w.request(http.MethodPost, toolapi.ToolsPath+brand, key, ""); a.status != http.StatusUnauthorized {
		t.Errorf("it lives longer: %d", a.status)
	}
	if key, shown := enter(w.demo.Keys["service"]).makeKey("x", "", "0"); key != "" || shown.status != http.StatusForbidden {
		t.Errorf("a service account makes one: %d", shown.status)
	}
	limited := enter(w.demo.Keys["limited"])
	key, _ = limited.makeKey("as slow", "", "0")
	if a := w.request(http.MethodPost, toolapi.ToolsPath+brand, key, ""); a.header.Get("RateLimit-Limit") != "5" {
		t.Errorf("it is faster: %v", a.header)
	}
	bo := w.signIn("both")
	for _, c := range [][3]string{
		{"", "", "0"},
		{strings.Repeat("n", 81), "", "0"},
		{"a\u202eb", "", "0"},
		{"<b>", "", "0"},
		{"x", "nowhere", "0"},
		{"x", "", "-1"},
		{"x", "", "367"},
		{"x", "", "soon"},
		{"x", "", ""},
	} {
		t.Run(fmt.Sprintf("%.20q", c), func(t *testing.T) {
			if key, shown := bo.makeKey(c[0], c[1], c[2]); key != "" || shown.status != http.StatusUnprocessableEntity {
				t.Errorf("%q: %d", c, shown.status)
			}
		})
	}
	// Changes of a key are in the trail of each workspace that it reaches.
	bo.makeKey("for all", "", "0")
	bo.makeKey("for one", "globex", "0")
	if got := w.value("SELECT group_concat(w.slug || ': ' || a.summary, ' ') FROM (SELECT * FROM audit WHERE summary " +
		"LIKE '%“for %' ORDER BY id) a JOIN workspaces w ON w.id = a.workspace_id"); !regexp.MustCompile(
		`^acme: Created the key pgk_.{6}…, “for all”. globex: Created the key pgk_.{6}…, “for all”. ` +
			`globex: Created the key pgk_.{6}…, “for one”.$`,
	).MatchString(got) {
		t.Errorf("audit: %s", got)
	}
	bo.see("/console/w/globex/audit", "“for all”", "“for one”")
	full := false
	for n := 0; n < 60 && !full; n++ {
		_, shown := bo.makeKey(fmt.Sprint("key ", n), "globex", "0")
		full = shown.status == http.StatusConflict || !strings.Contains(bo.see("/console/keys").text, `id="name"`)
	}
	if n := w.value("SELECT count(*) FROM keys k JOIN holders h ON h.id = k.holder_id WHERE k.name LIKE 'key %'"); !full || n == "60" {
		t.Errorf("%s keys, full: %v", n, full)
	}
	// The end of the key that is signed in is the end of the session.
	id := w.value("SELECT id FROM keys WHERE name = 'demo both'")
	if got := bo.send(
		http.MethodPost, "/console/keys/"+id+"/revoke", url.Values{"token": {bo.token()}}.Encode(),
	); got.status != http.StatusSeeOther {
		t.Errorf("%d", got.status)
	}
	if got := bo.send(http.MethodGet, "/console/keys", ""); got.status != http.StatusUnauthorized {
		t.Errorf("%d", got.status)
	}
}
