package devserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// D-006: what changes something takes the token of this run and JSON, and no
// page of another site gets through, whatever it sends.
func TestToolsAreGuarded(t *testing.T) {
	var got []string
	hub := NewHub(HubOptions{Tools: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.Path)
		_, _ = io.WriteString(w, "done")
	})})
	right := "Authorization: Bearer " + hub.Token()
	const json = "Content-Type: application/json"
	for _, test := range []struct {
		method string
		header []string
		want   int
	}{
		{"GET", nil, 200},
		{"HEAD", nil, 200},
		{"GET", []string{"Sec-Fetch-Site: same-origin"}, 200},
		{"GET", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"GET", []string{"Sec-Fetch-Site: same-site"}, 403},
		{"GET", []string{"Referer: http://evil.example/"}, 403},
		{"POST", []string{right, json}, 200},
		{"POST", []string{right, "Content-Type: application/json; charset=utf-8"}, 200},
		{"POST", []string{right, json, "Sec-Fetch-Site: same-origin", "Origin: http://localhost"}, 200},
		{"POST", []string{json}, 403},
		{"POST", []string{"Authorization: Bearer ", json}, 403},
		{"POST", []string{"Authorization: Bearer " + NewHub(HubOptions{}).Token(), json}, 403},
		{"POST", []string{"Authorization: Basic " + hub.Token(), json}, 403},
		{"POST", []string{right, json, "Origin: http://evil.example"}, 403},
		{"POST", []string{right, json, "Origin: null"}, 403},
		{"POST", []string{right, json, "Sec-Fetch-Site: cross-site"}, 403},
		{"POST", []string{right, "Content-Type: text/plain"}, 415},
		{"POST", []string{right, "Content-Type: application/x-www-form-urlencoded"}, 415},
		{"POST", []string{right, "Content-Type: application/jsonx"}, 415},
		{"POST", []string{right}, 200}, // nothing is sent
		{"PUT", []string{right}, 200},
		{"PUT", nil, 403},
		{"DELETE", []string{right}, 200},
		{"DELETE", []string{json}, 403},
		{"BREW", nil, 403},
	} {
		got = nil
		r := httptest.NewRequest(test.method, "http://localhost/__pages/api/kv", nil)
		for _, h := range test.header {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		hub.ServeHTTP(w, r)
		if w.Code != test.want || (len(got) == 1) != (test.want == 200) {
			t.Errorf("%s %v: %d %s, want %d", test.method, test.header, w.Code, w.Body, test.want)
		}
	}
	r := httptest.NewRequest("POST", "http://localhost/__pages/api/kv", strings.NewReader("{}"))
	r.Header.Set("Authorization", "Bearer "+hub.Token())
	w := httptest.NewRecorder()
	if hub.ServeHTTP(w, r); w.Code != 415 {
		t.Errorf("POST of no type: %d %s", w.Code, w.Body)
	}
	for path, want := range map[string]int{"/__pages/api/dev": 405, "/__pages/ui/dashboard.css": 405, "/__pages/nothing": 405} {
		r := httptest.NewRequest("POST", "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+hub.Token())
		w := httptest.NewRecorder()
		if hub.ServeHTTP(w, r); w.Code != want {
			t.Errorf("POST %s: %d, want %d", path, w.Code, want)
		}
	}
}
