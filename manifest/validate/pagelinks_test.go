package validate_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// TestLinksThatLeadNowhere: each address of a page that nothing answers is warned of, once, and no other.
func TestLinksThatLeadNowhere(t *testing.T) {
	const unknown = `correct the address, add the file, or list the path in "routes" for the Worker to answer`
	for page, want := range map[string]string{
		`<a href="/nosuch?a#b"><a href="/nosuch">`: `the page links to "/nosuch", which does not exist; ` + unknown,
		`<a href="nosuch">`:                        `the page links to "/docs/nosuch", which does not exist; ` + unknown,
		`<a href="/About">`:                        `the page links to "/About", which does not exist; did you mean "/about"?`,
		`<a href="/docs/gide">`: `the page links to "/docs/gide", which does not exist; ` +
			`did you mean "/docs/guide"?`,
		`<link rel=stylesheet href=../css/site.cs>`: `the page loads "/css/site.cs", which does not exist; ` +
			`did you mean "/css/site.css"?`,
		`<form action="/search">`:                       `a form of the page is sent to "/search", which does not exist; ` + unknown,
		`<img src="/docs/guide/a.png">`:                 `the page loads "/docs/guide/a.png", which does not exist; ` + unknown,
		`<a href="/secret.html">`:                       `the page links to "/secret.html", which does not exist; ` + unknown,
		`<a href="/about"><a href="about.html">`:        `the page links to "/docs/about.html", which does not exist; ` + unknown,
		`<a href="/about/"><a href="/about.html#x">`:    "",
		`<a href="/"><a href=".."><a href="/docs">`:     "",
		`<a href="guide"><a href="/docs/guide?x">`:      "",
		`<a href="/docs//guide"><a href="./">`:          "",
		`<a href="/100%25"><a href="/d%C3%BCrer">`:      "",
		`<a href="/du%CC%88rer"><a href="/dürer">`:      "",
		`<a href="/api"><a href="/api/x/y">`:            "",
		`<a href="/old/x"><a href="/gone">`:             "",
		`<a href="/app/x/y"><a href="/app">`:            "",
		`<a href="/__pages/sign-in"><a href="/x/%2e.">`: "",
		`<a href="/club/"><a href="/nosuch" hidden`:     "", // cut off
		`<a href="/cdn-cgi/l/email-protection">`:        "",
		`<form action="/send" method=dialog>`:           "",
	} {
		t.Run(page, func(t *testing.T) {
			fsys := fstest.MapFS{
				manifest.FileName: {Data: []byte(`{"entry":"w.js","assets":"p","routes":[{"pattern":"/api/*"},` +
					`{"pattern":"/club/*","access":"members"}]}`)},
				"w.js": {}, "p/index.html": {}, "p/about.html": {}, "p/docs/index.html": {}, "p/docs/guide.html": {}, "p/100%.html": {},
				"p/dürer.html": {}, "p/css/site.css": {}, "p/app/index.html": {}, "p/club/index.html": {Data: []byte("members")},
				"p/_redirects":     {Data: []byte("/old/* /about\n/gone https://other.example/ 301\n/app/* /app/index.html 200\n")},
				"p/.assetsignore":  {Data: []byte("secret.html\n")},
				"p/secret.html":    {},
				"p/docs/page.html": {Data: []byte("<!doctype html>\n" + page)},
			}
			_, found := validate.Load(fsys, manifest.FileName)
			var got []string
			for _, d := range found {
				if d.Code == "link-broken" {
					got = append(got, d.Message+"; "+d.Fix)
					if d.File != "p/docs/page.html" || d.Line != 2 || d.Source != page {
						t.Errorf("%+v", d)
					}
				} else if d.Code != "route-shadowed" {
					t.Errorf("%+v", d)
				}
			}
			if strings.Join(got, "\n") != want {
				t.Errorf("%s:\n got %s\nwant %s", page, strings.Join(got, "\n"), want)
			}
		})
	}
}

// brokenLinks counts the links of a site that lead nowhere.
func brokenLinks(fsys fstest.MapFS) (n int, first string) {
	fsys[manifest.FileName] = &fstest.MapFile{Data: []byte(`{"assets":"p"}`)}
	_, found := validate.Load(fsys, manifest.FileName)
	for _, d := range found {
		if d.Code == "link-broken" {
			if n++; n == 1 {
				first = d.Message
			}
		}
	}
	return n, first
}

func TestLinksOfWholeSites(t *testing.T) {
	page := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("<!doctype html>" + text)} }
	for name, c := range map[string]struct {
		site fstest.MapFS
		want int
	}{
		"404.html is shown everywhere": {fstest.MapFS{"p/404.html": page("<a href=a><a href=/b>")}, 1},
		"a part of other pages":        {fstest.MapFS{"p/nav.html": {Data: []byte("<a href=a><a href=/b>")}}, 1},
		"every path shows the app": {fstest.MapFS{
			"p/index.html": page("<a href=/a>"), "p/_redirects": {Data: []byte("/* /index.html 200\n")},
		}, 0},
		"404.html is the app": {fstest.MapFS{
			"p/index.html": page("<a href=/a>"), "p/404.html": page("<a href=/a>"),
		}, 0},
		"a rule with an error": {fstest.MapFS{
			"p/index.html": page("<a href=/a>"), "p/_redirects": {Data: []byte("/a\n")},
		}, 0},
		"a file that is refused": {fstest.MapFS{"p/index.html": page("<a href=/.env>"), "p/.env": {}}, 0},
	} {
		if got, first := brokenLinks(c.site); got != c.want {
			t.Errorf("%s: %d links lead nowhere (%s), want %d", name, got, first, c.want)
		}
	}
}

// TestLinksAreBounded: one message counts the links after the first hundred.
func TestLinksAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 250 {
		fmt.Fprintf(&text, "<a href=/%d>", i)
	}
	page := &fstest.MapFile{Data: []byte(text.String())}
	site := fstest.MapFS{"p/a.html": page}
	if got, first := brokenLinks(site); got != 101 || first != "150 more links of the public pages lead nowhere" {
		t.Errorf("%d warnings, the first is %q", got, first)
	}
	all := fstest.MapFS{"p/z.html": {Data: []byte("<a href=/a><a href=/only-here>")}}
	for i := range 200 {
		all[fmt.Sprintf("p/%d.html", 1000+i)] = &fstest.MapFile{Data: []byte("<a href=/nosuch>")}
	}
	if n, first := brokenLinks(all); n != 101 || first != "102 more links of the public pages lead nowhere" {
		t.Errorf("%d warnings, the first is %q", n, first)
	}
	_, found := validate.Load(all, manifest.FileName)
	if last := found[len(found)-1]; len(found) != 101 || !strings.Contains(last.Message, `"/only-here"`) {
		t.Errorf("%d warnings, the last is %+v", len(found), last)
	}
}
