//go:build !linux

package engine_test

import "time"

// There is no clock of a thread's CPU time: what else the machine does counts.
const (
	overshoot = 25 * time.Millisecond
	tries     = 25
)
