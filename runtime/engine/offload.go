package engine

import (
	"fmt"
	"runtime"
	"time"
)

// apartLimit is how many works may be away at once, those included whose turn was
// ended: further ones wait, on their own turn's time.
const apartLimit = 8

// leastPause is how long a work is left alone at least between two looks at what
// it has used.
const leastPause = time.Millisecond / 4

// outcome is what became of a work, and the CPU time it took.
type outcome struct {
	value any
	err   error
	took  time.Duration
}

// away is a work on a thread of its own.
type away struct {
	clock cpuClock
	start time.Duration
}

func (a away) used() time.Duration { return a.clock.read() - a.start }

// Apart does work that may take long and cannot look at the budget by itself. It
// is done beside the isolate, which waits for it: its CPU time is the turn's. When
// the budget is used up the turn ends, and what the work still does is lost; it
// must not touch the VM, and what it reads must be copies.
func (c *Call) Apart(work func() (any, error)) (any, error) {
	vm, t := c.vm, c.vm.running
	if t == nil || !t.bounded {
		return work()
	}
	timer := time.NewTimer(t.left())
	defer timer.Stop()
	waited := vm.engine.now()
	select {
	case vm.engine.apart <- struct{}{}:
		t.charge(vm.engine.now().Sub(waited))
	case <-timer.C:
		t.charge(vm.engine.now().Sub(waited))
		vm.end()
	}
	started, done, gone := make(chan away, 1), make(chan outcome), make(chan struct{})
	defer close(gone)
	go vm.engine.goAway(work, started, done, gone)
	at := <-started
	timer.Reset(t.left())
	for {
		select {
		case o := <-done:
			return vm.back(o)
		case <-vm.ctx.Done():
			vm.killing = true
			panic(ErrClosed)
		case <-timer.C:
		}
		// It was away for as long as it may work; it may have worked less.
		select {
		case o := <-done:
			return vm.back(o)
		default:
		}
		left := t.left()
		if more := left - at.used(); more > 0 {
			timer.Reset(max(more, leastPause))
			continue
		}
		t.charge(left)
		vm.end()
	}
}

// back charges a work that is done. One that took more than was left ends the turn,
// as it would have if it had been looked at in time.
func (vm *VM) back(o outcome) (any, error) {
	left := vm.running.left()
	vm.running.charge(min(o.took, left))
	if o.took > left {
		vm.end()
	}
	return o.value, o.err
}

// goAway does the work on a thread of its own, and tells of both ends, unless nobody
// waits any more. A panic is the work's error.
func (e *Engine) goAway(work func() (any, error), started chan<- away, done chan<- outcome, gone <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	at := away{clock: threadClock()}
	at.start = at.clock.read()
	started <- at
	var o outcome
	defer func() {
		if p := recover(); p != nil {
			o = outcome{err: fmt.Errorf("host function panicked: %v", p)}
		}
		o.took = at.used()
		<-e.apart
		select {
		case done <- o:
		case <-gone:
			freeBuffer(o.value)
		}
	}()
	o.value, o.err = work()
}
