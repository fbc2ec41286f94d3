//go:build unix

package migrate_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the time for which processors ran the code of this process. The kernel's own time is left out: pages of memory that a
// copy touches first cost ten times as much in one virtual machine as in another.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano())
}
