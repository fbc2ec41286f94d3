package site

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
)

const (
	ruleHeaders = `
/*
  X-Frame-Options: DENY
  X-Tag: all
/css/*
  Cache-Control: public, max-age=31536000, immutable
  X-Tag: css
  ! X-Content-Type-Options
/dir/:file.txt
  Content-Type: text/x-:file
  Vary: Accept
  Set-Cookie: a=1
  Set-Cookie: b=2
/plain.css
  Cache-Control: no-transform
https://named.localhost/*
  X-Host: named
`
	ruleRedirects = `
/old /about 301
/gone/* https://example.com/in/:splat 308
/see/:a/:b /dir/:b?from=:a 303
/kept/* /dir/:splat 200
/user/* /about 200
/named/:x /about.html 200
/named /dir 200
/lost /nowhere 200
/about/team /about#team
/go/* /:splat 307
/css/site.css /logo.svg 302
/api/moved /api/new 307
`
)

func ruledSite(t testing.TB) *fixture {
	t.Helper()
	files := map[string]string{
		"/_headers": "not to be seen", "/_redirects": "not to be seen", "/plain.css": strings.Repeat("a { color: red }\n", 200),
	}
	maps.Copy(files, plainFiles)
	dir, assets := folder(t, files)
	rules, diags := edgerules.Parse(ruleHeaders, ruleRedirects)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return start(t, Options{}, Revision{
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /api/*", "members /dir/x.txt", "members /club/*")},
		Worker:   echo{}, Rules: rules, Assets: assets, AssetsDir: dir,
	})
}

func TestRules(t *testing.T) {
	f := ruledSite(t)
	for _, c := range []struct {
		request  string
		status   int
		body     string
		location string
	}{
		{"GET /old", 301, "", "/about"},
		{"GET /old?a=b", 301, "", "/about?a=b"},
		{"POST /old", 301, "", "/about"},
		{"GET /gone/a%20b?c", 308, "", "https://example.com/in/a%20b?c"},
		{"GET /see/x/y?z=1", 303, "", "/dir/y?from=x"},
		{"GET /about/team", 302, "", "/about#team"},
		{"GET /css/site.css", 302, "", "/logo.svg"}, // even if a file has this path
		{"GET /kept/", 200, "index of dir", ""},
		{"GET /user/anybody", 200, "<h1>About</h1>", ""}, // the address stays
		{"HEAD /user/anybody", 200, "", ""},
		{"GET /named/x?a=b", 307, "", "/about?a=b"}, // another name of the page
		{"GET /named", 307, "", "/dir/"},
		{"POST /user/anybody", 405, "", ""},
		{"GET /lost", 404, "<h1>Nothing</h1>", ""},
		{"GET /kept/none", 404, "nothing in dir", ""},
		{"GET /go/__pages/sign-out", 404, "<h1>Nothing</h1>", ""},
		{"GET /go/__PAGES/api/leads", 404, "<h1>Nothing</h1>", ""},
		{"GET /go/evil.example/x", 307, "", "/evil.example/x"},
		{"GET /go//evil.example", 307, "", "/evil.example"},
		{"GET /api/moved", 307, "", "/api/new"}, // even if the Worker answers
		{"GET /_headers", 404, "<h1>Nothing</h1>", ""},
		{"GET /_redirects", 404, "<h1>Nothing</h1>", ""},
		{"GET /_Headers", 404, "<h1>Nothing</h1>", ""},
		{"GET /kept/x.txt", 401, "", ""}, // the gate of the rule's target
		{"GET /club/old", 401, "", ""},
	} {
		t.Run(c.request, func(t *testing.T) {
			method, path, _ := strings.Cut(c.request, " ")
			got := f.do(t, nil, method, path, "")
			if got.status != c.status || got.header.Get("Location") != c.location || c.body != "" && got.body != c.body ||
				strings.Contains(got.body, "not to be seen") {
				t.Errorf("%s: %d %q to %q", c.request, got.status, got.body, got.header.Get("Location"))
			}
		})
	}
	if got := f.do(t, f.as(t, "member"), "GET", "/kept/x.txt", ""); got.status != 200 || got.body != "x of dir" ||
		got.header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("a member gets %d %q, %q", got.status, got.body, got.header)
	}
}

func TestRulesOfHeaders(t *testing.T) {
	f := ruledSite(t)
	tag := f.get(t, "/plain.css").header.Get("Etag")
	for _, c := range []struct {
		request, with string
		status        int
		want          string // "Name: value", each on a line; without a value it must be absent
	}{
		{"GET /", "", 200, "X-Frame-Options: DENY\nX-Tag: all\nX-Content-Type-Options: nosniff"},
		{"GET /nothing", "", 404, "X-Frame-Options: DENY"},
		{"GET /old", "", 301, "X-Frame-Options: DENY"},
		{"GET /api/x", "", 200, "X-Frame-Options: "},
		{"GET /__pages/sign-in", "", 200, "X-Tag: "},
		{"GET /club/x", "", 401, "X-Tag: "},
		{"PUT /about", "", 405, "X-Tag: "},
		{"GET /css/none.css", "", 404, "Cache-Control: public, max-age=0, must-revalidate\nX-Tag: all, css\nX-Content-Type-Options: "},
		{"GET /dir/y.txt", "", 404, "Content-Type: text/x-y\nVary: Accept\nSet-Cookie: a=1"},
		{"GET /plain.css", "Accept-Encoding: gzip", 200, "Content-Encoding: \nCache-Control: no-transform"},
		{"GET /plain.css", "If-None-Match: " + tag, 304, "X-Frame-Options: DENY\nEtag: " + tag},
		{"GET /plain.css", "Range: bytes=0-3", 206, "X-Frame-Options: DENY\nContent-Length: 4"},
		{"GET /", "Host: named.localhost:1", 200, "X-Host: named"},
		{"GET /", "Host: other.localhost", 200, "X-Host: "},
	} {
		t.Run(c.request+" "+c.with, func(t *testing.T) {
			method, path, _ := strings.Cut(c.request, " ")
			var with []string
			if c.with != "" {
				with = []string{c.with}
			}
			got := f.do(t, nil, method, path, "", with...)
			if got.status != c.status {
				t.Errorf("%s %s: status %d, want %d", c.request, c.with, got.status, c.status)
			}
			for line := range strings.SplitSeq(c.want, "\n") {
				if name, value, _ := strings.Cut(line, ": "); got.header.Get(name) != value {
					t.Errorf("%s %s: %s is %q, want %q", c.request, c.with, name, got.header[name], value)
				}
			}
		})
	}
	if got := f.get(t, "/dir/y.txt"); !slices.Equal(got.header["Set-Cookie"], []string{"a=1", "b=2"}) {
		t.Errorf("cookies: %q", got.header["Set-Cookie"])
	}
}

// A header opens no members page, neither to caches nor to other sites.
func TestRulesOpenNothing(t *testing.T) {
	dir, assets := folder(t, privateFiles)
	f := start(t, Options{}, Revision{
		Manifest: &manifest.Manifest{Routes: routes("members /private/*", "members /report")}, Rules: openers(t),
		Assets: assets, AssetsDir: dir,
	})
	member := f.as(t, "member")
	for _, path := range []string{"/private/a", "/way/in/by/rule/a", "/way/in", "/public/x", "/abc"} {
		t.Run(path, func(t *testing.T) {
			if got := f.get(t, path); got.status != http.StatusUnauthorized || strings.Contains(got.body, secret) {
				t.Errorf("%s: signed out %d %q", path, got.status, got.body)
			}
			got := f.do(t, member, "GET", path, "")
			if got.status != 200 || got.body != secret {
				t.Errorf("%s: a member gets %d %q", path, got.status, got.body)
			}
			if h := got.header; !keptPrivate(h.Get("Cache-Control")) || h.Get("Access-Control-Allow-Credentials") != "" ||
				!strings.Contains(h.Get("Vary"), "Cookie") {
				t.Errorf("%s: %q", path, h)
			}
		})
	}
}

func TestExplainRules(t *testing.T) {
	dir, assets := folder(t, plainFiles)
	rules, _ := edgerules.Parse(ruleHeaders, ruleRedirects)
	v := NewRouting(Revision{
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("members /dir/x.txt")}, Rules: rules,
		Assets: assets, AssetsDir: dir,
	})
	for target, want := range map[string]string{
		"/old?a":      `"rule":"_redirects:2","headers":["X-Frame-Options: DENY","X-Tag: all"],"status":301`,
		"/kept/x.txt": `"rule":"_redirects:5","status":303`,
		"/user/7": `"status":200,"why":["no route covers the path, so the Worker is not asked",` +
			`"line 6 of _redirects answers with the file of /about, before files and Worker"`,
		"/go/__pages/":            `leads outside the site: nothing answers`,
		"/named/x?a":              `"location":"/about?a","rule":"_redirects:7"`,
		"http://named.localhost/": `"X-Host: named"`,
		"/css/none":               `"! X-Content-Type-Options"`,
	} {
		t.Run(target, func(t *testing.T) {
			e, err := json.Marshal(v.Explain("GET", target, VisitorSignedOut))
			if err != nil || !strings.Contains(string(e), want) {
				t.Errorf("%s: %s, %v", target, e, err)
			}
		})
	}
}

// A Worker that fetches a file gets the response of a visitor.
func TestRulesOfAssetsBinding(t *testing.T) {
	f := ruledSite(t)
	for target, want := range map[string]int{"/old": 301, "/user/1": 200, "/dir/": 200, "/_headers": 404} {
		t.Run(target, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), "GET", "http://assets.local"+target, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := recordResponse(f.site.AssetsHandler(), r); got.status != want || got.header.Get("X-Frame-Options") != "DENY" {
				t.Errorf("%s: %d %q", target, got.status, got.header)
			}
		})
	}
}

// The fallback rule of a single-page app answers the paths that no other part of the site answers.
func TestFallbackRules(t *testing.T) {
	files := map[string]string{
		"/index.html": "the app", "/about.html": "about", "/a.js": "script", "/404.html": "nothing", "/club/index.html": "the club",
		"/b/c.txt": "below",
	}
	dir, assets := folder(t, files)
	rules, diags := edgerules.Parse("", "/club/* /club/index.html 200\n/gated/* /club/index.html 200\n/* /index.html 200\n"+
		"/old /about 301\n/none/* /none/index.html 200\n")
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	f := start(t, Options{}, Revision{
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /api/*", "members /club/*")},
		Worker:   echo{}, Rules: rules, Assets: assets, AssetsDir: dir,
	})
	for _, c := range []struct {
		request string
		status  int
		body    string
	}{
		{"GET /", 200, "the app"},
		{"GET /settings/profile?x=1", 200, "the app"},
		{"HEAD /settings", 200, ""},
		{"POST /settings", 405, ""},
		{"GET /a.js", 200, "script"},
		{"GET /about", 200, "about"},
		{"GET /about.html", 307, ""},
		{"GET /b%2Fc.txt", 307, ""}, // another reading is a file
		{"GET /x%2Fy", 200, "the app"},
		{"GET /old", 301, ""}, // a rule below
		{"GET /none/x", 200, "the app"},
		{"GET /club/x", 401, ""},
		{"GET /gated/x", 401, ""},
	} {
		t.Run(c.request, func(t *testing.T) {
			method, path, _ := strings.Cut(c.request, " ")
			got := f.do(t, nil, method, path, "")
			if got.status != c.status || c.body != "" && got.body != c.body {
				t.Errorf("%s: %d %q", c.request, got.status, got.body)
			}
		})
	}
	if got := f.get(t, "/api/x"); got.status != 200 || got.body == "the app" {
		t.Errorf("the Worker does not answer its route: %d %q", got.status, got.body)
	}
	if got := f.do(t, f.as(t, "member"), "GET", "/gated/x", ""); got.status != 200 || got.body != "the club" ||
		!keptPrivate(got.header.Get("Cache-Control")) {
		t.Errorf("a member gets %d %q, %q", got.status, got.body, got.header)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://assets.local/api/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := recordResponse(f.site.AssetsHandler(), r); got.status != 200 || got.body != "the app" {
		t.Errorf("a Worker that passes its request on gets %d %q", got.status, got.body)
	}
	e := f.site.acquire()
	defer e.release()
	if why := strings.Join(e.Explain("GET", "/settings", VisitorSignedOut).Why, "\n"); !strings.Contains(why,
		"line 3 of _redirects answers with the file of /index.html, since neither a file nor the Worker does") {
		t.Error(why)
	}
}
