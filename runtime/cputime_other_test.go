//go:build !linux

package runtime_test

import "time"

// There is no clock of a thread's CPU time: what else the machine does counts,
// and a bomb that ended late is thrown again.
const (
	overshoot = 25 * time.Millisecond
	tries     = 4
)

func cpuNow() time.Time { return time.Now() }
