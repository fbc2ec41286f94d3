//go:build !unix && !windows

package processgroup

import "os/exec"

// Own does nothing: there are no groups here.
func Own(*exec.Cmd) {}

// Interrupt ends the program alone: there is no signal for it here.
func Interrupt(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// Terminate ends the program alone: there is no signal for it here.
func Terminate(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// Kill ends the program alone, if it still runs.
func Kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}

// Alive reports whether the program still runs.
func Alive(cmd *exec.Cmd) bool { return cmd.ProcessState == nil }

// Tie does nothing.
func Tie(*exec.Cmd) (release func(), err error) { return func() {}, nil }
