package site

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// privateFiles is a site with private files.
var privateFiles = map[string]string{
	"/index.html":         "<h1>Welcome</h1>",
	"/404.html":           "<h1>Nothing here</h1>",
	"/public/x.html":      "<h1>For all</h1>",
	"/private/index.html": secret,
	"/private/a.html":     secret,
	"/private/404.html":   secret,
	"/private/deep/b.txt": secret,
	"/report.html":        secret,
}

// watchful is a Worker that records the paths of its calls.
type watchful struct {
	t     *testing.T
	calls atomic.Int64
}

func (w *watchful) Serve(out http.ResponseWriter, r *http.Request) error {
	w.calls.Add(1)
	sent, _, _ := strings.Cut(r.RequestURI, "?")
	for _, path := range append(readByOthers(sent), r.URL.Path) {
		if folded := sitepath.FoldPath(path) + "/"; strings.HasPrefix(folded, "/private/") || folded == "/report/" {
			w.t.Errorf("the Worker was called with %q, which some program takes for %q", sent, path)
		}
	}
	if again, err := Canonical(r.RequestURI); err != nil || again.Sent() != r.RequestURI {
		w.t.Errorf("the Worker got a target that is refused: %q, %v", r.RequestURI, err)
	}
	_, err := io.WriteString(out, "worker")
	return err
}

// corpus reads testdata/gate.txt as whole request heads.
func corpus(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/gate.txt")
	if err != nil {
		t.Fatal(err)
	}
	var heads []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if quoted, ok := strings.CutPrefix(line, "raw "); ok {
			head, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			heads = append(heads, head)
			continue
		}
		heads = append(heads, "GET "+line+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	return heads
}

// send writes a request head to a new connection and reads the response.
func send(t testing.TB, address, head string) (status int, answer string) {
	t.Helper()
	got := exchangeRaw(t, address, head)
	return got.status, fmt.Sprint(got.header, got.body)
}

func exchangeRaw(t testing.TB, address, head string) reply {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(head, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", head, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil && method != "CONNECT" {
		t.Fatalf("%q: %v", head, err)
	}
	return reply{status: response.StatusCode, header: response.Header, body: string(body)}
}

func TestGateKeepsTheCorpusOut(t *testing.T) {
	heads := corpus(t)
	if len(heads) < 129 {
		t.Fatalf("only %d lines", len(heads))
	}
	guarded := []string{"members /private/*", "members /report"}
	dir, assets := folder(t, privateFiles)
	worker := &watchful{t: t}
	for _, c := range []struct {
		name     string
		revision Revision
		warm     bool
	}{
		{name: "static", revision: Revision{Manifest: &manifest.Manifest{Routes: routes(guarded...)}}},
		{name: "file pattern", revision: Revision{
			Manifest: &manifest.Manifest{Routes: routes("members /private/*", "members /report.html")},
		}},
		{name: "worker", revision: Revision{
			Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes(append(guarded, "public /*")...)}, Worker: worker,
		}},
		{name: "warm", warm: true, revision: Revision{
			Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes(append(guarded, "public /*")...)}, Worker: worker,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.revision.Assets, c.revision.AssetsDir = assets, dir
			f := start(t, Options{}, c.revision)
			if c.warm {
				member := f.as(t, "member")
				for _, path := range []string{"/private/", "/private/a", "/private/deep/b.txt", "/report"} {
					if got := f.do(t, member, "GET", path, ""); got.body != secret {
						t.Fatalf("%s: a member gets %d %q", path, got.status, got.body)
					}
				}
			}
			for _, head := range heads {
				status, answer := send(t, f.server.Listener.Addr().String(), head)
				if strings.Contains(answer, secret) {
					t.Errorf("%q leaks, with status %d", head, status)
				}
				allowed := []int{400, 401, 303, 404, 405, 414, 421, 501, 505}
				if c.revision.Worker != nil {
					allowed = append(allowed, 200) // a public path that only resembles the others
				}
				if strings.Contains(answer, "For all") {
					continue
				}
				if !slices.Contains(allowed, status) {
					t.Errorf("%q: status %d", head, status)
				}
			}
		})
	}
	if worker.calls.Load() == 0 {
		t.Error("the Worker was never called, so the test shows nothing about it")
	}
}

func TestGateOpensForMembers(t *testing.T) {
	dir, assets := folder(t, privateFiles)
	f := start(t, Options{}, Revision{
		Assets: assets, AssetsDir: dir, Worker: echo{},
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("members /private/*", "members /club/*", "public /api/*")},
	})
	member, owner, outsider := f.as(t, "member"), f.as(t, "owner"), f.as(t, "outsider")
	for _, c := range []struct {
		client *http.Client
		path   string
		header string
		status int
		body   string
	}{
		{member, "/private/a", "", 200, secret},
		{member, "/private/", "", 200, secret},
		{member, "/priv%61te/%61", "", 200, secret},
		{member, "/private/a?x=1", "", 200, secret},
		{member, "/private/a", "Range: bytes=0-2", 206, "the"},
		{member, "/private/a.html", "", 307, ""},
		{member, "/private/index.html", "", 307, ""},
		{member, "/private/missing", "", 200, `"worker":true`},
		{member, "/club/x", "", 200, `"X-Pages-Member-Id":["usr_dev_member"]`},
		{owner, "/private/deep/b.txt", "", 200, secret},
		{outsider, "/private/a", "", 403, "not_a_member"},
		{outsider, "/private/a", "Accept: text/html", 403, "Sam Outsider"},
		{outsider, "/private/missing", "", 403, "not_a_member"},
		{nil, "/private/a", "", 401, "sign_in_required"},
		{nil, "/private/a", "Accept: text/html", 303, ""},
		{nil, "/private/a", "Sec-Fetch-Mode: navigate", 303, ""},
		{nil, "/private/a", "Sec-Fetch-Mode: cors", 401, "sign_in_required"},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.path, " ", c.header), func(t *testing.T) {
			var headers []string
			if c.header != "" {
				headers = append(headers, c.header)
			}
			got := f.do(t, c.client, "GET", c.path, "", headers...)
			want := c.body
			if strings.HasPrefix(want, "Sam") {
				want = "outsider@example.test"
			}
			if got.status != c.status || !strings.Contains(got.body, want) {
				t.Errorf("%s %s: %d %q, want %d %q", c.path, c.header, got.status, got.body, c.status, c.body)
			}
		})
	}
	got := f.get(t, "/private/a?x=1&y=%20", "Accept: text/html")
	if want := "/__pages/sign-in?next=%2Fprivate%2Fa%3Fx%3D1%26y%3D%2520"; got.header.Get("Location") != want {
		t.Errorf("Location is %q, want %q", got.header.Get("Location"), want)
	}
}

// The response to a signed-out visitor does not reveal whether a path exists.
func TestGateAnswersAlike(t *testing.T) {
	dir, assets := folder(t, privateFiles)
	f := start(t, Options{}, Revision{
		Assets: assets, AssetsDir: dir, Manifest: &manifest.Manifest{Routes: routes("members /private/*")},
	})
	for _, header := range []string{"Accept: */*", "Accept: text/html"} {
		there, missing := f.get(t, "/private/a", header), f.get(t, "/private/b", header)
		for _, r := range []reply{there, missing} {
			r.header.Del("Date")
			r.header.Set("Location", strings.ReplaceAll(r.header.Get("Location"), "%2Fb", "%2Fa"))
		}
		if there.status != missing.status || there.body != missing.body || fmt.Sprint(there.header) != fmt.Sprint(missing.header) {
			t.Errorf("%s: %+v is not %+v", header, there, missing)
		}
	}
}

// rawAnswer returns every byte of a response, without the time.
func rawAnswer(t *testing.T, f *fixture, method, path string, headers ...string) string {
	t.Helper()
	conn, err := net.Dial("tcp", f.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	head := append([]string{method + " " + path + " HTTP/1.1", "Host: localhost", "Connection: close"}, headers...)
	if _, err := io.WriteString(conn, strings.Join(head, "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`Date: [^\r]*`).ReplaceAllString(string(answer), "Date")
}

// No byte of the response shows a stranger whether a file exists.
func TestGateAnswersToTheByte(t *testing.T) {
	dir, assets := folder(t, privateFiles)
	for _, c := range []struct {
		hints  bool
		worker Worker
	}{{}, {hints: true}, {hints: true, worker: echo{}}} {
		m := &manifest.Manifest{Routes: routes("members /private/*")}
		if c.worker != nil {
			m.Entry = "w.js"
		}
		f := start(t, Options{DevHints: c.hints}, Revision{Assets: assets, AssetsDir: dir, Manifest: m, Worker: c.worker})
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE", "BREW"} {
			for _, header := range []string{
				"Accept: */*", "Accept: application/json", "Accept: text/html", "Range: bytes=0-2", "If-None-Match: *",
				"Upgrade: websocket", "Sec-Fetch-Mode: navigate", "Cookie: a=b",
			} {
				there := rawAnswer(t, f, method, "/private/a", header)
				for _, other := range []string{"/private/b", "/private/a.html", "/private/deep/b.txt"} {
					missing := strings.ReplaceAll(rawAnswer(t, f, method, other, header), url.QueryEscape(other), "%2Fprivate%2Fa")
					if there != missing {
						t.Errorf("%s with %s: %s gets\n%s\nand a file gets\n%s", method, header, other, missing, there)
					}
				}
				if !strings.Contains(there, "\r\nCache-Control: no-store\r\n") || !strings.Contains(there, "\r\nVary: Cookie\r\n") {
					t.Errorf("%s with %s may be cached:\n%s", method, header, there)
				}
			}
		}
	}
}

// cacheable is a Worker whose response the request chooses.
type cacheable struct{}

func (cacheable) Serve(w http.ResponseWriter, r *http.Request) error {
	maps.Copy(w.Header(), r.URL.Query())
	if r.Method == http.MethodDelete {
		return nil
	}
	_, err := io.WriteString(w, "x")
	return err
}

// Responses to members are private, and say so to every cache.
func TestMembersAnswersAreKeptApart(t *testing.T) {
	dir, assets := folder(t, privateFiles)
	f := start(t, Options{}, Revision{
		Assets: assets, AssetsDir: dir, Worker: cacheable{},
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("members /private/*", "members /report", "public /open")},
	})
	member, outsider := f.as(t, "member"), f.as(t, "outsider")
	for _, c := range []struct {
		client        *http.Client
		method, path  string
		status        int
		control, vary string
	}{
		{member, "GET", "/private/a", 200, "no-store", "Cookie"},
		{member, "HEAD", "/private/a", 200, "no-store", "Cookie"},
		{member, "GET", "/private/a.html", 307, "private, no-cache", "Cookie"},
		{member, "GET", "/private/api", 200, "no-store", "Cookie"},
		{member, "DELETE", "/private/api", 200, "no-store", "Cookie"},
		{member, "POST", "/private/api", 200, "no-store", "Cookie"},
		{member, "GET", "/private/api?Cache-Control=private,max-age%3D60&Vary=Accept", 200, "private,max-age=60", "Accept, Cookie"},
		{member, "GET", "/private/api?Vary=accept,COOKIE", 200, "no-store", "accept,COOKIE"},
		{member, "BREW", "/private/a", 200, "no-store", "Cookie"},
		{outsider, "GET", "/private/a", 403, "no-store", "Cookie"},
		{nil, "GET", "/private/a", 401, "no-store", "Cookie"},
		{nil, "GET", "/open", 200, "", ""},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.method, " ", c.path), func(t *testing.T) {
			got := f.do(t, c.client, c.method, c.path, "")
			vary := strings.Join(got.header.Values("Vary"), ", ")
			if got.status != c.status || got.header.Get("Cache-Control") != c.control || vary != c.vary {
				t.Errorf("%s %s: %d, Cache-Control %q, Vary %q", c.method, c.path, got.status, got.header.Get("Cache-Control"), vary)
			}
		})
	}
}

func TestMostSpecificPatternWins(t *testing.T) {
	for _, c := range []struct {
		routes string
		path   string
		gated  bool
	}{
		{"members /club/*", "/club", true},
		{"members /club/*", "/club/", true},
		{"members /club/*", "/clubhouse", false},
		{"members /club/*", "/club/a/b/c", true},
		{"members /club", "/club", true},
		{"members /club", "/club/", true},
		{"members /club", "/club/a", false},
		{"members /*", "/", true},
		{"members /*", "/a", true},
		{"members /*|public /", "/", false},
		{"members /*|public /", "/a", true},
		{"members /|public /*", "/", true},
		{"members /|public /*", "/a", false},
		{"members /club/*|public /club/open/*", "/club/open/x", false},
		{"members /club/*|public /club/open/*", "/club/open", false},
		{"members /club/*|public /club/open/*", "/club/opening", true},
		{"members /club/*|public /club/open/*", "/CLUB/open/x", true},
		{"members /club/*|public /club/open/*", "/club/OPEN/x", true},
		{"members /club/*|public /club/open", "/club/open", false},
		{"members /club/*|public /club/open", "/club/open/x", true},
		{"public /club/*|members /club/board/*", "/club/board/x", true},
		{"public /club/*|members /club/board/*", "/club/x", false},
		{"public /club/*|members /club/Board/*", "/club/board/x", true},
		{"members /club/*|public /club/*", "/club/x", true},
		{"members /caf\u00e9/*", "/CAFE\u0301/x", true},
		{"public /api/*", "/club", false},
		{"", "/club", false},
	} {
		t.Run(c.routes+" "+c.path, func(t *testing.T) {
			table := manifest.NewRouteTable(nil)
			if c.routes != "" {
				table = manifest.NewRouteTable(routes(strings.Split(c.routes, "|")...))
			}
			if got := table.Judge(c.path).Gated(); got != c.gated {
				t.Errorf("%s: %q gated = %v", c.routes, c.path, got)
			}
		})
	}
}

// A page is guarded under each of its names.
func TestGateKnowsEveryNameOfAPage(t *testing.T) {
	_, assets := folder(t, map[string]string{"/report.html": secret, "/club/index.html": secret, "/404.html": "hidden hint"})
	for _, c := range []struct {
		pattern string
		paths   string
	}{
		{"/report.html", "/report /report/ /report.html /Report"},
		{"/report", "/report /report/ /report.html"},
		{"/club", "/club /club/ /club/index /club/index.html"},
		{"/club/", "/club /club/ /club/index.html"},
		{"/club/index.html", "/club /club/ /club/index.html"},
		{"/404.html", "/404 /404.html"},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			f := start(t, Options{}, Revision{Assets: assets, Manifest: &manifest.Manifest{Routes: routes("members " + c.pattern)}})
			for path := range strings.FieldsSeq(c.paths) {
				if got := f.get(t, path); got.status != http.StatusUnauthorized && got.status != http.StatusNotFound ||
					strings.Contains(got.body, secret) {
					t.Errorf("members %s: %s gives %d %q", c.pattern, path, got.status, got.body)
				}
			}
			if c.pattern == "/404.html" {
				if got := f.get(t, "/nothing", "Accept: text/html"); got.status != 404 || strings.Contains(got.body, "hint") {
					t.Errorf("the members' 404 page is shown to all: %d %q", got.status, got.body)
				}
			}
		})
	}
}

func TestGateRefusesForeignUpgrade(t *testing.T) {
	f := start(t, Options{}, Revision{
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("members /private/*")}, Worker: echo{},
	})
	upgrade := []string{"Connection: Upgrade", "Upgrade: websocket"}
	if got := f.do(t, f.client(t), "GET", "/private/ws", "", upgrade...); got.status != 401 {
		t.Errorf("signed out: status %d", got.status)
	}
	member := f.as(t, "member")
	if got := f.do(t, member, "GET", "/private/ws", "", append(upgrade, "Origin: http://evil.example")...); got.status != 403 {
		t.Errorf("foreign origin: status %d", got.status)
	}
	if got := f.do(t, member, "GET", "/private/ws", "", append(upgrade, "Origin: "+f.server.URL)...); got.status != 200 {
		t.Errorf("own origin: status %d", got.status)
	}
}

// comparePairs checks each reading of a path by itself. If a reading is closed or reserved for the platform, the path must be, too, and a
// reading must have no readings that the path does not have.
func comparePairs(t *testing.T, v *Routing, path Path) {
	t.Helper()
	whole := v.admit(&path)
	for _, reading := range path.readings {
		all, ok := sitepath.Readings(reading)
		if !ok {
			t.Fatalf("%q is read as %q, which has too many readings", path.sent, reading)
		}
		for _, other := range all {
			if !slices.Contains(path.readings, other) {
				t.Fatalf("%q is read as %q, and that as %q, which the path is not", path.sent, reading, other)
			}
		}
		alone, err := Canonical(edgerules.EscapePath(reading))
		if err != nil {
			continue
		}
		if a := v.admit(&alone); a.reserved && !whole.reserved || a.gated && !whole.gated && !whole.reserved {
			t.Fatalf("%q is open, and its reading %q is not", path.sent, reading)
		}
	}
}

func FuzzGate(f *testing.F) {
	dir, assets := folder(f, privateFiles)
	db := openDB(f, filepath.Join(f.TempDir(), "platform.db"))
	s, err := New(f.Context(), Options{DB: db})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.Error(err)
		}
	})
	s.Swap(Revision{
		Assets: assets, AssetsDir: dir,
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("members /private/*", "members /report", "public /*")},
		Worker:   &watchful{t: &testing.T{}},
		Rules:    openers(f),
	})
	heads := corpus(f)
	for _, b := range bypasses(f) {
		heads = append(heads, b.head)
	}
	for _, head := range heads {
		if target, ok := strings.CutPrefix(head, "GET "); ok {
			target, _, _ = strings.Cut(target, " HTTP/")
			f.Add("GET", target)
		}
	}
	f.Fuzz(func(t *testing.T, method, target string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil)
		r.Method, r.RequestURI, r.Host = method, target, "localhost"
		before := &watchful{t: t}
		s.current.Load().revision.Worker = before
		s.ServeHTTP(w, r)
		if strings.Contains(w.Body.String(), secret) {
			t.Fatalf("%s %q leaks", method, target)
		}
		if location := w.Header().Get("Location"); location != "" &&
			(!strings.HasPrefix(location, "/") || strings.HasPrefix(location, "//")) {
			t.Fatalf("%s %q leads to %q", method, target, location)
		}
		if path, err := Canonical(target); err == nil {
			comparePairs(t, s.current.Load().Routing, path)
			again, err := Canonical(path.Target())
			if err != nil || again.String() != path.String() || again.escaped != path.escaped {
				t.Fatalf("%q is canonically %q, and that is %q (%v)", target, path.Target(), again.Target(), err)
			}
		}
	})
}
