package site

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// lateBody is a body whose time is over.
type lateBody struct{ io.ReadCloser }

func (lateBody) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// TooSlow reports that.
func (lateBody) TooSlow() bool { return true }

// bodyReader is a Worker that reads the body of its request, as the engines do.
type bodyReader struct{}

func (bodyReader) Serve(w http.ResponseWriter, r *http.Request) error {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		w.WriteHeader(499)
	}
	return nil
}

// TestSlowBody: a client whose body pauses for too long gets a 408, and the log does not say that it left.
func TestSlowBody(t *testing.T) {
	var logged []RequestRecord
	f := start(t, Options{OnRequest: func(r RequestRecord) { logged = append(logged, r) }}, Revision{
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /api/*")}, Worker: bodyReader{},
	})
	for _, path := range []string{"/api/x", "/__pages/forms/contact"} {
		for _, coding := range []string{"identity", "gzip"} {
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // as net/http does to the request
			r := httptest.NewRequestWithContext(ctx, "POST", "http://localhost"+path, strings.NewReader("a=b"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Accept-Encoding", coding)
			r.Body = lateBody{r.Body}
			w := httptest.NewRecorder()
			f.site.ServeHTTP(w, r)
			last := logged[len(logged)-1]
			if w.Code != http.StatusRequestTimeout || !strings.Contains(w.Body.String(), "arrived too slowly") ||
				w.Header().Get("Connection") != "close" || last.Status != http.StatusRequestTimeout || last.Error != "body_too_slow" {
				t.Errorf("%s, %s: %d %q, %q, logged as %d %q", path, coding, w.Code, w.Header(), w.Body, last.Status, last.Error)
			}
		}
	}
}
