package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// ObeyEscapes has the consoles among files obey escape sequences, which they print until they are asked.
func ObeyEscapes(files ...*os.File) {
	for _, f := range files {
		handle := windows.Handle(f.Fd())
		var mode uint32
		if windows.GetConsoleMode(handle, &mode) == nil { // fails for what is no console
			_ = windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) // every Windows that Go runs on can
		}
	}
}
