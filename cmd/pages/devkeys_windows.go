package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// singleKeys has a console give each key at once and show none, until restore.
func singleKeys(in *os.File) (restore func(), err error) {
	handle := windows.Handle(in.Fd())
	var before uint32
	if err := windows.GetConsoleMode(handle, &before); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(handle, before&^(windows.ENABLE_LINE_INPUT|windows.ENABLE_ECHO_INPUT)); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(handle, before) }, nil // the console may be gone
}
