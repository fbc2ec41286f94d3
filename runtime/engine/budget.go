package engine

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

const (
	// grace is how long after its deadline a turn may unwind by itself. Then its
	// end says where it was, which a module that is cut off mid-flight cannot.
	grace = time.Millisecond
	// postMortemTicks is how often the module may be interrupted while the trace of
	// a killed turn is taken; the VM is broken by then, and may not come back.
	postMortemTicks = 100
)

// errPostMortem ends a post-mortem that does not come back.
var errPostMortem = errors.New("the trace could not be taken")

// hostInterrupt is env.host_interrupt() -> bool: QuickJS asks every some thousand
// instructions, and the fuel counter at loop heads. Over the deadline the answer
// is true: QuickJS then throws what no handler catches, and die takes it from
// there. The counter drops the answer, so a native function goes on; after the
// grace a panic unwinds the module's stack. The VM is of no use after either.
func hostInterrupt(vm *VM, _ api.Module, stack []uint64) {
	stack[0] = 0
	switch {
	case vm.killing:
		if vm.overrun++; vm.overrun > postMortemTicks {
			panic(errPostMortem)
		}
	case vm.stopped.Load():
		vm.killing = true
		panic(ErrClosed)
	case vm.overBudget():
		vm.beginUnwind()
		stack[0] = 1
	case vm.turnAbandoned():
		if vm.interruptAbandoned() {
			stack[0] = 1
		}
	}
}

// overBudget reports whether the turn has used up its budget.
func (vm *VM) overBudget() bool { return vm.running.overLimit() }

// beginUnwind is for a turn over its budget: until the grace is over it may come to
// its end by itself, and the first time that QuickJS asks it begins to. Between
// two of its instructions it is as good as at rest, and can be asked for the
// trace.
func (vm *VM) beginUnwind() {
	now := vm.running.cpuTime()
	if vm.killed == nil {
		vm.killed = &KilledError{Scope: vm.scope, Budget: vm.scope.budget}
		vm.latest = now + grace
	}
	begins := !vm.unwinding && vm.betweenInstructions()
	if !begins && now < vm.latest {
		return
	}
	vm.killing = true
	stack, ok := vm.postMortem()
	vm.killed.Stack = firstNonEmpty(vm.killed.Stack, stack)
	if !begins || !ok {
		panic(vm.killed)
	}
	vm.killing, vm.unwinding, vm.latest = false, true, now+grace
}

// betweenInstructions reports whether an interrupt is QuickJS's own and not of
// the fuel counter, which has run out when it asks.
func (vm *VM) betweenInstructions() bool {
	counter := vm.mod.ExportedGlobal(quickjspatch.CounterGlobal)
	return counter != nil && int32(counter.Get()) > 0
}

// endUnwound ends a turn that unwound, by a panic. What QuickJS threw knows a line of the
// innermost function, which the trace taken in its midst may lack, or know better.
func (vm *VM) endUnwound() {
	vm.killing = true
	thrown, _ := vm.salvage(func() (string, error) {
		v := Value(vm.call(fnGetException, uint64(vm.js)))
		if v.tag() != tagObject {
			return "", nil
		}
		return vm.textProperty(v, "stack"), nil
	})
	vm.killed.Stack = firstNonEmpty(laterTrace(thrown, vm.killed.Stack), vm.killed.Stack)
	if vm.killed.Stack == "" {
		vm.killed.Stack, _ = vm.postMortem()
	}
	panic(broken{vm.killed})
}

// framePosition is the end of a line of a trace that has a position.
var framePosition = regexp.MustCompile(`:(\d+):(\d+)\)?\n?$`)

// laterTrace is the trace thrown, with the innermost frame of taken where that is the
// same function further on: a loop is thrown from its head, by QuickJS's tables
// often what came before it, while the other trace has the last call in it.
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
		if m := framePosition.FindStringSubmatch(other); m != nil && number(m[1]) > number(innermost[at[2]:at[3]]) {
			return line + callers
		}
		break
	}
	return thrown
}

// number is a run of digits; one too long for a position counts as the greatest.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// postMortem asks the prelude's entry point "backtrace" what is running. The VM
// may have been stopped inside its allocator, so the call may trap: then it is
// not ok.
func (vm *VM) postMortem() (stack string, ok bool) {
	f, ok := vm.entryFns["backtrace"]
	if !ok {
		return "", true
	}
	return vm.salvage(func() (string, error) {
		v, err := vm.apply(f, nil)
		if err != nil {
			return "", err
		}
		return vm.text(v)
	})
}

// salvage runs fn in a VM that may be broken. A collection of its garbage could
// take longer than there is time.
func (vm *VM) salvage(fn func() (string, error)) (text string, ok bool) {
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

func firstNonEmpty(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// checkBudget panics over the deadline, and when the engine is being closed. It is
// for Go code that runs in the midst of a turn.
func (vm *VM) checkBudget() {
	if vm.stopped.Load() {
		vm.killing = true
		panic(ErrClosed)
	}
	if vm.overBudget() {
		vm.killTurn()
	}
	if vm.turnAbandoned() {
		vm.checkAbandonedTimeout()
	}
}

// killTurn panics: the turn has used up its budget.
func (vm *VM) killTurn() {
	vm.killing = true
	stack, _ := vm.postMortem()
	panic(&KilledError{Scope: vm.scope, Budget: vm.scope.budget, Stack: stack})
}

// checkDrain ends a job queue that goes on past the deadline, or past Close.
func (vm *VM) checkDrain() {
	if vm.stopped.Load() {
		panic(broken{ErrClosed})
	}
	if vm.overBudget() {
		panic(broken{&KilledError{Scope: vm.scope, Budget: vm.scope.budget}})
	}
	if vm.turnAbandoned() {
		vm.checkAbandonedTimeout()
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
		vm.endJob()
		if n%256 == 0 {
			vm.checkDrain()
		}
	}
}
