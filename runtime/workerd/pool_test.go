//go:build unix

package workerd_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// pooled is a pool with its own clock.
type pooled struct {
	*workerd.Pool

	clock atomic.Int64
}

func newPool(t *testing.T, o workerd.PoolOptions) *pooled {
	t.Helper()
	p := &pooled{}
	o.Now = func() time.Time { return time.Unix(1_800_000_000+p.clock.Load(), 0) }
	p.Pool = program(t).NewPool(o.Unwatched())
	t.Cleanup(p.Close)
	return p
}

// start starts a Worker with the cases of the tests.
func (p *pooled) start(t *testing.T, asleep bool) *workerd.Worker {
	t.Helper()
	var c console
	o := options(&c)
	o.Limits.ResponseBytes, o.Logger = 0, slog.New(slog.NewTextHandler(t.Output(), nil))
	w, err := p.NewWorker(t.Context(), o, asleep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Second)
		defer cancel()
		w.Close(ctx)
	})
	return w
}

// get is the text of an answer.
func get(t *testing.T, w *workerd.Worker, target string) string {
	t.Helper()
	rec, _, err := ask(t, w, target)
	if err != nil {
		t.Errorf("%s: %v", target, err)
	}
	return rec.Body.String()
}

// under begins a long request; end waits for its error.
func under(t *testing.T, w *workerd.Worker, target string) (end func() error) {
	t.Helper()
	ended := make(chan error, 1)
	before := w.Users()
	go func() {
		_, _, err := ask(t, w, target)
		ended <- err
	}()
	testmachine.Await(t, "the request is under way", func() bool { return w.Users() != before })
	return func() error { return <-ended }
}

// TestPoolIdle: a process ends after a time without work, and the next request starts another one. A running request keeps it.
func TestPoolIdle(t *testing.T) {
	t.Parallel()
	p := newPool(t, workerd.PoolOptions{Idle: time.Minute})
	w := p.start(t, false)
	asleep := p.start(t, true)
	if asleep.Process() != 0 || w.Process() == 0 || p.Processes() != 1 {
		t.Fatalf("%d processes", p.Processes())
	}
	for _, want := range []string{"1", "2"} {
		if got := get(t, w, "/count"); got != want {
			t.Errorf("the count is %s, want %s", got, want)
		}
	}
	first := w.Process()
	look := func(seconds int64) bool {
		p.clock.Add(seconds)
		p.Look()
		return w.Process() != 0
	}
	if !look(59) {
		t.Error("it sleeps too soon")
	}
	end := under(t, w, "/slow?ms=400")
	if !look(100) {
		t.Error("it sleeps while a request is under way")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if get(t, w, "/wait?ms=400"); !look(100) {
		t.Error("it sleeps while waitUntil is")
	}
	testmachine.Await(t, "nothing is under way", w.Idle)
	conn, _, err := websocket.Dial(t.Context(), serve(t, w).URL+"/socket", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !look(100) || w.Process() != first {
		t.Error("it sleeps while a WebSocket is open")
	}
	if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	testmachine.Await(t, "nothing is under way", w.Idle)
	if !look(59) || look(1) || syscall.Kill(first, 0) == nil {
		t.Error("it sleeps too soon, or not")
	}
	if n := p.Processes(); n != 0 {
		t.Errorf("%d processes", n)
	}
	begun := time.Now()
	if got := get(t, w, "/count"); got != "1" || w.Process() == first {
		t.Errorf("the count is %s after sleep", got)
	}
	t.Logf("the first answer after sleep took %v", time.Since(begun))
	if got := get(t, asleep, "/count"); got != "1" || p.Processes() != 2 {
		t.Errorf("the count of the other is %s, of %d processes", got, p.Processes())
	}
}

// TestPoolBound: the longest idle process gives its place to another Worker; while all are busy, a request waits, and then gets 503.
func TestPoolBound(t *testing.T) {
	t.Parallel()
	p := newPool(t, workerd.PoolOptions{Processes: 2, Wait: time.Minute})
	a, b, c := p.start(t, true), p.start(t, true), p.start(t, true)
	awake := func(want ...*workerd.Worker) {
		t.Helper()
		for _, w := range []*workerd.Worker{a, b, c} {
			if slices.Contains(want, w) != (w.Process() != 0) {
				t.Errorf("process %d of the Worker %d", w.Process(), slices.Index([]*workerd.Worker{a, b, c}, w))
			}
		}
	}
	for _, w := range []*workerd.Worker{a, b, a} {
		p.clock.Add(1)
		get(t, w, "/url")
	}
	get(t, c, "/url")
	awake(a, c)
	p.SetWait(50 * time.Millisecond)
	endA, endC := under(t, a, "/slow?ms=1000"), under(t, c, "/slow?ms=1000")
	for range 2 {
		_, _, err := ask(t, b, "/url")
		f, ok := errors.AsType[*pagesruntime.Error](err)
		if !ok || f.Kind != pagesruntime.KindBusy || !f.Retriable() || f.Status() != http.StatusServiceUnavailable ||
			f.Message != "no process of workerd was free for 50ms: at most 2 run at a time, and all are busy" {
			t.Fatalf("%+v", err)
		}
	}
	if _, err := p.NewWorker(t.Context(), options(&console{}), false); err == nil || !strings.Contains(err.Error(), "all are busy") {
		t.Errorf("a Worker that starts: %v", err)
	}
	if err := errors.Join(endA(), endC()); err != nil {
		t.Error(err)
	}
	p.SetWait(time.Minute)
	// A Worker that becomes idle while another waits gives its place to it.
	endA, endC = under(t, a, "/slow?ms=100"), under(t, c, "/slow?ms=700")
	get(t, b, "/url")
	awake(b, c)
	if err := errors.Join(endA(), endC()); err != nil {
		t.Error(err)
	}
	// The place of a closed Worker is free.
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	c.Close(ctx)
	get(t, a, "/url")
	awake(a, b)
}

// TestPoolMemory: if all processes together have too much memory, the largest idle one ends, and only then one that works.
func TestPoolMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		testmachine.Lacks(t, "a figure of the memory of processes", nil)
	}
	p := newPool(t, workerd.PoolOptions{Memory: 200 << 20, Processes: 4})
	small, large, working := p.start(t, true), p.start(t, true), p.start(t, true)
	get(t, small, "/url")
	get(t, large, "/hold?mb=200")
	get(t, working, "/url")
	end := under(t, working, "/slow?ms=300")
	t.Logf("%d, %d and %d bytes", small.Memory(), large.Memory(), working.Memory())
	if p.Look(); large.Process() != 0 || small.Process() == 0 || working.Process() == 0 {
		t.Errorf("the processes are %d, %d and %d: the second is to end", small.Process(), large.Process(), working.Process())
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	get(t, working, "/hold?mb=300")
	end = under(t, working, "/slow?ms=60000")
	p.Look()
	f, ok := errors.AsType[*pagesruntime.Error](end())
	if !ok || f.Kind != pagesruntime.KindReset || !strings.HasPrefix(f.Message, "all processes of workerd together used more memory") ||
		small.Process() != 0 {
		t.Errorf("%+v", f)
	}
	if get(t, working, "/url") == "" {
		t.Error("it does not go on")
	}
}

// TestPoolKilled: a killed process disturbs no other, and its place becomes free.
func TestPoolKilled(t *testing.T) {
	t.Parallel()
	p := newPool(t, workerd.PoolOptions{Processes: 2})
	a, b := p.start(t, false), p.start(t, false)
	end := under(t, b, "/slow?ms=200")
	for range 3 {
		slow := under(t, a, "/slow?ms=60000")
		kill(t, a, syscall.SIGKILL)
		if f, ok := errors.AsType[*pagesruntime.Error](slow()); !ok || f.Kind != pagesruntime.KindReset {
			t.Errorf("%v", f)
		}
		get(t, a, "/url")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if p.Processes() != 2 {
		t.Errorf("%d processes", p.Processes())
	}
}

// TestPoolApart: a process shares nothing with another Worker: no socket, folder, wire, token or secret.
func TestPoolApart(t *testing.T) {
	t.Parallel()
	p := newPool(t, workerd.PoolOptions{})
	var all [2]*workerd.Worker
	var configs [2]string
	var processes [2]int
	names := [2]string{"secret of one tenant", "secret of another tenant"}
	for i := range all {
		o := options(&console{})
		o.Bindings = &binding.Set{Secrets: map[string]string{"SECRET": names[i]}}
		w, err := p.NewWorker(t.Context(), o, false)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close(t.Context())
		if configs[i], err = w.Config(t.TempDir()); err != nil {
			t.Fatal(err)
		}
		all[i], processes[i] = w, w.Process()
	}
	if processes[0] == processes[1] {
		t.Error("they share a process")
	}
	for i, w := range all {
		other := all[1-i].Secrets()
		for j, secret := range w.Secrets() {
			// Each path is in a separate folder.
			if secret == other[j] || strings.Contains(secret, "/") && filepath.Dir(secret) == filepath.Dir(other[j]) {
				t.Errorf("%q is the other's, too", secret)
			}
			if strings.Contains(configs[1-i], secret) {
				t.Errorf("the other's configuration has %q", secret)
			}
		}
		if !strings.Contains(configs[i], names[i]) || strings.Contains(configs[i], names[1-i]) {
			t.Error("the secrets are mixed")
		}
	}
}

// TestPoolClose: requests that wait for a place end with their Worker, or with their client.
func TestPoolClose(t *testing.T) {
	t.Parallel()
	p := newPool(t, workerd.PoolOptions{Processes: 1, Wait: time.Minute})
	a, b := p.start(t, false), p.start(t, true)
	end := under(t, a, "/slow?ms=500")
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan int, 1)
	go func() {
		rec := httptest.NewRecorder()
		_, _ = b.Serve(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://a/url", nil))
		gone <- rec.Code
	}()
	testmachine.Await(t, "the request is under way", func() bool { return b.Users() > 0 })
	waits := under(t, b, "/url")
	cancel()
	if code := <-gone; code != 499 {
		t.Errorf("the client that has gone: %d", code)
	}
	closing, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	b.Close(closing)
	if f, ok := errors.AsType[*pagesruntime.Error](waits()); !ok || f.Kind != pagesruntime.KindReset {
		t.Errorf("%v", f)
	}
	if err := end(); err != nil || p.Processes() != 1 {
		t.Errorf("%v, %d processes", err, p.Processes())
	}
}
