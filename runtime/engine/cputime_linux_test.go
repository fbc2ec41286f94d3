package engine_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuNow is the CPU time of the process, as an instant.
func cpuNow() time.Time {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return time.Now()
	}
	return time.Unix(t.Unix())
}
