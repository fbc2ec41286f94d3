//go:build unix

package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

var errBackground = errors.New("the terminal is another process's")

// singleKeys has a terminal give each key at once and show none, until restore.
// Everything else stays as it is, so that Ctrl-C works and lines end well.
func singleKeys(in *os.File) (restore func(), err error) {
	fd := int(in.Fd())
	if owner, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || owner != unix.Getpgrp() {
		return nil, errors.Join(errBackground, err)
	}
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, err
	}
	single := *before
	single.Lflag &^= unix.ICANON | unix.ECHO
	single.Cc[unix.VMIN], single.Cc[unix.VTIME] = 1, 0
	// In the background a read fails, where it would stop the whole server.
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU)
	if err := unix.IoctlSetTermios(fd, setTermios, &single); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, before) }, nil // the terminal may be gone
}
