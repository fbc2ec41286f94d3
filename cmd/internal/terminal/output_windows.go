package terminal

import "golang.org/x/sys/windows"

// ErrReaderGone is a write to a pipe that nobody reads.
const ErrReaderGone = windows.ERROR_NO_DATA
