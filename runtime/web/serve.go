package web

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
	"github.com/pages-toolchain/pages/runtime/web/timers"
)

// Serve gives x to the Worker in iso and writes its answer; scope.Value must be
// x. It returns when the answer is written, while waitUntil may go on until
// x.Done. The engine's own errors come back as they are: an *engine.KilledError over
// the CPU budget, engine.ErrReset, engine.ErrClosed. With these, and with a
// *Failure, nothing was written. ErrClientGone and *Aborted come after a part
// was.
func (h *Host) Serve(iso *engine.Isolate, scope *engine.Scope, x *Exchange) error {
	x.host, x.id = h, h.nextID()
	x.io.Isolate, x.io.Scope, x.io.NextID = iso, scope, h.newID
	x.fetches = h.client.NewSession(x.r.Context(), &x.io, func() error { return h.countSubRequest(x) })
	x.timers = timers.NewQueue(h.o.Now)
	h.add(x)
	defer x.leave()
	defer x.stopReading()
	handle, err := x.visitorBody()
	if err != nil {
		return err
	}
	defer x.leaveVisitorBody()
	scope.Abandoned = x.abandoned
	if err := h.begin(x, handle); err != nil {
		if errors.Is(err, engine.ErrAbandoned) {
			x.waits()
			h.disconnect(x)
			return ErrClientGone
		}
		x.fail(err)
		x.finish()
		return err
	}
	err = h.await(x)
	if !errors.Is(err, ErrClientGone) {
		x.served.Store(true)
	}
	return err
}

// begin runs the first turn: elsewhere, if its isolate was left while it waited there.
func (h *Host) begin(x *Exchange, handle int64) error {
	for {
		err := x.io.Isolate.Do(x.io.Scope, func(vm *engine.VM) error { return x.dispatch(vm, handle) })
		if !errors.Is(err, errLeft) || x.Elsewhere == nil {
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

// errLeft says that nothing new begins in an isolate.
var errLeft = errors.New("the isolate takes no further requests")

func (x *Exchange) dispatch(vm *engine.VM, handle int64) error {
	if x.io.Isolate.Retired() {
		return errLeft
	}
	x.begun.Store(true)
	v, err := vm.Call("dispatch", x.id, x.r.Method, x.host.visitorURL(x.r), fetch.HeaderList(x.r), handle, x.member())
	if err == nil {
		vm.Free(v)
	}
	return err
}

// await waits for the answer and writes it.
func (h *Host) await(x *Exchange) error {
	x.waits()
	select {
	case <-x.answered:
	default:
		select {
		case <-x.answered:
		case <-x.io.Scope.Context().Done():
			return x.stopped()
		case <-x.r.Context().Done():
			h.disconnect(x)
			return ErrClientGone
		}
	}
	x.mu.Lock()
	a, failure := x.answer, x.failure
	x.mu.Unlock()
	if a == nil {
		return failure
	}
	return h.write(x, a)
}

func (x *Exchange) waits() {
	if x.Waits != nil {
		x.Waits()
	}
}

// Idle is for engine.IsolateOptions.OnIdle: nothing is under way for the scope.
// An answer that is still missing can then only come from what another request
// in the same isolate does; when those of that time are idle too it never will.
func (h *Host) Idle(s *engine.Scope) {
	x, ok := s.Value.(*Exchange)
	if !ok || x.host != h || !x.begun.Load() || x.io.Connections.Load() > 0 {
		return
	}
	x.idleSince.CompareAndSwap(0, h.last.Load())
	for _, stuck := range h.stuck(x.io.Isolate) {
		stuck.failHung()
		h.work.Go(func() { h.GiveUp(stuck) })
	}
}

// stuck returns the exchanges of an isolate that are idle and not done, and for
// which no exchange goes on that was there when they became idle: later ones
// come and go for as long as there are visitors.
func (h *Host) stuck(iso *engine.Isolate) (all []*Exchange) {
	oldest := int64(math.MaxInt64) // of those that go on
	for _, x := range h.of(iso) {
		switch {
		case isClosed(x.done):
		case x.io.Connections.Load() > 0, !x.io.Scope.Idle():
			x.idleSince.Store(0)
			oldest = min(oldest, x.id)
		case x.idleSince.Load() > 0:
			all = append(all, x)
		default: // it has not had its first turn
			oldest = min(oldest, x.id)
		}
	}
	return slices.DeleteFunc(all, func(x *Exchange) bool { return oldest <= x.idleSince.Load() })
}

// Reset is for engine.IsolateOptions.OnReset: the isolate started over, and
// whatever it had under way is lost. The exchange whose turn used up its budget or all
// memory fails with the cause, the others with engine.ErrReset.
func (h *Host) Reset(iso *engine.Isolate, scope *engine.Scope, cause error) {
	var (
		killed *engine.KilledError
		thrown *engine.Error
	)
	byBudget, byMemory := errors.As(cause, &killed), errors.As(cause, &thrown) && thrown.OutOfMemory()
	for _, x := range h.of(iso) {
		if !x.begun.Load() {
			continue // still waiting for its turn: it meets the new isolate
		}
		err := fmt.Errorf("%w: %w", engine.ErrReset, cause)
		switch {
		case byBudget && killed.Scope == x.io.Scope:
			err = killed
		case byMemory && scope == x.io.Scope:
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
