package site

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// sent is a form that a browser sends from a page of the site.
func (f *fixture) sent(more ...string) []string {
	return append([]string{
		"Origin: " + f.server.URL, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Accept: text/html",
		"Referer: " + f.server.URL + "/club/form?a=b&c=%22", formType,
	}, more...)
}

func openClub(t *testing.T) *fixture {
	t.Helper()
	m := &manifest.Manifest{Entry: "w.js", Routes: routes("members /club/*")}
	return start(t, Options{}, Revision{Manifest: m, Worker: echo{}})
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// A form for members whose sender's session has expired comes back as a page that sends it again, byte for byte.
func TestFormAfterTheSession(t *testing.T) {
	f := openClub(t)
	typed := url.Values{
		"form": {"x"}, "_next": {"//evil.example"}, "tag": {"1", "2"}, "": {"nameless"}, "é": {"ü 100%"},
		"note": {"a\r\nb <script>alert(1)</script> \"'&"},
	}
	got := f.do(t, nil, "POST", "/club/save?id=%22%3E", typed.Encode(), f.sent()...)
	if got.status != 401 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") ||
		got.header.Get("Cache-Control") != "no-store" || got.header.Get("WWW-Authenticate") != "Pages-Session" ||
		strings.Contains(got.body, "<script>") {
		t.Fatalf("%d %v %s", got.status, got.header, got.body)
	}
	again := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(got.body, -1) {
		again.Add(html.UnescapeString(m[1]), html.UnescapeString(m[2]))
	}
	if again.Encode() != typed.Encode() {
		t.Errorf("sent again: %s\nwant %s", again.Encode(), typed.Encode())
	}
	for _, part := range []string{
		`action="/club/save?id=%22%3E" enctype="application/x-www-form-urlencoded"`,
		`href="/__pages/sign-in?next=%2Fclub%2Fform%3Fa%3Db%26c%3D%2522" target="_blank" rel="noopener"`,
	} {
		if !strings.Contains(got.body, part) {
			t.Errorf("no %s in %s", part, got.body)
		}
	}
	if got := f.do(t, f.as(t, "member"), "POST", "/club/save?id=%22%3E", again.Encode(), f.sent()...); got.status != 200 {
		t.Errorf("after signing in: %d", got.status)
	}
}

func TestFormFilesAfterTheSession(t *testing.T) {
	f := openClub(t)
	body, kind := multipartBody(t, [][3]string{{"name", "", "Kim"}, {"cv", "k<m.pdf", "12345"}, {"none", "", ""}})
	headers := append(f.sent()[:5:5], "Content-Type: "+kind)
	got := f.do(t, nil, "POST", "/club/save", body, headers...)
	for _, part := range []string{
		`enctype="multipart/form-data"`, `name="name" value="Kim"`, `The file k&lt;m.pdf is not kept: choose it again`,
		`type="file" name="cv"`,
	} {
		if !strings.Contains(got.body, part) {
			t.Errorf("no %s in %s", part, got.body)
		}
	}
	if strings.Contains(got.body, "12345") {
		t.Error("the file is in the page")
	}
}

// The site keeps no form from another site's page, none that is too long, and none for another host.
func TestFormsNotKept(t *testing.T) {
	f := openClub(t)
	const mine = "name=typed-text"
	for _, c := range []struct {
		name, path, body string
		headers          []string
		status           int
		page             bool
	}{
		{
			"another site",
			"/club/save",
			mine,
			[]string{
				"Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
				"Accept: text/html", formType,
			},
			401,
			true,
		},
		{"a browser that does not say", "/club/save", mine, []string{"Accept: text/html", formType}, 401, true},
		{"too long", "/club/save", mine + "&" + strings.Repeat("a="+strings.Repeat("x", 60<<10)+"&", 5), f.sent(), 401, true},
		{"over the bounds", "/club/save", mine + strings.Repeat("&a=b", 200), f.sent(), 401, true},
		{"text", "/club/save", mine, append(f.sent()[:5:5], "Content-Type: text/plain"), 401, true},
		{
			"a script",
			"/club/save",
			mine,
			[]string{"Origin: " + f.server.URL, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", "Accept: text/html", formType},
			401,
			false,
		},
		{"a program", "/club/save", mine, []string{formType}, 401, false},
		{"JSON", "/club/save", `{"name":"typed-text"}`, append(f.sent()[:5:5], "Content-Type: application/json"), 401, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := f.do(t, nil, "POST", c.path, c.body, c.headers...)
			if got.status != c.status || strings.Contains(got.body, "typed-text") || strings.Contains(got.body, "Send again") ||
				strings.Contains(got.body, "/__pages/sign-in?next=") != c.page || got.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%d %v %s", got.status, got.header, got.body)
			}
		})
	}
	if got := f.do(t, f.as(t, "outsider"), "POST", "/club/save", mine, f.sent()...); got.status != http.StatusForbidden {
		t.Errorf("no member: %d", got.status)
	}
}

// A link that is followed in another tab signs in the browser: the first tab continues, and no other browser does.
func TestContinueAfterALink(t *testing.T) {
	f := openClub(t)
	f.site.options.Links = &mailbox{}
	if got := f.get(t, "/__pages/sign-in?next=/club/&continue=1"); got.status != 200 || !strings.Contains(got.body, "not signed in yet") {
		t.Errorf("signed out: %d %s", got.status, got.body)
	}
	f.site.options.Links = nil
	c := f.as(t, "member")
	f.site.options.Links = &mailbox{}
	for next, want := range map[string]string{
		"/club/": "/club/", "//evil.example": "/", "https://evil.example": "/", `/\\evil.example`: "/",
	} {
		got := f.do(t, c, "GET", "/__pages/sign-in?continue=1&next="+url.QueryEscape(next), "")
		if got.status != 303 || got.header.Get("Location") != want {
			t.Errorf("%s: %d %q", next, got.status, got.header.Get("Location"))
		}
	}
}
