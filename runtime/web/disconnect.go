package web

import (
	"errors"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// This file ends requests whose client has disconnected. As on the platform, such a request
// continues only while a promise of waitUntil is pending. Its signal fires first: listeners may
// clean up, or ask for more time with waitUntil.

// disconnectGrace is the time that a request without open work has after its signal.
const disconnectGrace = 100 * time.Millisecond

// started is the zero of Exchange.graceEnd.
var started = time.Now() //nolint:forbidigo // only durations are made of it

// abandoned is engine.Scope.Abandoned of the exchange's scope.
func (x *Exchange) abandoned() bool {
	if x.r.Context().Err() == nil || x.served.Load() || x.waitUntil.Load() > 0 {
		return false
	}
	end := x.graceEnd.Load()
	return end == 0 || int64(time.Since(started)) > end
}

// disconnect fires the request's signal, because the client has left, and ends the request after
// its grace period, unless waitUntil keeps it. Meanwhile streams are cancelled, and code that
// awaits the signal runs.
func (h *Host) disconnect(x *Exchange) {
	defer x.stopReading() // after the signal: a stream that fails may end the request
	x.fail(ErrClientGone)
	if !x.begun.Load() {
		x.finish()
		return
	}
	if x.beginGrace() {
		h.enter(x, x.io.Scope, "cancel")
	}
	x.clientLeft.Store(true)
	h.work.Go(func() {
		timer := time.NewTimer(disconnectGrace)
		defer timer.Stop()
		select {
		case <-x.done:
			return
		case <-timer.C:
		}
		if x.waitUntil.Load() == 0 {
			h.GiveUp(x)
		}
	})
}

// beginGrace reports whether it was the first to begin the grace period.
func (x *Exchange) beginGrace() bool {
	return x.graceEnd.CompareAndSwap(0, int64(time.Since(started)+disconnectGrace))
}

// Cut implements engine.IsolateOptions.OnCut, which is called when a turn of the scope was cut off. The turn that it returns fires the
// signal of a client that has left, unless it has fired.
func (h *Host) Cut(s *engine.Scope) (last func(*engine.VM) error) {
	x, ok := s.Value.(*Exchange)
	if !ok || x.host != h || !x.beginGrace() {
		return nil
	}
	return func(vm *engine.VM) error { return callVoid(vm, "cancel", x.id) }
}

// Alone reports whether the scope, which has no client any more, is the only one that has begun in
// an isolate: then the isolate may start over without harm to another request.
func (h *Host) Alone(iso *engine.Isolate, s *engine.Scope) bool {
	for _, x := range h.of(iso) {
		if x.begun.Load() && !isClosed(x.done) && (x.io.Scope != s || x.waitUntil.Load() > 0) {
			return false
		}
	}
	return true
}

// enter calls an entry point with the exchange's id, on behalf of a scope. An isolate that was
// closed, killed or started over runs no call; it also holds nothing of the exchange.
func (h *Host) enter(x *Exchange, scope *engine.Scope, entry string) {
	err := x.io.Isolate.Do(scope, func(vm *engine.VM) error { return callVoid(vm, entry, x.id) })
	if err != nil && !errors.Is(err, engine.ErrClosed) {
		h.o.Logger.Debug("tell the Worker of its request", "entry", entry, "error", err)
	}
}

func callVoid(vm *engine.VM, entry string, args ...any) error {
	v, err := vm.Call(entry, args...)
	if err == nil {
		vm.Free(v)
	}
	return err
}

// GiveUp ends the pending work of an exchange after its response: waitUntil took too long, or
// the client has left. Then end the scope. Do not call it from a turn.
func (h *Host) GiveUp(x *Exchange) {
	x.fail(iocontext.ErrRequestOver)
	h.enter(x, engine.NewScope(x.io.Scope.Context(), 0, x), "forget")
	x.finish()
}
