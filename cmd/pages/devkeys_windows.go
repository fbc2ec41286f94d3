package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// heldKeys is a console that gives each key at once and shows none, until release.
type heldKeys struct {
	*os.File

	before uint32
}

func holdKeys(in *os.File) (*heldKeys, error) {
	k := &heldKeys{File: in}
	handle := windows.Handle(in.Fd())
	if err := windows.GetConsoleMode(handle, &k.before); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(handle, k.before&^(windows.ENABLE_LINE_INPUT|windows.ENABLE_ECHO_INPUT)); err != nil {
		return nil, err
	}
	return k, nil
}

// release gives the console back as it was, which may be gone.
func (k *heldKeys) release() { _ = windows.SetConsoleMode(windows.Handle(k.Fd()), k.before) }
