package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/devserver/site"
)

// TestOutside: without a site, a person in a browser gets a page in the look of the sites' own pages and without links; programs get JSON.
func TestOutside(t *testing.T) {
	o, err := site.NewOutside()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, accept string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/x", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		o.Refuse(w, r, "Nothing <is> here", &site.RefusalError{
			Status: http.StatusNotFound, Code: "not_published", Message: "there is no page yet",
		})
		return w
	}
	page := ask(http.MethodGet, "text/html,*/*")
	for _, want := range []string{
		"<h1>Nothing &lt;is&gt; here</h1>", "<p>There is no page yet.</p>", "color-scheme: light dark",
		`name="viewport"`, `lang="en"`,
	} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("no %s in\n%s", want, page.Body)
		}
	}
	if h := page.Header(); page.Code != http.StatusNotFound || strings.Contains(page.Body.String(), "href") ||
		!strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", page.Code, h)
	}
	if head := ask(http.MethodHead, "text/html"); head.Code != http.StatusNotFound || head.Body.Len() != 0 ||
		head.Header().Get("Content-Length") != page.Header().Get("Content-Length") {
		t.Errorf("HEAD: %d %v %d", head.Code, head.Header(), head.Body.Len())
	}
	program := ask(http.MethodPost, "application/json")
	if want := `{"ok":false,"error":{"code":"not_published","message":"there is no page yet"}}`; program.Code != http.StatusNotFound ||
		strings.TrimSpace(program.Body.String()) != want {
		t.Errorf("%d %s", program.Code, program.Body)
	}
}
