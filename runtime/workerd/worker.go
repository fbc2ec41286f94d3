// Package workerd runs a site's Worker in a process of workerd, the server of Cloudflare Workers, where it is installed.
//
// [Find] finds the program. [Program.NewWorker] starts a process with the Worker in it; [Worker.Serve] answers one request. In: the
// options of a Worker of the built-in engine, [pagesruntime.WorkerOptions]. Out: HTTP responses, log lines, or a [pagesruntime.Error] in
// terms of the author's own files, with the kinds, texts and statuses of that engine where the same happened. Everything is safe for
// concurrent use.
//
// # The process
//
// workerd gets a folder of mode 0700 with its configuration and the modules, which is removed once the Worker answers: secrets are in
// it. It listens on one socket that only this package speaks to. Bindings, outbound requests and caches are services of the wire
// (runtime/binding/wire), so that the stores outlive it. A script of ours (js/) is evaluated before the author's module and wraps its
// default export. It reports the request of running code, log lines, exceptions and pending waitUntil promises, by lines of JSON after a
// token on standard output and by a response with a token. No process outlives us: on Linux the system ends it with the thread that
// started it, on Windows with a job object, elsewhere a small shell script waits on a pipe.
//
// # The end of a process
//
// A process that ends, for whatever reason, is started again at once, and later each time if it ends before it has answered. Of the
// requests that were under way, the one at fault gets KindCPU or KindMemory where it is known; the others get KindReset with the reason.
//
// # Many Workers
//
// A [Pool] bounds the processes of many Workers, in number and in memory. One that has nothing to do ends after a while, or when
// another Worker needs its place, the longest idle first; its next request starts it again. Each process has one Worker, with a folder,
// sockets, tokens and a wire of its own. It is no hardened sandbox all the same: workerd's own documentation says that it must run in
// one, such as a virtual machine, where code could be hostile. Code that breaks out of V8 has the rights of this process's user.
//
// # CPU time
//
// V8 has no clock for one request: meter.go says how the time of the process is divided among requests, and when one of several is
// known to be at fault. [pagesruntime.Usage.Shared] says of a figure that it is a share. On Linux the clock is read in nanoseconds, on
// macOS from the task (not tried on a machine), on Windows in ticks of up to 16 ms (not tried either).
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

// Worker is one Worker in a process of its own. Close it. It is safe for concurrent use.
type Worker struct {
	program Program
	pool    *Pool // nil for a Worker by itself
	// inspection lets a debugger in; nil for none. isolate is a part of the name of the isolate then, which cannot be guessed.
	inspection *Inspection
	isolate    string
	o          pagesruntime.WorkerOptions
	sources    *pagesruntime.Sources
	wire       *wire.Server
	gateway    *fetch.Gateway
	urls       web.Origins
	prelude    []byte
	// stall is how long a process may neither answer nor use CPU time while requests are under way.
	stall time.Duration
	// strayTime is that of a judgement of code that runs for no request.
	strayTime time.Duration
	// unclaimed is the quota of log lines without a request.
	unclaimed quota
	now       func() time.Time
	// token begins the lines of the process that are our script's, front the ids of requests that we send, and folder is that of
	// our script: an author sees it in stacks.
	token, front, folder string

	ctx    context.Context //nolint:containedctx // ends work that Close does not wait for
	cancel context.CancelFunc
	closed sync.Once
	work   sync.WaitGroup // goroutines of the Worker
	under  sync.WaitGroup // requests under way

	mu       sync.Mutex
	current  *process      // that answers; nil while none does
	changed  chan struct{} // closed and replaced when current or starting changes
	starting bool
	drowsy   bool    // it is looked whether current may be ended
	attempt  attempt // the last start
	closing  bool
	retired  bool
	users    int       // requests under way, with those that wait for a process
	since    time.Time // there are none
	restarts restarts
	numbers  int // of processes so far
	requests requests
}

// attempt is a start of a process.
type attempt struct {
	number int
	err    error
}

// NewWorker starts a process with the Worker and returns when it answers. A *pagesruntime.Error of KindLoad says that the module threw,
// has no handler, or never finished loading.
func (p Program) NewWorker(ctx context.Context, o pagesruntime.WorkerOptions) (*Worker, error) {
	return p.newWorker(ctx, o, nil, false, nil)
}

// newWorker makes a Worker of a pool; nil for none. One that is asleep has no process yet. inspection is nil without a debugger.
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

// Retire prepares for a Worker that takes over: WebSockets end with the code 1012, so that their clients reconnect to that one;
// requests under way go on until Close.
func (w *Worker) Retire() {
	w.mu.Lock()
	w.retired = true
	w.mu.Unlock()
	for _, x := range w.requests.all() {
		x.restart()
	}
}

// Close waits for the requests under way and their waitUntil until ctx ends, then ends the process. Every call returns when that
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

// awaitWaits waits until the Worker's output is read: it may report a waitUntil that goes on.
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

// acquire returns a process that answers, and counts the request in.
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
	level := slog.LevelDebug // the request at fault gets the reason
	switch why.cause {
	case byItself:
		w.restarts.ended(p.answered.Load())
		level = slog.LevelWarn
	case byStray:
		level = slog.LevelWarn // no request gets it
	default:
	}
	w.o.Logger.Log(w.ctx, level, "workerd ended and is started again", "why", why.String(), "wait", w.restarts.delay())
	if !w.starting && !w.closing && w.pool == nil { // else with the next request
		w.starting = true
		w.work.Go(w.startAgain)
	}
	w.announceLocked()
}

// The waits before workerd is started again: none, unless it ended before it answered a request, again and again.
const (
	minDelay = 50 * time.Millisecond
	maxDelay = 5 * time.Second
)

// restarts counts the processes that were of no use.
type restarts struct {
	mu   sync.Mutex
	last time.Duration
	at   time.Time // of the last of them
}

// delay returns how long to wait from now on.
func (r *restarts) delay() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.last-time.Since(r.at), 0)
}

// ended tells of a process that ended by itself, and whether it has answered a request.
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
