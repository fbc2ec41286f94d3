//go:build unix

package devbackground

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// detach makes a program survive the end of this terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// AwaitParent returns when the process that started this one has ended, or ctx. The system then gives this process another parent.
func AwaitParent(ctx context.Context) {
	const poll = 250 * time.Millisecond
	parent := os.Getppid()
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for os.Getppid() == parent {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
