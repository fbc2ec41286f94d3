//go:build !unix

package main

import (
	"os"
	"os/exec"
)

func group(*exec.Cmd) {}

func interrupt(p *os.Process) error { return p.Kill() }

func killGroup(p *os.Process) { _ = p.Kill() } // it may be gone
