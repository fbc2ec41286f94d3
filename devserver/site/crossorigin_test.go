package site

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// A script of another origin stores a lead only if it may read the response. Pages and programs always may.
func TestFormsOfOtherOrigins(t *testing.T) {
	const other, json = "Origin: http://localhost:5173", "Content-Type: application/json"
	script := []string{other, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors", "Accept: */*"}
	for _, c := range []struct {
		name, rules string
		headers     []string
		status      int
		allowed     string
	}{
		{"refused", "", append(script, formType), 403, ""},
		{
			"refused for another origin", "/__pages/forms/*\n  Access-Control-Allow-Origin: http://localhost:3000",
			append(script, formType), 403, "",
		},
		{"refused at another form", "/__pages/forms/other\n  Access-Control-Allow-Origin: *", append(script, formType), 403, ""},
		{
			"allowed by name", "/__pages/forms/*\n  Access-Control-Allow-Origin: http://localhost:5173",
			append(script, formType), 201, "http://localhost:5173",
		},
		{"allowed to all", "/*\n  Access-Control-Allow-Origin: *", append(script, formType), 201, "*"},
		{"allowed as JSON", "/__pages/forms/*\n  Access-Control-Allow-Origin: *", append(script, json), 201, "*"},
		{"a page's form", "", []string{other, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", formType}, 303, ""},
		{"an older browser's page", "", []string{other, "Accept: text/html", formType}, 303, ""},
		{"an older browser's script", "", []string{other, "Accept: */*", formType}, 403, ""},
		{
			"a script that reads no response", "",
			[]string{other, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", formType},
			303, "",
		},
		{"a program", "", []string{formType}, 303, ""},
		{"a file's script", "", []string{"Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", formType}, 403, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			b := openInbox(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, enquiries)
			r := b.site.Revision()
			r.Rules, _ = edgerules.Parse(c.rules, "")
			b.site.Swap(r)
			body := "name=Kim"
			if strings.Contains(strings.Join(c.headers, ""), json) {
				body = `{"name":"Kim"}`
			}
			got := b.do(t, nil, "POST", "/__pages/forms/contact", body, c.headers...)
			challenge := b.do(t, nil, "GET", "/__pages/forms/altcha.json", "", c.headers...)
			if challenge.status != 200 || challenge.header.Get("Access-Control-Allow-Origin") != c.allowed {
				t.Errorf("its challenge: %d %v", challenge.status, challenge.header)
			}
			stored := map[bool]int{true: 1}[c.status < 400]
			if got.status != c.status || b.count(t) != stored || got.header.Get("Access-Control-Allow-Origin") != c.allowed ||
				(c.status == 403) != strings.Contains(log.String(), "was refused: the form was not stored: a script of a page at") {
				t.Errorf("%d %v, %d leads, log %s", got.status, got.header, b.count(t), log.String())
			}
			asks := []string{"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type"}
			preflight := b.do(t, nil, "OPTIONS", "/__pages/forms/contact", "", append(asks, c.headers...)...)
			switch {
			case c.allowed != "":
				if preflight.status != 204 || preflight.header.Get("Access-Control-Allow-Origin") != c.allowed ||
					!strings.Contains(preflight.header.Get("Access-Control-Allow-Headers"), "Content-Type") {
					t.Errorf("preflight: %d %v", preflight.status, preflight.header)
				}
			case c.status == 403 && preflight.status != 403:
				t.Errorf("preflight: %d", preflight.status)
			}
		})
	}
}

// Error responses have the CORS headers, too, so that a script can read the error.
func TestRefusalsToScripts(t *testing.T) {
	rules, _ := edgerules.Parse("/__pages/forms/*\n  Access-Control-Allow-Origin: *", "")
	f := start(t, Options{}, Revision{Manifest: &manifest.Manifest{}, Rules: rules})
	got := f.do(
		t, nil, "POST", "/__pages/forms/contact", "{", "Origin: https://a.example", "Sec-Fetch-Mode: cors",
		"Content-Type: application/json",
	)
	if got.status != http.StatusBadRequest || got.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v", got.status, got.header)
	}
}
