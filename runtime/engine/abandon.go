package engine

import (
	"errors"
	"time"
)

// This file ends what nobody waits for. A scope whose Abandoned says so gets no
// further turn. One that runs is ended where QuickJS itself asks, between two of its
// instructions: that unwinds the turn as an exception that nothing catches, and
// leaves a heap that is whole. So the requests that share the isolate go on, which they
// do not after a turn over its budget. What the code itself left half done, in
// variables of the module, stays so: OnCut decides whether the isolate starts over.

// abandonedTimeout is how long an abandoned turn may stay in native code, or below a host
// function, where it cannot be unwound. Then the isolate starts over.
const abandonedTimeout = 100 * time.Millisecond

// ErrAbandoned is the answer to a turn that did not start, or was ended, because nobody
// waits for its scope: see [Scope.Abandoned].
var ErrAbandoned = errors.New("nobody waits for the request any more")

// abandoned reports whether nobody waits for the scope.
func (s *Scope) abandoned() bool { return s != nil && s.Abandoned != nil && s.Abandoned() }

// turnAbandoned reports whether nobody waits for the turn that runs.
func (vm *VM) turnAbandoned() bool { return vm.running != nil && vm.scope.abandoned() }

// interruptAbandoned is for an interrupt of a turn that nobody waits for. It reports whether
// QuickJS is to unwind it, and panics once that could not be done for too long.
func (vm *VM) interruptAbandoned() bool {
	if vm.depth == 0 && vm.betweenInstructions() {
		vm.cut = true
		return true
	}
	vm.checkAbandonedTimeout()
	return false
}

// checkAbandonedTimeout panics when an abandoned turn goes on for too long.
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

// Retire marks the isolate: nothing new is to begin in it. Who starts work asks Retired.
func (i *Isolate) Retire() { i.retired.Store(true) }

// Retired reports whether Retire was called.
func (i *Isolate) Retired() bool { return i.retired.Load() }

// afterInterrupted is for a turn that was ended in its midst: its scope may have one last
// turn, and the isolate starts over if the embedder wants it to.
func (i *Isolate) afterInterrupted(scope *Scope) {
	if i.o.OnCut == nil {
		return
	}
	last, startOver := i.o.OnCut(scope)
	if last != nil {
		_ = i.run(task{scope: scope, fn: last}) // nobody waits for what comes of it
	}
	if startOver() {
		i.reset(nil, ErrAbandoned)
	}
}
