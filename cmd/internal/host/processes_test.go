package host

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/workerd"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

func TestProcesses(t *testing.T) {
	for files, want := range map[uint64]int{0: 2, 1024: 4, 4096: 16, 1 << 20: 1024, 1<<64 - 1: 1024} {
		if got := processes(files); got != want {
			t.Errorf("%d files: %d processes, want %d", files, got, want)
		}
	}
}

// TestNoProcess: if all processes of workerd are busy, visitors and publishers get a Retry-After, and files need no process.
func TestNoProcess(t *testing.T) {
	site, err := filepath.Abs(filepath.Join("..", "..", "..", "testdata", "sites", "workerd"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := workerd.Find(t.Context(), workerd.Places{Site: site})
	if err != nil {
		testmachine.Lacks(t, "workerd: make site", err)
	}
	h, release := newHost(t)
	h.o.Engine = siteworker.Choice{Program: &program, Pool: &workerd.PoolOptions{Processes: 1, Wait: 700 * time.Millisecond}}
	h.notice = func(error) {}
	const manifest = `{"entry":"w.js","assets":"public","routes":[{"pattern":"/api/*"}],"limits":{"cpuMs":1000}}`
	made := func(site, code string) service.Release {
		t.Helper()
		return sizedRelease(t, release(site, site), manifest, map[string]string{"w.js": code, "public/a.txt": "a file"})
	}
	code := `export default { async fetch(request) {
		if (request.url.endsWith("/slow")) { await request.text(); await scheduler.wait(100); }
		return new Response("answered");
	} };`
	visit := func(site, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://"+site+".localhost"+path, nil)
		h.Serve(w, r, site, func(context.Context) (service.Release, error) { return made(site, code), nil })
		return w
	}
	for _, site := range []string{"one", "two"} {
		if got := visit(site, "/a.txt"); got.Body.String() != "a file" {
			t.Errorf("a file: %d %s", got.Code, got.Body)
		}
	}
	// One request holds the only process until its body is sent.
	body := waiting{make(chan struct{}), make(chan struct{})}
	held := make(chan string, 1)
	go func() {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "http://one.localhost/api/slow", body)
		h.Serve(w, r, "one", nil)
		held <- w.Body.String()
	}()
	<-body.begun
	if got := visit("two", "/api/x"); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") != "5" ||
		!strings.Contains(got.Body.String(), "too many sites") {
		t.Errorf("%d %v %s", got.Code, got.Header(), got.Body)
	}
	if got := visit("two", "/a.txt"); got.Body.String() != "a file" {
		t.Errorf("a file meanwhile: %d %s", got.Code, got.Body)
	}
	_, err = h.Prepare(t.Context(), made("three", code))
	if refused, ok := errors.AsType[*toolapi.Error](err); !ok || refused.Code != toolapi.CodeUnavailable ||
		refused.RetryAfterSeconds != 5 ||
		!strings.HasPrefix(refused.Message, "The Worker could not be started: no process of workerd was free for 700ms: at most 1 run") {
		t.Errorf("a publish meanwhile: %v", err)
	}
	close(body.until)
	if got := <-held; got != "answered" {
		t.Errorf("the one that was busy: %s", got)
	}
	// Code that cannot start is refused when it is published.
	_, err = h.Prepare(t.Context(), made("four", `throw new Error("never"); export default {};`))
	if refused, ok := errors.AsType[*service.ReleaseError](err); !ok || refused.Code != toolapi.CodeWorkerFailed ||
		!strings.Contains(refused.Message, "never") {
		t.Errorf("code that throws: %v", err)
	}
	prepared, err := h.Prepare(t.Context(), made("three", code))
	if err != nil {
		t.Fatal(err)
	}
	prepared.Show()
	if got := visit("three", "/api/x"); got.Body.String() != "answered" {
		t.Errorf("after it is free: %d %s", got.Code, got.Body)
	}
}

// waiting is a body that begins with the first read, and ends when a channel is closed.
type waiting struct{ begun, until chan struct{} }

func (w waiting) Read([]byte) (int, error) {
	close(w.begun)
	<-w.until
	return 0, io.EOF
}
