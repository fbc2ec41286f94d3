package engine

import (
	"fmt"
	"time"
)

const (
	// maxOffloads bounds concurrent offloaded work, including work whose turn has ended. More waits, at the cost of its own
	// turn.
	maxOffloads = 8
	// leastPause is the least time between two checks of the CPU time that offloaded work used.
	leastPause = time.Millisecond / 4
)

// outcome is the result of offloaded work, and its CPU time.
type outcome struct {
	value any
	err   error
	took  time.Duration
}

// Offload runs work that may take long and cannot check the budget by itself, on a thread of its own while the isolate
// waits. Its CPU time counts for the turn. When the budget is used up, the turn ends and the result is lost. The work
// must not touch the VM, and must read copies only.
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
	started, done, gone := make(chan func() time.Duration, 1), make(chan outcome), make(chan struct{})
	defer close(gone)
	go vm.engine.runOffloaded(work, started, done, gone)
	used := <-started
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
		if more := left - used(); more > 0 {
			timer.Reset(max(more, leastPause))
			continue
		}
		t.charge(left)
		vm.killTurn()
	}
}

// chargeOffloaded charges finished work, and ends the turn if the budget is exceeded.
func (vm *VM) chargeOffloaded(o outcome) (any, error) {
	left := vm.running.remaining()
	vm.running.charge(min(o.took, left))
	if o.took > left {
		vm.killTurn()
	}
	return o.value, o.err
}

// runOffloaded does the work on a thread of its own. It sends the clock of its CPU time and, unless gone is closed, its
// outcome; a panic is the work's error.
func (e *Engine) runOffloaded(
	work func() (any, error), started chan<- func() time.Duration, done chan<- outcome, gone <-chan struct{},
) {
	used, stop := WorkTime()
	defer stop()
	started <- used
	var o outcome
	defer func() {
		if p := recover(); p != nil {
			o = outcome{err: fmt.Errorf("host function panicked: %v", p)}
		}
		o.took = used()
		<-e.offloads
		select {
		case done <- o:
		case <-gone:
			if b := bufferOf(o.value); b != nil {
				b.Free()
			}
		}
	}()
	o.value, o.err = work()
}
