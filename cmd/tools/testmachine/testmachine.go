// Package testmachine gives tests resources that not every machine has: mounts and a full disk of their own, programs that make system
// calls fail. A test that the machine cannot run is skipped, and fails in CI, where PAGES_CI is set. It also skips tests that are too
// long for make test (Long) or useless under the race detector (Unraced), waits for conditions (Await), and has a Buffer for programs
// that run beside a test. For tests only.
package testmachine

import (
	"os"
	"testing"
	"time"
)

// Variable makes a test fail when the machine lacks a requirement, if it is set.
const Variable = "PAGES_CI"

// LongVariable enables long tests, if it is set.
const LongVariable = "PAGES_LONG"

// Long ends a test that takes too long for make test. `make check` and `make soak` set the variable; `make long` finds the
// calls of this function in the source.
func Long(t testing.TB) {
	t.Helper()
	if os.Getenv(LongVariable) == "" {
		t.Skipf("run by make check: it takes long; %s=1 runs it", LongVariable)
	}
}

// Raced reports whether the tests have the race detector.
func Raced() bool { return raced }

// Unraced skips a test under the race detector with -short, as in make check, because the detector cannot find anything or
// takes minutes. make test runs the test without the detector, make soak with it.
func Unraced(t testing.TB) {
	t.Helper()
	if raced && testing.Short() {
		t.Skip("run by make test, and with the race detector by make soak")
	}
}

// awaitTime bounds Await, with room for a busy machine.
const awaitTime = 30 * time.Second

// Await waits until a condition holds, and ends the test after half a minute. The text what describes it: "process 7 ends".
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	timeout := time.After(awaitTime)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("waited %v in vain: %s", awaitTime, what)
		}
	}
}

// Lacks ends a test that cannot run here. The text what names the missing thing, and err is the reason, or nil.
func Lacks(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		what += ": " + err.Error()
	}
	if os.Getenv(Variable) != "" {
		t.Fatalf("this machine lacks %s; with %s set everything is tested, or fails", what, Variable)
	}
	t.Skipf("not tested here: this machine lacks %s", what)
}

// Link makes a symbolic link, or ends the test on a system that has none or restricts them, like Windows.
func Link(t testing.TB, target, name string) {
	t.Helper()
	err := os.Symlink(target, name)
	if err == nil {
		_, err = os.Lstat(name) // Wine reports success without making one
	}
	if err != nil {
		Lacks(t, "symbolic links", err)
	}
}
