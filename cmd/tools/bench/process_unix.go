//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// group puts the program and what it starts into a process group of their own,
// whose id is the program's.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt does to the group what Ctrl-C in a terminal does.
func interrupt(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGINT) }

// killGroup kills what is left of the group. There may be nothing.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
