//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// group puts go test and the tests it runs into a process group of their own.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt does to the group what Ctrl-C in a terminal does.
func interrupt(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGINT) }

// killGroup kills what is left of the group. There may be nothing.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
