package terminal

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// ObeyEscapes has the consoles among files obey escape sequences, which they print until they are asked.
func ObeyEscapes(files ...*os.File) {
	for _, f := range files {
		handle := windows.Handle(f.Fd())
		var mode uint32
		if windows.GetConsoleMode(handle, &mode) == nil { // fails for anything but a console
			_ = windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) // every Windows that Go runs on can
		}
	}
}

// ErrReaderGone is the error of a write to a pipe without a reader.
const ErrReaderGone = windows.ERROR_NO_DATA

// awaitRoom is not needed: no write fails for want of room.
func awaitRoom(*os.File) error { return syscall.EAGAIN }
