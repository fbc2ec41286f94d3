// Package workerd runs a site's Worker in a process of workerd, the server of Cloudflare Workers, where it is installed.
//
// [Find] finds the program. [Program.NewWorker] starts a process with the Worker in it; [Worker.Serve] answers one request. In: the
// options of a Worker of the built-in engine, [pagesruntime.WorkerOptions]. Out: HTTP responses, log lines, or a [pagesruntime.Error] in
// terms of the author's own files, with the kinds, texts and statuses of that engine for the same failures. Everything is safe for
// concurrent use.
//
// # The process
//
// workerd gets a folder of mode 0700 with its configuration and the modules, which is removed once the Worker responds, because it contains
// secrets. It listens on one socket that only this package uses. Bindings, outbound requests and caches are services of the wire
// (runtime/binding/wire), so that the stores outlive it. A script of ours (js/) is evaluated before the author's module and wraps its
// default export. It reports the request of running code, log lines, exceptions and pending waitUntil promises, in lines of JSON after a
// token on standard output and in a response with a token. No process outlives this one: on Linux the system ends it with the thread that
// started it, on Windows with a job object; elsewhere a small shell script waits on a pipe.
//
// # The end of a process
//
// A process that ends, for any reason, is started again at once, with growing pauses if it ends before its first response. The request at
// fault gets KindCPU or KindMemory if it is known; the other current requests get KindReset with the reason.
//
// # Many Workers
//
// A [Pool] bounds the processes of many Workers, in number and in memory. An idle process ends after a while, or when another Worker needs
// its place, the longest idle first; its next request starts it again. Each process has one Worker, with its own folder, sockets, tokens
// and wire. This is not a hardened sandbox: according to workerd's own documentation, hostile code needs one around it, such as a virtual
// machine. Code that breaks out of V8 has the rights of this process's user.
//
// # CPU time
//
// V8 has no clock for one request: meter.go divides the time of the process among requests, and finds the one at fault if that is possible.
// [pagesruntime.Usage.Shared] marks a figure as a share. On Linux the clock is read in nanoseconds, on macOS from the task (untested), on
// Windows in ticks of up to 16 ms (untested).
//
// The package does not listen for visitors, watch files or know of routes, and fetches no program.
package workerd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/binding/wire"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/trace"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/cache"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

const (
	stallTime = 10 * time.Second
)

// Worker is one Worker in its own process. Close it. It is safe for concurrent use.
type Worker struct {
	program Program
	pool    *Pool // nil for a Worker by itself
	// inspection lets a debugger in; nil for none. isolate is then the part of the isolate's name that cannot be guessed.
	inspection *Inspection
	isolate    string
	o          pagesruntime.WorkerOptions
	sources    *pagesruntime.Sources
	wire       *wire.Server
	gateway    *fetch.Gateway
	urls       web.Origins
	prelude    []byte
	// stall is how long a process may neither respond nor use CPU time during requests.
	stall time.Duration
	// strayTime is the time of a judgement of code that runs without a request.
	strayTime time.Duration
	// unclaimed is the quota of log lines without a request.
	unclaimed quota
	now       func() time.Time
	// token begins the output lines of our script, front the ids of the requests that this package sends, and folder is the folder of our
	// script, which an author sees in stacks.
	token, front, folder string

	ctx    context.Context //nolint:containedctx // ends work that Close does not wait for
	cancel context.CancelFunc
	closed sync.Once
	work   sync.WaitGroup // goroutines of the Worker
	under  sync.WaitGroup // current requests

	mu       sync.Mutex
	current  *process      // the running process; nil for none
	changed  chan struct{} // closed and replaced when current or starting changes
	starting bool
	drowsy   bool    // a check whether current may end is running
	attempt  attempt // the last start
	closing  bool
	retired  bool
	users    int       // current requests, with those that wait for a process
	since    time.Time // when users became 0
	restarts restarts
	numbers  int // of processes so far
	requests requests
}

// attempt is a start of a process.
type attempt struct {
	number int
	err    error
}

// NewWorker starts a process with the Worker and returns when it responds. A *pagesruntime.Error of KindLoad means that the module threw,
// has no handler, or never finished loading.
func (p Program) NewWorker(ctx context.Context, o pagesruntime.WorkerOptions) (*Worker, error) {
	return p.newWorker(ctx, o, nil, false, nil)
}

// newWorker makes a Worker of a pool, or of none with nil. A Worker that is asleep has no process yet. inspection is nil without a
// debugger.
func (p Program) newWorker(
	ctx context.Context, o pagesruntime.WorkerOptions, pool *Pool, asleep bool, inspection *Inspection,
) (*Worker, error) {
	if o.LoadCPU <= 0 {
		o.LoadCPU = pagesruntime.DefaultLoadCPU
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Bindings == nil {
		o.Bindings = &binding.Set{}
	}
	w := &Worker{
		program: p, pool: pool, o: o, token: rand.Text(), front: rand.Text(), inspection: inspection, isolate: rand.Text(),
		folder: ownFolder + rand.Text()[:8], changed: make(chan struct{}), stall: stallTime, strayTime: strayTime,
	}
	if w.now = o.Web.Now; w.now == nil {
		w.now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	var err error
	if w.prelude, err = artifacts.ReadFile("artifact/prelude.js"); err != nil {
		return nil, errors.New("start the worker: this binary was built without the script for workerd (make artifacts)")
	}
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.sources = pagesruntime.NewSources(w.ctx, o)
	if w.wire, err = wire.Start(w.wireOptions()); err != nil {
		w.cancel()
		return nil, fmt.Errorf("start the worker: %w", err)
	}
	if asleep {
		w.pool.add(w)
		return w, nil
	}
	first, err := w.start(ctx)
	if err != nil {
		w.cancel()
		w.work.Wait()
		err = errors.Join(err, w.wire.Close())
		w.gateway.Close()
		return nil, err
	}
	w.mu.Lock()
	w.current = first
	w.mu.Unlock()
	w.work.Go(func() { w.keep(first) })
	if pool != nil {
		w.since = pool.o.Now()
		pool.add(w)
	}
	return w, nil
}

func (w *Worker) wireOptions() wire.Options {
	o := w.o.Web
	w.gateway = fetch.NewGateway(fetch.GatewayOptions{
		Options: fetch.Options{
			AllowFetch: o.AllowFetch, Self: o.Self, IsSelf: o.IsSelf, StrictlyPublic: o.StrictlyPublic, Transport: o.Transport,
		},
		Of: w.requests.outbound,
	})
	store := o.Caches
	if store == nil {
		store = cache.New(cache.Options{})
	}
	return wire.Options{
		Bindings: w.o.Bindings, Outbound: w.gateway, Caches: cache.Handler(store, w.now), Memory: o.Memory, Called: w.called,
		Trace: w.requests.recorder,
	}
}

// called logs the warnings of a call on a binding, and failures that are not the Worker's fault.
func (w *Worker) called(c wire.Call) {
	for _, warning := range c.Warnings {
		w.console(w.requests.of(c.Request), pagesruntime.Line{Level: "warn", Text: warning})
	}
	if c.Err != "" {
		w.o.Logger.Debug("a call of the Worker failed", "kind", c.Kind, "binding", c.Binding, "method", c.Method, "error", c.Err)
	}
}

// Retire prepares for the successor of this Worker: WebSockets end with the code 1012, so that their clients reconnect to the successor;
// current requests continue until Close.
func (w *Worker) Retire() {
	w.mu.Lock()
	w.retired = true
	w.mu.Unlock()
	for _, x := range w.requests.all() {
		x.restart()
	}
}

// Close waits for the current requests and their waitUntil until ctx ends, then ends the process. Every call returns when that
// is done.
func (w *Worker) Close(ctx context.Context) {
	w.closed.Do(func() {
		w.mu.Lock()
		w.closing = true
		w.announceLocked()
		w.mu.Unlock()
		w.Retire()
		done := make(chan struct{})
		go func() { w.under.Wait(); close(done) }()
		select {
		case <-done:
			w.awaitWaits(ctx)
		case <-ctx.Done():
		}
		w.cancel()
		if w.pool != nil {
			w.pool.remove(w)
		}
		w.mu.Lock()
		p := w.current
		w.mu.Unlock()
		if p != nil {
			p.end(&ending{cause: byClose})
		}
		w.work.Wait()
		<-done
		if err := w.wire.Close(); err != nil {
			w.o.Logger.Debug("close the wire", "error", err)
		}
		w.gateway.Close()
	})
}

// awaitWaits waits until the Worker's output is read, which may report a waitUntil.
func (w *Worker) awaitWaits(ctx context.Context) {
	w.mu.Lock()
	p := w.current
	w.mu.Unlock()
	if p == nil || p.ping(ctx) != nil {
		return
	}
	w.requests.awaitWaits(ctx)
}

// announceLocked wakes up the waiters for a process. The caller holds w.mu.
func (w *Worker) announceLocked() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// errClosed is the error of a request to a Worker that is closed.
var errClosed = pagesruntime.ResetError(engine.ErrClosed)

// acquire returns a running process, and counts the request in.
func (w *Worker) acquire(ctx context.Context) (*process, error) {
	first := -1
	var waits time.Time // since then; zero while the request does not wait
	for {
		w.mu.Lock()
		if w.closing {
			w.mu.Unlock()
			return nil, errClosed
		}
		if p := w.current; p != nil && p.ended() == nil && !w.drowsy {
			w.under.Add(1)
			w.mu.Unlock()
			if !waits.IsZero() {
				trace.From(ctx).Past("worker_start", waits)
			}
			return p, nil
		}
		if first >= 0 && w.attempt.number > first && w.attempt.err != nil {
			err := w.attempt.err
			w.mu.Unlock()
			return nil, err
		}
		if first < 0 {
			first = w.attempt.number
		}
		if !w.starting && w.current == nil && !w.drowsy {
			w.starting = true
			w.work.Go(w.startAgain)
		}
		changed := w.changed
		w.mu.Unlock()
		if waits.IsZero() {
			waits = trace.From(ctx).Now()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, web.ErrClientGone
		}
	}
}

// startAgain starts a process in place of one that ended. w.starting is set.
func (w *Worker) startAgain() {
	wait := time.NewTimer(w.restarts.delay())
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-w.ctx.Done():
	}
	var p *process
	err := w.ctx.Err()
	if err == nil {
		p, err = w.start(w.ctx)
	}
	w.mu.Lock()
	w.starting = false
	w.attempt = attempt{w.attempt.number + 1, err}
	closing := w.closing && w.ctx.Err() != nil
	if err == nil && !closing {
		w.current = p
		w.work.Go(func() { w.keep(p) })
	}
	w.announceLocked()
	w.mu.Unlock()
	if f, ok := errors.AsType[*pagesruntime.Error](err); ok && f.Kind == pagesruntime.KindBusy {
		w.o.Logger.Debug("workerd got no place", "error", err)
	} else if err != nil && w.ctx.Err() == nil {
		w.restarts.failed()
		w.o.Logger.Warn("workerd could not be started again", "error", err)
	}
	if err == nil && closing {
		p.end(&ending{cause: byClose})
		<-p.done
	}
}

// keep starts another process when p has ended.
func (w *Worker) keep(p *process) {
	select {
	case <-p.done:
	case <-w.ctx.Done():
		p.end(&ending{cause: byClose})
		<-p.done
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current == p {
		w.current = nil
	}
	if w.ctx.Err() != nil {
		return
	}
	why := p.ended()
	if why.cause == bySleep {
		return
	}
	level := slog.LevelDebug // the request at fault has the reason
	switch why.cause {
	case byItself:
		w.restarts.ended(p.answered.Load())
		level = slog.LevelWarn
	case byStray:
		level = slog.LevelWarn // no request has the reason
	default:
	}
	w.o.Logger.Log(w.ctx, level, "workerd ended and is started again", "why", why.String(), "wait", w.restarts.delay())
	if !w.starting && !w.closing && w.pool == nil { // otherwise the next request starts it
		w.starting = true
		w.work.Go(w.startAgain)
	}
	w.announceLocked()
}

// The pauses before workerd is started again: none, unless it ended before its first response several times.
const (
	minDelay = 50 * time.Millisecond
	maxDelay = 5 * time.Second
)

// restarts counts the processes that ended before a response.
type restarts struct {
	mu   sync.Mutex
	last time.Duration
	at   time.Time // the time of the last one
}

// delay returns how long to wait from now on.
func (r *restarts) delay() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.last-time.Since(r.at), 0)
}

// ended records a process that ended by itself, and whether it had responded.
func (r *restarts) ended(answered bool) {
	if !answered {
		r.failed()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = 0
}

func (r *restarts) failed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.at = min(max(2*r.last, minDelay), maxDelay), time.Now() //nolint:forbidigo // a duration is made of it
}

var _ interface {
	Serve(rw http.ResponseWriter, r *http.Request) (pagesruntime.Usage, error)
	Retire()
	Close(ctx context.Context)
} = (*Worker)(nil)
