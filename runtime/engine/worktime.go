package engine

import (
	"runtime"
	"time"
)

// WorkTime begins to tell the time that the calling goroutine works, for hosts that bound
// work of their own: on Linux its CPU time, so that what else the machine does is not
// counted, elsewhere the time that passes. The goroutine keeps its thread until stop,
// which it must call itself; used may be called by any.
func WorkTime() (used func() time.Duration, stop func()) {
	runtime.LockOSThread()
	clock := threadClock()
	begun := clock.read()
	return func() time.Duration { return clock.read() - begun }, runtime.UnlockOSThread
}
