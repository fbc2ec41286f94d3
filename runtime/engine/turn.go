package engine

import (
	"runtime"
	"sync/atomic"
	"time"
)

// opened is what clocks without a thread's count from.
var opened = time.Now() //nolint:forbidigo // only durations are made of it

// turn is one turn of the event loop and the CPU time that it takes. It is read
// from any goroutine.
type turn struct {
	clock cpuClock // of the thread it runs on
	start time.Duration
	began time.Duration // by the clock on the wall, which costs a twentieth to read
	// elsewhere is what other threads did for it, in nanoseconds.
	elsewhere atomic.Int64
	limit     time.Duration
	bounded   bool // there is a limit
	// abandonedAt is when it was first seen, by the clock on the wall, that nobody waits for
	// the turn; 0 while somebody does.
	abandonedAt time.Duration
	after       []func()
}

// cpuTime is the CPU time so far.
func (t *turn) cpuTime() time.Duration {
	return t.clock.read() - t.start + time.Duration(t.elsewhere.Load())
}

// charge adds what another thread did for the turn.
func (t *turn) charge(d time.Duration) { t.elsewhere.Add(int64(d)) }

// Busy counts the CPU time of what the calling goroutine does until took is called,
// which tells it. The goroutine keeps its thread meanwhile.
func Busy() (took func() time.Duration) {
	runtime.LockOSThread()
	clock := threadClock()
	start := clock.read()
	return func() time.Duration {
		defer runtime.UnlockOSThread()
		return clock.read() - start
	}
}

// AddCPU adds to the turn CPU time that another goroutine spent on the call's
// behalf, as [Busy] tells it.
func (c *Call) AddCPU(d time.Duration) {
	if t := c.vm.running; t != nil {
		t.charge(d)
	}
}

// AfterTurn has fn called once the turn that runs has ended, whatever ended it:
// on the same goroutine, and not in the Worker's time.
func (c *Call) AfterTurn(fn func()) {
	if t := c.vm.running; t != nil {
		t.after = append(t.after, fn)
		return
	}
	fn()
}

// remaining is what may still be used; it is negative when too much was. It makes
// sense for a bounded turn only.
func (t *turn) remaining() time.Duration { return t.limit - t.cpuTime() }

// overLimit reports whether the limit was reached. No turn is never over, and none has
// used more time than passed: so the thread's clock, which takes a microsecond to
// read, is read only once the limit has passed on the wall.
func (t *turn) overLimit() bool {
	if t == nil || !t.bounded || time.Since(opened)-t.began+time.Duration(t.elsewhere.Load()) < t.limit {
		return false
	}
	return t.cpuTime() >= t.limit
}

// turn runs fn and then the job queue on behalf of scope, and charges the CPU
// time to it. The error is fn's, a crash, or ErrAbandoned for a turn that was ended in
// its midst.
func (vm *VM) turn(scope *Scope, fn func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := scope.begin()
	vm.scope, vm.running, vm.cut = scope, t, false
	vm.setOwner(scope)
	defer func() {
		scope.end(t)
		vm.running = nil
		for _, fn := range t.after {
			fn()
		}
	}()
	err := vm.guard(func() error {
		err := fn()
		vm.endJob()
		vm.drain()
		vm.reportRejections()
		return err
	})
	if vm.cut && !isCrash(err) {
		return ErrAbandoned
	}
	return err
}
