package devserver

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// injectingServer serves handler with live reload at version 1 of a fixed run.
func injectingServer(t *testing.T, handler http.HandlerFunc) (url string) {
	t.Helper()
	hub := NewHub(HubOptions{})
	hub.boot, hub.version = "boot", 1
	server := httptest.NewServer(hub.inject(handler))
	t.Cleanup(server.Close)
	return server.URL
}

const element = "\n<script src=\"/__pages/reload.js?v=1\"></script>\n"

func TestInject(t *testing.T) {
	const page = "<!doctype html><p>hello</p>"
	type h = map[string]string
	html := h{"Content-Type": "text/html; charset=utf-8"}
	tests := []struct {
		name    string
		method  string
		path    string
		request []string
		status  int
		header  h
		want    bool
	}{
		{"a navigation", "GET", "/", []string{asDocument}, 200, html, true},
		{"in a frame", "GET", "/", []string{"Sec-Fetch-Dest: iframe"}, 200, html, true},
		{"an older browser", "GET", "/", []string{"Accept: text/html,*/*;q=0.8"}, 200, html, true},
		{"upper case", "GET", "/", []string{asDocument}, 200, h{"Content-Type": "TEXT/HTML"}, true},
		{"not found", "GET", "/x", []string{asDocument}, 404, html, true},
		{"a Worker's error", "GET", "/x", []string{asDocument}, 503, html, true},
		{"identity", "GET", "/", []string{asDocument}, 200, h{"Content-Type": "text/html", "Content-Encoding": "identity"}, true},
		{"curl", "GET", "/", nil, 200, html, false},
		{"fetch from a script", "GET", "/", []string{"Sec-Fetch-Dest: empty", "Accept: text/html"}, 200, html, false},
		{"a form post", "POST", "/", []string{asDocument}, 200, html, false},
		{"a range", "GET", "/", []string{asDocument, "Range: bytes=0-1"}, 206, html, false},
		{"an answer in part", "GET", "/", []string{asDocument}, 206, html, false},
		{"compressed", "GET", "/", []string{asDocument}, 200, h{"Content-Type": "text/html", "Content-Encoding": "gzip"}, false},
		{"a redirect", "GET", "/", []string{asDocument}, 307, html, false},
		{"an image", "GET", "/a.png", []string{asDocument}, 200, h{"Content-Type": "image/png"}, false},
		{"XHTML", "GET", "/", []string{asDocument}, 200, h{"Content-Type": "application/xhtml+xml"}, false},
		{"UTF-16", "GET", "/", []string{asDocument}, 200, h{"Content-Type": "text/html; charset=utf-16"}, false},
		{"no type", "GET", "/", []string{asDocument}, 200, h{"Content-Type": ""}, false},
		{"the platform's own pages", "GET", "/__pages/sign-in", []string{asDocument}, 200, html, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, length := range []bool{true, false} {
				url := injectingServer(t, func(w http.ResponseWriter, r *http.Request) {
					for name, value := range test.header {
						w.Header()[name] = []string{value}
					}
					if length {
						w.Header().Set("Content-Length", fmt.Sprint(len(page)))
					}
					w.Header().Set("Repr-Digest", "x")
					w.WriteHeader(test.status)
					if r.Method != http.MethodHead {
						fmt.Fprint(w, page)
					}
				})
				want := page
				if test.want {
					want += element
				}
				got := askURL(t, test.method, url+test.path, test.request...)
				if got.body != want || got.StatusCode != test.status || got.ContentLength != int64(len(want)) {
					t.Errorf("%s: %d %q (length %d), want %q", test.name, got.StatusCode, got.body, got.ContentLength, want)
				}
				if digest := got.Header.Get("Repr-Digest") != ""; digest == test.want {
					t.Errorf("%s: digest kept: %v", test.name, digest)
				}
			}
		})
	}
}

// TestCacheControlStays: the Cache-Control header of a Worker reaches the browser, even after a failure.
func TestCacheControlStays(t *testing.T) {
	const aYear = "public, immutable, max-age=31536000"
	for _, c := range []struct {
		status int
		given  string
	}{
		{200, aYear},
		{304, aYear},
		{404, "public, max-age=60"},
		{500, "no-cache"},
		{404, ""},
	} {
		t.Run(fmt.Sprintf("%d with %q", c.status, c.given), func(t *testing.T) {
			url := injectingServer(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.given != "" {
					w.Header().Set("Cache-Control", c.given)
				}
				w.WriteHeader(http.StatusEarlyHints)
				w.WriteHeader(c.status)
				if c.status != http.StatusNotModified {
					fmt.Fprint(w, "text")
				}
			})
			for _, as := range []string{asDocument, "Sec-Fetch-Dest: script"} {
				if got := askURL(t, "GET", url+"/x.js", as); got.StatusCode != c.status || got.Header.Get("Cache-Control") != c.given {
					t.Errorf("%d with %q, %s: %d with %q", c.status, c.given, as, got.StatusCode, got.Header.Get("Cache-Control"))
				}
			}
		})
	}
}

func TestInjectNoBody(t *testing.T) {
	for _, status := range []int{204, 304} {
		url := injectingServer(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
		})
		if got := askURL(t, "GET", url, asDocument); got.body != "" || got.StatusCode != status {
			t.Errorf("%d: %d %q", status, got.StatusCode, got.body)
		}
	}
}

func TestInjectOff(t *testing.T) {
	dir := siteDir(t)
	r := serve(t, &folderBuilder{dir: dir}, Off)
	if got := r.ask(t, "GET", "/", asDocument); got.body != "1" {
		t.Errorf("live reload is off, and the page is %q", got.body)
	}
	write(t, filepath.Join(dir, "public/index.html"), "2")
	if b := r.next(t); b.Reload != ReloadNone {
		t.Errorf("reload = %q", b.Reload)
	}
}

// The rest of an incomplete page must not look like its end.
func TestInjectBrokenOff(t *testing.T) {
	url := injectingServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
	})
	res := open(t, "GET", url, asDocument)
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err == nil || strings.Contains(string(body), "script") {
		t.Errorf("%q, %v", body, err)
	}
}

func TestInjectStream(t *testing.T) {
	let := make(chan struct{})
	url := injectingServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
		fmt.Fprint(w, "one ")
		http.NewResponseController(w).Flush()
		<-let
		if _, err := io.Copy(w, strings.NewReader("two")); err != nil {
			t.Error(err)
		}
	})
	res := open(t, "GET", url, asDocument)
	defer res.Body.Close()
	first := make([]byte, 4)
	if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "one " {
		t.Fatalf("%q, %v", first, err)
	}
	close(let)
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "two"+element {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestScriptNonce(t *testing.T) {
	tests := map[string]string{
		"":                                   "",
		"default-src 'self'":                 "",
		"script-src 'nonce-aB3+/=_-' 'self'": "aB3+/=_-",
		"default-src 'none'; Script-Src 'nonce-x1'": "x1",
		"style-src 'nonce-abc'":                     "",
		"script-src 'nonce-\"><b>'":                 "",
		"script-src 'nonce-abc":                     "",
	}
	for policy, want := range tests {
		t.Run(policy, func(t *testing.T) {
			if got := scriptNonce([]string{policy}); got != want {
				t.Errorf("scriptNonce(%q) = %q, want %q", policy, got, want)
			}
		})
	}
	if got := reloadElement(7, "abc"); got != "\n<script src=\"/__pages/reload.js?v=7\" nonce=\"abc\"></script>\n" {
		t.Errorf("element = %q", got)
	}
}

// If a page's policy forbids the script, or its stream, the log says so: once for each directive, with a fix.
func TestPoliciesAgainstReload(t *testing.T) {
	tests := []struct{ policy, directive string }{
		{"", ""},
		{"default-src 'self'", ""},
		{"default-src 'none'; script-src 'nonce-a1'; connect-src 'self'", ""},
		{"script-src 'strict-dynamic' 'nonce-a1'; connect-src *", ""},
		{"script-src HTTP://LocalHost:8788/__pages/; connect-src localhost:*", ""},
		{"script-src http: ; connect-src 127.0.0.1:8788 localhost:8788/__pages/reload", ""},
		{"sandbox allow-scripts allow-same-origin allow-forms", ""},
		{"style-src 'none'; img-src 'none'", ""},
		{"script-src 'self'; script-src 'none'", ""}, // the second one does not count

		{"sandbox", "sandbox"},
		{"sandbox allow-scripts", "sandbox"},
		{"default-src 'none'", "default-src"},
		{"default-src 'self'; script-src https://cdn.test 'unsafe-inline'", "script-src"},
		{"default-src 'self'; script-src", "script-src"},
		{"script-src-elem 'none'; script-src 'self'", "script-src-elem"},
		{"script-src 'strict-dynamic' 'self' 'sha256-x'", "script-src"},
		{"script-src localhost", "script-src"}, // port 80
		{"script-src http://localhost:8788/js/", "script-src"},
		{"script-src https:", "script-src"},
		{"script-src 'self'; connect-src https://api.test", "connect-src"},
		{"default-src 'self', script-src 'none'", "script-src"}, // two policies
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost:8788/a", nil)
	for _, test := range tests {
		t.Run(test.policy, func(t *testing.T) {
			policies := []string{test.policy}
			if got := obstacleOf(policies, r, scriptNonce(policies)); got.directive != test.directive ||
				(got.fix == "") != (test.directive == "") {
				t.Errorf("%s: %+v, want %q", test.policy, got, test.directive)
			}
		})
	}

	var log bytes.Buffer
	hub := NewHub(HubOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	server := httptest.NewServer(hub.inject(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", r.URL.Query().Get("policy"))
		fmt.Fprint(w, "<p>page")
	})))
	t.Cleanup(server.Close)
	for _, policy := range []string{"default-src 'self'", "sandbox", "sandbox allow-forms", "script-src 'none'"} {
		askURL(t, http.MethodGet, server.URL+"/a?policy="+url.QueryEscape(policy), asDocument)
	}
	askURL(t, http.MethodGet, server.URL+"/a?policy=connect-src", "Accept: */*")
	server.Close()
	if got := log.String(); strings.Count(got, "live reload does not work on /a") != 2 ||
		strings.Count(got, "reload its pages by hand") != 2 || !strings.Contains(got, `with \"script-src 'none'\"`) {
		t.Errorf("logged %s", got)
	}
}

// The real site: a navigation gets another representation than a script. It
// has its own entity tag, and the browser revalidates with that tag.
func TestInjectedEntityTags(t *testing.T) {
	dir := siteDir(t)
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	plain, shown := r.ask(t, "GET", "/"), r.ask(t, "GET", "/", asDocument)
	bare, tag := plain.Header.Get("ETag"), shown.Header.Get("ETag")
	if bare == "" || bare == tag || shown.body != "1"+element {
		t.Fatalf("tags %s and %s, page %q", bare, tag, shown.body)
	}
	tests := []struct {
		name   string
		header []string
		status int
	}{
		{"the page that was shown", []string{asDocument, "If-None-Match: " + tag}, 304},
		{"among others", []string{asDocument, `If-None-Match: "x", W/` + tag + `, "y"`}, 304},
		{"what a script got", []string{asDocument, "If-None-Match: " + bare}, 200},
		{"a date", []string{asDocument, "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"}, 200},
		{"a script asks with its own", []string{"If-None-Match: " + bare}, 304},
		{"a script asks with the tag of the page", []string{"If-None-Match: " + tag}, 200},
		{"a range of the page", []string{asDocument, "Range: bytes=0-0", "If-Range: " + tag}, 200},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := r.ask(t, "GET", "/", test.header...)
			if got.StatusCode != test.status {
				t.Errorf("%s: %d, want %d", test.name, got.StatusCode, test.status)
			}
		})
	}
	if got := r.ask(t, "GET", "/", asDocument, "If-None-Match: "+tag); got.Header.Get("ETag") != tag {
		t.Errorf("304 has tag %s, want %s", got.Header.Get("ETag"), tag)
	}
	css := r.ask(t, "GET", "/css/site.css", asDocument)
	if got := r.ask(t, "GET", "/css/site.css", asDocument, "If-None-Match: "+css.Header.Get("ETag")); got.StatusCode != 304 ||
		got.Header.Get("ETag") != css.Header.Get("ETag") {
		t.Errorf("a style sheet shown on its own: %d, tag %s, want 304, %s", got.StatusCode, got.Header.Get("ETag"), css.Header.Get("ETag"))
	}
	write(t, filepath.Join(dir, "public/other.html"), "x")
	r.next(t)
	if got := r.ask(t, "GET", "/", asDocument, "If-None-Match: "+tag); got.StatusCode != 200 || !strings.Contains(got.body, "?v=2") {
		t.Errorf("after another build: %d %q: the page kept the old version", got.StatusCode, got.body)
	}
}

type pageWorker struct{}

func (pageWorker) Serve(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/html")
	if strings.HasPrefix(r.URL.Path, "/api/long") {
		fmt.Fprint(w, strings.Repeat("<p>long</p>", 10000))
		return nil
	}
	fmt.Fprint(w, "<p>short</p>")
	return nil
}

// HEAD has the header of GET, for files and for the Worker, for navigations and fetches.
func TestHeadEqualsGet(t *testing.T) {
	dir := siteDir(t)
	var paths []string
	for i := range 50 {
		name := fmt.Sprintf("f%02d%s", i, []string{".html", ".css", ".svg", ".txt", ".bin"}[i%5])
		file := filepath.Join(dir, "public", name)
		write(t, file, strings.Repeat("x", i*100))
		age(t, file)
		paths = append(paths, "/"+strings.TrimSuffix(name, ".html"))
	}
	paths = append(paths, "/", "/missing", "/api/short")
	r := serve(t, &folderBuilder{dir: dir, worker: pageWorker{}, routes: []manifest.Route{{Pattern: "/api/*"}}}, Hot)
	for _, path := range paths {
		for _, how := range []string{asDocument, "Accept: */*", "Accept: text/html"} {
			get, head := r.ask(t, "GET", path, how), r.ask(t, "HEAD", path, how)
			get.Header.Del("Date")
			head.Header.Del("Date")
			if fmt.Sprint(get.Status, get.Header) != fmt.Sprint(head.Status, head.Header) {
				t.Errorf("%s with %s:\nGET  %s %v\nHEAD %s %v", path, how, get.Status, get.Header, head.Status, head.Header)
			}
			if head.body != "" || int64(len(get.body)) != get.ContentLength {
				t.Errorf("%s: HEAD has a body of %d, GET %d of %d", path, len(head.body), len(get.body), get.ContentLength)
			}
		}
	}
	if got := r.ask(t, "GET", "/api/long", asDocument); !strings.HasSuffix(got.body, element) {
		t.Errorf("a long page of the Worker has no script: %s, %d bytes", got.Status, len(got.body))
	}
}

// strictWorker's page allows scripts by nonce and nothing inline.
type strictWorker struct{}

func (strictWorker) Serve(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set(
		"Content-Security-Policy",
		"default-src 'none'; script-src 'nonce-abc123'; connect-src 'self'; require-trusted-types-for 'script'",
	)
	_, err := io.WriteString(w, "<!doctype html><p>strict</p>")
	return err
}

func TestInjectedNonce(t *testing.T) {
	r := serve(t, &folderBuilder{dir: siteDir(t), worker: strictWorker{}, routes: []manifest.Route{{Pattern: "/strict"}}}, Hot)
	if got := r.ask(t, "GET", "/strict", asDocument); !strings.Contains(got.body, ` nonce="abc123"></script>`) {
		t.Errorf("page: %q", got.body)
	}
}
