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
	"github.com/pages-toolchain/pages/runtime/wasm"
	"github.com/pages-toolchain/pages/runtime/web"
)

// slot is one isolate and what it has to do.
type slot struct {
	isolate *engine.Isolate
	number  int // from 1
	// busy is how many requests wait for the head of their answer, guarded by
	// Worker.mu. Where each has an isolate of its own, one counts until its
	// waitUntil is done.
	busy int
	// requests are under way in it, waitUntil included; guarded by Worker.mu.
	requests int
}

// answerBytes is the most bytes of an answer's body.
func (w *Worker) answerBytes() int64 {
	return cmp.Or(max(w.o.Limits.AnswerBytes, 0), web.DefaultAnswerBytes)
}

func (w *Worker) webOptions() web.Options {
	o := w.o.Web
	o.SubRequests, o.LimitMode = w.o.Limits.SubRequests, w.o.Limits.Mode
	o.AnswerBytes = w.answerBytes()
	o.Console = w.console
	o.NodeJS = w.o.NodeJS
	o.Memory = w.share
	o.Source = func(name string) []byte {
		if name != w.o.Name {
			return nil
		}
		return w.o.Code
	}
	if w.o.MapStacks {
		o.Stack = w.sources.text
	}
	return o
}

// modules are the sources of what Code imports and the bundler left out.
func (w *Worker) modules() map[string]string {
	all := web.Modules()
	maps.Copy(all, w.node)
	maps.Copy(all, w.wasm.Modules())
	return all
}

func wasmSources(modules map[string][]byte) (list []wasm.Source) {
	for specifier, module := range modules {
		list = append(list, wasm.Source{Specifier: specifier, Bytes: module})
	}
	return list
}

// newSlot starts an isolate from the Worker's image.
func (w *Worker) newSlot() (*slot, error) {
	s := &slot{}
	funcs := w.host.Funcs()
	for name, f := range w.o.Bindings.Funcs() {
		funcs[name] = inHandler(f)
	}
	maps.Copy(funcs, wasm.Funcs())
	if w.o.NodeJS {
		maps.Copy(funcs, node.Funcs(w.host.Compression()))
	}
	isolate, err := w.runtime.engine.NewIsolate(w.ctx, w.image, engine.IsolateOptions{
		Funcs:       funcs,
		Share:       w.share,
		Modules:     w.modules(),
		OnRejection: w.rejected,
		Companion:   w.wasm.Companion,
		// Called only for turns, so after s.isolate is set.
		OnReset: func(scope *engine.Scope, cause error) { w.restarted(s, scope, cause) },
		OnIdle:  w.host.Idle,
		OnCut: func(scope *engine.Scope) (func(*engine.VM) error, func() bool) {
			return w.host.Cut(scope), func() bool { return w.startsOver(s, scope) }
		},
		OnLost: func(by *engine.Scope) { w.warn(by, lostText) },
	})
	if err != nil {
		return nil, errStart(err)
	}
	s.isolate = isolate
	return s, nil
}

// inHandler keeps what is I/O out of the module's top level, as on the platform.
func inHandler(f engine.Func) engine.Func {
	return func(c *engine.Call) (any, error) {
		if err := web.InHandler(c); err != nil {
			return nil, err
		}
		return f(c)
	}
}

const (
	// pristineIsolates is how many visitors are answered at the same time when
	// each request has an isolate of its own.
	pristineIsolates = 32
	// nestedIsolates is how many there may be when the site fetches itself: who
	// waits for such a request holds an isolate while it waits.
	nestedIsolates = 256
)

// errNoIsolate is what a site meets that fetches itself without end.
var errNoIsolate = errors.New("the site's requests to itself hold all " + strconv.Itoa(nestedIsolates) +
	" isolates (--isolation=request gives each request one of its own)")

// acquire takes the first isolate that is idle, so that requests one after the
// other meet the same one, and those that come while a WebSocket or a stream of
// events is open as well: what such a site keeps in variables is for them. A
// further isolate is started when all are busy, up to the number that is allowed.
// A pristine isolate is waited for, until ctx ends; a nested request, which the
// site made to itself, cannot wait.
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
		s, err := w.chooseLocked(most)
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
		w.waitLocked(ctx)
	}
}

// takeTurn waits until one of the processors has nothing to do for a pristine
// request, until this one waits for something else; the result ends that for good.
// As many isolates as processors then do most of the work, and their memory stays
// in the caches.
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

// chooseLocked returns the isolate with the least to do, or a further one if all
// have something and there are fewer than most. With the error of one that cannot
// start comes the one with the least to do, if there is any.
func (w *Worker) chooseLocked(most int) (*slot, error) {
	w.dropLocked()
	var least *slot
	for _, s := range w.slots {
		if least == nil || s.busy < least.busy {
			least = s
		}
	}
	if least != nil && (least.busy == 0 || len(w.slots) >= most) {
		return least, nil
	}
	s, err := w.newSlot()
	if err != nil {
		return least, err
	}
	w.slots = append(w.slots, s)
	w.started++
	s.number = w.started
	return s, nil
}

// dropLocked forgets isolates that are over: there was no room for them to start over.
func (w *Worker) dropLocked() {
	w.slots = slices.DeleteFunc(w.slots, func(s *slot) bool {
		over := s.isolate.Closed()
		if over {
			go s.isolate.Close() // which waits for its last turn
		}
		return over
	})
}

// waitLocked waits until an isolate is free, the Worker closes or ctx ends.
func (w *Worker) waitLocked(ctx context.Context) {
	freed := w.freed
	w.mu.Unlock()
	defer w.mu.Lock()
	select {
	case <-freed:
	case <-w.ctx.Done():
	case <-ctx.Done():
	}
}

// leaver returns what counts a request of an isolate as one that has its head;
// only the first call does.
func (w *Worker) leaver(s *slot) func() {
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

// release gives back the isolate of a request. A pristine one starts over before
// it meets the next.
func (w *Worker) release(s *slot, leave func()) {
	if w.o.Pristine {
		s.isolate.Rewind()
	}
	leave()
	w.done(s)
}

// done says that nothing of a request is under way any more.
func (w *Worker) done(s *slot) {
	w.mu.Lock()
	s.requests--
	over := s.isolate.Retired() && s.requests == 0
	if over {
		w.left = slices.DeleteFunc(w.left, func(other *slot) bool { return other == s })
	}
	w.mu.Unlock()
	if over {
		s.isolate.Close()
	}
	w.inFlight.Done()
}

// startsOver reports whether an isolate starts over after a request was ended in the midst of
// its work, because nobody waited: what the code keeps in variables may be half done. If
// others are under way, they go on, and no further request gets the isolate, which is
// closed after the last. As many as answer requests may end that way at a time.
func (w *Worker) startsOver(s *slot, scope *engine.Scope) bool {
	if w.host.Alone(s.isolate, scope) {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case s.isolate.Retired() || w.closing:
		return false
	case len(w.left) >= w.o.Isolates:
		return true
	}
	s.isolate.Retire()
	w.left = append(w.left, s)
	w.slots = slices.DeleteFunc(w.slots, func(other *slot) bool { return other == s })
	return false
}
