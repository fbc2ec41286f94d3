package singlekeys

import (
	"os"

	"golang.org/x/sys/windows"
)

// Terminal is a console that passes on each key at once and shows none, until Release.
type Terminal struct {
	*os.File

	before uint32
}

// Hold takes the console, except for the keys that the console handles itself, such as Ctrl-C.
func Hold(in *os.File) (*Terminal, error) {
	k := &Terminal{File: in}
	handle := windows.Handle(in.Fd())
	if err := windows.GetConsoleMode(handle, &k.before); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(handle, k.before&^(windows.ENABLE_LINE_INPUT|windows.ENABLE_ECHO_INPUT)); err != nil {
		return nil, err
	}
	return k, nil
}

// Release restores the settings of the console, which may be gone.
func (k *Terminal) Release() { _ = windows.SetConsoleMode(windows.Handle(k.Fd()), k.before) }
