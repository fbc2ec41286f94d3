//go:build unix

package devsession

import (
	"os"
	"syscall"
)

// signalOf returns the signal that ended a process.
func signalOf(p *os.ProcessState) (int, bool) {
	status, ok := p.Sys().(syscall.WaitStatus)
	return int(status.Signal()), ok && status.Signaled()
}
