package engine_test

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	// overshoot is how long after its budget a turn may end at most: the promise.
	// The clock is the thread's own, so a busy machine and Go's collector on other
	// threads do not count.
	overshoot = 5 * time.Millisecond
	// tries is how often a bomb may be thrown until it ends in time: a processor
	// that is shared with another machine runs slower at times, by its own clock.
	tries = 4
)

// cpuNow is the CPU time of the thread, as an instant.
func cpuNow() time.Time {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return time.Now()
	}
	return time.Unix(t.Unix())
}
