package site

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A refusal that may become a response in a second says so, to programs and in the header.
func TestRetriableRefusal(t *testing.T) {
	for retriable, want := range map[bool]string{true: "1", false: ""} {
		e := refuse(http.StatusServiceUnavailable, "worker_restarted", "the site's code was restarted")
		if e.Retriable = retriable; retriable {
			e.RetryAfter = 1
		}
		w := httptest.NewRecorder()
		Refuse(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), e)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != want ||
			strings.Contains(w.Body.String(), `"retriable":true`) != retriable {
			t.Errorf("retriable %v: %d %v %s", retriable, w.Code, w.Header(), w.Body)
		}
	}
}
