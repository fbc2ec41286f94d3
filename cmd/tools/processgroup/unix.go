//go:build unix

package processgroup

import (
	"os/exec"
	"syscall"
)

// Own puts a program that is not started yet, and what it starts, into a group of their own.
func Own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Interrupt does to the group what Ctrl-C in a terminal does.
func Interrupt(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

// Kill ends what is left of the group. There may be nothing.
func Kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
