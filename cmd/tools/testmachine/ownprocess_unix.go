//go:build unix

package testmachine

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// alone is the variable that names the test to the process that InOwnProcess starts.
const alone = "PAGES_TEST_ALONE"

// InOwnProcess runs the calling test again, in a new process with the attributes, and reports whether this is that process. In
// the parent, the test has its result when InOwnProcess returns.
func InOwnProcess(t *testing.T, attributes *syscall.SysProcAttr) bool {
	t.Helper()
	if os.Getenv(alone) == t.Name() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), alone+"="+t.Name())
	cmd.SysProcAttr = attributes
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	text := string(out)
	switch {
	case errors.Is(err, fs.ErrPermission):
		Lacks(t, "a process in namespaces of its own", err)
	case err == nil && strings.Contains(text, "--- SKIP: "+t.Name()):
		t.Skip(text)
	case err != nil || !strings.Contains(text, "--- PASS: "+t.Name()):
		t.Errorf("%v\n%s", err, text)
	}
	return false
}
