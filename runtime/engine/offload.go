package engine

import (
	"fmt"
	"runtime"
	"time"
)

// maxOffloads is how much offloaded work runs at once, including work whose turn has
// ended: more waits, on its own turn's time.
const maxOffloads = 8

// leastPause is the least time between two checks of the CPU time that offloaded work used.
const leastPause = time.Millisecond / 4

// outcome is the result of offloaded work, and the CPU time it took.
type outcome struct {
	value any
	err   error
	took  time.Duration
}

// offloaded is work on a thread of its own.
type offloaded struct {
	clock cpuClock
	start time.Duration
}

func (a offloaded) cpuTime() time.Duration { return a.clock.read() - a.start }

// Offload runs work that may take long and cannot check the budget by itself, on a thread
// of its own while the isolate waits. Its CPU time is the turn's. When the budget is used
// up the turn ends, and the result is lost. The work must not touch the VM, and must read
// copies only.
func (c *Call) Offload(work func() (any, error)) (any, error) {
	vm, t := c.vm, c.vm.running
	if t == nil || !t.bounded {
		return work()
	}
	timer := time.NewTimer(t.remaining())
	defer timer.Stop()
	waited := vm.engine.now()
	select {
	case vm.engine.offloads <- struct{}{}:
		t.charge(vm.engine.now().Sub(waited))
	case <-timer.C:
		t.charge(vm.engine.now().Sub(waited))
		vm.killTurn()
	}
	started, done, gone := make(chan offloaded, 1), make(chan outcome), make(chan struct{})
	defer close(gone)
	go vm.engine.runOffloaded(work, started, done, gone)
	at := <-started
	timer.Reset(t.remaining())
	for {
		select {
		case o := <-done:
			return vm.chargeOffloaded(o)
		case <-vm.ctx.Done():
			vm.killing = true
			panic(ErrClosed)
		case <-timer.C:
		}
		// The deadline has passed, but the CPU time may not be used up.
		select {
		case o := <-done:
			return vm.chargeOffloaded(o)
		default:
		}
		left := t.remaining()
		if more := left - at.cpuTime(); more > 0 {
			timer.Reset(max(more, leastPause))
			continue
		}
		t.charge(left)
		vm.killTurn()
	}
}

// chargeOffloaded charges a work that is done. One that took more than was left ends the turn,
// as it would have if it had been looked at in time.
func (vm *VM) chargeOffloaded(o outcome) (any, error) {
	left := vm.running.remaining()
	vm.running.charge(min(o.took, left))
	if o.took > left {
		vm.killTurn()
	}
	return o.value, o.err
}

// runOffloaded does the work on a thread of its own, and tells of both ends, unless nobody
// waits any more. A panic is the work's error.
func (e *Engine) runOffloaded(work func() (any, error), started chan<- offloaded, done chan<- outcome, gone <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	at := offloaded{clock: threadClock()}
	at.start = at.clock.read()
	started <- at
	var o outcome
	defer func() {
		if p := recover(); p != nil {
			o = outcome{err: fmt.Errorf("host function panicked: %v", p)}
		}
		o.took = at.cpuTime()
		<-e.offloads
		select {
		case done <- o:
		case <-gone:
			freeBuffer(o.value)
		}
	}()
	o.value, o.err = work()
}
