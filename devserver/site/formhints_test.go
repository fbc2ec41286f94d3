package site

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// formMaker is a Worker that renders a form.
type formMaker struct{}

func (formMaker) Serve(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/html")
	for _, piece := range []string{"<!doctype html><fo", `rm method=post action="/__pages/form/`, r.URL.Query().Get("name"), `">`} {
		if _, err := io.WriteString(w, piece); err != nil {
			return err
		}
	}
	return nil
}

func hintedSite(t *testing.T) (*fixture, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	dir, assets := folder(t, map[string]string{"/index.html": "start", "/thanks.html": "thanks", "/danke schön.html": "danke"})
	f := start(t, Options{DevHints: true, Logger: slog.New(slog.NewTextHandler(&log, nil))}, Revision{
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /app/*")}, Worker: formMaker{}, Assets: assets, AssetsDir: dir,
	})
	return f, &log
}

// TestNextPage: the page after a form is a page of this site, in any way that a person writes it.
func TestNextPage(t *testing.T) {
	f, log := hintedSite(t)
	own := f.server.URL
	const none = "/__pages/forms/thanks?form=default"
	for _, c := range []struct{ next, want string }{
		{"/thanks", "/thanks"},
		{" /thanks?a=b#c ", "/thanks?a=b#c"},
		{"/danke schön", "/danke%20sch%C3%B6n"},
		{"/merci-é?q=é#é", "/merci-%C3%A9?q=%C3%A9#%C3%A9"},
		{own + "/thanks?x", "/thanks?x"},
		{own, "/"},
		{own + "?x=1", "/?x=1"},
		{own + "/danke schön", "/danke%20sch%C3%B6n"},
		{"thanks.html", none},
		{"https://evil.example/thanks", none},
		{"//evil.example/thanks", none},
		{own + "//evil.example", none},
		{own + "@evil.example/", none},
		{"http://evil.example#" + own + "/", none},
		{`/\evil.example`, none},
		{"javascript:alert(1)", none},
		{"/a\r\nSet-Cookie: a=b", none},
	} {
		t.Run(c.next, func(t *testing.T) {
			log.Reset()
			got := f.do(t, nil, "POST", "/__pages/forms", "a=b&_next="+strings.NewReplacer("&", "%26", "+", "%2B", "#", "%23", " ", "+",
				"\r", "%0D", "\n", "%0A", "\\", "%5C").Replace(c.next), "Content-Type: application/x-www-form-urlencoded")
			if got.status != http.StatusSeeOther || got.header.Get("Location") != c.want {
				t.Errorf("%q: %d to %q, want %q", c.next, got.status, got.header.Get("Location"), c.want)
			}
			if said := strings.Contains(log.String(), "was ignored"); said != (c.want == none) {
				t.Errorf("%q: the log says %s", c.next, log)
			}
		})
	}
}

// TestFormHints: at the first request that shows a form which cannot be sent, the log has the fix.
func TestFormHints(t *testing.T) {
	f, log := hintedSite(t)
	const html, form = "Accept: text/html", "Content-Type: application/x-www-form-urlencoded"
	for _, c := range []struct {
		request, body string
		headers       []string
		want          string // in the log, "" for none
	}{
		{"GET /app/page?name=contact", "", nil, `which does not exist: the platform refuses it with 404" fix="write action=`},
		{"GET /app/page?name=contact", "", nil, ""}, // once
		{"GET /__pages/forms/contact?a=b", "", []string{html}, `with GET, and refused`},
		{
			"POST /__pages/forms/contact", "a=b",
			[]string{html, "Content-Type: text/plain"},
			`text/plain, and refused" fix="remove the enctype`,
		},
		{"POST /__pages/forms/Contact", "a=b", []string{html, form}, `refused by its name`},
		{"POST /__pages/form/contact", "a=b", []string{html, form}, `which does not exist: it was refused`},
		{"POST /", "a=b", []string{html, form}, `which takes no posts: it was refused`},
		{"POST /nothing", "a=b", []string{html, form}, `which takes no posts: it was refused`},
		{"POST /nothing", "{}", []string{"Content-Type: application/json"}, ""},
		{"POST /nothing", "a=b", []string{"Sec-Fetch-Mode: cors", form}, ""},
		{"POST /__pages/forms/contact", "a=b", []string{html, form}, ""},
		{"GET /nothing?a=b", "", []string{html}, ""},
	} {
		t.Run(c.request, func(t *testing.T) {
			log.Reset()
			method, path, _ := strings.Cut(c.request, " ")
			f.do(t, nil, method, path, c.body, c.headers...)
			if got := log.String(); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: the log says %q, want %q", c.request, got, c.want)
			}
		})
	}
}
