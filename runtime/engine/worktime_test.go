package engine_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestWorkTime: to work counts, and on Linux to wait does not.
func TestWorkTime(t *testing.T) {
	used, stop := engine.WorkTime()
	defer stop()
	const bit = 20 * time.Millisecond
	time.Sleep(5 * bit)
	if waited := used(); runtime.GOOS == "linux" && waited > bit {
		t.Errorf("a wait of %v counts as %v", 5*bit, waited)
	}
	begun := used()
	for until := time.Now().Add(time.Minute); used() < begun+bit; {
		if time.Now().After(until) {
			t.Fatal("work does not count")
		}
	}
}
