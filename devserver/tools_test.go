package devserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Requests that change something need the token of this run and JSON. The
// hub refuses every request from a page of another site.
func TestToolsAreGuarded(t *testing.T) {
	var got []string
	hub := NewHub(HubOptions{Tools: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.Path)
		_, _ = io.WriteString(w, "done")
	})})
	right := "Authorization: Bearer " + hub.Token()
	const json = "Content-Type: application/json"
	for _, test := range []struct {
		name, method string
		header       []string
		want         int
	}{
		{"GET", "GET", nil, 200},
		{"HEAD", "HEAD", nil, 200},
		{"GET from the same origin", "GET", []string{"Sec-Fetch-Site: same-origin"}, 200},
		{"GET from another site", "GET", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"GET from the same site", "GET", []string{"Sec-Fetch-Site: same-site"}, 403},
		{"GET with a foreign referrer", "GET", []string{"Referer: http://evil.example/"}, 403},
		{"POST with token and JSON", "POST", []string{right, json}, 200},
		{"POST with a charset", "POST", []string{right, "Content-Type: application/json; charset=utf-8"}, 200},
		{"POST from the same origin", "POST", []string{right, json, "Sec-Fetch-Site: same-origin", "Origin: http://localhost"}, 200},
		{"POST without a token", "POST", []string{json}, 403},
		{"POST with an empty token", "POST", []string{"Authorization: Bearer ", json}, 403},
		{"POST with the token of another run", "POST", []string{"Authorization: Bearer " + NewHub(HubOptions{}).Token(), json}, 403},
		{"POST with another scheme", "POST", []string{"Authorization: Basic " + hub.Token(), json}, 403},
		{"POST from a foreign origin", "POST", []string{right, json, "Origin: http://evil.example"}, 403},
		{"POST from an opaque origin", "POST", []string{right, json, "Origin: null"}, 403},
		{"POST from another site", "POST", []string{right, json, "Sec-Fetch-Site: cross-site"}, 403},
		{"POST of plain text", "POST", []string{right, "Content-Type: text/plain"}, 415},
		{"POST of a form", "POST", []string{right, "Content-Type: application/x-www-form-urlencoded"}, 415},
		{"POST of almost JSON", "POST", []string{right, "Content-Type: application/jsonx"}, 415},
		{"POST of nothing", "POST", []string{right}, 200}, // no request is sent
		{"PUT", "PUT", []string{right}, 200},
		{"PUT without a token", "PUT", nil, 403},
		{"DELETE", "DELETE", []string{right}, 200},
		{"DELETE without a token", "DELETE", []string{json}, 403},
		{"an unknown method", "BREW", nil, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			got = nil
			r := httptest.NewRequest(test.method, "http://localhost/__pages/api/kv", nil)
			for _, h := range test.header {
				name, value, _ := strings.Cut(h, ": ")
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			hub.ServeHTTP(w, r)
			if w.Code != test.want || (len(got) == 1) != (test.want == 200) {
				t.Errorf("%v: %d %s, want %d", test.header, w.Code, w.Body, test.want)
			}
		})
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
