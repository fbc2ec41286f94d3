package workerd_test

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
)

//go:embed testdata/worker.js
var cases []byte

// engines start the Worker of the tests in workerd and in the built-in engine.
type engine interface {
	Serve(rw http.ResponseWriter, r *http.Request) (pagesruntime.Usage, error)
}

func options(c *console) pagesruntime.WorkerOptions {
	return pagesruntime.WorkerOptions{
		Name: "worker.js", Folder: "src", Code: cases, NodeJS: true, Console: c.log,
		Limits: pagesruntime.Limits{CPU: 10 * time.Second, SubRequests: 5, ResponseBytes: 2 << 10},
		Bindings: &binding.Set{Assets: map[string]http.Handler{"ASSETS": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "the static file")
		})}},
	}
}

// builtIn starts the Worker of the tests in the built-in engine.
func builtIn(t *testing.T, o pagesruntime.WorkerOptions) engine {
	t.Helper()
	return enginetest.BuiltIn(t).MustStart(t, o)
}

// exchange is a request, and the response or failure of an engine as a text.
func exchange(t *testing.T, w engine, method, target, body string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://site.localhost:8080"+target, strings.NewReader(body))
	r.Header.Set("X-One", "a, b")
	r.Header.Set("Content-Type", "text/plain")
	if target == "/member" {
		r.Header.Set("X-Pages-Member-Id", "m1")
		r.Header.Set("X-Pages-Member-Email", "zoë@example.com")
		r.Header.Set("X-Pages-Member-Name", "Zoë \"Z\"")
	}
	if body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	rec := httptest.NewRecorder()
	usage, err := w.Serve(rec, r)
	if f, ok := errors.AsType[*pagesruntime.Error](err); ok {
		return fmt.Sprintf("%s; status %d; limit %q; fix %q", told(f), f.Status(), f.Limit, f.Fix)
	}
	header := rec.Header()
	timing := header.Get("Server-Timing")
	header.Del("Server-Timing")
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d %s", rec.Code, rec.Body)
	for _, name := range []string{"Content-Length", "Content-Type", "Etag", "X-Two", "Set-Cookie", "Pages-Answer"} {
		if values := header[name]; values != nil {
			fmt.Fprintf(&b, "; %s %q", name, values)
		}
	}
	if !strings.HasPrefix(timing, "cpu;dur=") || !strings.HasSuffix(timing, `desc="0 of 5"`) {
		fmt.Fprintf(&b, "; timing %q", timing)
	}
	if usage.Broke != nil {
		fmt.Fprintf(&b, "; broke %s", told(usage.Broke))
	}
	return b.String()
}

// TestBothEngines: an exchange is the same in workerd as in the built-in engine, unless a row gives the difference and the reason.
func TestBothEngines(t *testing.T) {
	t.Parallel()
	var here, there console
	mine, theirs := builtIn(t, options(&here)), start(t, options(&there))
	for _, c := range []struct {
		method, target, body string
		workerd, why         string // the difference in workerd
	}{
		{target: "/url?a=%20b&c"},
		{target: "/url"},
		{method: "POST", target: "/echo", body: "some text"},
		{method: "PUT", target: "/echo", body: strings.Repeat("0123456789", 50)},
		{target: "/cf"},
		{target: "/member"},
		{target: "/nothing"},
		{target: "/fresh"},
		{target: "/cookies"},
		{
			target: "/encoded", why: "workerd encodes it in any case, and the decoded length is not known before",
			workerd: "200 " + strings.Repeat("encoded", 20) + `; Content-Type ["text/plain;charset=UTF-8"]`,
		},
		{target: "/bytes"},
		{target: "/teapot"},
		{target: "/own500"},
		{target: "/frozen500"},
		{target: "/stream"},
		{
			target: "/break", why: "workerd says what a stream was broken off with, and not where",
			workerd: `200 first; broke exception Error: stream broke []`,
		},
		{target: "/throw"},
		{target: "/reject"},
		{target: "/text"},
		{target: "/number"},
		{target: "/undefined"},
		{target: "/hang"},
		{target: "/large"},
		{target: "/pass"},
		{target: "/none"},
		{method: "HEAD", target: "/bytes"},
		{method: "HEAD", target: "/stream"},
		{target: "/cache"},
		{target: "/log"},
	} {
		method := cmp.Or(c.method, http.MethodGet)
		got, want := exchange(t, theirs, method, c.target, c.body), exchange(t, mine, method, c.target, c.body)
		if c.workerd != "" && want == c.workerd {
			t.Errorf("%s %s: the difference is gone", method, c.target)
		}
		if want = cmp.Or(c.workerd, want); noColumns(got) != noColumns(want) {
			t.Errorf("%s %s\nworkerd %s\nwant    %s", method, c.target, got, want)
		}
	}
	there.await(t, "deeper")
	if got, want := noColumns(there.String()), noColumns(here.String()); got != want {
		t.Errorf("workerd logged\n%s\nand the built-in engine\n%s", got, want)
	}
}

var column = regexp.MustCompile(`(\.js:\d+):\d+`)

// noColumns removes the columns of places, which each engine counts differently.
func noColumns(text string) string { return column.ReplaceAllString(text, "$1") }

// TestHTTP: details that can only be seen on a connection.
func TestHTTP(t *testing.T) {
	t.Parallel()
	var c console
	w := start(t, options(&c))
	s := serve(t, w)
	t.Run("an answer before the body is sent", func(t *testing.T) {
		reader, writer := io.Pipe()
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/early", reader)
		r.Header.Set("Content-Type", "text/x")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := body(t, resp); got != "early: text/x" {
			t.Error(got)
		}
		writer.Close()
	})
	t.Run("pieces come as they are written", func(t *testing.T) {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\nConnection: close\r\n\r\n3\r\nabc\r\n")
		fmt.Fprintf(conn, "2\r\nde\r\n0\r\n\r\n")
		text, _ := io.ReadAll(conn)
		if !strings.Contains(string(text), `{"method":"POST","headers":{"x-a":"1"},"body":"abcde"}`) {
			t.Errorf("%s", text)
		}
	})
	t.Run("a broken answer is not a whole one", func(t *testing.T) {
		resp, err := http.Get(s.URL + "/break")
		if err != nil {
			t.Fatal(err)
		}
		if got := body(t, resp); got != "first failed: unexpected EOF" {
			t.Error(got)
		}
		c.await(t, "the response broke off: Error: stream broke")
	})
	t.Run("an answer that grows too large", func(t *testing.T) {
		rec, usage, err := ask(t, w, "/largestream")
		if err != nil || usage.Broke == nil || usage.Broke.Kind != pagesruntime.KindResponseSize || rec.Body.Len() > 2<<10 {
			t.Errorf("%d bytes, %v, %v", rec.Body.Len(), usage.Broke, err)
		}
	})
	t.Run("a client that leaves", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://a/slow?ms=60000", nil)
		time.AfterFunc(20*time.Millisecond, cancel)
		rec := httptest.NewRecorder()
		if usage, err := w.Serve(rec, r); err != nil || usage.Broke != nil || rec.Code != 499 {
			t.Errorf("%d %v %v", rec.Code, usage, err)
		}
	})
	t.Run("a client that leaves what waitUntil keeps", func(t *testing.T) {
		var c console
		w := start(t, options(&c))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			c.await(t, "began")
			cancel()
		}()
		left := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://a/left", nil)
		if _, err := w.Serve(httptest.NewRecorder(), left); err != nil {
			t.Error(err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if w.Close(ctx); ctx.Err() != nil {
			t.Error("the request was under way until the end of Close")
		}
		c.await(t, "kept")
	})
	t.Run("waitUntil goes on", func(t *testing.T) {
		resp, err := http.Get(s.URL + "/wait")
		if err != nil {
			t.Fatal(err)
		}
		if got := body(t, resp); got != "answered" {
			t.Error(got)
		}
		if l := c.await(t, "waitUntil: Error: late"); l.Request == nil || l.Request.URL.Path != "/wait" || len(l.Frames) == 0 {
			t.Errorf("%+v", l)
		}
		c.await(t, "waited")
	})
}
