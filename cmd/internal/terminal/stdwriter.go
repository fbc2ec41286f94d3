package terminal

import (
	"errors"
	"os"
	"syscall"
)

// Steady is a file whose writes wait for room. Programs that share a terminal or a pipe share whether it blocks:
// Node.js makes it non-blocking, and writes then fail with EAGAIN while it is full.
type Steady struct{ File *os.File }

// Write implements io.Writer.
func (s Steady) Write(b []byte) (n int, err error) {
	for {
		some, err := s.File.Write(b[n:])
		n += some
		if !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		if err := awaitRoom(s.File); err != nil {
			return n, err
		}
	}
}
