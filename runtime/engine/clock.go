package engine

import "time"

// This file is the clock that JavaScript reads. As in production it stands still while code runs: each turn has one time, that
// at which it began, and finished I/O starts a turn. So a library's budget of time never strikes within a turn,
// and a loop that waits for the clock waits until its CPU limit.

// manyReads is how many reads of the clock in one turn say that its code waits for it.
const manyReads = 1000

// startClock sets the time of a turn.
func (vm *VM) startClock() { vm.now, vm.clockReads = vm.engine.now(), 0 }

// readClock is the time that JavaScript sees; the start of 1970 while the scope's clock is stopped.
func (vm *VM) readClock() time.Time {
	if vm.scope == nil || vm.scope.clockStopped {
		return time.Unix(0, 0)
	}
	vm.clockReads++
	return vm.now
}

// Now is the time that JavaScript sees: that at which the turn began, or at which the last I/O within it ended. While the
// scope's clock is stopped it is the start of 1970.
func (c *Call) Now() time.Time { return c.vm.readClock() }

// Now is the time of the engine's clock, which goes on.
func (i *Isolate) Now() time.Time { return i.engine.now() }

// EndIO moves the clock: I/O has ended within the turn.
func (c *Call) EndIO() { c.vm.now = c.vm.engine.now() }
