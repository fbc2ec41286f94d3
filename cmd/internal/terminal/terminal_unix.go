//go:build unix

package terminal

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrReaderGone is the error of a write to a pipe without a reader.
const ErrReaderGone = syscall.EPIPE

// ObeyEscapes does nothing: terminals obey escape sequences.
func ObeyEscapes(...*os.File) {}

// awaitRoom waits until a file takes more bytes, or fails.
func awaitRoom(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		_, failed = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
	})
	if errors.Is(failed, unix.EINTR) { // the next write reports the error
		failed = nil
	}
	return errors.Join(err, failed)
}
