package upstream_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/devserver/upstream"
	"github.com/pages-toolchain/pages/manifest"
)

// front is a site with a dev server as its upstream.
type front struct {
	*httptest.Server
	proxy *upstream.Proxy
	down  atomic.Pointer[upstream.DownError]
	seen  atomic.Pointer[http.Request] // the last request of the dev server
}

func newFront(t testing.TB, dev http.HandlerFunc, routes ...manifest.Route) *front {
	t.Helper()
	f := &front{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.seen.Store(r)
		dev(w, r)
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Club.jsx"), []byte("the secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.proxy = upstream.New(upstream.Options{Dir: dir, Target: func(context.Context, bool) (upstream.Target, error) {
		if down := f.down.Load(); down != nil {
			return upstream.Target{}, down
		}
		return upstream.Target{Address: at.Host, Host: "localhost:" + at.Port()}, nil
	}})
	t.Cleanup(f.proxy.Close)
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "platform.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	options := site.Options{DB: db, DevHints: true}
	options.ErrorPage = func(w http.ResponseWriter, _ *http.Request, err error) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, err.Error())
	}
	s, err := site.New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	m := &manifest.Manifest{Routes: routes}
	f.proxy.SetRoutes(m)
	s.Swap(site.Revision{Manifest: m, Upstream: f.proxy})
	f.Server = httptest.NewServer(s)
	t.Cleanup(f.Close)
	return f
}

func (f *front) do(t testing.TB, r *http.Request) (*http.Response, string) {
	t.Helper()
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func (f *front) request(t *testing.T, method, path, body string, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

var club = manifest.Route{Pattern: "/club/*", Access: manifest.Members}

func html(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, text)
}

func module(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/javascript")
	_, _ = io.WriteString(w, text)
}

// TestPassing: method, body, status, headers and trailers go through, with and without members routes.
func TestPassing(t *testing.T) {
	for _, routes := range [][]manifest.Route{nil, {club}} {
		f := newFront(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Trailer", "X-Sum")
			w.Header().Add("Set-Cookie", "a=1")
			w.Header().Add("Set-Cookie", "b=2")
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, body)
			w.Header().Set("X-Sum", "7")
		}, routes...)
		r := f.request(t, http.MethodPost, "/api/a%20b?x=1&y", "hello", "Cookie", "own=1; pages_session=x", "X-Pages-Member-Id", "forged",
			"X-Forwarded-For", "127.0.0.1", "X-Own", "yes")
		resp, body := f.do(t, r)
		seen := f.seen.Load()
		got := fmt.Sprint(
			resp.StatusCode, " ", body, " ", resp.Header["Set-Cookie"], " ", resp.Trailer.Get("X-Sum"), " ", seen.Header.Get("X-Own"), " ",
			seen.Header.Get("X-Pages-Member-Id"), " ", seen.Host == strings.TrimPrefix(f.URL, "http://"), " ",
			seen.Header.Get("X-Forwarded-Host") == seen.Host, " ", seen.Header.Get("X-Forwarded-Proto"),
		)
		if want := "418 POST /api/a%20b?x=1&y hello [a=1 b=2] 7 yes  true true http"; got != want {
			t.Errorf("with %d routes: %s, want %s", len(routes), got, want)
		}
	}
}

// TestStream: events come as they are sent.
func TestStream(t *testing.T) {
	next := make(chan struct{})
	f := newFront(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
			}
		}
	}, club)
	resp, err := http.Get(f.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for i := range 3 {
		line, err := lines.ReadString('\n')
		if want := fmt.Sprintf("data: %d\n", i); line != want || err != nil {
			t.Fatalf("%q, %v; want %q", line, err, want)
		}
		_, _ = lines.ReadString('\n')
		next <- struct{}{} // the server waits for its arrival
	}
}

// TestEarlyHints: 1xx responses go through.
func TestEarlyHints(t *testing.T) {
	f := newFront(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		html(w, "<p>page")
	})
	var hints []string
	r := f.request(t, http.MethodGet, "/", "")
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			hints = append(hints, fmt.Sprint(code, h.Get("Link")))
			return nil
		},
	}))
	if _, body := f.do(t, r); body != "<p>page" || fmt.Sprint(hints) != "[103</a.css>; rel=preload]" {
		t.Errorf("%q after %q", body, hints)
	}
}

// TestSocket: WebSockets are passed on; for strangers of a site with members routes, without the lines of its sources.
func TestSocket(t *testing.T) {
	for _, row := range []struct {
		name   string
		routes []manifest.Route
		want   string
	}{
		{"a site without members", nil, "connected|{\"file\":\"Club.jsx\"}|{\"at\":\"/Club.jsx\",\"frame\":\"1\\nthe secret\"}|echo hi"},
		{"a stranger", []manifest.Route{club}, "connected|{\"file\":\"Club.jsx\"}|echo hi"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFront(t, func(w http.ResponseWriter, r *http.Request) {
				conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"vite-hmr"}})
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = conn.CloseNow() }()
				for _, text := range []string{"connected", `{"file":"Club.jsx"}`, `{"at":"/Club.jsx","frame":"1\nthe secret"}`} {
					_ = conn.Write(r.Context(), websocket.MessageText, []byte(text))
				}
				_, message, err := conn.Read(r.Context())
				if err != nil {
					t.Error(err)
				}
				_ = conn.Write(r.Context(), websocket.MessageText, append([]byte("echo "), message...))
				_ = conn.Close(4001, "enough")
			}, row.routes...)
			conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(f.URL, "http")+"/?token=x",
				&websocket.DialOptions{Subprotocols: []string{"vite-hmr"}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.CloseNow() }()
			_ = conn.Write(t.Context(), websocket.MessageText, []byte("hi"))
			var got []string
			for {
				_, message, err := conn.Read(t.Context())
				if closed, ok := errors.AsType[websocket.CloseError](err); ok {
					if closed.Code != 4001 || closed.Reason != "enough" {
						t.Errorf("closed with %d %q", closed.Code, closed.Reason)
					}
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(message))
			}
			if text := strings.Join(got, "|"); text != row.want || conn.Subprotocol() != "vite-hmr" {
				t.Errorf("%s (%s), want %s", text, conn.Subprotocol(), row.want)
			}
		})
	}
}

// TestMembers compares the responses to a stranger and to a member, on a site with members routes.
func TestMembers(t *testing.T) {
	f := newFront(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/main.js":
			w.Header().Set("Etag", `"1"`)
			if r.Header.Get("If-None-Match") == `"1"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			module(w, `import "/cached.js"; import("/Club.jsx")`)
		case "/cached.js":
			w.Header().Set("Cache-Control", "max-age=31536000,immutable")
			module(w, `import "/deep.js"`)
		case "/deep.js", "/unnamed.js", "/Club.jsx", "/@fs/x/Club.jsx":
			module(w, "the secret")
		case "/plain", "/plain.js":
			w.Header()["Content-Type"] = nil
		case "/photo.png":
			w.Header().Set("Content-Type", "image/png")
		case "/api/items":
			w.Header().Set("Content-Type", "application/json")
		case "/main.js.map":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "the secret")
		case "/old":
			http.Redirect(w, r, "/new", http.StatusFound)
		default:
			html(w, `<script type=module src=/main.js></script>`)
		}
	}, club)
	session := func() string {
		signIn := f.request(t, http.MethodPost, "/__pages/sign-in", "persona=member", "Content-Type", "application/x-www-form-urlencoded")
		resp, _ := f.do(t, signIn)
		cookie, _, _ := strings.Cut(resp.Header.Get("Set-Cookie"), ";")
		return cookie
	}()
	get := func(path string, header ...string) int {
		resp, body := f.do(t, f.request(t, http.MethodGet, path, "", header...))
		if resp.StatusCode == http.StatusUnauthorized && strings.Contains(body, "the secret") {
			t.Errorf("%s: the refusal has the secret", path)
		}
		return resp.StatusCode
	}
	for _, row := range []struct {
		path             string
		stranger, member int
	}{
		{"/deep.js", 401, 200}, // no page was asked for yet
		{"/", 200, 200},
		{"/main.js", 200, 200},
		{"/deep.js", 200, 200}, // the proxy has not seen /cached.js: a browser had it
		{"/unnamed.js", 401, 200},
		{"/Club.jsx", 401, 200},
		{"/Club.jsx?raw", 401, 200},
		{"/@fs/x/Club.jsx?import&url", 401, 200},
		{"/main.js.map", 401, 200},
		{"/plain", 200, 200},
		{"/plain.js", 401, 200},
		{"/photo.png", 200, 200},
		{"/api/items", 200, 200},
		{"/club.json", 200, 200}, // the server's fallback page for missing files
		{"/about", 200, 200},
		{"/old", 302, 302},
		{"/club/", 401, 200},
		{"/club/index.html", 401, 200},
		{"/club/x.js", 401, 200},
		{"/CLUB/", 401, 200},
	} {
		if got := get(row.path); got != row.stranger {
			t.Errorf("%s: a stranger gets %d, want %d", row.path, got, row.stranger)
		}
		if got := get(row.path, "Cookie", session); got != row.member {
			t.Errorf("%s: a member gets %d, want %d", row.path, got, row.member)
		}
	}
	if got := get("/main.js", "If-None-Match", `"1"`); got != http.StatusNotModified {
		t.Errorf("a page that was read is no longer requested with conditions: %d", got)
	}
}

// TestDown: a server that does not answer causes an error before the first byte; it works again later.
func TestDown(t *testing.T) {
	f := newFront(t, func(w http.ResponseWriter, _ *http.Request) { html(w, "up") })
	f.down.Store(&upstream.DownError{Message: "vite has ended: exit status 1"})
	resp, body := f.do(t, f.request(t, http.MethodGet, "/", ""))
	f.down.Store(nil)
	again, up := f.do(t, f.request(t, http.MethodGet, "/", ""))
	if got := fmt.Sprint(resp.StatusCode, " ", body, " ", again.StatusCode, " ", up); got != "502 vite has ended: exit status 1 200 up" {
		t.Error(got)
	}
}

// TestElsewhere: no target leads beyond this machine.
func TestElsewhere(t *testing.T) {
	p := upstream.New(upstream.Options{Target: func(context.Context, bool) (upstream.Target, error) {
		return upstream.Target{Address: "192.0.2.1:80"}, nil
	}})
	w := httptest.NewRecorder()
	err := p.Serve(w, httptest.NewRequest(http.MethodGet, "/", nil), site.Visit{})
	if _, ok := errors.AsType[*upstream.DownError](err); !ok || !strings.Contains(err.Error(), "not on this machine") {
		t.Errorf("it is %v", err)
	}
}

// TestRestarting: a server that does not listen for a moment loses no request.
func TestRestarting(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	asked := make(chan struct{}, 100)
	p := upstream.New(upstream.Options{Target: func(context.Context, bool) (upstream.Target, error) {
		asked <- struct{}{}
		return upstream.Target{Address: address}, nil
	}})
	defer p.Close()
	w, done := httptest.NewRecorder(), make(chan error, 1)
	go func() { done <- p.Serve(w, httptest.NewRequest(http.MethodGet, "/", nil), site.Visit{}) }()
	<-asked
	<-asked // after it was refused once
	if l, err = net.Listen("tcp", address); err != nil {
		testmachine.Lacks(t, "the port, which another program took", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { html(w, "back") })}
	defer server.Close()
	go func() { _ = server.Serve(l) }()
	if err := <-done; err != nil || w.Body.String() != "back" {
		t.Errorf("%v, %q", err, w.Body)
	}
}
