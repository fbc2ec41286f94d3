package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	goruntime "runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/node"
	"github.com/pages-toolchain/pages/runtime/wasm"
	"github.com/pages-toolchain/pages/runtime/web"
)

const (
	// fewestIsolates is how many isolates may answer requests at the same time where
	// there are fewer processors: one request's long turn holds up no other.
	fewestIsolates = 2
	// waitUntilTime bounds what ctx.waitUntil may go on for after the response,
	// as on the platform.
	waitUntilTime = 30 * time.Second
	overWaitUntil = "waitUntil was ended 30 s after the answer: what it still waited for is not done"
	// statusClientGone is what logs call an answer that nobody waited for.
	statusClientGone = 499
	// mappedScheme is before the name of code whose stacks are mapped when they are read: such a
	// stack is printed, and so mapped, again, and the author's file may be called as the code is.
	mappedScheme = "bundle:"
	// defaultLoadCPU is the CPU time for evaluating the module, where no limit of
	// the site's applies.
	defaultLoadCPU = 10 * time.Second
)

// WorkerOptions is what a Worker is made of.
type WorkerOptions struct {
	// Name is the module's name in traces: "worker.js".
	Name string
	Code []byte
	Map  []byte // source map, version 3; may be empty
	// Wasm are the WebAssembly modules that Code imports, by specifier.
	Wasm map[string][]byte
	// Compiling is told that Wasm is about to be compiled, which may take half a minute where it is not in the
	// cache, and done when it is. Default: nobody is.
	Compiling func() (done func())
	// NodeJS is the compatibility flag nodejs_compat: the modules of Node.js can
	// be imported, and its globals are there.
	NodeJS bool
	// Bindings are what env holds.
	Bindings *binding.Set
	Limits   Limits
	// LoadCPU is the CPU time for evaluating the module. Default 10 s.
	LoadCPU time.Duration
	// Isolates answer at the same time; default one for each processor, at least 2,
	// and 32 if Pristine. One is started when all others are busy.
	Isolates int
	// Pristine gives every request an isolate of its own that no request was in
	// before, which finds state that leaks from one request into another.
	Pristine bool
	// HideMeter says of which requests the Server-Timing header is left out of the answer: the
	// meter is for authors, and not for visitors. Default none.
	HideMeter func(r *http.Request) bool
	// MapStacks has the stacks of errors that the Worker reads name the author's files, as
	// Node.js does with --enable-source-maps. Default: those of Code, as in production.
	MapStacks bool
	// Console is told what the Worker logs, and of promises rejected without a
	// handler, with positions in the author's files.
	Console func(Line)
	// Web is passed on: outbound fetch. Console, SubRequests and LimitMode in it
	// are set by this package.
	Web    web.Options
	Logger *slog.Logger // default: discards
}

// Line is one line of a Worker's log.
type Line struct {
	Time  time.Time
	Level string // debug, log, info, trace, warn, error
	Text  string // with positions in the author's files; it may have several lines
	// Called says that the author called console; else the runtime tells of
	// something.
	Called bool
	// Args is the JSON array of what console was called with, as far as JSON has
	// it; empty when that is too long.
	Args json.RawMessage
	// Frames is where: the call of console, or the trace of an exception.
	Frames  []Frame
	Request *http.Request // nil at load
}

// Usage is the meter of one request.
type Usage struct {
	CPU         time.Duration
	SubRequests int
	// Isolate is the number of the isolate that ran it, from 1; 0 for none.
	Isolate int
	// Broke is why the answer broke off after its head; nil if it did not. Whoever
	// serves it has half an answer not look like a whole one: see [web.Aborted].
	Broke *Error
}

// Worker is one evaluated bundle. Close it.
type Worker struct {
	runtime *Runtime
	o       WorkerOptions
	sources *sources
	node    map[string]string // the modules of Node.js, under the flag
	host    *web.Host
	ctx     context.Context
	cancel  context.CancelFunc
	image   *engine.Image
	share   *engine.HostMemory // for all isolates
	wasm    *wasm.Set

	closed   sync.Once
	mu       sync.Mutex
	slots    []*slot
	left     []*slot                    // that no further request gets
	started  int                        // isolates so far
	freed    chan struct{}              // closed and replaced when a pristine isolate is free
	turns    chan struct{}              // holds one for each pristine request that works
	answered map[*engine.Scope]struct{} // those that only waitUntil goes on for
	closing  bool
	inFlight sync.WaitGroup
	logs     logQuota
}

// NewWorker evaluates the bundle. A *Error of KindLoad says that its module
// threw, has no handler, or never finished loading.
func (r *Runtime) NewWorker(ctx context.Context, o WorkerOptions) (*Worker, error) {
	if o.MapStacks {
		o.Name = mappedScheme + o.Name
	}
	maps, err := newSources(o.Name, o.Map)
	if err != nil {
		return nil, errStart(err)
	}
	switch {
	case o.Isolates > 0:
	case o.Pristine:
		o.Isolates = pristineIsolates
	default:
		o.Isolates = max(fewestIsolates, goruntime.GOMAXPROCS(0))
	}
	if o.LoadCPU <= 0 {
		o.LoadCPU = defaultLoadCPU
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Worker{runtime: r, o: o, sources: maps, image: r.image, share: r.engine.Share(), freed: make(chan struct{}), turns: make(chan struct{}, goruntime.GOMAXPROCS(0)), answered: map[*engine.Scope]struct{}{}}
	if o.NodeJS {
		if w.node, err = node.Modules(); err != nil {
			return nil, errStart(err)
		}
	}
	w.host = web.New(w.webOptions())
	w.wasm = w.compile(ctx)
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	first, err := w.newSlot()
	if err == nil {
		// A module may take its time: the caller need not wait for it.
		stop := context.AfterFunc(ctx, first.isolate.Close)
		if err = w.load(first); err != nil {
			first.isolate.Close()
		}
		stop()
	}
	if err != nil {
		w.cancel()
		w.wasm.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	first.number, w.started = 1, 1
	w.slots = []*slot{first}
	return w, nil
}

// compile compiles the WebAssembly modules.
func (w *Worker) compile(ctx context.Context) *wasm.Set {
	if w.o.Compiling != nil && len(w.o.Wasm) > 0 {
		defer w.o.Compiling()()
	}
	return w.runtime.wasm.Load(ctx, wasmSources(w.o.Wasm))
}

// load evaluates the module in the first isolate and keeps what came of it as
// the image that all isolates start from.
func (w *Worker) load(s *slot) error {
	env, err := w.o.Bindings.EnvSpec()
	if err != nil {
		return errStart(err)
	}
	scope := engine.NewScope(w.ctx, w.o.LoadCPU, nil)
	scope.Share()
	scope.StopClock() // as on the platform, where no time is told at the top level
	defer w.end(scope)
	defer w.host.Loaded()
	err = s.isolate.Do(scope, func(vm *engine.VM) error { return w.evaluate(vm, string(env)) })
	if err != nil {
		return w.loadError(err)
	}
	w.image, err = s.isolate.Snapshot(scope)
	if err != nil {
		return errStart(err)
	}
	s.isolate.Rewind() // from now on it shares the image with the others
	return nil
}

// evaluate runs the module; env is filled before it, for code that reads it at
// the top level.
func (w *Worker) evaluate(vm *engine.VM, env string) error {
	provided, err := vm.Call("provide", env)
	if err != nil {
		return err
	}
	vm.Free(provided)
	if err := w.addNode(vm); err != nil {
		return err
	}
	if err := w.noteMatches(vm); err != nil {
		return err
	}
	namespace, err := vm.Import(engine.Source{Name: w.o.Name, Code: string(w.o.Code)})
	if err != nil {
		return err
	}
	started, err := vm.Call("start", namespace, env)
	if err != nil {
		return err
	}
	vm.Free(started)
	return w.warm(vm)
}

// addNode installs the globals of Node.js under the flag.
func (w *Worker) addNode(vm *engine.VM) error {
	if len(w.node) == 0 {
		return nil
	}
	let, err := vm.Call("node")
	if err != nil {
		return err
	}
	vm.Free(let)
	globals, err := vm.Import(engine.Source{Name: "node", Code: "import " + strconv.Quote(node.Globals)})
	if err != nil {
		return err
	}
	vm.Free(globals)
	return nil
}

// Serve answers r through rw. An error is a *Error, and means that nothing was
// written. The Request that the Worker sees is r's method, URL, headers and
// body as they are.
func (w *Worker) Serve(rw http.ResponseWriter, r *http.Request) (Usage, error) {
	m := &metered{ResponseWriter: rw, limits: w.o.Limits, hidden: w.o.HideMeter != nil && w.o.HideMeter(r)}
	x := web.NewExchange(m, r)
	defer w.takeTurn(r.Context(), x)()
	s, err := w.acquire(r.Context(), x.Depth() > 0)
	if errors.Is(err, web.ErrClientGone) {
		rw.WriteHeader(statusClientGone)
		return Usage{}, nil
	}
	if err != nil {
		return Usage{}, w.errorOf(KindInternal, err)
	}
	scope := engine.NewScope(context.WithoutCancel(r.Context()), w.o.Limits.budget(), x)
	m.scope, m.exchange = scope, x
	leave := w.leaver(s)
	if !w.o.Pristine {
		m.headed = func() { leave() }
	}
	x.Elsewhere = func() (*engine.Isolate, error) {
		next, err := w.acquire(r.Context(), x.Depth() > 0)
		if err != nil {
			return nil, err
		}
		w.release(s, leave)
		s, leave = next, w.leaver(next)
		return s.isolate, nil
	}
	defer func() { w.linger(s, scope, x, leave) }()
	err = w.host.Serve(s.isolate, scope, x)
	if errors.Is(err, engine.ErrReset) && r.Context().Err() != nil {
		err = web.ErrClientGone // nobody waits to read that the Worker was restarted
	}
	usage := Usage{CPU: scope.CPU(), SubRequests: x.SubRequests(), Isolate: s.number}
	if errors.Is(err, web.ErrClientGone) && !m.wrote {
		rw.WriteHeader(statusClientGone)
	}
	if usage.Broke, err = w.begun(scope, err); err != nil {
		f := w.errorOf(KindException, err)
		if w.passThrough(scope, rw, r, err, f) {
			return usage, nil
		}
		if f.Kind == KindMemory {
			// What is left of the heap is of no use to other requests.
			_ = s.isolate.Reset(engine.NewScope(w.ctx, 0, nil), f)
		}
		m.tell()
		return usage, f
	}
	w.warnOver(r, usage)
	return usage, nil
}

// begun takes the errors that came after the answer had begun, or that nobody
// waits for: there is no page to show for them. It returns why an answer broke off.
func (w *Worker) begun(scope *engine.Scope, err error) (broke *Error, other error) {
	if aborted, ok := errors.AsType[*web.Aborted](err); ok {
		broke = w.errorOf(KindException, aborted.Err)
		w.fault(scope, "the answer broke off: ", broke)
		return broke, nil
	}
	if errors.Is(err, web.ErrClientGone) {
		return nil, nil
	}
	return nil, err
}

// end is for a scope in which nothing is left to do.
func (w *Worker) end(scope *engine.Scope) {
	scope.End(nil)
	w.logs.forget(scope)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.answered, scope)
}

// restarted is for an isolate that starts over. A request that has its answer
// already has no page to show why: the log says it.
func (w *Worker) restarted(s *slot, scope *engine.Scope, cause error) {
	killed, ok := errors.AsType[*engine.KilledError](cause)
	if ok {
		w.mu.Lock()
		_, ok = w.answered[killed.Scope]
		w.mu.Unlock()
	}
	if ok {
		w.fault(killed.Scope, "after the answer, in waitUntil: ", w.cpuError(killed))
	}
	w.host.Reset(s.isolate, scope, cause)
}

// linger lets ctx.waitUntil go on after the response, for a bounded time, and
// then gives back the isolate.
func (w *Worker) linger(s *slot, scope *engine.Scope, x *web.Exchange, leave func()) {
	select {
	case <-x.Done():
		w.end(scope)
		w.release(s, leave)
		return
	default:
	}
	w.mu.Lock()
	w.answered[scope] = struct{}{}
	w.mu.Unlock()
	if !w.o.Pristine { // others may use the isolate meanwhile
		leave()
	}
	go func() {
		defer func() {
			w.end(scope)
			if w.o.Pristine {
				w.release(s, leave)
			} else {
				w.done(s)
			}
		}()
		timer := time.NewTimer(waitUntilTime)
		defer timer.Stop()
		select {
		case <-x.Done():
		case <-timer.C:
			w.warn(scope, overWaitUntil)
			w.host.GiveUp(x)
		case <-w.ctx.Done():
		}
	}()
}

// warnOver tells of limits that were passed while they are not enforced.
func (w *Worker) warnOver(r *http.Request, u Usage) {
	if w.o.Limits.Mode != Warn || w.o.Console == nil {
		return
	}
	if u.CPU > w.o.Limits.allowed() {
		w.o.Console(Line{
			Time: w.runtime.now(), Level: "warn", Request: r,
			Text: "this request used " + u.CPU.Round(time.Millisecond).String() + " of CPU time, over limits.cpuMs",
		})
	}
}

// Retire says that another Worker takes over: WebSockets end with the code 1012,
// so that their clients come back to that one, and all else goes on until Close.
func (w *Worker) Retire() { w.host.Restart() }

// Close waits for the requests under way until ctx ends, then ends the isolates
// and what still runs in them. Every call returns when that is done.
func (w *Worker) Close(ctx context.Context) {
	w.closed.Do(func() { w.close(ctx) })
}

func (w *Worker) close(ctx context.Context) {
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	w.host.Restart()
	done := make(chan struct{})
	go func() { w.inFlight.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	w.cancel()
	w.mu.Lock()
	slots := slices.Concat(w.slots, w.left)
	w.mu.Unlock()
	for _, s := range slots {
		s.isolate.Close()
	}
	<-done
	w.host.Close()
	w.wasm.Close(context.WithoutCancel(ctx))
}
