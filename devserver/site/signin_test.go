package site

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
)

const formType = "Content-Type: application/x-www-form-urlencoded"

// clubSite is a site with one members page made by the Worker.
func clubSite(t *testing.T, options Options) *fixture {
	t.Helper()
	return start(t, options, Revision{
		Worker: echo{}, Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("members /club/*", "public /api/*")},
	})
}

func TestSignIn(t *testing.T) {
	f := clubSite(t, Options{DevHints: true})
	for _, c := range []struct {
		form   string
		status int
		next   string
		id     string // of the member that the Worker then gets
	}{
		{"persona=member&next=/club/x", 303, "/club/x", "usr_dev_member"},
		{"persona=owner", 303, "/", "usr_dev_owner"},
		{"email=OWNER@example.test", 303, "/", "usr_dev_owner"},
		{"email=kim@rowing.example&next=/club/%3Fa%3D1%23top", 303, "/club/?a=1#top", "usr_mail_"},
		{"persona=nobody", 422, "", ""},
		{"persona=&email=", 422, "", ""},
		{"email=kim", 422, "", ""},
		{"email=Kim+%3Ckim@rowing.example%3E", 422, "", ""},
		{"email=kim@rowing.example%0d%0aX: 1", 422, "", ""},
	} {
		t.Run(c.form, func(t *testing.T) {
			client := f.client(t)
			got := f.do(t, client, "POST", "/__pages/sign-in", c.form, formType, "Accept: text/html")
			if got.status != c.status || got.header.Get("Location") != c.next {
				t.Errorf("%s: %d to %q", c.form, got.status, got.header.Get("Location"))
				return
			}
			if c.id == "" {
				return
			}
			seen := decode[struct {
				Member Member
				Header http.Header
			}](t, f.do(t, client, "GET", "/club/", "", "X-Pages-Member-Id: forged", "X-Pages-Else: forged", "Cookie: mine=1"))
			if !strings.HasPrefix(seen.Member.ID, c.id) || seen.Header.Get("X-Pages-Member-Id") != seen.Member.ID ||
				seen.Header.Get("X-Pages-Member-Email") != seen.Member.Email || seen.Header.Get("X-Pages-Member-Name") != seen.Member.Name {
				t.Errorf("%s: the Worker sees %+v", c.form, seen)
			}
			if seen.Header.Get("X-Pages-Else") != "" || seen.Header.Get("Cookie") != "mine=1" {
				t.Errorf("%s: the Worker gets what it must not: %v", c.form, seen.Header)
			}
		})
	}
}

func TestSignInAnswersPrograms(t *testing.T) {
	f := clubSite(t, Options{})
	got := f.do(t, nil, "POST", "/__pages/sign-in", "persona=member", formType, "Accept: application/json")
	const want = `{"ok":true,"member":{"id":"usr_dev_member","email":"member@example.test","name":"Robin Member"}}`
	if strings.TrimSpace(got.body) != want {
		t.Errorf("%d %s", got.status, got.body)
	}
	got = f.do(t, nil, "POST", "/__pages/sign-in", "persona=x", formType, "Accept: application/json")
	if got.status != 422 || !strings.Contains(got.body, `"code":"persona_unknown"`) || !strings.Contains(got.body, `\"outsider\"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestSignInByAddress(t *testing.T) {
	f := clubSite(t, Options{DevHints: true})
	const path = "/__pages/sign-in?persona=member&next=/club/"
	if got := clubSite(t, Options{}).get(t, path); got.status != 200 || got.header.Get("Set-Cookie") != "" {
		t.Errorf("a public site signs in by address: %d", got.status)
	}
	for _, c := range []struct {
		headers string
		status  int
	}{
		{"Accept: */*", 303},
		{"Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document", 303},
		{"Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document", 200}, // shows the page
		{"Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: image", 403},
		{"Sec-Fetch-Site: same-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: iframe", 403},
		{"Sec-Purpose: prefetch", 200},
	} {
		t.Run(c.headers, func(t *testing.T) {
			got := f.get(t, path, strings.Split(c.headers, "|")...)
			if got.status != c.status || (got.header.Get("Set-Cookie") != "") != (c.status == 303) {
				t.Errorf("%s: %d, cookie %q", c.headers, got.status, got.header.Get("Set-Cookie"))
			}
		})
	}
	if got := f.do(t, nil, "HEAD", path, ""); got.status != 200 || got.header.Get("Set-Cookie") != "" {
		t.Errorf("HEAD signs in: %d", got.status)
	}
}

// No page of another site can sign a visitor in or out.
func TestSignInIsOurs(t *testing.T) {
	f := clubSite(t, Options{})
	member := f.as(t, "member")
	for _, path := range []string{"/__pages/sign-in", "/__pages/sign-out"} {
		for _, header := range []string{
			"Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
			"Origin: http://localhost:1",
		} {
			if got := f.do(t, member, "POST", path, "persona=outsider", formType, header); got.status != 403 ||
				got.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s with %s: %d", path, header, got.status)
			}
		}
	}
	if got := f.do(t, member, "GET", "/__pages/sign-out", ""); got.status != 405 || got.header.Get("Allow") != "POST" {
		t.Errorf("GET signs out: %d", got.status)
	}
	if got := f.do(t, member, "GET", "/club/", ""); got.status != 200 {
		t.Errorf("the member is signed out: %d", got.status)
	}
	if got := f.do(t, member, "POST", "/__pages/sign-in", "persona=owner", formType); got.status != 303 ||
		got.header.Get("Clear-Site-Data") != "" {
		t.Errorf("another persona: %d %v", got.status, got.header)
	}
	got := f.do(t, member, "POST", "/__pages/sign-out", "next=/club/", formType, "Origin: "+f.server.URL)
	if got.status != 303 || got.header.Get("Location") != "/club/" || got.header.Get("Clear-Site-Data") != `"cache"` {
		t.Errorf("sign-out: %d %v", got.status, got.header)
	}
	if got := f.do(t, member, "GET", "/club/", ""); got.status != 401 {
		t.Errorf("after sign-out: %d", got.status)
	}
}

// TestSignedOut: a browser goes over a page of ours after a sign-out, and then clears its memory of pages.
func TestSignedOut(t *testing.T) {
	f := clubSite(t, Options{})
	navigation := []string{"Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Sec-Fetch-Site: same-origin", "Accept: text/html"}
	const first = "/__pages/signed-out?next=%2Fclub%2F%3Fa%3Db%23c"
	const second = "/__pages/signed-out?forget=1&next=%2Fclub%2F%3Fa%3Db%23c"
	got := f.do(t, f.as(t, "member"), "POST", "/__pages/sign-out", "next=/club/?a=b%23c", append([]string{formType}, navigation...)...)
	if got.status != 303 || got.header.Get("Location") != first {
		t.Errorf("sign-out: %d %v", got.status, got.header)
	}
	got = f.do(t, nil, "GET", first, "", navigation...)
	if got.status != 200 || got.header.Get("Refresh") != "0;url="+second || !strings.Contains(got.body, "You are signed out") ||
		got.header.Get("Cache-Control") != "no-store" || !strings.Contains(got.body, "Continue") {
		t.Errorf("the page: %d %v %s", got.status, got.header, got.body)
	}
	got = f.do(t, nil, "GET", second, "", navigation...)
	if got.status != 303 || got.header.Get("Location") != "/club/?a=b#c" || got.header.Get("Clear-Site-Data") != `"cache"` {
		t.Errorf("after it: %d %v", got.status, got.header)
	}
	for _, next := range []string{"//evil.example", "https://evil.example", "%0d%0aX:1"} {
		got := f.do(t, nil, "GET", "/__pages/signed-out?forget=1&next="+next, "", navigation...)
		if got.status != 303 || got.header.Get("Location") != "/" {
			t.Errorf("%s: %d to %q", next, got.status, got.header.Get("Location"))
		}
	}
	if got := f.do(t, nil, "POST", "/__pages/signed-out", "", formType); got.status != 405 {
		t.Errorf("a post: %d", got.status)
	}
	if got := f.do(t, nil, "GET", second, "", "Sec-Fetch-Site: cross-site"); got.status != 403 {
		t.Errorf("a script of another site: %d", got.status)
	}
}

func TestNextStaysOnTheSite(t *testing.T) {
	f := clubSite(t, Options{})
	for _, next := range []string{
		"//evil.example", `/\evil.example`, "https:evil.example", "http://localhost/x", "/%2f%2fevil.example",
		"/%2fevil.example", "/a%0d%0aX:1",
		"/a\r\nX:1", "evil.example", "", "/..//evil.example", "\t//evil.example", " /x", "/x y", "//", "/a?b\nc", "/a#b\nc",
		"javascript:alert(1)", "/%09/evil.example",
	} {
		t.Run(next, func(t *testing.T) {
			got := f.do(t, nil, "POST", "/__pages/sign-in", url.Values{"persona": {"member"}, "next": {next}}.Encode(), formType)
			if got.status != 303 || got.header.Get("Location") != "/" {
				t.Errorf("next=%q leads to %q (%d)", next, got.header.Get("Location"), got.status)
			}
			want := "/__pages/forms/thanks?form=contact"
			switch next { // authors write the site's own address, and letters as they are
			case "http://localhost/x", " /x":
				want = "/x"
			case "/x y":
				want = "/x%20y"
			case "/a?b\nc", "/a#b\nc":
				want = strings.ReplaceAll(next, "\n", "%0A")
			}
			got = f.do(t, nil, "POST", "/__pages/forms/contact", url.Values{"name": {"Kim"}, "_next": {next}}.Encode(), formType)
			if got.status != 303 || got.header.Get("Location") != want {
				t.Errorf("_next=%q leads to %q (%d), want %q", next, got.header.Get("Location"), got.status, want)
			}
		})
	}
}

func TestSessionCookie(t *testing.T) {
	f := clubSite(t, Options{})
	got := f.do(t, nil, "POST", "/__pages/sign-in", "persona=member", formType)
	cookie := got.header.Get("Set-Cookie")
	for _, want := range []string{"pages_session_", "Path=/", "HttpOnly", "SameSite=Lax"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("no %q in %q", want, cookie)
		}
	}
	if strings.Contains(cookie, "Domain") || strings.Contains(cookie, "Secure") {
		t.Errorf("cookie is %q", cookie)
	}
	pair, _, _ := strings.Cut(cookie, ";")
	name, value, _ := strings.Cut(pair, "=")
	other := clubSite(t, Options{})
	for what, c := range map[string]struct {
		status int
		header string
		at     *fixture
	}{
		"good":         {200, pair, f},
		"none":         {401, "x=y", f},
		"garbage":      {401, name + "=garbage", f},
		"empty":        {401, name + "=", f},
		"other value":  {401, name + "=" + strings.Repeat("A", len(value)), f},
		"long":         {401, name + "=" + strings.Repeat("A", 10240), f},
		"twice":        {401, pair + "; " + pair, f},
		"beside":       {200, "a=1; " + pair + "; b=2", f},
		"another name": {401, "pages_session_00000000=" + value, f},
		"another site": {401, pair, other},
	} {
		t.Run(what, func(t *testing.T) {
			if got := c.at.get(t, "/club/", "Cookie: "+c.header); got.status != c.status {
				t.Errorf("%s: status %d", what, got.status)
			}
		})
	}
	var kept string
	if err := f.platform.QueryRow(`SELECT group_concat(hex(hash)) FROM sessions`).Scan(&kept); err != nil || strings.Contains(kept, value) {
		t.Errorf("the database holds %q, %v", kept, err)
	}
	again := f.do(t, nil, "POST", "/__pages/sign-in", "persona=member", formType, "Cookie: "+pair)
	if again.header.Get("Set-Cookie") == cookie {
		t.Error("signing in again gives the same token")
	}
	if got := f.get(t, "/club/", "Cookie: "+pair); got.status != 401 {
		t.Errorf("the session before still counts: %d", got.status)
	}
}

func TestSessionsEnd(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	member := true
	options := Options{
		DB: openDB(t, filepath.Join(t.TempDir(), "platform.db")), Now: func() time.Time { return now },
		IsMember: func(context.Context, Member) bool { return member },
	}
	f := clubSite(t, options)
	client := f.as(t, "member")
	status := func() int { return f.do(t, client, "GET", "/club/", "").status }
	now = now.Add(11 * time.Hour)
	if got := status(); got != 200 {
		t.Errorf("after 11 h: %d", got)
	}
	now = now.Add(11 * time.Hour)
	if got := status(); got != 200 {
		t.Errorf("after 22 h, used in between: %d", got)
	}
	member = false
	if got := status(); got != 403 {
		t.Errorf("no longer a member: %d", got)
	}
	member = true
	now = now.Add(13 * time.Hour)
	if got := status(); got != 401 {
		t.Errorf("13 h without use: %d", got)
	}
	client = f.as(t, "member")
	for range 16 {
		now = now.Add(10 * time.Hour)
		if got := status(); got != 200 {
			t.Fatalf("in use: %d", got)
		}
	}
	now = now.Add(10 * time.Hour)
	if got := status(); got != 401 {
		t.Errorf("after 7 days: %d", got)
	}
	options.DB = f.platform
	if _, err := New(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := f.platform.QueryRow(`SELECT count(*) FROM sessions`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d old sessions are left, %v", left, err)
	}
}

func TestSessionsOutliveTheProgram(t *testing.T) {
	options := Options{DB: openDB(t, filepath.Join(t.TempDir(), "platform.db"))}
	f := clubSite(t, options)
	cookie, _, _ := strings.Cut(f.do(t, nil, "POST", "/__pages/sign-in", "persona=owner", formType).header.Get("Set-Cookie"), ";")
	if got := clubSite(t, options).get(t, "/club/", "Cookie: "+cookie); got.status != 200 {
		t.Errorf("after a restart: %d", got.status)
	}
	options.Workspace = "globex"
	if got := clubSite(t, options).get(t, "/club/", "Cookie: "+cookie); got.status != 401 {
		t.Errorf("in another workspace: %d", got.status)
	}
}

func TestNobodyCanSignInWithoutPersonas(t *testing.T) {
	f := clubSite(t, Options{Personas: []Persona{}})
	if got := f.do(t, nil, "POST", "/__pages/sign-in", "email=a@b.example", formType, "Accept: application/json"); got.status != 403 {
		t.Errorf("status %d", got.status)
	}
}

func TestOwnPagesAreSafe(t *testing.T) {
	f := clubSite(t, Options{DevHints: true})
	outsider := f.as(t, "outsider")
	for _, path := range []string{
		"/__pages/sign-in", "/__pages/sign-in?next=%22%3E%3Cscript%3E", "/__pages/forms/thanks", "/club/", "/nothing",
		"/a%2f%3Cscript%3E", "/__pages/api/state",
	} {
		t.Run(path, func(t *testing.T) {
			policy := "same-origin"
			if path == "/__pages/forms/thanks" { // which has no content, and is the target after a script's post
				policy = "cross-origin"
			}
			got := f.do(t, outsider, "GET", path, "", "Accept: text/html")
			for name, want := range map[string]string{
				"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
				"Cross-Origin-Resource-Policy": policy, "Cache-Control": "no-store",
				"Access-Control-Allow-Origin": "",
			} {
				if got.header.Get(name) != want {
					t.Errorf("%s: %s is %q", path, name, got.header.Get(name))
				}
			}
			if strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
				policy := got.header.Get("Content-Security-Policy")
				if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "img-src 'self'") ||
					!strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
					t.Errorf("%s: policy %q", path, policy)
				}
			}
			if strings.Contains(got.body, "<script") {
				t.Errorf("%s: %s", path, got.body)
			}
		})
	}
}

func TestReservedPathsNeverReachTheWorker(t *testing.T) {
	control := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := w.Write([]byte("control " + r.URL.Path + " " + r.Header.Get("Cookie"))); err != nil {
			t.Error(err)
		}
	})
	f := start(t, Options{Control: control}, Revision{
		Worker: echo{}, Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /*", "members /__pages/*")},
	})
	for path, want := range map[string]string{
		"/__pages": "control /__pages", "/__pages/": "control /__pages/", "/__pages/x%20y": "control /__pages/x y",
		"/__PAGES/x":         "not_found",
		"/__pages;x/sign-in": "not_found", "/%5f_pages/y": "control /__pages/y", "/__pagesx": `"worker":true`,
	} {
		t.Run(path, func(t *testing.T) {
			if got := f.get(t, path); !strings.Contains(got.body, want) {
				t.Errorf("%s: %d %q", path, got.status, got.body)
			}
		})
	}
	for _, header := range []string{"Origin: http://evil.example", "Sec-Fetch-Site: cross-site"} {
		if got := f.get(t, "/__pages/", header); got.status != 403 {
			t.Errorf("%s: %d", header, got.status)
		}
	}
}
