package compression

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestPullTellsWhatItSpent: the CPU time of each piece, and none of the waiting.
func TestPullTellsWhatItSpent(t *testing.T) {
	const work = 20 * time.Millisecond
	var now time.Duration
	next, stop := pull(func(yield func([]byte, error) bool) {
		for range 3 {
			until := cpuTime(t) + work
			for cpuTime(t) < until {
				continue
			}
			if !yield(nil, nil) {
				return
			}
		}
	}, func(d time.Duration) { now = d })
	defer stop()
	for n := range 3 {
		<-time.After(3 * work)
		if _, _, more := next(); !more || now < work || now > 2*work {
			t.Errorf("piece %d: %v", n, now)
		}
	}
	if _, _, more := next(); more || now >= work {
		t.Errorf("at the end: %v", now)
	}
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		t.Error(err)
	}
	return time.Duration(now.Nano())
}
