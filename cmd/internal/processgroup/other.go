//go:build !unix && !windows

package processgroup

import "os/exec"

// Own does nothing: there are no groups here.
func Own(*exec.Cmd) {}

// Interrupt ends the program alone, for want of a signal.
func Interrupt(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// Terminate ends the program alone, for want of a signal.
func Terminate(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// Kill ends the program alone. It may be gone.
func Kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}

// Alive reports whether the program is left.
func Alive(cmd *exec.Cmd) bool { return cmd.ProcessState == nil }

// Tie does nothing.
func Tie(*exec.Cmd) (release func(), err error) { return func() {}, nil }
