package site

import (
	"net/http"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// The conditions of RFC 9110, section 13, by date and by tag.
func TestD013Conditions(t *testing.T) {
	dir, assets := folder(t, map[string]string{"/a.txt": "0123456789"})
	at := time.Date(2026, 5, 6, 7, 8, 9, 123456789, time.UTC)
	assets[0].Modified = at
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir})
	date := func(shift time.Duration) string { return at.Add(shift).Format(http.TimeFormat) }
	tag := etag(assets[0].SHA256)
	for _, c := range []struct {
		name    string
		headers []string
		status  int
		body    string
	}{
		{"none", nil, 200, "0123456789"},
		{"If-Modified-Since, the same second", []string{"If-Modified-Since: " + date(0)}, 304, ""},
		{"If-Modified-Since, later", []string{"If-Modified-Since: " + date(time.Hour)}, 304, ""},
		{"If-Modified-Since, earlier", []string{"If-Modified-Since: " + date(-time.Second)}, 200, "0123456789"},
		{"If-Modified-Since, no date", []string{"If-Modified-Since: yesterday"}, 200, "0123456789"},
		{"If-None-Match counts more than a date", []string{`If-None-Match: "x"`, "If-Modified-Since: " + date(0)}, 200, "0123456789"},
		{
			"If-None-Match counts more than an old date",
			[]string{"If-None-Match: " + tag, "If-Modified-Since: " + date(-time.Hour)},
			304, "",
		},
		{"If-Unmodified-Since, the same second", []string{"If-Unmodified-Since: " + date(0)}, 200, "0123456789"},
		{"If-Unmodified-Since, earlier", []string{"If-Unmodified-Since: " + date(-time.Second)}, 412, ""},
		{"If-Match counts more than a date", []string{"If-Match: " + tag, "If-Unmodified-Since: " + date(-time.Hour)}, 200, "0123456789"},
		{"If-Match fails", []string{`If-Match: "x"`}, 412, ""},
		{"If-Range, the date", []string{"Range: bytes=0-3", "If-Range: " + date(0)}, 206, "0123"},
		{"If-Range, another date", []string{"Range: bytes=0-3", "If-Range: " + date(time.Second)}, 200, "0123456789"},
		{"If-Range, the tag", []string{"Range: bytes=0-3", "If-Range: " + tag}, 206, "0123"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, method := range []string{"GET", "HEAD"} {
				got := f.do(t, nil, method, "/a.txt", "", c.headers...)
				if method == "HEAD" {
					c.body = ""
				}
				if method == "HEAD" && c.status == http.StatusPartialContent { // only a GET has ranges: RFC 9110, section 14.2
					c.status = http.StatusOK
				}
				if got.status != c.status || got.body != c.body {
					t.Errorf("%s, %s: %d %q", c.name, method, got.status, got.body)
				}
				if last := got.header.Get("Last-Modified"); got.status/100 == 2 && last != date(0) {
					t.Errorf("%s, %s: Last-Modified %q", c.name, method, last)
				}
			}
		})
	}
	if got := f.do(t, nil, "POST", "/a.txt", "", "If-Unmodified-Since: "+date(-time.Second)); got.status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", got.status)
	}
}

// Last-Modified is sent only if the file system's time is plausible.
func TestLastModifiedIsTruthful(t *testing.T) {
	dir, assets := folder(t, map[string]string{"/a.txt": "old"})
	_, edited := folder(t, map[string]string{"/a.txt": "new"})
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	f := start(t, Options{Now: func() time.Time { return now }}, Revision{})
	last := func(list []sitefile.Asset, modified time.Time) string {
		t.Helper()
		list[0].Modified = modified
		f.site.Swap(Revision{Assets: list, AssetsDir: dir})
		got := f.get(t, "/a.txt", "If-Modified-Since: "+modified.Add(-time.Hour).UTC().Format(http.TimeFormat))
		if got.status != http.StatusOK {
			t.Errorf("asked with an older date: %d", got.status)
		}
		return f.get(t, "/a.txt").header.Get("Last-Modified")
	}
	check := func(what, got string, want time.Time) {
		t.Helper()
		text := ""
		if !want.IsZero() {
			text = want.Format(http.TimeFormat)
		}
		if got != text {
			t.Errorf("%s: %q, want %q", what, got, text)
		}
	}
	check("unknown", last(assets, time.Time{}), time.Time{})
	check("of an archive without times", last(assets, time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)), time.Time{})
	check("in the future", last(assets, now.Add(time.Minute)), time.Time{})
	f.site.Swap(Revision{})
	check("known", last(assets, now.Add(-time.Hour)), now.Add(-time.Hour))
	check("touched", last(assets, now.Add(-time.Minute)), now.Add(-time.Minute))
	check("an older time of the same contents", last(assets, now.Add(-time.Hour)), now.Add(-time.Minute))
	dir = ""
	check("replaced by a file with an older time", last(edited, now.Add(-24*time.Hour)), now)
	check("and back within the second: not yet", last(assets, now), time.Time{})
	now = now.Add(time.Second)
	check("and back", last(assets, now.Add(-time.Second)), now)
}
