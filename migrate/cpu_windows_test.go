package migrate_test

import (
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// cpuTime is the time for which processors worked for this process.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var created, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user); err != nil {
		t.Fatal(err)
	}
	return 100 * time.Duration(int64(kernel.HighDateTime)<<32+int64(kernel.LowDateTime)+int64(user.HighDateTime)<<32+int64(user.LowDateTime))
}
