package runtime

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/node"
	"github.com/pages-toolchain/pages/runtime/wasm"
	"github.com/pages-toolchain/pages/runtime/web"
)

const (
	// fewestIsolates is the default number of isolates on machines with fewer processors, so that the long turn of one
	// request does not block others.
	fewestIsolates = 2
	// mappedScheme prefixes the name of code whose stacks are mapped when they are read: such a stack is mapped again when it
	// is printed, and the author's file may have the same name as the code.
	mappedScheme = "bundle:"
)

// WorkerOptions configure a Worker.
type WorkerOptions struct {
	// Name is the module's name in traces: "worker.js".
	Name string
	Code []byte
	Map  []byte // source map, version 3; may be empty
	// Wasm are the WebAssembly modules that Code imports, by specifier.
	Wasm map[string][]byte
	// Scripts are the JavaScript modules that Code imports, by specifier: "./assets/page.js". They import each other, and Wasm,
	// by paths relative to their own.
	Scripts map[string]Script
	// Folder is the folder, relative to the site's, in which Code and Scripts are files; "" where Map says which files Code was
	// made of, and there are no Scripts.
	Folder string
	// Compiling is called before Wasm is compiled, which may take half a minute without the cache; the function that it returns is called
	// afterwards. Default: none.
	Compiling func() (done func())
	// NodeJS is the compatibility flag nodejs_compat: the modules and globals of Node.js.
	NodeJS bool
	// Bindings are the members of env.
	Bindings *binding.Set
	Limits   Limits
	// LoadCPU is the CPU time for evaluating the module. Default 10 s.
	LoadCPU time.Duration
	// Isolates is the most isolates that serve requests at the same time; default one for each processor, at least 2,
	// and 32 if Pristine. Another one is started when all are busy.
	Isolates int
	// Pristine gives every request a fresh isolate of its own, which shows state that leaks from one request into another.
	Pristine bool
	// HideMeter reports whether the response to a request has no Server-Timing header: the meter is for authors, and not for
	// visitors. Default: all have one.
	HideMeter func(r *http.Request) bool
	// MapStacks makes the stacks that the Worker reads name the author's files, as in Node.js with --enable-source-maps. Default: those of
	// Code, as in production.
	MapStacks bool
	// Console is called for each line that the Worker logs, and for promises rejected without a handler, with positions in the
	// author's files.
	Console func(Line)
	// Web is the options of web. This package sets Console, SubRequests and LimitMode.
	Web    web.Options
	Logger *slog.Logger // default: discards
}

// Script is a JavaScript module.
type Script struct {
	Text string
	Map  []byte // source map, version 3; empty where Text is the author's own
}

// Line is one line of a Worker's log.
type Line struct {
	Time  time.Time
	Level string // debug, log, info, trace, warn, error
	Text  string // with positions in the author's files; it may have several lines
	// Called is true for calls of console, false for messages of the runtime.
	Called bool
	// Args is the JSON array of the arguments of console, as far as JSON can express them; empty when that is too long.
	Args json.RawMessage
	// Frames is the position of the call of console, or the trace of an exception.
	Frames  []Frame
	Request *http.Request // nil at load
}

// Usage is the meter of one request.
type Usage struct {
	CPU time.Duration
	// Shared is true if CPU is a share: other requests ran in the same process meanwhile, and their time cannot be separated.
	Shared      bool
	SubRequests int
	// Isolate is the number of the isolate that ran it, from 1; 0 for none.
	Isolate int
	// Broke is the error that broke the response off after its head; nil for none. The server must not let such a response
	// look complete: see [web.Aborted].
	Broke *Error
}

// Worker is one evaluated bundle. Close it.
type Worker struct {
	runtime *Runtime
	o       WorkerOptions
	sources *Sources
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
	retired  []*slot                    // that get no further request
	started  int                        // isolates so far
	freed    chan struct{}              // closed and replaced when a pristine isolate is free
	turns    chan struct{}              // holds one for each pristine request that works
	answered map[*engine.Scope]struct{} // scopes that only waitUntil keeps alive
	closing  bool
	inFlight sync.WaitGroup
	logs     logQuota
}

// NewWorker evaluates the bundle. A *Error of KindLoad means that its module threw, has no handler, or never finished loading.
func (r *Runtime) NewWorker(ctx context.Context, o WorkerOptions) (*Worker, error) {
	if o.MapStacks {
		o.Name = mappedScheme + o.Name
	}
	switch {
	case o.Isolates > 0:
	case o.Pristine:
		o.Isolates = pristineIsolates
	default:
		o.Isolates = max(fewestIsolates, goruntime.GOMAXPROCS(0))
	}
	if o.LoadCPU <= 0 {
		o.LoadCPU = DefaultLoadCPU
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Worker{
		runtime: r, o: o, image: r.image, share: r.engine.Share(), freed: make(chan struct{}),
		turns: make(chan struct{}, goruntime.GOMAXPROCS(0)), answered: map[*engine.Scope]struct{}{},
	}
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.sources = NewSources(w.ctx, o)
	var err error
	if o.NodeJS {
		if w.node, err = node.Modules(); err != nil {
			w.cancel()
			return nil, errStart(err)
		}
	}
	w.host = web.New(w.webOptions())
	w.wasm = w.compileWasm(ctx)
	first, err := w.newSlot()
	if err == nil {
		// The end of ctx also ends a long evaluation.
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

// compileWasm compiles the WebAssembly modules.
func (w *Worker) compileWasm(ctx context.Context) *wasm.Set {
	if w.o.Compiling != nil && len(w.o.Wasm) > 0 {
		defer w.o.Compiling()()
	}
	var sources []wasm.Source
	for specifier, module := range w.o.Wasm {
		sources = append(sources, wasm.Source{Specifier: specifier, Bytes: module})
	}
	return w.runtime.wasm.Load(ctx, sources)
}

// Retire prepares for a Worker that takes over: WebSockets end with the code 1012, so that their clients reconnect to that
// one; other requests continue until Close.
func (w *Worker) Retire() { w.host.Restart() }

// Close waits for the current requests until ctx ends, then ends the isolates with their work. Every call returns after that.
func (w *Worker) Close(ctx context.Context) {
	w.closed.Do(func() {
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
		slots := slices.Concat(w.slots, w.retired)
		w.mu.Unlock()
		for _, s := range slots {
			s.isolate.Close()
		}
		<-done
		w.host.Close()
		w.wasm.Close(context.WithoutCancel(ctx))
	})
}
