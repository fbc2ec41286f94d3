package web

import (
	"errors"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// This file ends the requests that nobody waits for. As on the platform, a request whose
// client has left goes on for as long as waitUntil has something open, and no longer. Its
// signal fires first: listeners may tidy up, or ask for more time by waitUntil.

// farewell is how long a request may go on, with nothing open, once it was told that its
// client has left. A turn that takes longer is ended as any other one of such a request.
const farewell = 100 * time.Millisecond

// started is what the ends of farewells are counted from.
var started = time.Now() //nolint:forbidigo // only durations are made of it

// abandoned is engine.Scope.Abandoned of the exchange's scope.
func (x *Exchange) abandoned() bool {
	if x.r.Context().Err() == nil || x.served.Load() || x.keeps.Load() > 0 {
		return false
	}
	until := x.farewell.Load()
	return until == 0 || int64(time.Since(started)) > until
}

// waitFor counts the promises that waitUntil waits for. A request whose client has left
// ends with the last of them.
func (x *Exchange) waitFor(n int32) {
	if x.keeps.Add(n) == 0 && x.left.Load() {
		x.host.work.Go(func() { x.host.GiveUp(x) })
	}
}

// disconnect tells the Worker that the client does not wait any more, and ends what
// nothing keeps going.
func (h *Host) disconnect(x *Exchange) {
	x.stopReading()
	x.fail(ErrClientGone)
	if !x.begun.Load() {
		x.finish()
		return
	}
	if x.takeLeave() {
		h.enter(x, x.io.Scope, "cancel")
	}
	x.left.Store(true)
	h.work.Go(func() { h.partWith(x) })
}

// partWith ends a request whose client has left, unless waitUntil keeps it: after the
// farewell, in which streams are cancelled and what awaits the signal goes on.
func (h *Host) partWith(x *Exchange) {
	timer := time.NewTimer(farewell)
	defer timer.Stop()
	select {
	case <-x.done:
		return
	case <-timer.C:
	}
	if x.keeps.Load() == 0 {
		h.GiveUp(x)
	}
}

// takeLeave begins the farewell; only the first call does, and says so.
func (x *Exchange) takeLeave() bool {
	return x.farewell.CompareAndSwap(0, int64(time.Since(started)+farewell))
}

// Cut is for engine.IsolateOptions.OnCut: a turn of the scope was ended in its midst. The
// turn that it returns tells the Worker that the client is gone, unless it was told.
func (h *Host) Cut(s *engine.Scope) (last func(*engine.VM) error) {
	x, ok := s.Value.(*Exchange)
	if !ok || x.host != h || !x.takeLeave() {
		return nil
	}
	return func(vm *engine.VM) error { return x.call(vm, "cancel") }
}

// Alone reports whether nothing but the scope, which nobody waits for, has begun in an
// isolate: then the isolate may start over without harm to anybody.
func (h *Host) Alone(iso *engine.Isolate, s *engine.Scope) bool {
	for _, x := range h.of(iso) {
		if x.begun.Load() && !isClosed(x.done) && (x.io.Scope != s || x.keeps.Load() > 0) {
			return false
		}
	}
	return true
}

// enter calls an entry point with the exchange's id, on behalf of a scope. The Worker cannot be told
// when the isolate is closed, killed or started over; then nothing of the
// exchange is left in it either.
func (h *Host) enter(x *Exchange, scope *engine.Scope, entry string) {
	err := x.io.Isolate.Do(scope, func(vm *engine.VM) error { return x.call(vm, entry) })
	if err != nil && !errors.Is(err, engine.ErrClosed) {
		h.o.Logger.Debug("tell the Worker of its request", "entry", entry, "error", err)
	}
}

func (x *Exchange) call(vm *engine.VM, entry string) error {
	v, err := vm.Call(entry, x.id)
	if err == nil {
		vm.Free(v)
	}
	return err
}

// GiveUp ends what an exchange still has under way after its answer: waitUntil
// took too long, or nobody waits for it. Then end the scope. Do not call it from a turn.
func (h *Host) GiveUp(x *Exchange) {
	x.fail(iocontext.ErrRequestOver)
	h.enter(x, engine.NewScope(x.io.Scope.Context(), 0, x), "forget")
	x.finish()
}
