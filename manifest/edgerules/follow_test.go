package edgerules_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// TestFollowedRules: with the files of a site known, its redirects are followed through the addresses of its pages.
func TestFollowedRules(t *testing.T) {
	const sentOn = ", to which it redirects with 307"
	const files = "index.html about.html docs/index.html docs/guide.html app/index.html assets/main.css 200.html 404.html _redirects"
	for rules, want := range map[string]string{
		// Loops through the index, each with the request that loops.
		"/* /:splat/ 301":             `1 edge-rule-loop: a request for "/200" never arrives: /200 → /200/ → /200/`,
		"/*/ /:splat 301":             `1 edge-rule-loop: a request for "/app/" never arrives: /app/ → /app → /app/`,
		"/docs/ /docs 301":            `1 edge-rule-loop: a request for "/docs/" never arrives: /docs/ → /docs → /docs/`,
		"/about /about/ 301":          `1 edge-rule-loop: a request for "/about" never arrives: /about → /about/ → /about`,
		"/about /about.html 301":      `1 edge-rule-loop: a request for "/about" never arrives: /about → /about.html → /about`,
		"/about /about.html 200":      `1 edge-rule-loop: a request for "/about" never arrives: /about → /about`,
		"/docs/ /docs/index.html 200": `1 edge-rule-loop: a request for "/docs/" never arrives: /docs/ → /docs/`,
		"/ /index.html 301":           `1 edge-rule-loop: a request for "/" never arrives: / → /index.html → /`,
		"/old /about/index\n/about /old": `2 edge-rule-loop: a request for "/about" never arrives: ` +
			`/about → /old → /about/index → /about`,
		"/* /x/:splat 301": `1 edge-rule-loop: a request for "/200" never arrives: ` +
			`/200 → /x/200 → /x/x/200 → /x/x/x/200 → /x/x/x/x/200 → …`,
		"/* /:splat:splat 301": `1 edge-rule-loop: a request for "/200" never arrives: ` +
			`/200 → /200200 → /200200200200 → /200200200200200200200200 → ` +
			`/200200200200200200200200200200200200200200200200 → …`,
		"/:x/* /y/:splat 302": `1 edge-rule-loop: a request for "/200/" never arrives: /200/ → /y/ → /y/`,

		// No loops.
		"/old/* /:splat/ 301":                          "",
		"/app/* /index.html 301":                       "",
		"/about/ /about 301":                           "",
		"/blog/* /docs/:splat 301\n/b /blog/x 301":     "",
		"/new/ok https://example.com/\n/new/* /new/ok": "",
		"/* https://example.com/:splat":                "",

		// The line of an app of one page, which hides nothing.
		"/* /index.html 200":         "",
		"/app/* /index.html 200":     "",
		"/app/* /app/index.html 200": "",
		"/* /200.html 200":           "",

		// A rule that hides files.
		"/* / 200": `1 edge-rule-hides: the rule hides files of the site, such as "200.html": rules apply before files`,
		"/assets/* / 200": `1 edge-rule-hides: the rule hides files of the site, such as "assets/main.css": ` +
			`rules apply before files`,
		"/about /app/ 200": `1 edge-rule-hides: the rule hides files of the site, such as "about.html": rules apply before ` +
			`files`,
		"/app/* /app/ 200":            "", // its only page
		"/docs/:page /docs/:page 200": "",

		// Another name of a page.
		"/p /docs/guide.html 200":       `1 edge-rule-alias: "/docs/guide.html" is another name of the page "/docs/guide"` + sentOn,
		"/p /docs 200":                  `1 edge-rule-alias: "/docs" is another name of the page "/docs/"` + sentOn,
		"/p/:page /docs/:page.html 200": `1 edge-rule-alias: "/docs/:page.html" is another name of the page "/docs/:page"` + sentOn,
		"/p /docs/guide 200":            "",
		"/p /assets/main.css 200":       "",
	} {
		t.Run(rules, func(t *testing.T) {
			fsys := fstest.MapFS{"public/_redirects": {Data: []byte(rules)}}
			var got []string
			for _, d := range edgerules.Check(fsys, "public", strings.Fields(files)) {
				got = append(got, fmt.Sprintf("%d %s: %s", d.Line, d.Code, d.Message))
				if d.Fix == "" || d.Column < 2 {
					t.Errorf("%+v", d)
				}
			}
			if strings.Join(got, "\n") != want {
				t.Errorf("%q:\n got %s\nwant %s", rules, strings.Join(got, "\n"), want)
			}
		})
	}
}

func TestFallback(t *testing.T) {
	rules, found := edgerules.Parse("", "/app/* /app/index.html 200\n/* /200.html 200\n/old /new\n")
	if len(found) > 0 {
		t.Fatal(found)
	}
	for path, want := range map[string]string{
		"/app/a": "/app/index.html", "/app/": "/app/index.html", "/app": "/200.html", "/x": "/200.html",
	} {
		t.Run(path, func(t *testing.T) {
			if got := rules.Fallback(path); got.Path != want || !got.Fallback || rules.Redirect(path).Line != 0 {
				t.Errorf("%s: %+v, and first %+v", path, got, rules.Redirect(path))
			}
		})
	}
	if got := rules.Redirect("/old"); got.Location("") != "/new" {
		t.Errorf("a fallback above hides a rule: %+v", got)
	}
}
