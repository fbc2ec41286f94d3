// Package testmachine gives tests what not every machine lets them have: mounts and a
// full disk of their own, programs that make system calls fail. What a machine lacks is
// said, and in CI, where PAGES_CI is set, it fails the test: there nothing may go
// untested in silence. For tests only.
package testmachine

import (
	"os"
	"testing"
)

// Variable says, when it is set, that the machine must have all that tests need.
const Variable = "PAGES_CI"

// Lacks ends a test that cannot run here. what is the thing that is missing, err how that
// was found, if there is more to say.
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
