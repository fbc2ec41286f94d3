//go:build unix

package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestStop ends a program that takes no notice, and its children.
func TestStop(t *testing.T) {
	p, err := startProcess([]string{"sh", "-c", "sleep 600 & echo started $!; wait"}, t.TempDir(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.After(10 * time.Second)
	for !strings.Contains(p.output(), "started") {
		select {
		case <-deadline:
			t.Fatal("it did not start")
		case <-time.After(time.Millisecond):
		}
	}
	if runtime.GOOS == "linux" && treeMemory(p.cmd.Process.Pid) == 0 {
		t.Error("it has no memory")
	}
	child := strings.TrimPrefix(p.output(), "started ")
	p.stop()
	for exec.CommandContext(t.Context(), "kill", "-0", child).Run() == nil {
		select {
		case <-deadline:
			t.Fatalf("its child %s is left", child)
		case <-time.After(time.Millisecond):
		}
	}
}
