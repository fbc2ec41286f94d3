package engine

import (
	"fmt"
	"time"
)

// apartLimit is how many works may be away at once, those included whose turn was
// ended: further ones wait, on their own turn's time.
const apartLimit = 8

// Apart does work that may take long and cannot look at the budget by itself. It
// is done beside the isolate, which waits for it: its time is the turn's. When the
// budget is used up the turn ends, and what the work still does is lost; it must
// not touch the VM, and what it reads must be copies.
func (c *Call) Apart(work func() (any, error)) (any, error) {
	vm := c.vm
	if vm.deadline.IsZero() {
		return work()
	}
	type outcome struct {
		value any
		err   error
	}
	done := make(chan outcome, 1)
	timer := time.NewTimer(vm.deadline.Sub(vm.engine.now()))
	defer timer.Stop()
	select {
	case vm.engine.apart <- struct{}{}:
	case <-timer.C:
		vm.end()
	}
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o = outcome{err: fmt.Errorf("host function panicked: %v", p)}
			}
			<-vm.engine.apart
			done <- o
		}()
		o.value, o.err = work()
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-vm.ctx.Done():
		vm.killing = true
		panic(ErrClosed)
	case <-timer.C:
	}
	vm.end()
	return nil, nil // which it never comes to
}
