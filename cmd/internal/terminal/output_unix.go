//go:build unix

package terminal

import "syscall"

// ErrReaderGone is a write to a pipe that nobody reads.
const ErrReaderGone = syscall.EPIPE
