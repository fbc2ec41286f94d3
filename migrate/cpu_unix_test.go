//go:build unix

package migrate_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the time for which processors worked for this process.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
