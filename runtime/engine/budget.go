package engine

import (
	"errors"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// postMortemTicks is how often the module may be interrupted while the trace of
// a killed turn is taken; the VM is broken by then, and may not come back.
const postMortemTicks = 16

// errPostMortem ends a post-mortem that does not come back.
var errPostMortem = errors.New("the trace could not be taken")

// hostInterrupt is env.host_interrupt() -> 0: the module asks every some
// thousand instructions, and the fuel counter at loop heads. Over the deadline
// it panics, which unwinds the module's stack; the VM is of no use after that.
func hostInterrupt(vm *VM, _ api.Module, stack []uint64) {
	stack[0] = 0
	if vm.killing {
		if vm.overrun++; vm.overrun > postMortemTicks {
			panic(errPostMortem)
		}
		return
	}
	vm.enforce()
}

// enforce panics over the deadline, and when the engine is being closed.
func (vm *VM) enforce() {
	if vm.stopped.Load() {
		vm.killing = true
		panic(ErrClosed)
	}
	if vm.deadline.IsZero() || vm.engine.now().Before(vm.deadline) {
		return
	}
	vm.killing = true
	panic(&KilledError{Scope: vm.scope, Budget: vm.scope.budget, Stack: vm.postMortem()})
}

// postMortem asks the prelude's entry point "backtrace" what is running. The VM
// may have been stopped inside its allocator, so the call may trap.
func (vm *VM) postMortem() (stack string) {
	f, ok := vm.entryFns["backtrace"]
	if !ok {
		return ""
	}
	depth := vm.depth
	defer func() {
		if recover() != nil {
			vm.depth = depth
			stack = ""
		}
	}()
	vm.depth++
	v, err := vm.apply(f, nil)
	if err == nil {
		stack, err = vm.text(v)
	}
	vm.depth--
	if err != nil {
		return ""
	}
	return stack
}

// turn runs fn and then the job queue on behalf of scope, and charges the time
// to it. The error is fn's, or a crash.
func (vm *VM) turn(scope *Scope, fn func() error) error {
	t := &turn{start: vm.engine.now(), now: vm.engine.now}
	vm.scope, vm.deadline = scope, scope.deadline(t.start)
	scope.begin(t)
	defer func() {
		scope.end(t)
		vm.deadline = time.Time{}
	}()
	return vm.guard(func() error {
		err := fn()
		vm.leave()
		vm.drain()
		vm.reportRejections()
		return err
	})
}

// checkDrain ends a job queue that goes on past the deadline, or past Close.
func (vm *VM) checkDrain() {
	if vm.stopped.Load() {
		panic(broken{ErrClosed})
	}
	if !vm.deadline.IsZero() && vm.engine.now().After(vm.deadline) {
		panic(broken{&KilledError{Scope: vm.scope, Budget: vm.scope.budget}})
	}
}

// drain runs the job queue until it is empty. A queue that feeds itself never
// is; the deadline is looked at every so many jobs, since a job may be shorter
// than the engine's own period.
func (vm *VM) drain() {
	for n := 1; ; n++ {
		ran := int32(vm.call32(fnRunJob, uint64(vm.rt), uint64(vm.scratch)))
		if ran == 0 {
			return
		}
		if ran < 0 {
			vm.dropException()
		}
		vm.leave()
		if n%256 == 0 {
			vm.checkDrain()
		}
	}
}
