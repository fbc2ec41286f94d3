//go:build !linux

package engine_test

import "time"

// This system has no clock of a thread's CPU time: other work of the machine counts.
const (
	overshoot = 25 * time.Millisecond
	tries     = 25
)
