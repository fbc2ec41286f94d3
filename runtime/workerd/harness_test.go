package workerd_test

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// loadCPU is short, for modules that never finish loading.
const loadCPU = time.Second

// program is the workerd of the tests.
func program(t testing.TB) workerd.Program {
	t.Helper()
	return enginetest.Program(t)
}

// console keeps the log lines of a Worker.
type console struct {
	mu    sync.Mutex
	lines []pagesruntime.Line
	more  chan struct{}
}

func (c *console) log(l pagesruntime.Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, l)
	if c.more != nil {
		close(c.more)
		c.more = nil
	}
}

// await returns the first line whose text has a part.
func (c *console) await(t testing.TB, part string) pagesruntime.Line {
	t.Helper()
	return c.awaitNth(t, part, 1)
}

// awaitNth returns the n-th line whose text has a part, from 1.
func (c *console) awaitNth(t testing.TB, part string, n int) pagesruntime.Line {
	t.Helper()
	timeout := time.After(10 * time.Second)
	for {
		c.mu.Lock()
		found := 0
		for _, l := range c.lines {
			if strings.Contains(l.Text, part) {
				found++
			}
			if found == n {
				c.mu.Unlock()
				return l
			}
		}
		if c.more == nil {
			c.more = make(chan struct{})
		}
		more := c.more
		c.mu.Unlock()
		select {
		case <-more:
		case <-timeout:
			t.Fatalf("no line has %q:\n%s", part, c)
		}
	}
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, l := range c.lines {
		b.WriteString(l.Level + ": " + l.Text + "\n")
	}
	return b.String()
}

// start starts a Worker of a code; it is closed with the test.
func start(t testing.TB, o pagesruntime.WorkerOptions) *workerd.Worker {
	t.Helper()
	w, err := startOf(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func startOf(t testing.TB, o pagesruntime.WorkerOptions) (*workerd.Worker, error) {
	t.Helper()
	if o.Name == "" {
		o.Name, o.Folder = "worker.js", "src"
	}
	if o.Limits.CPU == 0 {
		o.Limits.CPU = 10 * time.Second
	}
	o.Limits.SubRequests = cmp.Or(o.Limits.SubRequests, 20)
	o.NodeJS = true
	w, err := program(t).NewWorker(t.Context(), o)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Second)
		defer cancel()
		w.Close(ctx)
	})
	return w, nil
}

// ask sends a request to a Worker without a server.
func ask(t testing.TB, w *workerd.Worker, target string) (*httptest.ResponseRecorder, pagesruntime.Usage, error) {
	t.Helper()
	rec := httptest.NewRecorder()
	usage, err := w.Serve(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://site.localhost"+target, nil))
	return rec, usage, err
}

// serve serves a Worker over HTTP; a failure becomes a response with its text.
func serve(t testing.TB, w *workerd.Worker) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if _, err := w.Serve(rw, r); err != nil {
			f, _ := err.(*pagesruntime.Error) //nolint:errorlint // it always is
			http.Error(rw, string(f.Kind)+": "+f.Error(), f.Status())
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func body(t testing.TB, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return string(text) + " failed: " + err.Error()
	}
	return string(text)
}
