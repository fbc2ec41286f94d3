// Package testmachine gives tests resources that not every machine has: mounts and a full disk of their own, programs that
// make system calls fail. A test that the machine cannot run is skipped, and fails in CI, where PAGES_CI is set. It also skips tests that
// take too long for make test (Long) or need no race detector (Unraced), waits for conditions (Await), and has a Buffer for programs that
// run beside a test. For tests only.
package testmachine

import (
	"os"
	"testing"
	"time"
)

// Variable says, when it is set, that the machine must have all that tests need.
const Variable = "PAGES_CI"

// LongVariable says, when it is set, that long tests run too.
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

// Unraced ends a test that the race detector sees nothing in, or takes minutes for, under it and -short together, as in make
// check. Without the detector it ends none: make test runs them all. make soak runs them with the detector.
func Unraced(t testing.TB) {
	t.Helper()
	if raced && testing.Short() {
		t.Skip("run by make test, and with the race detector by make soak")
	}
}

// awaitTime bounds Await: no machine is so busy.
const awaitTime = 30 * time.Second

// Await waits until a condition holds, and ends the test where it does not within half a minute. what names the condition in words:
// "process 7 ends".
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	timeout := time.After(awaitTime)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("waited %v, and not yet: %s", awaitTime, what)
		}
	}
}

// Lacks ends a test that cannot run here. what names the missing thing, err has the reason, or nil.
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

// Link makes a symbolic link, or ends the test where there are none, or not for everyone as on Windows.
func Link(t testing.TB, target, name string) {
	t.Helper()
	err := os.Symlink(target, name)
	if err == nil {
		_, err = os.Lstat(name) // Wine says that it made one
	}
	if err != nil {
		Lacks(t, "symbolic links", err)
	}
}
