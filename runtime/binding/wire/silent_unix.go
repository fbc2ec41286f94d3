//go:build unix

package wire

import (
	"net"
	"syscall"
)

// isSilent reports whether a peer's connection has no unread bytes.
func isSilent(stream net.Conn) bool {
	raw, ok := stream.(syscall.Conn)
	if !ok {
		return false
	}
	access, err := raw.SyscallConn()
	if err != nil {
		return false
	}
	silent := false
	err = access.Control(func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		silent = err == syscall.EAGAIN
	})
	return err == nil && silent
}
