//go:build !unix

package main

import (
	"os"
	"os/exec"
)

func group(*exec.Cmd) {}

func interrupt(p *os.Process) error { return p.Kill() }

func killGroup(*exec.Cmd) {} // go test's own end has to do
