package engine

import (
	"runtime"
	"sync/atomic"
	"time"
)

// opened is the start of wall-clock durations.
var opened = time.Now() //nolint:forbidigo // only durations are made of it

// turn is one turn of the event loop and the CPU time that it takes. It is read from any goroutine.
type turn struct {
	clock       cpuClock // of the thread it runs on
	start       time.Duration
	began       time.Duration // by the wall clock, which is 20 times cheaper to read
	elsewhere   atomic.Int64  // CPU time of other threads for the turn, in nanoseconds
	limit       time.Duration
	bounded     bool          // there is a limit
	abandonedAt time.Duration // when the scope was first seen to be abandoned, by the wall clock; 0 before
	after       []func()
}

// cpuTime is the CPU time so far.
func (t *turn) cpuTime() time.Duration {
	return t.clock.read() - t.start + time.Duration(t.elsewhere.Load())
}

// charge adds CPU time of another thread.
func (t *turn) charge(d time.Duration) { t.elsewhere.Add(int64(d)) }

// Busy measures the CPU time of the calling goroutine until it calls took, which returns it. The goroutine keeps its thread
// until then.
func Busy() (took func() time.Duration) {
	used, stop := WorkTime()
	return func() time.Duration {
		defer stop()
		return used()
	}
}

// AddCPU adds CPU time that another goroutine spent on the call's behalf, as [Busy] measures it, to the turn.
func (c *Call) AddCPU(d time.Duration) {
	if t := c.vm.running; t != nil {
		t.charge(d)
	}
}

// AfterTurn calls fn on the same goroutine after the end of the current turn, for any reason. Its time does not count
// for the Worker.
func (c *Call) AfterTurn(fn func()) {
	if t := c.vm.running; t != nil {
		t.after = append(t.after, fn)
		return
	}
	fn()
}

// remaining is the CPU time left of a bounded turn, negative after its limit.
func (t *turn) remaining() time.Duration { return t.limit - t.cpuTime() }

// overLimit reports whether the limit was reached; a nil turn has none. The thread's clock takes a microsecond to read: it
// is read only after the limit has passed by the wall clock.
func (t *turn) overLimit() bool {
	if t == nil || !t.bounded || time.Since(opened)-t.began+time.Duration(t.elsewhere.Load()) < t.limit {
		return false
	}
	return t.cpuTime() >= t.limit
}

// turn runs fn and then the job queue on behalf of scope, and charges the CPU time to it. The error is fn's, a crash, or
// ErrAbandoned.
func (vm *VM) turn(scope *Scope, fn func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := &turn{
		clock: threadClock(), began: time.Since(opened), bounded: scope.budget > 0,
		limit: scope.budget - time.Duration(scope.cpu.Load()),
	}
	t.start = t.clock.read()
	scope.turn.Store(t)
	vm.scope, vm.running, vm.cut = scope, t, false
	vm.setOwner(scope)
	vm.startClock()
	defer func() {
		scope.turn.Store(nil)
		scope.cpu.Add(int64(t.cpuTime()))
		vm.running = nil
		for _, fn := range t.after {
			fn()
		}
	}()
	err := vm.guard(func() error {
		err := fn()
		vm.endJob()
		vm.drain()
		vm.letGoAll()
		vm.reportRejections()
		return err
	})
	if vm.cut && !isCrash(err) {
		return ErrAbandoned
	}
	return err
}

// WorkTime begins to measure the time that the calling goroutine works, for hosts that bound work of their own: on Linux
// its CPU time, elsewhere the elapsed time. The goroutine keeps its thread until it calls stop; any goroutine may call used.
func WorkTime() (used func() time.Duration, stop func()) {
	runtime.LockOSThread()
	clock := threadClock()
	start := clock.read()
	return func() time.Duration { return clock.read() - start }, runtime.UnlockOSThread
}
