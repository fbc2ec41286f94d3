package site

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// TestLoggedErrors: if an error was logged and a line of text answers the author's browser, a page about the error replaces it. Every other
// response stays unchanged.
func TestLoggedErrors(t *testing.T) {
	const visit, long = "Sec-Fetch-Mode: navigate", maxHeldAnswer + 1
	worker := workerFunc(func(w http.ResponseWriter, r *http.Request) error {
		logged := LogLine{Level: "error", Text: "TypeError: no boat\n    at src/worker.ts:3:5"}
		if !strings.HasPrefix(r.URL.Path, "/late") {
			SetLogged(r.Context(), logged)
		}
		kind, status, text := "text/plain; charset=UTF-8", 500, "Internal Server Error"
		switch r.URL.Path {
		case "/json":
			kind, text = "application/json", "{}"
		case "/page":
			kind, text = "text/html", "<p>Sorry"
		case "/refused":
			status = 422
		case "/busy":
			status, text = 503, ""
		case "/long":
			text = strings.Repeat("x", long)
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("X-Own", "yes")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(status)
		if r.URL.Path == "/late" {
			SetLogged(r.Context(), logged)
		}
		for _, part := range []string{text[:len(text)/2], text[len(text)/2:]} {
			if _, err := w.Write([]byte(part)); err != nil {
				return err
			}
			if err := http.NewResponseController(w).Flush(); err != nil {
				return err
			}
		}
		return nil
	})
	var record RequestRecord
	options := Options{
		DevHints: true, OnRequest: func(r RequestRecord) { record = r },
		ErrorPage: func(w http.ResponseWriter, _ *http.Request, err error) {
			if logged, ok := errors.AsType[*LoggedError](err); ok {
				w.WriteHeader(logged.Status)
				_, _ = w.Write([]byte(logged.Line.Text + " | " + logged.Text))
			}
		},
	}
	at := Revision{Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /*")}, Worker: worker}
	dev := start(t, options, at)
	options.DevHints = false
	published := start(t, options, at)
	const page = "TypeError: no boat\n    at src/worker.ts:3:5 | Internal Server Error"
	for _, c := range []struct {
		f             *fixture
		path, header  string
		status        int
		body, failure string
	}{
		{dev, "/", visit, 500, page, "TypeError: no boat"},
		{dev, "/", "Accept: text/html", 500, page, "TypeError: no boat"},
		{dev, "/busy", visit, 503, "TypeError: no boat\n    at src/worker.ts:3:5 | Service Unavailable", "TypeError: no boat"},
		{dev, "/", "Accept: application/json", 500, "Internal Server Error", ""},
		{dev, "/", "Sec-Fetch-Mode: cors", 500, "Internal Server Error", ""},
		{dev, "/json", visit, 500, "{}", ""},
		{dev, "/page", visit, 500, "<p>Sorry", ""},
		{dev, "/refused", visit, 422, "Internal Server Error", ""},
		{dev, "/late", visit, 500, "Internal Server Error", ""},
		{dev, "/long", visit, 500, strings.Repeat("x", long), ""},
		{published, "/", visit, 500, "Internal Server Error", ""},
	} {
		record = RequestRecord{}
		got := c.f.get(t, c.path, c.header)
		if got.status != c.status || got.body != c.body || (got.header.Get("X-Own") == "") != (c.failure != "") {
			t.Errorf("%s, %s: %d %.100q %v, want %d %.100q", c.path, c.header, got.status, got.body, got.header, c.status, c.body)
		}
		if record.Status != c.status || record.Error != c.failure {
			t.Errorf("%s, %s: recorded as %d %q", c.path, c.header, record.Status, record.Error)
		}
	}
}
