package fileindex_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest/fileindex"
)

// TestResolve holds each path to the answer of wrangler dev: the file, and the path it redirects to.
func TestResolve(t *testing.T) {
	index := fileindex.Of(strings.Fields(
		"index.html about.html docs/index.html docs/guide.html both.html both/index.html plain plain.html a.txt sub/index.html.html"))
	for path, want := range map[string]string{
		"/":                      "index.html",
		"/index":                 "index.html > /",
		"/index.html":            "index.html > /",
		"/about":                 "about.html",
		"/about.html":            "about.html > /about",
		"/about/":                "about.html > /about",
		"/about/index":           "about.html > /about",
		"/about/index.html":      "about.html > /about",
		"/docs":                  "docs/index.html > /docs/",
		"/docs/":                 "docs/index.html",
		"/docs.html":             "docs/index.html > /docs/",
		"/docs/index":            "docs/index.html > /docs/",
		"/docs/index.html":       "docs/index.html > /docs/",
		"/docs/guide/":           "docs/guide.html > /docs/guide",
		"/docs/guide/index":      "docs/guide.html > /docs/guide",
		"/docs/guide/index.html": "docs/guide.html > /docs/guide",
		"/both":                  "both.html",
		"/both/":                 "both/index.html",
		"/both.html":             "both.html > /both",
		"/both/index.html":       "both/index.html > /both/",
		"/plain":                 "plain",
		"/plain.html":            "plain.html",
		"/plain/":                "",
		"/plain/index.html":      "",
		"/a.txt":                 "a.txt",
		"/a.txt/":                "",
		"/none":                  "",
		"/docs//":                "",
	} {
		t.Run(path, func(t *testing.T) {
			file, redirect, ok := index.Resolve(path)
			got := file
			if redirect != "" {
				got = fmt.Sprint(file, " > ", redirect)
			}
			if got != want || ok != (want != "") {
				t.Errorf("%s: %q, %v, want %q", path, got, ok, want)
			}
			if again, more, _ := index.Resolve(redirect); redirect != "" && (again != file || more != "") {
				t.Errorf("%s leads to %s, which sends %q, or on to %q", path, redirect, again, more)
			}
		})
	}
}
