package devserver

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The reload stream opens to a page of this site that has the token of this
// run, and to no other.
func TestReloadStreamIsGuarded(t *testing.T) {
	r := serve(t, &folderBuilder{dir: siteDir(t)}, Hot)
	host := strings.TrimPrefix(r.url, "http://")
	old := NewHub(HubOptions{}).opener
	tests := []struct {
		name   string
		query  string
		header []string
		want   int
	}{
		{"right token, own page", "token=" + r.hub.opener + "&v=1", []string{asPage}, 200},
		{"right token, own origin", "token=" + r.hub.opener + "&v=1", []string{"Origin: http://" + host}, 200},
		{"right token, own referrer", "token=" + r.hub.opener + "&v=1", []string{"Referer: http://" + host + "/a"}, 200},
		{"no token", "v=1", []string{asPage}, 403},
		{"empty token", "token=&v=1", []string{asPage}, 403},
		{"wrong token", "token=" + r.hub.opener + "x&v=1", []string{asPage}, 403},
		{"token of another run", "token=" + old + "&v=1", []string{asPage}, 403},
		{"right token, nothing says who asks", "token=" + r.hub.opener + "&v=1", nil, 403},
		{"right token, typed address", "token=" + r.hub.opener + "&v=1", []string{"Sec-Fetch-Site: none"}, 403},
		{"right token, other site", "token=" + r.hub.opener + "&v=1", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{
			"right token, other port", "token=" + r.hub.opener + "&v=1",
			[]string{"Sec-Fetch-Site: same-site", "Origin: http://127.0.0.1:1"},
			403,
		},
		{"right token, wrong origin", "token=" + r.hub.opener + "&v=1", []string{"Origin: http://evil.example"}, 403},
		{
			"right token, wrong origin, forged fetch header", "token=" + r.hub.opener + "&v=1",
			[]string{asPage, "Origin: http://evil.example"},
			403,
		},
		{"right token, opaque origin", "token=" + r.hub.opener + "&v=1", []string{"Origin: null"}, 403},
		{"no version", "token=" + r.hub.opener, []string{asPage}, 400},
		{"bad version", "token=" + r.hub.opener + "&v=1e9", []string{asPage}, 400},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			res := open(t, "GET", r.url+streamPath+"?"+test.query, test.header...)
			res.Body.Close()
			if res.StatusCode != test.want {
				t.Errorf("%s: %d, want %d", test.name, res.StatusCode, test.want)
			}
			for name := range res.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s: %s is set", test.name, name)
				}
			}
		})
	}
}

func TestControlPaths(t *testing.T) {
	r := serve(t, &folderBuilder{dir: siteDir(t)}, Hot)
	foreign := "Sec-Fetch-Site: cross-site"
	tests := []struct {
		method, path string
		header       []string
		want         int
		kind         string
	}{
		{"GET", "/__pages/", nil, 200, "text/html; charset=utf-8"},
		{"GET", "/__pages", nil, 307, ""},
		{"HEAD", "/__pages/", nil, 200, "text/html; charset=utf-8"},
		{"GET", "/__pages/", []string{foreign, "Sec-Fetch-Mode: navigate", asDocument}, 200, "text/html; charset=utf-8"},
		{"POST", "/__pages/", nil, 405, ""},
		{"GET", "/__pages/ui/dashboard.js", nil, 200, "text/javascript; charset=utf-8"},
		{"GET", "/__pages/ui/dashboard.css", nil, 200, "text/css; charset=utf-8"},
		{"GET", "/__pages/ui/icon.svg", nil, 200, "image/svg+xml"},
		{"GET", "/__pages/ui/reload.js", nil, 404, ""},
		{"GET", "/__pages/ui/problem.html", nil, 404, ""},
		{"GET", "/__pages/ui/", nil, 404, ""},
		{"GET", "/__pages/ui/no.js", nil, 404, ""},
		{"GET", "/__pages/nothing", nil, 404, "application/json; charset=utf-8"},
		{"HEAD", "/__pages/nothing", nil, 404, "application/json; charset=utf-8"},
		{"GET", "/__pages/nothing", []string{"Accept: application/json"}, 404, "application/json; charset=utf-8"},
		{"GET", "/__pages/nothing", []string{"Accept: text/html"}, 404, "text/html; charset=utf-8"},
		{"GET", "/__pages/nothing", []string{"Sec-Fetch-Mode: navigate"}, 404, "text/html; charset=utf-8"},
		{"GET", "/__pages/nothing", []string{"Sec-Fetch-Mode: cors"}, 404, "application/json; charset=utf-8"},
		{"GET", "/__pages/api/nothing", nil, 404, "application/json; charset=utf-8"},
		{"GET", "/__pages/api/nothing", []string{"Accept: text/html"}, 404, "text/html; charset=utf-8"},
		{"GET", "/__PAGES/nothing", nil, 404, "application/json; charset=utf-8"},
		{"GET", "/" + strings.Repeat("a", 9000), nil, 414, "application/json; charset=utf-8"},
		{"GET", "/__pages/reload.js", nil, 200, "text/javascript; charset=utf-8"},
		{"GET", "/__pages/reload.js", []string{foreign}, 403, ""},
		{"GET", "/__pages/reload.js", []string{"Referer: http://evil.example/"}, 403, ""},
		{"GET", "/__pages/api/dev", nil, 200, "application/json"},
		{"HEAD", "/__pages/api/dev", nil, 200, "application/json"},
		{"GET", "/__pages/api/dev", []string{foreign}, 403, ""},
		{"POST", "/__pages/api/dev", nil, 405, ""},
		{"GET", "/__pages/api/dev/stream", nil, 403, ""},
		{"GET", "/__pages/api/dev/stream", []string{foreign}, 403, ""},
		{"GET", "/__pages/", []string{"Host: evil.example"}, 421, ""},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s %.40s %v", test.method, test.path, test.header), func(t *testing.T) {
			got := r.ask(t, test.method, test.path, test.header...)
			h := got.Header
			if got.StatusCode != test.want || (test.kind != "" && h.Get("Content-Type") != test.kind) {
				t.Errorf("%s %s %v: %s, %s", test.method, test.path, test.header, got.Status, h.Get("Content-Type"))
			}
			if kind := h.Get("Content-Type"); got.StatusCode >= 400 && kind != "text/html; charset=utf-8" && test.method != "HEAD" {
				var answer struct {
					OK    *bool
					Error struct{ Code, Message string }
				}
				if err := json.Unmarshal([]byte(got.body), &answer); err != nil || answer.OK == nil || *answer.OK ||
					answer.Error.Code == "" || answer.Error.Message == "" {
					t.Errorf("%s %s: %s %s %q", test.method, test.path, got.Status, kind, got.body)
				}
			}
			if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
				h.Get("X-Frame-Options") != "DENY" {
				t.Errorf("%s %s: unguarded: %v", test.method, test.path, h)
			}
		})
	}
}

func TestDashboardIsSelfContained(t *testing.T) {
	r := serve(t, &folderBuilder{dir: siteDir(t)}, Hot)
	page := r.ask(t, "GET", "/__pages/")
	policy := page.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %s", policy, want)
		}
	}
	err := fs.WalkDir(ui, "ui", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := ui.ReadFile(path)
		text := strings.ReplaceAll(string(data), "http://www.w3.org/2000/svg", "")
		for _, bad := range []string{"http://", "https://", "//cdn", "innerHTML", "eval(", "onclick="} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.body, "<style") || strings.Contains(page.body, "<script>") {
		t.Error("the dashboard has inline code, which its policy forbids")
	}
}

func TestDashboardFeed(t *testing.T) {
	dir := siteDir(t)
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	feed := events(t, open(t, "GET", r.url+feedPath, asPage).Body)
	for version := int64(1); version <= 2; version++ {
		var s State
		text, ok := strings.CutPrefix(nextEvent(t, feed), "state ")
		if err := json.Unmarshal([]byte(text), &s); !ok || err != nil || s.Version != version || !s.OK || s.Info.Routes == nil {
			t.Fatalf("%+v, %v", s, err)
		}
		write(t, dir+"/public/new.html", "x")
	}
}

// A page that reconnects sends the version of its last message, which
// counts, not the one in its address.
func TestReconnectedPage(t *testing.T) {
	h := NewHub(HubOptions{})
	h.version = 3
	server := httptest.NewServer(h)
	defer server.Close()
	address := server.URL + streamPath + "?v=1&token=" + h.opener
	stale := events(t, open(t, "GET", address, asPage).Body)
	if got := nextEvent(t, stale); got != `update {"type":"full","version":3}` {
		t.Errorf("a stale page heard %s", got)
	}
	current := events(t, open(t, "GET", address, asPage, "Last-Event-ID: 3").Body)
	h.fail(4, []Problem{{Message: "<b>"}}, time.Millisecond)
	if got := nextEvent(t, current); got != `problems {"build":4,"problems":[{"message":"\u003cb\u003e"}]}` {
		t.Errorf("a page that is up to date heard %s", got)
	}
	h.close()
	if _, more := <-current; more {
		t.Error("the stream outlives the hub")
	}
	if res := open(t, "GET", address, asPage); res.StatusCode != http.StatusServiceUnavailable ||
		res.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("after the end: %s, %s", res.Status, res.Header.Get("Content-Type"))
	}
}

// A page that does not read is disconnected.
func TestSlowPageIsCutOff(t *testing.T) {
	h := NewHub(HubOptions{})
	slow, quick := h.join(0, false), h.join(0, false)
	for range subscriberRoom + 1 {
		h.succeed(1, Outcome{OK: true}, nil, 0)
		<-quick.messages
	}
	heard := 0
	for range slow.messages {
		heard++
	}
	if heard != subscriberRoom || len(h.pages) != 1 {
		t.Errorf("the slow page heard %d messages; %d pages are left", heard, len(h.pages))
	}
	h.leave(slow) // as its handler does
	h.leave(quick)
	for range maxSubscribers {
		if h.join(1, false) == nil {
			t.Fatal("no room")
		}
	}
	if h.join(1, false) != nil {
		t.Error("room without end")
	}
}
