package site

import (
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// devFiles is a dev server: modules at /src/, a page at any other path.
type devFiles struct{}

func (devFiles) Serve(w http.ResponseWriter, r *http.Request, _ Visit) error {
	switch {
	case r.URL.Path == "/src/closed.js":
		return refuse(http.StatusUnauthorized, "sign_in_required", "for members")
	case strings.HasPrefix(r.URL.Path, "/src/"):
		w.Header().Set("Content-Type", "text/javascript")
	case r.URL.Path == "/lost":
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", "text/html")
	}
	_, _ = io.WriteString(w, "dev "+r.URL.RequestURI())
	return nil
}

// ownWorker answers with its name, and under /files/ with the files of ASSETS.
type ownWorker struct{ site *Site }

func (o ownWorker) Serve(w http.ResponseWriter, r *http.Request) error {
	if rest, ok := strings.CutPrefix(r.URL.Path, "/files"); ok {
		inner := httptest.NewRequest(http.MethodGet, "https://assets.local"+rest, nil)
		o.site.AssetsHandler().ServeHTTP(w, inner.WithContext(r.Context()))
		return nil
	}
	_, err := io.WriteString(w, "worker "+r.URL.Path)
	return err
}

// TestUpstreamOrder: declared routes come before the upstream; a route for everything comes after its files.
func TestUpstreamOrder(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "p.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := New(t.Context(), Options{DB: db})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, row := range []struct{ name, pattern, method, path, want string }{
		{"no route", "/api/*", "GET", "/about", "200 dev /about"},
		{"a route", "/api/*", "GET", "/api/x", "200 worker /api/x"},
		{"a route, even of a module's path", "/src/*", "GET", "/src/a.js", "200 worker /src/a.js"},
		{"a write without a route", "/api/*", "POST", "/about?/go", "200 dev /about?/go"},
		{"a route for everything, a module", "/*", "GET", "/src/a.js?t=1", "200 dev /src/a.js?t=1"},
		{"a route for everything, a page of any path", "/*", "GET", "/about", "200 worker /about"},
		{"a route for everything, a page by its name", "/*", "GET", "/about.html", "200 dev /about.html"},
		{"a route for everything, nothing", "/*", "GET", "/lost", "200 worker /lost"},
		{"a route for everything, a write", "/*", "POST", "/src/a.js", "200 worker /src/a.js"},
		{"a route for everything, a members module", "/*", "GET", "/src/closed.js", "401"},
		{"files of the Worker", "/*", "GET", "/files/page", "200 dev /page"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := &manifest.Manifest{Entry: "w.js", Routes: []manifest.Route{{Pattern: row.pattern, Access: manifest.Public}}}
			s.Swap(Revision{Manifest: m, Worker: ownWorker{s}, Upstream: devFiles{}})
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(row.method, "http://localhost"+row.path, nil))
			got := strings.TrimSpace(http.StatusText(w.Code))
			switch w.Code {
			case http.StatusOK:
				got = "200 " + w.Body.String()
			case http.StatusUnauthorized:
				got = "401"
			}
			if got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}
