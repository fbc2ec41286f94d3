//go:build unix

package processgroup

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// Own puts a program before its start, and its later child processes, into a new group.
func Own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Interrupt has the effect of Ctrl-C in a terminal on the group.
func Interrupt(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

// Terminate asks the group to end.
func Terminate(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// Kill ends the remaining processes of the group, if any.
func Kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// Alive reports whether a process of the group still runs.
func Alive(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }

// watch is the script of a shell. It reads until this process ends, which closes the pipe.
const watch = `read -r _; kill -s TERM -- "-$1" 2>/dev/null || exit 0; sleep 2; kill -s KILL -- "-$1" 2>/dev/null`

// Tie makes a started group end with this process. Call release after the end of the group.
func Tie(cmd *exec.Cmd) (release func(), err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("watch over the program: %w", err)
	}
	guard := exec.Command("/bin/sh", "-c", watch, "pages-watch", strconv.Itoa(cmd.Process.Pid)) //nolint:noctx // it ends by the pipe
	guard.Stdin = read
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not reach it
	guard.Dir = "/"
	err = guard.Start()
	_ = read.Close() // only the shell reads it
	if err != nil {
		_ = write.Close()
		return nil, fmt.Errorf("watch over the program: %w", err)
	}
	return func() {
		_ = guard.Process.Kill() // before the pipe closes: the number of the group may belong to another group by then
		_ = guard.Wait()
		_ = write.Close()
	}, nil
}
