package engine

import "time"

// This file is the clock that JavaScript reads. As in production it stands still while code runs: a turn has the time of its
// beginning, and finished I/O starts a turn. So a library's time budget never expires within a turn, and a loop that waits for
// the clock runs into its CPU limit.

// manyReads is the number of reads of the clock in one turn from which its code seems to wait for
// it.
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

// Now is the time that JavaScript sees: the beginning of the turn, or the end of the last I/O within it. While the
// scope's clock is stopped it is the start of 1970.
func (c *Call) Now() time.Time { return c.vm.readClock() }

// Now is the time of the engine's clock, which always advances.
func (i *Isolate) Now() time.Time { return i.engine.now() }

// EndIO advances the clock after I/O within the turn.
func (c *Call) EndIO() { c.vm.now = c.vm.engine.now() }
