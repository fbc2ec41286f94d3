package runtime

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/node"
	"github.com/pages-toolchain/pages/runtime/trace"
	"github.com/pages-toolchain/pages/runtime/wasm"
	"github.com/pages-toolchain/pages/runtime/web"
)

// slot is one isolate with the number of its requests, guarded by Worker.mu.
type slot struct {
	isolate *engine.Isolate
	number  int // from 1
	// busy counts the requests that wait for the head of their response. With an isolate for each request, a request
	// counts until its waitUntil is done.
	busy     int
	requests int // current ones, waitUntil included
}

// responseBytes bounds the body of a response.
func (o WorkerOptions) responseBytes() int64 {
	return cmp.Or(max(o.Limits.ResponseBytes, 0), web.DefaultResponseBytes)
}

func (w *Worker) webOptions() web.Options {
	o := w.o.Web
	o.SubRequests, o.LimitMode = w.o.Limits.SubRequests, w.o.Limits.Mode
	o.ResponseBytes = w.o.responseBytes()
	o.Console = w.console
	o.NodeJS = w.o.NodeJS
	o.Memory = w.share
	o.Source = func(name string) []byte {
		if name != w.o.Name {
			if script, ok := w.o.Scripts[name]; ok {
				return []byte(script.Text)
			}
			return nil
		}
		return w.o.Code
	}
	if w.o.MapStacks {
		o.Stack = w.sources.text
	}
	return o
}

// newSlot starts an isolate from the Worker's image.
func (w *Worker) newSlot() (*slot, error) {
	s := &slot{}
	funcs := w.host.Funcs()
	for name, f := range w.o.Bindings.Funcs() {
		funcs[name] = inHandler(f)
	}
	modules := web.Modules() // that Code imports
	for name, script := range w.o.Scripts {
		modules[name] = script.Text
	}
	maps.Copy(modules, w.node)
	maps.Copy(modules, w.wasm.Modules())
	maps.Copy(funcs, wasm.Funcs())
	if w.o.NodeJS {
		maps.Copy(funcs, node.Funcs(w.host.Compression()))
	}
	isolate, err := w.runtime.engine.NewIsolate(w.ctx, w.image, engine.IsolateOptions{
		Funcs:       funcs,
		Share:       w.share,
		Modules:     modules,
		OnRejection: w.logRejection,
		Companion:   w.wasm.Companion,
		// Called only for turns, so after s.isolate is set.
		OnReset: func(scope *engine.Scope, cause error) { w.onReset(s, scope, cause) },
		OnIdle:  w.host.Idle,
		OnCut: func(scope *engine.Scope) (func(*engine.VM) error, func() bool) {
			return w.host.Cut(scope), func() bool { return w.retireOrStartOver(s, scope) }
		},
		OnFull: func(scope *engine.Scope, held engine.Held, over bool) bool {
			return w.onFull(s, scope, held, over)
		},
		FinalizerScope: w.finalizerScope(),
		OnLost:         func(by *engine.Scope) { w.warn(by, lostText) },
	})
	if err != nil {
		return nil, errStart(err)
	}
	s.isolate = isolate
	return s, nil
}

// finalizers is the Value of scopes in which callbacks of FinalizationRegistry run.
type finalizers struct{}

// finalizerScope makes the scopes in which callbacks of FinalizationRegistry run: after a request, without I/O, as on the
// platform, and on no request's account. An isolate that starts over after each request runs none.
func (w *Worker) finalizerScope() func() (*engine.Scope, func()) {
	if w.o.Pristine {
		return nil
	}
	return func() (*engine.Scope, func()) {
		scope := engine.NewScope(w.ctx, w.o.Limits.Budget(), finalizers{})
		return scope, func() { w.endScope(scope) }
	}
}

// inHandler refuses I/O at the module's top level, as on the platform.
func inHandler(f engine.Func) engine.Func {
	return func(c *engine.Call) (any, error) {
		if err := web.InHandler(c); err != nil {
			return nil, err
		}
		return f(c)
	}
}

const (
	// pristineIsolates bounds the isolates, and so concurrent requests, with an isolate for each request.
	pristineIsolates = 32
	// nestedIsolates is their number when the site fetches itself: a request that waits for another one keeps its isolate.
	nestedIsolates = 256
)

// errNoIsolate is the error of a site that fetches itself endlessly.
var errNoIsolate = errors.New("the site's requests to itself hold all " + strconv.Itoa(nestedIsolates) +
	" isolates (--isolation=request gives each request one of its own)")

// acquire takes the first idle isolate, so that successive requests get the same one, even while a WebSocket or a stream of
// events is open, and share its variables. If all are busy it starts another, up to the limit. Pristine requests wait for
// an isolate until ctx ends, except nested ones, which the site made to itself.
func (w *Worker) acquire(ctx context.Context, nested bool) (*slot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if w.closing {
			return nil, engine.ErrClosed
		}
		if err := ctx.Err(); err != nil {
			return nil, web.ErrClientGone
		}
		most := w.o.Isolates
		if nested && w.o.Pristine {
			most = nestedIsolates
		}
		s, err := w.chooseLocked(ctx, most)
		_, full := errors.AsType[*engine.AddressSpaceError](err)
		if err != nil && (!full || s == nil || nested && w.o.Pristine) {
			return nil, err
		}
		switch {
		case s.busy == 0 || !w.o.Pristine:
			s.busy++
			s.requests++
			w.inFlight.Add(1)
			return s, nil
		case nested:
			return nil, errNoIsolate
		}
		freed := w.freed
		w.mu.Unlock()
		select {
		case <-freed:
		case <-w.ctx.Done():
		case <-ctx.Done():
		}
		w.mu.Lock()
	}
}

// takeTurn waits for one of as many turns as processors, for a pristine request; the turn ends when the request waits for
// something else, or by end. So a few isolates do most of the work, and their memory stays in the caches.
func (w *Worker) takeTurn(ctx context.Context, x *web.Exchange) (end func()) {
	if !w.o.Pristine {
		return func() {}
	}
	select {
	case w.turns <- struct{}{}:
	case <-ctx.Done():
		return func() {}
	case <-w.ctx.Done():
		return func() {}
	}
	x.Waits = sync.OnceFunc(func() { <-w.turns })
	return x.Waits
}

// chooseLocked returns the least busy isolate, or a further one if all are busy and there are fewer than most. If starting
// one fails, it returns the error with the least busy one, if any.
func (w *Worker) chooseLocked(ctx context.Context, most int) (*slot, error) {
	w.slots = slices.DeleteFunc(w.slots, func(s *slot) bool {
		over := s.isolate.Closed() // it had no memory to start over
		if over {
			go s.isolate.Close() // which waits for its last turn
		}
		return over
	})
	var least *slot
	for _, s := range w.slots {
		if least == nil || s.busy < least.busy {
			least = s
		}
	}
	if least != nil && (least.busy == 0 || len(w.slots) >= most) {
		return least, nil
	}
	recorder := trace.From(ctx)
	began := recorder.Now()
	s, err := w.newSlot()
	if err != nil {
		return least, err
	}
	recorder.Past("worker_start", began)
	w.slots = append(w.slots, s)
	w.started++
	s.number = w.started
	return s, nil
}

// headDone returns the function to call when a request of an isolate has its head. Only the first call counts.
func (w *Worker) headDone(s *slot) func() {
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		s.busy--
		if w.o.Pristine {
			close(w.freed)
			w.freed = make(chan struct{})
		}
	})
}

// release releases the isolate of a request. A pristine one starts over before the next request.
func (w *Worker) release(s *slot, headDone func()) {
	if w.o.Pristine {
		s.isolate.Rewind()
	}
	headDone()
	w.requestDone(s)
}

// requestDone is called when all work of a request has ended.
func (w *Worker) requestDone(s *slot) {
	w.mu.Lock()
	s.requests--
	over := s.isolate.Retired() && s.requests == 0
	if over {
		w.retired = slices.DeleteFunc(w.retired, func(other *slot) bool { return other == s })
	}
	w.mu.Unlock()
	if over {
		s.isolate.Close()
	}
	w.inFlight.Done()
}

// retireOrStartOver reports whether an isolate starts over after an abandoned request was ended early, since variables of
// the code may be half updated. If it has other requests, they finish, the isolate gets no further one, and it is closed
// after the last. At most Isolates may be retired at a time.
func (w *Worker) retireOrStartOver(s *slot, scope *engine.Scope) bool {
	if w.host.Alone(s.isolate, scope) {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case s.isolate.Retired() || w.closing:
		return false
	case len(w.retired) >= w.o.Isolates:
		return true
	}
	s.isolate.Retire()
	w.retired = append(w.retired, s)
	w.slots = slices.DeleteFunc(w.slots, func(other *slot) bool { return other == s })
	return false
}
