package engine

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuClock tells the CPU time of one thread, to any thread. It makes a budget one
// of work: what else the machine does, and the collector on other threads, do not
// count. By the time that passed, a Worker that takes 2 ms was told on a busy machine
// that it had used 337.
type cpuClock struct{ id int32 }

// threadClock is the clock of the calling thread, which the caller has locked.
func threadClock() cpuClock {
	// Linux numbers the clocks of threads so: the thread's complement, 4 for one
	// thread, 2 for what the scheduler counted.
	return cpuClock{int32(^unix.Gettid()<<3 | 4 | 2)}
}

// read is the CPU time until now; only differences count. Where there is no such
// clock it is the time that passed.
func (c cpuClock) read() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(c.id, &t); err != nil {
		return time.Since(opened)
	}
	return time.Duration(t.Nano())
}
