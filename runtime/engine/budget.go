package engine

import (
	"cmp"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// grace is the time after its deadline in which a turn may unwind by itself, so that its error has a position.
	grace = time.Millisecond
	// postMortemTicks is the number of interrupts allowed while the trace of a killed turn is taken: the broken VM may
	// loop forever.
	postMortemTicks = 100
	// abandonedTimeout bounds the time of an abandoned turn in native code or below a host function, which cannot be unwound. After it, the
	// isolate starts over.
	abandonedTimeout = 100 * time.Millisecond
)

// errPostMortem ends a post-mortem that takes too long.
var errPostMortem = errors.New("the trace could not be taken")

// hostInterrupt is env.host_interrupt() -> bool: QuickJS calls it every some thousand instructions, and the fuel counter
// does at loop heads. If it returns true QuickJS throws an exception that no handler catches; the counter drops the result.
//
// Over the budget the result is true, and after the grace a panic unwinds the module's stack. Both leave the VM
// unusable. An abandoned turn is ended only between two instructions of QuickJS, which leaves a consistent heap: other
// requests in the isolate continue. Variables of the module may be half updated: OnCut decides whether the isolate
// starts over.
func hostInterrupt(vm *VM, stack []uint64) {
	stack[0] = 0
	switch {
	case vm.noteFull():
	case vm.killing:
		if vm.overrun++; vm.overrun > postMortemTicks {
			panic(errPostMortem)
		}
	case vm.stopped.Load():
		vm.killing = true
		panic(ErrClosed)
	case vm.running.overLimit():
		vm.beginUnwind()
		stack[0] = 1
	case vm.turnAbandoned():
		if vm.depth == 0 && vm.betweenInstructions() {
			vm.cut = true
			stack[0] = 1
			return
		}
		vm.checkAbandonedTimeout()
	}
}

// newKilled is the error of the current turn, which is over its budget.
func (vm *VM) newKilled(stack string) *KilledError {
	return &KilledError{Scope: vm.scope, Budget: vm.scope.budget, Stack: stack, Watched: vm.clockReads > manyReads}
}

// beginUnwind ends a turn over its budget. At the first interrupt between two instructions it takes the trace, and lets QuickJS unwind
// until the grace is over; then it panics.
func (vm *VM) beginUnwind() {
	now := vm.running.cpuTime()
	if vm.killed == nil {
		vm.killed = vm.newKilled("")
		vm.latest = now + grace
	}
	begins := !vm.unwinding && vm.betweenInstructions()
	if !begins && now < vm.latest {
		return
	}
	vm.killing = true
	stack, ok := vm.postMortem()
	vm.killed.Stack = cmp.Or(vm.killed.Stack, stack)
	if !begins || !ok {
		panic(vm.killed)
	}
	vm.killing, vm.unwinding, vm.latest = false, true, now+grace
}

// betweenInstructions reports whether an interrupt comes from QuickJS itself rather than the fuel counter, which is 0 at its own calls.
func (vm *VM) betweenInstructions() bool {
	return int32(vm.mod.get(globalCounter)) > 0
}

// endUnwound ends a turn that unwound, by a panic. QuickJS's exception has a line of the innermost function; the trace
// taken before may have none, or a better one.
func (vm *VM) endUnwound() {
	vm.killing = true
	thrown, _ := vm.bestEffort(func() (string, error) {
		v := Value(vm.call(fnGetException, uint64(vm.js)))
		if v.tag() != tagObject {
			return "", nil
		}
		return vm.textProperty(v, "stack"), nil
	})
	vm.killed.Stack = cmp.Or(laterTrace(thrown, vm.killed.Stack), vm.killed.Stack)
	if vm.killed.Stack == "" {
		vm.killed.Stack, _ = vm.postMortem()
	}
	panic(broken{vm.killed})
}

// framePosition matches the position at the end of a line of a trace.
var framePosition = regexp.MustCompile(`:(\d+):(\d+)\)?\n?$`)

// laterTrace returns the trace thrown, with the innermost frame of taken if that is a later position in the same
// function: QuickJS positions an interrupted loop at its head, often even before it, while taken has the last call in
// the loop.
func laterTrace(thrown, taken string) string {
	innermost, callers, _ := strings.Cut(thrown, "\n")
	at := framePosition.FindStringSubmatchIndex(innermost)
	if at == nil {
		return thrown
	}
	for line := range strings.Lines(taken) {
		other, same := strings.CutPrefix(line, innermost[:at[0]])
		if !same {
			continue
		}
		if m := framePosition.FindStringSubmatch(other); m != nil {
			takenLine, _ := strconv.Atoi(m[1]) // the largest int on overflow
			thrownLine, _ := strconv.Atoi(innermost[at[2]:at[3]])
			if takenLine > thrownLine {
				return line + callers
			}
		}
		break
	}
	return thrown
}

// postMortem returns the trace of the code that runs, by the prelude's entry point "backtrace". The VM may have been stopped
// inside its allocator, so the call may trap: then it is not ok.
func (vm *VM) postMortem() (stack string, ok bool) {
	f, ok := vm.entryFns["backtrace"]
	if !ok {
		return "", true
	}
	return vm.bestEffort(func() (string, error) {
		v, err := vm.apply(f, nil)
		if err != nil {
			return "", err
		}
		text, err := vm.Text(v)
		return belowEntryPoint(text), err
	})
}

// belowEntryPoint returns the trace that the entry point "backtrace" took without the entry point and the functions that it called, so that
// its innermost line is that of the code that ran.
func belowEntryPoint(trace string) string {
	_, below, found := strings.Cut(trace, " at backtrace (")
	if !found {
		return trace
	}
	_, below, _ = strings.Cut(below, "\n")
	return below
}

// bestEffort runs fn in a VM that may be broken. It disables the collector, which could take too long.
func (vm *VM) bestEffort(fn func() (string, error)) (text string, ok bool) {
	depth := vm.depth
	defer func() {
		vm.depth = depth
		if recover() != nil {
			text, ok = "", false
		}
	}()
	vm.depth++
	vm.call(fnSetGCThreshold, uint64(vm.rt), math.MaxUint32)
	text, err := fn()
	if err != nil {
		text = ""
	}
	return text, true
}

// checkBudget is hostInterrupt for Go code during a turn: it panics if the turn must end.
func (vm *VM) checkBudget() {
	if vm.stopped.Load() {
		vm.killing = true
		panic(ErrClosed)
	}
	if vm.running.overLimit() {
		vm.killTurn()
	}
	if vm.turnAbandoned() {
		vm.checkAbandonedTimeout()
	}
}

// killTurn ends a turn over its budget, by a panic.
func (vm *VM) killTurn() {
	vm.killing = true
	stack, _ := vm.postMortem()
	panic(vm.newKilled(stack))
}

// checkDrain is checkBudget between two jobs, when no trace exists.
func (vm *VM) checkDrain() {
	if vm.stopped.Load() {
		panic(broken{ErrClosed})
	}
	if vm.running.overLimit() {
		panic(broken{vm.newKilled("")})
	}
	if vm.turnAbandoned() {
		vm.checkAbandonedTimeout()
	}
}

// drain runs the job queue until it is empty. It checks the budget every 256 jobs: a job may be too short for an interrupt,
// and a queue that feeds itself never ends.
func (vm *VM) drain() {
	for n := 1; ; n++ {
		ran := int32(vm.call32(fnRunJob, uint64(vm.rt), uint64(vm.scratch)))
		if ran == 0 {
			return
		}
		if ran < 0 {
			vm.dropException()
		}
		vm.endJob()
		if n%256 == 0 {
			vm.checkDrain()
		}
	}
}

// turnAbandoned reports whether the scope of the current turn is abandoned.
func (vm *VM) turnAbandoned() bool { return vm.running != nil && vm.scope.abandoned() }

// checkAbandonedTimeout panics when an abandoned turn lasts for abandonedTimeout.
func (vm *VM) checkAbandonedTimeout() {
	t, now := vm.running, time.Since(opened)
	if t.abandonedAt == 0 {
		t.abandonedAt = now
	}
	if now-t.abandonedAt > abandonedTimeout {
		vm.killing = true
		panic(broken{ErrAbandoned})
	}
}
