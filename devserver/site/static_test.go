package site

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/pages-toolchain/pages/manifest"
)

var plainFiles = map[string]string{
	"/index.html":        "<h1>Welcome</h1>",
	"/about.html":        "<h1>About</h1>",
	"/both.html":         "page of both",
	"/both":              "file of both",
	"/dir/index.html":    "index of dir",
	"/dir/x.txt":         "x of dir",
	"/twin.html":         "page of twin",
	"/twin/index.html":   "index of twin",
	"/css/site.css":      "body { color: navy }",
	"/logo.svg":          "<svg/>",
	"/data.bin":          "0123456789",
	"/café.html":         "coffee",
	"/a b.html":          "space",
	"/x;y.html":          "semicolon",
	"/a+b.html":          "plus",
	"/~u/index.html":     "home of u",
	"/.well-known/x.txt": "known",
	"/404.html":          "<h1>Nothing</h1>",
	"/dir/404.html":      "nothing in dir",
	"/empty.txt":         "",
}

func TestStaticFiles(t *testing.T) {
	dir, assets := folder(t, plainFiles)
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir})
	for _, c := range []struct {
		request  string // method and path
		status   int
		body     string
		location string
	}{
		{"GET /", 200, "<h1>Welcome</h1>", ""},
		{"GET /index.html", 307, "", "/"},
		{"GET /index", 307, "", "/"},
		{"GET /index.html?a=1&b=%2f", 307, "", "/?a=1&b=%2f"},
		{"GET /index.html?q=\xe9", 307, "", "/?q=%E9"},
		{"GET /about", 200, "<h1>About</h1>", ""},
		{"GET /about?x", 200, "<h1>About</h1>", ""},
		{"GET /about.html", 307, "", "/about"},
		{"GET /about/", 307, "", "/about"},
		{"GET /dir", 307, "", "/dir/"},
		{"GET /dir/", 200, "index of dir", ""},
		{"GET /dir/index", 307, "", "/dir/"},
		{"GET /dir/index.html", 307, "", "/dir/"},
		{"GET /dir/x.txt", 200, "x of dir", ""},
		{"GET /dir/x.txt/", 404, "nothing in dir", ""},
		{"GET /both", 200, "file of both", ""},
		{"GET /both.html", 200, "page of both", ""},
		{"GET /both/", 404, "<h1>Nothing</h1>", ""},
		{"GET /twin", 200, "page of twin", ""},
		{"GET /twin/", 200, "index of twin", ""},
		{"GET /twin.html", 307, "", "/twin"},
		{"GET /css/site.css", 200, "body { color: navy }", ""},
		{"GET /css/", 404, "<h1>Nothing</h1>", ""},
		{"GET /css", 404, "<h1>Nothing</h1>", ""},
		{"GET /caf%C3%A9", 200, "coffee", ""},
		{"GET /cafe%CC%81", 200, "coffee", ""},
		{"GET /caf%C3%A9.html", 307, "", "/caf%C3%A9"},
		{"GET /a%20b", 200, "space", ""},
		{"GET /a%20b.html?q", 307, "", "/a%20b?q"},
		{"GET /x;y", 200, "semicolon", ""},
		{"GET /a+b", 200, "plus", ""},
		{"GET /~u/", 200, "home of u", ""},
		{"GET /%7eu/", 200, "home of u", ""},
		{"GET /~u", 307, "", "/~u/"},
		{"GET /.well-known/x.txt", 200, "known", ""},
		{"GET /About", 404, "<h1>Nothing</h1>", ""},
		{"GET /dir/deep/down", 404, "nothing in dir", ""},
		{"GET /404", 200, "<h1>Nothing</h1>", ""},
		{"GET /empty.txt", 200, "", ""},
		{"POST /about", 405, "method_not_allowed", ""},
		{"DELETE /css/site.css", 405, "method_not_allowed", ""},
		{"OPTIONS /about", 405, "method_not_allowed", ""},
		{"POST /nothing", 404, "not_found", ""},
		{"TRACE /about", 405, "method_not_allowed", ""},
		{"get /about", 405, "method_not_allowed", ""},
		{"FOO /about", 405, "method_not_allowed", ""},
		{"PROPFIND /nothing", 404, "not_found", ""},
		{"GET /%5C/about", 400, "path_malformed", ""},
		{"GET //evil.example/..", 307, "", "/"},
		{"GET //evil.example", 404, "<h1>Nothing</h1>", ""},
		{"GET /__pages", 404, "not_found", ""},
		{"GET /__PAGES/sign-in", 404, "not_found", ""},
	} {
		t.Run(c.request, func(t *testing.T) {
			method, path, _ := strings.Cut(c.request, " ")
			status, answer := send(
				t, f.server.Listener.Addr().String(),
				method+" "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			)
			if status != c.status || !strings.Contains(answer, c.body) ||
				c.location != "" && !strings.Contains(answer, "Location:["+c.location+"]") {
				t.Errorf("%s: %d %s", c.request, status, answer)
			}
			if status == 405 && !strings.Contains(answer, "Allow:[GET, HEAD") {
				t.Errorf("%s: no Allow in %s", c.request, answer)
			}
		})
	}
}

// The response to a HEAD has the header of that to a GET and no body. Only a GET has ranges: RFC 9110, section 14.2.
func TestHeadIsGetWithoutBody(t *testing.T) {
	files := maps.Clone(plainFiles)
	files["/large.bin"] = strings.Repeat("0123456789abcdef", (cachedFileBytes+4096)/16)
	dir, assets := folder(t, files)
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir, Manifest: &manifest.Manifest{Routes: routes("members /dir/*")}})
	paths := []string{"/", "/about", "/about/", "/dir/", "/nothing", "/large.bin", "/__pages/sign-in", "/__pages/forms/thanks", "/css"}
	for path := range files {
		paths = append(paths, strings.ReplaceAll(path, " ", "%20"))
	}
	for _, path := range paths {
		for _, extra := range []string{
			"Accept: */*", "Accept: text/html", "Range: bytes=1-3", "Range: bytes=99999999-", `If-None-Match: *`,
		} {
			get, head := f.get(t, path, extra), f.do(t, nil, "HEAD", path, "", extra)
			if strings.HasPrefix(extra, "Range: ") {
				get = f.get(t, path)
			}
			get.header.Del("Date")
			head.header.Del("Date")
			if get.status != head.status || fmt.Sprint(get.header) != fmt.Sprint(head.header) || head.body != "" {
				t.Errorf("%s with %s:\nGET  %d %v\nHEAD %d %v %q", path, extra, get.status, get.header, head.status, head.header, head.body)
			}
		}
	}
}

func TestRangesAndConditions(t *testing.T) {
	small := strings.Repeat("0123456789abcdef", 128)
	large := strings.Repeat("0123456789abcdef", (cachedFileBytes+4096)/16)
	dir, assets := folder(t, map[string]string{"/small.bin": small, "/large.bin": large})
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir})
	for path, text := range map[string]string{"/small.bin": small, "/large.bin": large} {
		tag := f.get(t, path).header.Get("Etag")
		size := len(text)
		for _, c := range []struct {
			headers string
			status  int
			body    string
			span    string // Content-Range
		}{
			{"", 200, text, ""},
			{"Range: bytes=500-1499", 206, text[500:1500], fmt.Sprintf("bytes 500-1499/%d", size)},
			{"Range: bytes=500-", 206, text[500:], fmt.Sprintf("bytes 500-%d/%d", size-1, size)},
			{"Range: bytes=-500", 206, text[size-500:], fmt.Sprintf("bytes %d-%d/%d", size-500, size-1, size)},
			{
				fmt.Sprintf("Range: bytes=%d-%d", size-48, size+4000), 206, text[size-48:],
				fmt.Sprintf("bytes %d-%d/%d", size-48, size-1, size),
			},
			{"Range: bytes=500-0", 416, "", fmt.Sprintf("bytes */%d", size)},
			{fmt.Sprintf("Range: bytes=%d-", size), 416, "", fmt.Sprintf("bytes */%d", size)},
			{"Range: bytes=" + strings.TrimSuffix(strings.Repeat("0-,", 100), ","), 200, text, ""},
			{"Range: bytes=-0", 416, "", fmt.Sprintf("bytes */%d", size)},
			{"Range: bytes=-0,4-7", 206, text[4:8], fmt.Sprintf("bytes 4-7/%d", size)},
			{"Range: bytes=4-99999999999999999999", 206, text[4:], fmt.Sprintf("bytes 4-%d/%d", size-1, size)},
			{"Range: bytes=99999999999999999999-", 416, "", fmt.Sprintf("bytes */%d", size)},
			{"Range: bytes=-99999999999999999999", 206, text, fmt.Sprintf("bytes 0-%d/%d", size-1, size)},
			{"Range: bytes=a-b", 416, "", fmt.Sprintf("bytes */%d", size)},
			{"Range: bytes=4", 416, "", fmt.Sprintf("bytes */%d", size)},
			{"Range: bytes=-", 416, "", fmt.Sprintf("bytes */%d", size)},
			{"Range: BYTES=4-7 , ", 206, text[4:8], fmt.Sprintf("bytes 4-7/%d", size)},
			{"Range: bytes=", 200, text, ""},
			{"Range: lines=0-3", 200, text, ""},
			{"Range: bytes", 200, text, ""},
			{"Range: bytes=0-3|Range: bytes=4-7", 200, text, ""},
			{"If-None-Match: " + tag, 304, "", ""},
			{"If-None-Match: W/" + tag, 304, "", ""},
			{"If-None-Match: \"x\", " + tag, 304, "", ""},
			{"If-None-Match: *", 304, "", ""},
			{"If-None-Match: \"x\"", 200, text, ""},
			{"If-Match: " + tag, 200, text, ""},
			{"If-Match: \"x\"", 412, "", ""},
			{"If-Match: W/" + tag, 412, "", ""},
			{"Range: bytes=0-3|If-Range: " + tag, 206, text[:4], fmt.Sprintf("bytes 0-3/%d", size)},
			{"Range: bytes=0-3|If-Range: \"x\"", 200, text, ""},
			{"Range: bytes=0-3|If-Range: W/" + tag, 200, text, ""},
			{"If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT", 200, text, ""},
		} {
			t.Run(path+" "+c.headers, func(t *testing.T) {
				var headers []string
				if c.headers != "" {
					headers = strings.Split(c.headers, "|")
				}
				got := f.get(t, path, headers...)
				if got.status != c.status || got.status < 400 && got.body != c.body || got.header.Get("Content-Range") != c.span {
					t.Errorf("%s with %.60s: %d, %d bytes, %q", path, c.headers, got.status, len(got.body), got.header.Get("Content-Range"))
				}
				if c.span == "" {
					return
				}
				head := f.do(t, nil, "HEAD", path, "", headers...)
				if head.status != 200 || head.header.Get("Content-Length") != strconv.Itoa(size) || head.header.Get("Content-Range") != "" {
					t.Errorf("HEAD %s with %.60s: %d, %q", path, c.headers, head.status, head.header)
				}
			})
		}
	}
}

func TestHeadersOfFiles(t *testing.T) {
	_, assets := folder(t, plainFiles)
	f := start(t, Options{}, Revision{Assets: assets, Manifest: &manifest.Manifest{Routes: routes("members /dir/*")}})
	css := f.get(t, "/css/site.css").header
	for name, want := range map[string]string{
		"Content-Type": "text/css; charset=utf-8", "X-Content-Type-Options": "nosniff",
		"Cache-Control": "public, max-age=0, must-revalidate",
		"Accept-Ranges": "bytes", "Content-Length": "20", "Vary": "",
	} {
		if css.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, css.Get(name), want)
		}
	}
	if got := f.get(t, "/data.bin").header.Get("Content-Type"); got != "application/octet-stream" {
		t.Errorf("an unknown file is sent as %q", got)
	}
	private := f.do(t, f.as(t, "member"), "GET", "/dir/x.txt", "").header
	if private.Get("Cache-Control") != "private, no-cache" || private.Get("Vary") != "Cookie" {
		t.Errorf("a members file is sent with %v", private)
	}
}

// A file that changes is sent as one version of it, or the connection breaks off.
func TestFilesAreNeverMixed(t *testing.T) {
	small, large := strings.Repeat("a", 1000), strings.Repeat("a", cachedFileBytes*4)
	dir, assets := folder(t, map[string]string{"/small.txt": small, "/large.txt": large})
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir})
	if err := os.WriteFile(filepath.Join(dir, "small.txt"), []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := f.get(t, "/small.txt")
	if got.status != 200 || got.body != "edited" || got.header.Get("Etag") == etag(assets[0].SHA256) {
		t.Errorf("an edited file: %d %.20q %v", got.status, got.body, got.header)
	}
	if err := os.Truncate(filepath.Join(dir, "large.txt"), 10); err != nil {
		t.Fatal(err)
	}
	if got := f.get(t, "/large.txt"); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("a large file of another length: %d", got.status)
	}
	name := filepath.Join(dir, "steady.txt")
	if err := os.WriteFile(name, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		t.Fatal(err)
	}
	steady := &unchangedFile{file: opened, size: info.Size(), changed: info.ModTime()}
	if err := iotest.TestReader(&unchangedFile{file: opened, size: info.Size(), changed: info.ModTime()}, []byte(small)); err != nil {
		t.Error(err)
	}
	if _, err := steady.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, bytes.Repeat([]byte("b"), 10), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := steady.Read(make([]byte, 100)); n != 0 || err == nil {
		t.Errorf("reading a changed file gives %d bytes, %v", n, err)
	}
}

// Requests finish on the revision on which they began, and Drained is called once, after them.
func TestSwapWaitsForRequests(t *testing.T) {
	inside, goOn := make(chan struct{}), make(chan struct{})
	slow := workerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		close(inside)
		<-goOn
		_, err := w.Write([]byte("old"))
		return err
	})
	var drains atomic.Int32
	drained := make(chan struct{})
	m := &manifest.Manifest{Entry: "w.js", Routes: routes("public /*")}
	f := start(t, Options{}, Revision{ID: "1", Manifest: m, Worker: slow, Drained: func() { drains.Add(1); close(drained) }})
	answer := make(chan reply)
	go func() { answer <- f.get(t, "/x") }()
	<-inside
	before := f.site.Swap(Revision{ID: "2", Manifest: m, Worker: workerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		_, err := w.Write([]byte("new"))
		return err
	})})
	if before.ID != "1" || f.site.Revision().ID != "2" {
		t.Errorf("swapped %q for %q", before.ID, f.site.Revision().ID)
	}
	if got := f.get(t, "/x"); got.body != "new" {
		t.Errorf("after the swap: %q", got.body)
	}
	if drains.Load() != 0 {
		t.Error("drained while a request was in flight")
	}
	close(goOn)
	if got := <-answer; got.body != "old" {
		t.Errorf("in flight: %q", got.body)
	}
	<-drained
	if err := f.site.Close(); err != nil || drains.Load() != 1 {
		t.Errorf("drained %d times, %v", drains.Load(), err)
	}
}

// Cached contents stay in memory while the file has the same bytes.
func TestContentsOutliveASwap(t *testing.T) {
	dir, assets := folder(t, map[string]string{"/a.txt": "same", "/b.txt": "before"})
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir})
	f.get(t, "/a.txt")
	f.get(t, "/b.txt")
	for i, a := range assets {
		if a.Path == "/b.txt" {
			if err := os.WriteFile(a.File, []byte("after it"), 0o600); err != nil {
				t.Fatal(err)
			}
			assets[i] = assetOf(a.Path, a.File, "after it")
		} else if err := os.Remove(a.File); err != nil {
			t.Fatal(err)
		}
	}
	f.site.Swap(Revision{Assets: assets, AssetsDir: dir})
	if a, b := f.get(t, "/a.txt"), f.get(t, "/b.txt"); a.body != "same" || b.body != "after it" {
		t.Errorf("%d %q, %d %q", a.status, a.body, b.status, b.body)
	}
}

type workerFunc func(http.ResponseWriter, *http.Request) error

func (f workerFunc) Serve(w http.ResponseWriter, r *http.Request) error { return f(w, r) }

func TestSwapUnderLoad(t *testing.T) {
	dir, assets := folder(t, plainFiles)
	f := start(t, Options{}, Revision{})
	var wait sync.WaitGroup
	var made, drained atomic.Int32
	stop := make(chan struct{})
	for range 4 {
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got := f.get(t, "/css/site.css"); got.status != 200 && got.status != 404 {
					t.Errorf("status %d", got.status)
				}
			}
		})
	}
	for range 200 {
		made.Add(1)
		f.site.Swap(Revision{Assets: assets, AssetsDir: dir, Drained: func() { drained.Add(1) }})
	}
	close(stop)
	wait.Wait()
	if err := f.site.Close(); err != nil {
		t.Fatal(err)
	}
	if made.Load() != drained.Load() {
		t.Errorf("%d revisions, %d drained", made.Load(), drained.Load())
	}
}

func TestAssetsHandler(t *testing.T) {
	_, assets := folder(t, privateFiles)
	f := start(t, Options{}, Revision{Assets: assets, Manifest: &manifest.Manifest{Routes: routes("members /private/*")}})
	handler := f.site.AssetsHandler()
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/private/a", 200, secret},
		{"GET", "/private/a.html", 307, ""},
		{"GET", "/nothing", 404, "<h1>Nothing here</h1>"},
		{"POST", "/private/a", 405, ""},
		{"GET", "/private%2fa", 307, ""},
		{"GET", "/private%5ca", 400, ""},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, "http://whatever.example"+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := recordResponse(handler, r)
			if got.status != c.status || !strings.Contains(got.body, c.body) {
				t.Errorf("%s %s: %d %q", c.method, c.path, got.status, got.body)
			}
		})
	}
}

// TestAssetsHandlerFindsNothing: without a 404 page, the Worker decides about the response.
func TestAssetsHandlerFindsNothing(t *testing.T) {
	_, assets := folder(t, map[string]string{"/index.html": "<h1>Welcome</h1>"})
	f := start(t, Options{}, Revision{Assets: assets, Manifest: &manifest.Manifest{}})
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://whatever.example/_app/none.js", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := recordResponse(f.site.AssetsHandler(), r)
	if got.status != 404 || got.body != "" || got.header.Get("Content-Security-Policy") != "" {
		t.Errorf("%d %q %v", got.status, got.body, got.header)
	}
}

func BenchmarkStatic(b *testing.B) {
	dir, assets := folder(b, plainFiles)
	s, err := New(b.Context(), Options{DB: openDB(b, filepath.Join(b.TempDir(), "platform.db"))})
	if err != nil {
		b.Fatal(err)
	}
	s.Swap(Revision{Assets: assets, AssetsDir: dir, Manifest: &manifest.Manifest{Routes: routes("members /dir/*", "public /api/*")}})
	r, err := http.NewRequestWithContext(b.Context(), "GET", "/css/site.css", nil)
	if err != nil {
		b.Fatal(err)
	}
	r.RequestURI, r.Host = "/css/site.css", "localhost:8788"
	r.Header.Set("User-Agent", "bench")
	r.Header.Set("Accept", "*/*")
	w := &blackHole{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		s.ServeHTTP(w, r)
	}
	if w.status != 0 && w.status != 200 || w.bytes == 0 {
		b.Fatal("nothing was served")
	}
}

// blackHole is a ResponseWriter without a network.
type blackHole struct {
	header http.Header
	status int
	bytes  int
}

func (w *blackHole) Header() http.Header    { return w.header }
func (w *blackHole) WriteHeader(status int) { w.status = status }
func (w *blackHole) Write(p []byte) (int, error) {
	w.bytes += len(p)
	return len(p), nil
}

func TestAssetWithoutAType(t *testing.T) {
	dir, assets := folder(t, map[string]string{"/a.html": "x", "/b": "y"})
	for i := range assets {
		assets[i].ContentType = ""
	}
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir})
	for _, path := range []string{"/a", "/b"} {
		if got := f.get(t, path); got.status != 200 || got.header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%s: %d %v", path, got.status, got.header)
		}
	}
}
