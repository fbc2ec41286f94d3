package web

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
	"github.com/pages-toolchain/pages/runtime/web/timers"
)

// Serve passes x to the Worker in iso and writes its response; scope.Value must be x. It returns when the response is written; waitUntil
// may continue until x.Done. The engine's own errors are returned unchanged: an *engine.KilledError over the CPU budget, engine.ErrReset,
// engine.ErrClosed. With these, and with a *Failure, nothing was written. ErrClientGone and *Aborted come after a part was.
func (h *Host) Serve(iso *engine.Isolate, scope *engine.Scope, x *Exchange) error {
	if x.Waits == nil {
		x.Waits = func() {}
	}
	x.host, x.id = h, h.nextID()
	x.io.Isolate, x.io.Scope, x.io.NextID = iso, scope, h.newID
	x.fetches = h.client.NewSession(x.r.Context(), &x.io, func() error { return h.countSubRequest(x) })
	x.timers = timers.NewQueue(iso.Now)
	h.mu.Lock()
	h.exchanges[x.id] = x
	h.mu.Unlock()
	defer x.leave()
	defer x.stopReading()
	handle := int64(-1)
	if x.r.Body != nil && x.r.ContentLength != 0 {
		x.body = iocontext.NewBody(x.r.Body, nil)
		var err error
		if handle, err = x.io.KeepBody(x.body); err != nil {
			return err
		}
	}
	defer x.closeDuplex()
	scope.Abandoned = x.abandoned
	if err := h.begin(x, handle); err != nil {
		if errors.Is(err, engine.ErrAbandoned) {
			x.Waits()
			h.disconnect(x)
			return ErrClientGone
		}
		x.fail(err)
		x.finish()
		return err
	}
	err := h.await(x)
	if !errors.Is(err, ErrClientGone) {
		x.served.Store(true)
	}
	return err
}

// errRetired refuses the first turn of a request in a retired isolate.
var errRetired = errors.New("the isolate takes no further requests")

// begin runs the first turn: elsewhere, if its isolate was retired while it waited there.
func (h *Host) begin(x *Exchange, body int64) error {
	for {
		err := x.io.Isolate.Do(x.io.Scope, func(vm *engine.VM) error {
			if x.io.Isolate.Retired() {
				return errRetired
			}
			x.begun.Store(true)
			return callVoid(vm, "dispatch", x.id, x.r.Method, h.origins.URL(x.r), fetch.HeaderList(x.r), body, x.member())
		})
		if !errors.Is(err, errRetired) || x.Elsewhere == nil {
			return err
		}
		iso, err := x.Elsewhere()
		if err != nil {
			return err
		}
		h.mu.Lock()
		x.io.Isolate = iso
		h.mu.Unlock()
	}
}

func (h *Host) await(x *Exchange) error {
	x.Waits()
	select {
	case <-x.headReady:
	default:
		select {
		case <-x.headReady:
		case <-x.io.Scope.Context().Done():
			return x.failScope()
		case <-x.r.Context().Done():
			h.disconnect(x)
			return ErrClientGone
		}
	}
	x.mu.Lock()
	response, failure := x.response, x.failure
	x.mu.Unlock()
	if response == nil {
		return failure
	}
	return h.write(x, response)
}

// closeDuplex ends the remaining reads of the request's body, as net/http requires of a handler
// that read while it wrote.
func (x *Exchange) closeDuplex() {
	if !x.duplex {
		return
	}
	rc := http.NewResponseController(x.w)
	// The output goes out before the wait for the rest of the body. An error here is the
	// connection's, which is over in any case.
	_ = rc.Flush()
	if x.body.IsRead() {
		_ = rc.SetReadDeadline(time.Unix(1, 0)) // ends the read that waits
	}
	_ = x.r.Body.Close()
}

// Idle implements engine.IsolateOptions.OnIdle, which is called when the scope has no pending work. Then only another
// request in the same isolate can still cause its response, and none can once all requests of that
// time are idle too.
func (h *Host) Idle(s *engine.Scope) {
	x, ok := s.Value.(*Exchange)
	if !ok || x.host != h || !x.begun.Load() || x.io.Connections.Load() > 0 {
		return
	}
	x.idleSince.CompareAndSwap(0, h.last.Load())
	var idle []*Exchange
	oldest := int64(math.MaxInt64) // the oldest of those that continue; later ones begin and end as long as there are clients
	for _, x := range h.of(x.io.Isolate) {
		switch {
		case isClosed(x.done):
		case x.io.Connections.Load() > 0, !x.io.Scope.Idle():
			x.idleSince.Store(0)
			oldest = min(oldest, x.id)
		case x.idleSince.Load() > 0:
			idle = append(idle, x)
		default: // it has not had its first turn
			oldest = min(oldest, x.id)
		}
	}
	for _, x := range idle {
		if oldest <= x.idleSince.Load() {
			continue
		}
		if x.io.Isolate.HeapFull() {
			x.failWorker(KindException, engine.OutOfMemory())
		} else {
			x.failWorker(KindHung, NeverAnswers())
		}
		h.work.Go(func() { h.GiveUp(x) })
	}
}

// Reset implements engine.IsolateOptions.OnReset, which is called when the isolate started over and lost all its work. The
// exchange whose turn used up its budget or all memory fails with the cause, the others with
// engine.ErrReset.
func (h *Host) Reset(iso *engine.Isolate, scope *engine.Scope, cause error) {
	killed, byBudget := errors.AsType[*engine.KilledError](cause)
	thrown, isThrown := errors.AsType[*engine.Error](cause)
	for _, x := range h.of(iso) {
		if !x.begun.Load() {
			continue // still waiting for its turn: it meets the new isolate
		}
		err := fmt.Errorf("%w: %w", engine.ErrReset, cause)
		switch {
		case byBudget && killed.Scope == x.io.Scope:
			err = killed
		case isThrown && thrown.OutOfMemory() && scope == x.io.Scope:
			err = thrown
		}
		if x.abandoned() {
			err = ErrClientGone
		}
		x.fail(err)
		x.timers.Drop()
		h.sockets.End(&x.io, websocket.StatusInternalError, "the Worker was stopped")
		x.finish()
	}
}
