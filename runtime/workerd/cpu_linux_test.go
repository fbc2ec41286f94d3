package workerd_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// asked is the outcome of a request.
type asked struct {
	rec   *httptest.ResponseRecorder
	usage pagesruntime.Usage
	f     *pagesruntime.Error
	took  time.Duration
}

// askAll sends requests to the paths, each as soon as the turn of the previous one has begun, which the log shows with its query. It
// returns their outcomes.
func askAll(t *testing.T, w engine, c *console, paths ...string) []asked {
	t.Helper()
	all := make([]asked, len(paths))
	done := make(chan int)
	for i, path := range paths {
		query := func(i int) string { return fmt.Sprintf("?ms=60000&n=1&test=%s-%d.", escaped(t.Name()), i) }
		if i > 0 {
			c.await(t, query(i-1)) // the lines of earlier requests may come late
		}
		go func() {
			begun := time.Now()
			rec := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://site.localhost"+path+query(i), nil)
			usage, err := w.Serve(rec, r)
			f, _ := errors.AsType[*pagesruntime.Error](err)
			all[i] = asked{rec, usage, f, time.Since(begun)}
			done <- i
		}()
	}
	for range paths {
		<-done
	}
	return all
}

// TestCPU: a request over its budget ends, the others get the reason, and the Worker continues.
func TestCPU(t *testing.T) {
	t.Parallel()
	var c console
	o := options(&c)
	o.Limits.CPU = 50 * time.Millisecond
	w := start(t, o)
	fine := func() {
		t.Helper()
		if rec, _, err := ask(t, w, "/url"); err != nil || rec.Code != http.StatusOK {
			t.Fatalf("it does not go on: %d %v", rec.Code, err)
		}
	}
	t.Run("alone", func(t *testing.T) {
		got := askAll(t, w, &c, "/loop")[0]
		if got.f == nil || got.f.Kind != pagesruntime.KindCPU || got.f.Status() != http.StatusServiceUnavailable {
			t.Fatalf("%+v", got.f)
		}
		const want = "the Worker used more than 50 ms of CPU time (limits.cpuMs)"
		if got.f.Message != want || got.f.Limit != "cpuMs 50" {
			t.Errorf("%q, %q", got.f.Message, got.f.Limit)
		}
		if got.usage.Shared || got.usage.CPU < 50*time.Millisecond || got.usage.CPU > time.Second {
			t.Errorf("%v", got.usage)
		}
		t.Logf("ended with %v, after %v", got.usage.CPU, got.took)
		fine()
	})
	t.Run("others come while it runs", func(t *testing.T) {
		o := askAll(t, w, &c, "/loop", "/url")
		// On a busy machine the other request may arrive before the loop is noticed.
		const unknown, why = "one of 2 requests", "another request ran over limits.cpuMs"
		loop, other := o[0].f, o[1].f
		if loop == nil || loop.Kind != pagesruntime.KindCPU && !strings.HasPrefix(loop.Message, unknown) {
			t.Errorf("the loop: %+v", loop)
		}
		if other != nil && !strings.HasPrefix(other.Message, why) && !strings.HasPrefix(other.Message, unknown) {
			t.Errorf("the other: %+v", other)
		}
		fine()
	})
	t.Run("others wait while it runs", func(t *testing.T) {
		o := askAll(t, w, &c, "/slow", "/slow", "/loop")
		for i, got := range o {
			const want = "one of 3 requests that ran at the same time ran over limits.cpuMs, " +
				"and the process of workerd that they shared was restarted"
			if got.f == nil || got.f.Kind != pagesruntime.KindReset || got.f.Message != want {
				t.Errorf("request %d: %+v", i, got.f)
			}
			if !got.f.Retriable() {
				t.Errorf("request %d cannot be sent again", i)
			}
		}
		t.Logf("ended after %v", o[2].took)
		fine()
	})
	t.Run("in waitUntil", func(t *testing.T) {
		if got := askAll(t, w, &c, "/waitloop")[0]; got.f != nil || got.rec.Body.String() != "answered" {
			t.Errorf("%+v", got)
		}
		l := c.await(t, "after the response, in waitUntil: the Worker used more than 50 ms")
		if l.Request == nil || l.Request.URL.Path != "/waitloop" {
			t.Errorf("%+v", l)
		}
		fine()
	})
	t.Run("not over it", func(t *testing.T) {
		askAll(t, w, &c, "/busy") // the new process compiles it
		got := askAll(t, w, &c, "/busy")[0]
		if got.f != nil || got.usage.CPU <= 0 || got.usage.Shared {
			t.Errorf("%+v", got)
		}
	})
}

// holding keeps the log lines of a Worker. It blocks at the line "held" until it is released, so that later output of the process is not
// read.
type holding struct {
	console

	open chan struct{}
}

func (h *holding) log(l pagesruntime.Line) {
	h.console.log(l)
	if l.Text == "held" {
		<-h.open
	}
}

// TestLateWaitUntil: a waitUntil that the process reports after the response runs like any other.
func TestLateWaitUntil(t *testing.T) {
	t.Parallel()
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	t.Cleanup(remote.Close)
	for _, c := range []struct{ name, query, want string }{
		{"a loop", "", "after the response, in waitUntil: the Worker used more than 50 ms"},
		{"a request", "?to=" + escaped(remote.URL), "202 after the answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := holding{open: make(chan struct{})}
			o := options(&h.console)
			o.Console, o.Limits.CPU, o.Web.AllowFetch = h.log, 50*time.Millisecond, []string{"127.0.0.1"}
			w := start(t, o)
			rec, _, err := ask(t, w, "/held"+c.query)
			testmachine.Await(t, "the request is over", func() bool { return w.Users() == 0 })
			close(h.open)
			if err != nil || rec.Body.String() != "answered" {
				t.Errorf("%q, %v", rec.Body, err)
			}
			if l := h.await(t, c.want); l.Request == nil || l.Request.URL.Path != "/held" {
				t.Errorf("logged for %v", l.Request)
			}
		})
	}
}

// TestStray: code that continues without a request ends with its process, and the next request gets a new process.
func TestStray(t *testing.T) {
	t.Parallel()
	h := holding{open: make(chan struct{})}
	release := sync.OnceFunc(func() { close(h.open) })
	defer release()
	o := options(&h.console)
	o.Console = h.log
	w := start(t, o)
	w.SetStrayTime(20 * time.Millisecond)
	process := fmt.Sprintf("/proc/%d", w.Process())
	if rec, _, err := ask(t, w, "/held"); err != nil || rec.Body.String() != "answered" {
		t.Errorf("%q, %v", rec.Body, err)
	}
	testmachine.Await(t, "the process ends", func() bool {
		_, err := os.Stat(process)
		return errors.Is(err, os.ErrNotExist)
	})
	release()
	if rec, _, err := ask(t, w, "/url"); err != nil || rec.Code != http.StatusOK {
		t.Errorf("it does not go on: %d %v", rec.Code, err)
	}
}

// TestStraySocket: the same for code that a quiet WebSocket left running.
func TestStraySocket(t *testing.T) {
	t.Parallel()
	var c console
	w := start(t, options(&c))
	w.SetStrayTime(20 * time.Millisecond)
	conn, _, err := websocket.Dial(t.Context(), serve(t, w).URL+"/socket", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("stray")); err != nil {
		t.Fatal(err)
	}
	begun := w.Process()
	testmachine.Await(t, "the process ends", func() bool { return w.Process() != begun })
	if rec, _, err := ask(t, w, "/count"); err != nil || rec.Body.String() != "1" {
		t.Errorf("the count is %s, %v", rec.Body, err)
	}
}

// TestCPUModes: a limit that is not enforced ends no request.
func TestCPUModes(t *testing.T) {
	t.Parallel()
	for _, mode := range []pagesruntime.LimitMode{pagesruntime.Warn, pagesruntime.Off} {
		var c console
		o := options(&c)
		o.Limits.CPU, o.Limits.Mode = time.Millisecond, mode
		w := start(t, o)
		if rec, usage, err := ask(t, w, "/busy?n=60"); err != nil || rec.Code != http.StatusOK || usage.CPU < time.Millisecond {
			t.Errorf("%s: %d %v %v", mode, rec.Code, usage, err)
		}
		if mode == pagesruntime.Warn {
			c.await(t, "of CPU time, over limits.cpuMs")
		}
	}
}
