//go:build !linux

package engine

import "time"

// cpuClock reads the elapsed time: other systems take too long to read a thread's CPU time every few microseconds.
type cpuClock struct{}

func threadClock() cpuClock { return cpuClock{} }

func (cpuClock) read() time.Duration { return time.Since(opened) }
