package terminal

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// ObeyEscapes makes consoles obey escape sequences, which they print by default.
func ObeyEscapes(files ...*os.File) {
	for _, f := range files {
		handle := windows.Handle(f.Fd())
		var mode uint32
		if windows.GetConsoleMode(handle, &mode) == nil { // it fails for files that are not consoles
			_ = windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) // every Windows that Go supports has it
		}
	}
}

// ErrReaderGone is the error of a write to a pipe without a reader.
const ErrReaderGone = windows.ERROR_NO_DATA

// awaitRoom does nothing: no write fails for lack of room.
func awaitRoom(*os.File) error { return syscall.EAGAIN }
